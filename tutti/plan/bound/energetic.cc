#include "tutti/plan/bound/energetic.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <vector>

namespace tutti::bound {
namespace {

// An op with a deadline: the times by which it may and must start and end.
struct DueOp {
  Ticks run;
  Ticks earliest_start;
  Ticks earliest_end;
  Ticks latest_start;
  Ticks latest_end;
};

class Refuter {
 public:
  Refuter(const Instance& instance, const Windows& windows)
      : slots_(instance.slots), longest_(longest_through(instance, windows)) {
    for (int32_t op = 0; op < instance.size; ++op) {
      const Ticks run = instance.shortest[op];
      if (run == 0) continue;
      const Ticks head = windows.head[op];
      const Ticks tail = windows.tail[op];
      ops_.push_back({.run = run,
                      .earliest_start = head,
                      .earliest_end = head + run,
                      .latest_start = -tail - run,
                      .latest_end = -tail});
    }
    sort_ops();
  }

  // True if no run can end by the deadline.
  bool refutes(Ticks deadline) {
    if (deadline < longest_) return true;
    move_deadline(deadline);
    if (overloaded_from(last_overload_)) return true;  // most often it still is
    begins_.clear();
    for (const DueOp& op : ops_) {
      begins_.insert(begins_.end(), {op.earliest_start, op.earliest_end, op.latest_start});
    }
    std::sort(begins_.begin(), begins_.end());
    begins_.erase(std::unique(begins_.begin(), begins_.end()), begins_.end());
    const auto found = std::find_if(begins_.begin(), begins_.end(),
                                    [&](Ticks begin) { return overloaded_from(begin); });
    if (found == begins_.end()) return false;
    last_overload_ = *found;
    return true;
  }

 private:
  // No order depends on the deadline, which moves all latest times alike.
  void sort_ops() {
    const auto sorted_by = [&](auto key) {
      std::vector<int> order(ops_.size());
      std::iota(order.begin(), order.end(), 0);
      std::sort(order.begin(), order.end(),
                [&](int a, int b) { return key(ops_[a]) < key(ops_[b]); });
      return order;
    };
    by_latest_start_ = sorted_by([](const DueOp& op) { return op.latest_start; });
    by_latest_end_ = sorted_by([](const DueOp& op) { return op.latest_end; });
    by_earliest_end_ = sorted_by([](const DueOp& op) { return op.earliest_end; });
    by_middle_ = sorted_by([](const DueOp& op) { return op.latest_start + op.earliest_end; });
  }

  void move_deadline(Ticks deadline) {
    for (DueOp& op : ops_) {
      op.latest_start += deadline - deadline_;
      op.latest_end += deadline - deadline_;
    }
    deadline_ = deadline;
  }

  // Whether some stretch [begin, end) holds more work than fits. What an op must do in it is zero
  // up to some end, from there on grows with the end, and then stays: a ramp. There are three kinds
  // of them, each with its own order of where ramps stop, so that nothing is sorted here.
  bool overloaded_from(Ticks begin) {
    rises_.clear();
    stops_.clear();
    for (const int i : by_earliest_end_) {  // must go on at begin, and may end early
      const DueOp& op = ops_[i];
      if (op.latest_start >= begin || op.earliest_end <= begin) continue;
      rises_.push_back(begin);
      stops_.push_back(op.earliest_end);
    }
    merge_stops(by_middle_, [begin](const DueOp& op, Ticks& stop) {  // may start before begin
      stop = op.latest_start + op.earliest_end - begin;
      return op.earliest_start < begin && op.latest_start >= begin && op.earliest_end > begin;
    });
    merge_stops(by_latest_end_, [begin](const DueOp& op, Ticks& stop) {  // starts behind begin
      stop = op.latest_end;
      return op.earliest_start >= begin;
    });
    for (const int i : by_latest_start_) {
      const DueOp& op = ops_[i];
      if (op.latest_start < begin || op.earliest_end <= begin) continue;
      rises_.push_back(op.latest_start);
    }
    return climbs_too_high(begin);
  }

  // Adds the stops of those ops that belong, which come in rising order.
  template <class StopOf>
  void merge_stops(const std::vector<int>& order, StopOf stop_of) {
    more_stops_.clear();
    for (const int i : order) {
      Ticks stop = 0;
      if (stop_of(ops_[i], stop)) more_stops_.push_back(stop);
    }
    merged_.clear();
    std::merge(stops_.begin(), stops_.end(), more_stops_.begin(), more_stops_.end(),
               std::back_inserter(merged_));
    stops_.swap(merged_);
  }

  // Adds up the ramps. The sum can only outgrow the slots where a ramp stops.
  bool climbs_too_high(Ticks begin) const {
    Ticks work = 0;
    Ticks at = begin;
    Ticks slope = 0;
    size_t risen = 0;
    for (const Ticks end : stops_) {
      for (; risen < rises_.size() && rises_[risen] <= end; ++risen) {
        work += slope * (rises_[risen] - at);
        at = rises_[risen];
        ++slope;
      }
      work += slope * (end - at);
      at = end;
      if (work > static_cast<Wide>(slots_) * (end - begin)) return true;
      --slope;
    }
    return false;
  }

  const int64_t slots_;
  const Ticks longest_;
  std::vector<DueOp> ops_;
  Ticks deadline_ = 0;
  Ticks last_overload_ = 0;  // where the last deadline was refuted
  std::vector<int> by_latest_start_;
  std::vector<int> by_latest_end_;
  std::vector<int> by_earliest_end_;
  std::vector<int> by_middle_;
  std::vector<Ticks> begins_;
  std::vector<Ticks> rises_;
  std::vector<Ticks> stops_;
  std::vector<Ticks> more_stops_;
  std::vector<Ticks> merged_;
};

}  // namespace

// Gallops up and then halves. Every refuted deadline is a proof on its own, so nothing hangs on
// whether a later one could be refuted while an earlier one could not.
Ticks energetic_bound(const Instance& instance, const Windows& windows, Ticks known) {
  Refuter refuter(instance, windows);
  const Ticks grain = std::max<Ticks>(1, known / 16384);  // smaller steps are not looked for
  Ticks bound = known;
  Ticks step = grain;
  Ticks open = -1;  // a deadline that was not refuted
  while (open < 0) {
    const Ticks deadline = bound + step - grain;
    if (refuter.refutes(deadline)) {
      bound = deadline + 1;
      step *= 2;
    } else {
      open = deadline;
    }
  }
  while (open - bound >= grain) {
    const Ticks deadline = bound + (open - bound) / 2;
    if (refuter.refutes(deadline)) {
      bound = deadline + 1;
    } else {
      open = deadline;
    }
  }
  return bound;
}

}  // namespace tutti::bound
