#include "tutti/search/exact/all_schedules.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "tutti/search/exact/free_of_contention.h"
#include "tutti/search/exact/placements.h"

namespace tutti {
namespace {

// All active schedules of one placement after another: those in which no op could be done sooner
// without delaying another. One of them is a best one.
//
// They are generated as Giffler and Thompson do (Operations Research 8, 1960). Of the ops whose
// producers are scheduled, let `first` be the one that can end soonest, at time `end` on its
// device. Every op that is not scheduled ends at `end` or later, so one whose producers are not
// scheduled starts no sooner than that. Hence the next op of that device is `first`, or one that
// can start before `end`: otherwise `first` could be done before all of them and delay none. That
// holds for ops that take no time, too.
class Ordering {
 public:
  Ordering(const Problem& problem, Incumbent& incumbent)
      : graph_(problem.graph), incumbent_(incumbent) {
    const auto ops = static_cast<size_t>(graph_.size());
    missing_.resize(ops);
    start_.resize(ops);
    finish_.resize(ops);
    free_at_.resize(static_cast<size_t>(problem.machine.size()));
    heads_.assign(ops + 1, std::vector<Duration>(ops));
    choices_.resize(ops + 1);
  }

  void run(PlacedProblem& placed) {
    placed_ = &placed;
    order_.clear();
    std::fill(free_at_.begin(), free_at_.end(), Duration{0});
    for (const OpId op : graph_.ops()) {
      missing_[op.index] = graph_.made_operands(op);
      start_[op.index] = Duration{-1};
    }
    extend();
  }

 private:
  bool is_scheduled(OpId op) const { return start_[op.index].count() >= 0; }

  // Fills in when each op can start at the earliest; kNever if it is scheduled.
  void find_heads(std::vector<Duration>& heads) const {
    for (const OpId op : graph_.topological_order()) {
      if (is_scheduled(op)) {
        heads[op.index] = kNever;
        continue;
      }
      Duration head =
          std::max(placed_->inputs_at(op), free_at_[static_cast<size_t>(placed_->device(op))]);
      for (const EdgeId edge : graph_.edges(op)) {
        const OpId producer = graph_.edge_from(edge);
        if (!producer.valid()) continue;
        const Duration end = is_scheduled(producer)
                                 ? finish_[producer.index]
                                 : heads[producer.index] + placed_->run_time(producer);
        head = std::max(head, end + placed_->transfer(edge));
      }
      heads[op.index] = head;
    }
  }

  // The ops that may be next on the device of the op that can end soonest, most urgent first.
  void find_choices(const std::vector<Duration>& heads, std::vector<OpId>& choices) const {
    OpId first{};
    Duration end = kNever;
    for (const OpId op : graph_.ops()) {
      if (is_scheduled(op) || missing_[op.index] > 0) continue;
      if (heads[op.index] + placed_->run_time(op) >= end) continue;
      first = op;
      end = heads[op.index] + placed_->run_time(op);
    }
    choices.assign(1, first);
    for (const OpId op : graph_.ops()) {
      if (is_scheduled(op) || missing_[op.index] > 0 || op == first) continue;
      if (placed_->device(op) == placed_->device(first) && heads[op.index] < end) {
        choices.push_back(op);
      }
    }
    std::stable_sort(choices.begin(), choices.end(),
                     [&](OpId a, OpId b) { return placed_->tail(a) > placed_->tail(b); });
  }

  void extend() {
    if (incumbent_.over()) return;
    if (static_cast<int32_t>(order_.size()) == graph_.size()) return note();
    std::vector<Duration>& heads = heads_[order_.size()];
    find_heads(heads);
    if (placed_->lower_bound(heads) >= incumbent_.makespan()) return;
    std::vector<OpId>& choices = choices_[order_.size()];
    find_choices(heads, choices);
    for (const OpId op : choices) {
      Duration& free_at = free_at_[static_cast<size_t>(placed_->device(op))];
      const Duration free_before = free_at;
      start_[op.index] = heads[op.index];
      finish_[op.index] = free_at = heads[op.index] + placed_->run_time(op);
      order_.push_back(op);
      count_readers(op, -1);
      extend();
      count_readers(op, +1);
      order_.pop_back();
      start_[op.index] = Duration{-1};
      free_at = free_before;
    }
  }

  void count_readers(OpId op, int32_t sign) {
    for (const EdgeId edge : graph_.out_edges(op)) missing_[graph_.edge_to(edge).index] += sign;
  }

  void note() {
    Duration makespan{0};
    for (const Duration finish : finish_) makespan = std::max(makespan, finish);
    if (makespan >= incumbent_.makespan()) return;
    Plan plan{.placement = placed_->placement(),
              .priority = std::vector<int64_t>(order_.size()),
              .start = start_,
              .finish = finish_,
              .strict_order = std::vector<std::vector<OpId>>(free_at_.size()),
              .planned_makespan = makespan};
    for (const OpId op : order_) {
      plan.strict_order[static_cast<size_t>(placed_->device(op))].push_back(op);
    }
    std::vector<OpId> by_start = order_;
    std::stable_sort(by_start.begin(), by_start.end(),
                     [&](OpId a, OpId b) { return start_[a.index] < start_[b.index]; });
    for (size_t i = 0; i < by_start.size(); ++i) {
      plan.priority[by_start[i].index] = static_cast<int64_t>(i);
    }
    incumbent_.improve(makespan, std::move(plan));
  }

  const Graph& graph_;
  Incumbent& incumbent_;
  PlacedProblem* placed_ = nullptr;
  std::vector<int32_t> missing_;  // by op: producers that are not scheduled
  std::vector<Duration> start_;   // -1: not scheduled
  std::vector<Duration> finish_;
  std::vector<Duration> free_at_;             // by device
  std::vector<OpId> order_;                   // as scheduled
  std::vector<std::vector<Duration>> heads_;  // by depth, as the next
  std::vector<std::vector<OpId>> choices_;
};

}  // namespace

Result<ExactPlan> best_schedule(const Problem& problem, const Budget& budget,
                                const ExactStart& start) {
  constexpr int32_t kMostOps = 200;
  if (const Result<void> fit = require_no_contention(problem); !fit) return fit.error();
  if (const Result<void> few = require_few_ops(problem, kMostOps); !few) return few.error();
  for (const DeviceId device : problem.machine.devices()) {
    if (problem.machine.device(device).slots == 1) continue;
    return invalid_input(fmt::format("the exact method needs devices of one slot, and '{}' has {}",
                                     problem.machine.device(device).name,
                                     problem.machine.device(device).slots));
  }
  Incumbent incumbent(budget, start);
  Ordering ordering(problem, incumbent);
  Placements(problem, incumbent).visit([&](PlacedProblem& placed) { ordering.run(placed); });
  if (!incumbent.found()) {
    return failed("the budget ended before the first schedule was complete; allow more");
  }
  return incumbent.take();
}

}  // namespace tutti
