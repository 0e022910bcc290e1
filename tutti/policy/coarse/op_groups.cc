#include "tutti/policy/coarse/op_groups.h"

#include <algorithm>
#include <numeric>

#include "tutti/policy/coarse/quotient.h"

namespace tutti {
namespace {

// A group's work over that of an equal share.
constexpr double kHeaviest = 2;
// The fewest groups of a level for each slot of the machine, so that siblings that should run in
// parallel do not become one group.
constexpr int32_t kGroupsPerSlot = 4;
// Beyond `most`, groups that read from more others than this on average are not joined further.
constexpr double kMostLinks = 8;
// Rounds end when one joins fewer than this share of the groups.
constexpr double kLeastGain = 0.02;

// One pass over a quotient: which groups become one.
class Joining {
 public:
  Joining(const Quotient& quotient, int32_t wanted, double most_work)
      : quotient_(quotient),
        wanted_(wanted),
        most_work_(most_work),
        left_(quotient.size()),
        leader_(static_cast<size_t>(quotient.size())),
        taken_(static_cast<size_t>(quotient.size()), false),
        work_(quotient.work_ns) {
    std::iota(leader_.begin(), leader_.end(), 0);
  }

  // A group with one reader joins that reader's tree. All that leaves a tree leaves from its root,
  // and all that comes in leads to the root, so a cycle of trees would be one of groups.
  void join_to_readers() {
    for (int32_t group = quotient_.size() - 1; group >= 0; --group) {
      const auto readers = quotient_.readers(group);
      if (readers.size() == 1) join(group, readers[0].group);
    }
  }

  // The mirror image.
  void join_to_producers() {
    for (int32_t group = 0; group < quotient_.size(); ++group) {
      const auto producers = quotient_.producers(group);
      if (producers.size() == 1) join(group, producers[0].group);
    }
  }

  // Pairs of a group on a level of that parity and the reader on the next with the most traffic.
  // Between two pairs on the same levels edges only go from the earlier to the later, as a group
  // that reads of an earlier pair's second is on a level beyond, and one that is read by it is left
  // alone.
  void join_edges(const std::vector<int32_t>& level, int32_t parity) {
    for (int32_t group = 0; group < quotient_.size(); ++group) {
      const int32_t here = level[static_cast<size_t>(group)];
      if (here % 2 != parity) continue;
      int32_t heaviest = -1;
      double weight = -1;
      bool crosses = false;
      for (const Quotient::Link& link : quotient_.readers(group)) {
        if (level[static_cast<size_t>(link.group)] != here + 1) continue;
        crosses = crosses || taken_[static_cast<size_t>(link.group)];
        if (link.weight <= weight || !may_join(group, link.group)) continue;
        heaviest = link.group;
        weight = link.weight;
      }
      if (crosses || heaviest < 0) continue;
      if (join(group, heaviest)) taken_[static_cast<size_t>(heaviest)] = true;
    }
  }

  // Pairs of groups on one level. Edges go up from level to level, so whatever is joined on one
  // level makes no cycle.
  void join_siblings(const std::vector<int32_t>& level, int32_t least_width) {
    std::vector<int32_t> width;
    for (const int32_t here : level) {
      if (here >= static_cast<int32_t>(width.size())) width.resize(static_cast<size_t>(here) + 1);
      ++width[static_cast<size_t>(here)];
    }
    const auto pair_up = [&](int32_t& waiting, int32_t group) {
      if (taken_[static_cast<size_t>(group)]) return;
      if (waiting >= 0 && !taken_[static_cast<size_t>(waiting)]) {
        const int32_t here = level[static_cast<size_t>(group)];
        if (here == level[static_cast<size_t>(waiting)] &&
            width[static_cast<size_t>(here)] > least_width && join(group, waiting)) {
          --width[static_cast<size_t>(here)];
          taken_[static_cast<size_t>(group)] = taken_[static_cast<size_t>(waiting)] = true;
          waiting = -1;
          return;
        }
      }
      waiting = group;
    };
    int32_t alone = -1;
    for (int32_t group = 0; group < quotient_.size(); ++group) {
      int32_t waiting = -1;
      for (const Quotient::Link& link : quotient_.readers(group)) pair_up(waiting, link.group);
      waiting = -1;
      for (const Quotient::Link& link : quotient_.producers(group)) pair_up(waiting, link.group);
      if (quotient_.readers(group).empty() && quotient_.producers(group).empty()) {
        pair_up(alone, group);
      }
    }
  }

  int32_t left() const { return left_; }
  std::vector<int32_t> leaders() && { return std::move(leader_); }

 private:
  bool may_join(int32_t a, int32_t b) const {
    return left_ > wanted_ &&
           quotient_.family[static_cast<size_t>(a)] == quotient_.family[static_cast<size_t>(b)] &&
           work_[leader_of(a)] + work_[leader_of(b)] <= most_work_;
  }

  // The first joins the second, whose leader leads both: callers come to a group before those that
  // join it.
  bool join(int32_t a, int32_t b) {
    if (!may_join(a, b)) return false;
    const size_t to = leader_of(b);
    work_[to] += work_[static_cast<size_t>(a)];
    leader_[static_cast<size_t>(a)] = static_cast<int32_t>(to);
    --left_;
    return true;
  }

  size_t leader_of(int32_t group) const {
    return static_cast<size_t>(leader_[static_cast<size_t>(group)]);
  }

  const Quotient& quotient_;
  int32_t wanted_;
  double most_work_;
  int32_t left_;
  std::vector<int32_t> leader_;  // by group
  std::vector<bool> taken_;      // by group: is in a pair
  std::vector<double> work_;     // by leader
};

// Applies one pass after another and keeps track of where the ops went.
class Grouping {
 public:
  explicit Grouping(const Problem& problem) : quotient_(quotient_of(problem, of_op_)) {
    work_ = std::accumulate(quotient_.work_ns.begin(), quotient_.work_ns.end(), 0.0);
    for (const DeviceId device : problem.machine.devices()) {
      least_width_ += kGroupsPerSlot * problem.machine.device(device).slots;
    }
  }

  OpGroups run(const Coarsening& coarsening) && {
    join_down_to(coarsening.most);
    for (int32_t wanted = coarsening.most; wanted > coarsening.fewest && has_grain();) {
      wanted = std::max(coarsening.fewest, wanted / 2);
      join_down_to(wanted);
    }
    return {.of_op = std::move(of_op_), .count = quotient_.size()};
  }

 private:
  bool has_grain() const {
    return static_cast<double>(quotient_.out.size()) <= kMostLinks * quotient_.size();
  }

  void join_down_to(int32_t wanted) {
    wanted_ = wanted;
    while (quotient_.size() > wanted_) {
      const int32_t before = quotient_.size();
      pass([](Joining& joining) { joining.join_to_readers(); });
      pass([](Joining& joining) { joining.join_to_producers(); });
      for (const int32_t parity : {0, 1}) {
        pass([&](Joining& joining) { joining.join_edges(levels(quotient_), parity); });
      }
      pass([&](Joining& joining) { joining.join_siblings(levels(quotient_), least_width_); });
      if (quotient_.size() > (1 - kLeastGain) * before) break;
    }
  }

  template <class Join>
  void pass(Join join) {
    if (quotient_.size() <= wanted_) return;
    Joining joining(quotient_, wanted_, kHeaviest * work_ / std::max(1, wanted_));
    join(joining);
    if (joining.left() == quotient_.size()) return;
    std::vector<int32_t> group_of = std::move(joining).leaders();
    quotient_ = joined(quotient_, group_of);
    for (int32_t& group : of_op_) group = group_of[static_cast<size_t>(group)];
  }

  std::vector<int32_t> of_op_;
  Quotient quotient_;
  int32_t wanted_ = 0;
  double work_ = 0;  // of all ops
  int32_t least_width_ = 0;
};

}  // namespace

OpGroups group_ops(const Problem& problem, const Coarsening& coarsening) {
  return Grouping(problem).run(coarsening);
}

}  // namespace tutti
