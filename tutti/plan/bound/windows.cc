#include "tutti/plan/bound/windows.h"

#include <algorithm>
#include <utility>

#include "tutti/plan/bound/subset.h"

namespace tutti::bound {
namespace {

// Finds the heads as seen from one side.
class HeadFinder {
 public:
  HeadFinder(const Instance& instance, const Reasons& reasons, Side side)
      : instance_(instance), reasons_(reasons), side_(side), head_(instance.size, 0) {}

  std::vector<Ticks> find() && {
    for (const OpId op : instance_.order[side_]) {
      Ticks head = last_finish(op);
      if (reasons_.transfers) head = std::max(head, earliest_by_arrivals(op, head));
      if (has_gaps()) head = std::max(head, earliest_by_ancestors(op));
      head_[op.index] = head;
      if (has_gaps()) file_by_head(op);
    }
    return std::move(head_);
  }

 private:
  struct Arrival {
    Ticks time;
    OpId op;
  };

  bool has_gaps() const { return reasons_.gaps != nullptr && !reasons_.gaps->empty(); }
  Ticks finish(OpId op) const { return head_[op.index] + instance_.shortest[op.index]; }

  Ticks last_finish(OpId op) const {
    Ticks last = 0;
    for (const Neighbour& before : instance_.before[side_][op]) {
      last = std::max(last, finish(before.op));
    }
    return last;
  }

  // The second reason. `base` is the first.
  Ticks earliest_by_arrivals(OpId op, Ticks base) {
    collect_arrivals(op);
    const auto arrival = [&](size_t i) { return i < arrivals_.size() ? arrivals_[i].time : 0; };
    if (arrival(0) <= base) return base;
    // The least count of ops on the device that keeps op waiting for the next arrival, or longer.
    size_t low = 1;
    size_t high = arrivals_.size();
    while (low < high) {
      const size_t count = (low + high) / 2;
      if (std::max(base, start_behind(op, count)) >= arrival(count)) {
        high = count;
      } else {
        low = count + 1;
      }
    }
    // The crossing is between low - 1, where the arrival decides, and low, where the device does.
    return std::min(std::max(base, start_behind(op, low)), arrival(low - 1));
  }

  void collect_arrivals(OpId op) {
    arrivals_.clear();
    for (const Neighbour& before : instance_.before[side_][op]) {
      arrivals_.push_back({.time = finish(before.op) + before.transfer, .op = before.op});
    }
    std::sort(arrivals_.begin(), arrivals_.end(), [](const Arrival& a, const Arrival& b) {
      return a.time != b.time ? a.time > b.time : a.op < b.op;
    });
  }

  // How early op can start on a device that also ran the first `count` of the arrivals.
  Ticks start_behind(OpId op, size_t count) {
    Ticks start = kUnreachable;
    for (size_t kind = 0; kind < instance_.classes.size(); ++kind) {
      if (!collect_items(op, count, kind)) continue;
      const int64_t slots = instance_.classes[kind].slots_each;
      start = std::min(start, has_gaps() ? subset_.of(items_, slots) : work_off(slots));
    }
    return start;
  }

  // False if the class cannot run op and all of these.
  bool collect_items(OpId op, size_t count, size_t kind) {
    items_.clear();
    if (instance_.run_time(op, kind) == kImpossible) return false;
    for (size_t i = 0; i < count; ++i) {
      const OpId before = arrivals_[i].op;
      const Ticks run = instance_.run_time(before, kind);
      if (run == kImpossible) return false;
      items_.push_back({.head = head_[before.index],
                        .work = run,
                        .tail = has_gaps() ? reasons_.gaps->between(side_, before, op) : 0});
    }
    return true;
  }

  // The subset bound of the items if all tails are zero.
  Ticks work_off(int64_t slots) {
    std::sort(items_.begin(), items_.end(),
              [](const Item& a, const Item& b) { return a.head > b.head; });
    int64_t work = 0;
    Ticks end = 0;
    for (const Item& item : items_) {
      work += item.work;
      end = std::max(end, item.head + ceil_div(work, slots));
    }
    return end;
  }

  // The third reason.
  Ticks earliest_by_ancestors(OpId op) {
    items_.clear();
    for (const OpId other : by_head_) {
      const Ticks gap = reasons_.gaps->between(side_, other, op);
      if (gap < 0) continue;
      items_.push_back(
          {.head = head_[other.index], .work = instance_.shortest[other.index], .tail = gap});
    }
    return subset_.of(items_, instance_.slots);
  }

  void file_by_head(OpId op) {
    const auto place = std::upper_bound(by_head_.begin(), by_head_.end(), op, [&](OpId a, OpId b) {
      return head_[a.index] > head_[b.index];
    });
    by_head_.insert(place, op);
  }

  const Instance& instance_;
  const Reasons& reasons_;
  const Side side_;
  std::vector<Ticks> head_;
  std::vector<OpId> by_head_;  // those found, by falling head
  std::vector<Arrival> arrivals_;
  std::vector<Item> items_;
  SubsetBound subset_;
};

}  // namespace

Windows find_windows(const Instance& instance, const Reasons& reasons) {
  return {.head = HeadFinder(instance, reasons, kFromStart).find(),
          .tail = HeadFinder(instance, reasons, kFromEnd).find()};
}

Ticks longest_through(const Instance& instance, const Windows& windows) {
  Ticks longest = 0;
  for (int32_t op = 0; op < instance.size; ++op) {
    longest = std::max(longest, windows.head[op] + instance.shortest[op] + windows.tail[op]);
  }
  return longest;
}

}  // namespace tutti::bound
