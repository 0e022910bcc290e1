#include "tutti/search/exact/work_conserving.h"

#include <algorithm>
#include <vector>

#include "tutti/search/exact/free_of_contention.h"
#include "tutti/search/exact/placements.h"

namespace tutti {
namespace {

// All work-conserving runs of one placement after another. Time goes on as in the simulator: at one
// instant everything that ends there ends first, then every device that is free takes an op that
// waits for it, if there is one. An op that takes no time ends at the instant it starts, and what
// follows from that comes after all devices have been looked at.
class Dispatching {
 public:
  Dispatching(const Problem& problem, Incumbent& incumbent)
      : problem_(problem), graph_(problem.graph), incumbent_(incumbent) {
    const auto ops = static_cast<size_t>(graph_.size());
    const auto devices = static_cast<size_t>(problem.machine.size());
    missing_.resize(ops);
    ready_at_.resize(ops);
    start_.resize(ops);
    finish_.resize(ops);
    free_slots_.resize(devices);
    waiting_load_.resize(devices);
  }

  void run(const PlacedProblem& placed) {
    placed_ = &placed;
    started_.clear();
    running_.clear();
    std::fill(waiting_load_.begin(), waiting_load_.end(), Duration{0});
    for (const DeviceId device : problem_.machine.devices()) {
      free_slots_[device.index] = problem_.machine.device(device).slots;
    }
    for (const OpId op : graph_.ops()) {
      missing_[op.index] = graph_.made_operands(op);
      ready_at_[op.index] = placed.inputs_at(op);
      waiting_load_[placed.device(op)] += placed.run_time(op);
      start_[op.index] = Duration{-1};
    }
    at_the_beginning_ = true;
    dispatch(Duration{0}, 0);
  }

 private:
  bool is_there(OpId op, Duration now) const {
    if (at_the_beginning_ && placed_->has_travelling_input(op)) return false;
    return ready_at_[op.index] <= now;
  }

  bool waits(OpId op, Duration now) const {
    return start_[op.index].count() < 0 && missing_[op.index] == 0 && is_there(op, now);
  }

  // Whatever is decided from here on, it will not end sooner.
  Duration least_end(Duration now) const {
    Duration end = now;
    for (const OpId op : graph_.ops()) {
      if (start_[op.index].count() >= 0) {
        end = std::max(end, start_[op.index] + placed_->tail(op));
      } else if (missing_[op.index] == 0) {
        end = std::max(end, std::max(now, ready_at_[op.index]) + placed_->tail(op));
      }
    }
    for (const DeviceId device : problem_.machine.devices()) {
      Duration work = waiting_load_[device.index];
      for (const OpId op : running_) {
        if (placed_->device(op) == device.index) work += finish_[op.index] - now;
      }
      end = std::max(end, now + work / problem_.machine.device(device).slots);
    }
    return end;
  }

  // A free slot of a device at or behind `device` takes each of the ops that wait for it in turn;
  // none may stay free.
  void dispatch(Duration now, int32_t device) {
    if (incumbent_.over() || least_end(now) >= incumbent_.makespan()) return;
    for (; device < problem_.machine.size(); ++device) {
      if (free_slots_[device] == 0) continue;
      bool any = false;
      for (const OpId op : graph_.ops()) {
        if (placed_->device(op) != device || !waits(op, now)) continue;
        any = true;
        --free_slots_[device];
        start_[op.index] = now;
        finish_[op.index] = now + placed_->run_time(op);
        waiting_load_[device] -= placed_->run_time(op);
        running_.push_back(op);
        started_.push_back(op);
        dispatch(now, device);
        started_.pop_back();
        running_.pop_back();
        waiting_load_[device] += placed_->run_time(op);
        start_[op.index] = Duration{-1};
        ++free_slots_[device];
      }
      if (any) return;
    }
    advance(now);
  }

  // When something happens next; kNever if nothing does.
  Duration next_instant(Duration now) const {
    Duration next = kNever;
    for (const OpId op : running_) next = std::min(next, finish_[op.index]);
    for (const OpId op : graph_.ops()) {
      if (start_[op.index].count() >= 0 || missing_[op.index] > 0 || is_there(op, now)) continue;
      next = std::min(next, ready_at_[op.index]);
    }
    return next;
  }

  void advance(Duration now) {
    const Duration next = next_instant(now);
    if (next == kNever) {
      if (static_cast<int32_t>(started_.size()) == graph_.size()) note(now);
      return;
    }
    // Ends what ends then, and remembers how to take it back.
    const bool was_at_the_beginning = at_the_beginning_;
    at_the_beginning_ = false;
    const std::vector<OpId> running_before = running_;
    std::vector<std::pair<OpId, Duration>> ready_before;
    std::vector<OpId> ended;
    std::erase_if(running_, [&](OpId op) {
      if (finish_[op.index] != next) return false;
      ended.push_back(op);
      return true;
    });
    for (const OpId op : ended) {
      ++free_slots_[placed_->device(op)];
      for (const EdgeId edge : graph_.out_edges(op)) {
        const OpId reader = graph_.edge_to(edge);
        ready_before.emplace_back(reader, ready_at_[reader.index]);
        ready_at_[reader.index] = std::max(ready_at_[reader.index], next + placed_->transfer(edge));
        --missing_[reader.index];
      }
    }
    dispatch(next, 0);
    for (auto it = ready_before.rbegin(); it != ready_before.rend(); ++it) {
      ready_at_[it->first.index] = it->second;
      ++missing_[it->first.index];
    }
    for (const OpId op : ended) --free_slots_[placed_->device(op)];
    running_ = running_before;
    at_the_beginning_ = was_at_the_beginning;
  }

  void note(Duration makespan) {
    if (makespan >= incumbent_.makespan()) return;
    Plan plan{.placement = placed_->placement(),
              .priority = std::vector<int64_t>(started_.size()),
              .start = start_,
              .finish = finish_,
              .planned_makespan = makespan};
    // Not the starts: of ops that start together one that takes no time may have to be the first.
    for (size_t i = 0; i < started_.size(); ++i) {
      plan.priority[started_[i].index] = static_cast<int64_t>(i);
    }
    incumbent_.improve(makespan, std::move(plan));
  }

  const Problem& problem_;
  const Graph& graph_;
  Incumbent& incumbent_;
  const PlacedProblem* placed_ = nullptr;
  bool at_the_beginning_ = true;  // nothing has ended or arrived yet
  std::vector<int32_t> missing_;  // by op: operands that are not made yet
  std::vector<Duration> ready_at_;
  std::vector<Duration> start_;  // -1: not yet
  std::vector<Duration> finish_;
  std::vector<int> free_slots_;
  std::vector<Duration> waiting_load_;  // by device: run times not yet started
  std::vector<OpId> running_;
  std::vector<OpId> started_;  // in that order
};

}  // namespace

Result<ExactPlan> best_work_conserving(const Problem& problem, const Budget& budget,
                                       const ExactStart& start) {
  if (const Result<void> fit = require_no_contention(problem); !fit) return fit.error();
  if (const Result<void> few = require_few_ops(problem, kMostExactOps); !few) return few.error();
  Incumbent incumbent(budget, start);
  Dispatching dispatching(problem, incumbent);
  Placements(problem, incumbent).visit([&](PlacedProblem& placed) { dispatching.run(placed); });
  if (!incumbent.found()) {
    return failed("the budget ended before the first plan was complete; allow more");
  }
  return incumbent.take();
}

}  // namespace tutti
