#include "tutti/search/exact/work_conserving.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "tutti/search/exact/free_of_contention.h"
#include "tutti/search/progress.h"

namespace tutti {
namespace {

class Enumeration {
 public:
  Enumeration(const Problem& problem, const Budget& budget)
      : problem_(problem),
        graph_(problem.graph),
        stop_(Progress(budget).until(1)),
        most_steps_(budget.evaluations.value_or(std::numeric_limits<int64_t>::max())) {
    const auto ops = static_cast<size_t>(graph_.size());
    const auto devices = static_cast<size_t>(problem.machine.size());
    placement_.assign(ops, DeviceId{});
    load_.assign(devices, Duration{0});
    missing_.resize(ops);
    ready_at_.resize(ops);
    start_.resize(ops);
    finish_.resize(ops);
    tail_.resize(ops);
    free_slots_.resize(devices);
    waiting_load_.resize(devices);
    alike_ = all_devices_alike();
  }

  ExactPlan run() {
    place(0, 0);
    best_.proven = !stopped_;
    best_.plan.planned_makespan = best_.makespan;
    best_.plan.start = best_start_;
    best_.plan.finish = best_finish_;
    for (const Duration start : best_start_) best_.plan.priority.push_back(start.count());
    return std::move(best_);
  }

 private:
  // Devices that can be renamed without changing anything need only be tried in order.
  bool all_devices_alike() const {
    if (problem_.costs.device_class_count() > 1 || !problem_.costs.transfers_are_uniform()) {
      return false;
    }
    for (const DeviceId device : problem_.machine.devices()) {
      if (problem_.machine.device(device).slots != problem_.machine.device(DeviceId{0}).slots) {
        return false;
      }
    }
    for (const OpId op : graph_.ops()) {
      if (problem_.devices_for(op).size() != static_cast<size_t>(problem_.machine.size())) {
        return false;
      }
    }
    for (const ValueId value : graph_.values()) {
      if (!graph_.producer(value).valid() && problem_.home(value).valid()) return false;
    }
    return true;
  }

  bool out_of_budget() {
    if (++steps_ > most_steps_) stopped_ = true;
    // The first plan is there after a few steps for each op, and is waited for.
    const bool found = best_.makespan != kNever;
    if (found && steps_ % 1024 == 0 && stop_.now()) stopped_ = true;
    return stopped_;
  }

  Duration run_time(OpId op) const { return problem_.costs.run_time(op, placement_[op.index]); }

  // As the simulator has it: one transfer per value and memory; of given times the longest counts.
  Duration transfer(EdgeId edge) const {
    const DeviceId from = placement_[graph_.edge_from(edge).index];
    const OpId reader = graph_.edge_to(edge);
    const DeviceId to = placement_[reader.index];
    const MemoryId memory = problem_.machine.memory_of(to);
    if (problem_.machine.memory_of(from) == memory) return Duration{0};
    Duration longest = problem_.costs.transfer_time(edge, from, to);
    if (!problem_.costs.has_given_transfers()) return longest;
    for (const EdgeId other : graph_.consumers(graph_.edge_value(edge))) {
      const DeviceId device = placement_[graph_.edge_to(other).index];
      if (problem_.machine.memory_of(device) != memory) continue;
      longest = std::max(longest, problem_.costs.transfer_time(other, from, device));
    }
    return longest;
  }

  void place(size_t index, int32_t used) {
    if (out_of_budget()) return;
    const auto order = graph_.topological_order();
    if (index == order.size()) {
      order_ops();
      return;
    }
    const OpId op = order[index];
    const int group = problem_.colocation_group(op);
    DeviceId bound_to{};
    for (const OpId member : group < 0 ? std::span<const OpId>() : problem_.members(group)) {
      if (placement_[member.index].valid()) bound_to = placement_[member.index];
    }
    for (const DeviceId device : problem_.devices_for(op)) {
      if (bound_to.valid() && device != bound_to) continue;
      if (alike_ && device.index > used) break;
      const Duration time = problem_.costs.run_time(op, device);
      load_[device.index] += time;
      const int slots = problem_.machine.device(device).slots;
      if (load_[device.index] / slots < best_.makespan) {
        placement_[op.index] = device;
        place(index + 1, std::max(used, device.index + 1));
        placement_[op.index] = DeviceId{};
      }
      load_[device.index] -= time;
    }
  }

  void order_ops() {
    const auto order = graph_.topological_order();
    for (auto it = order.rbegin(); it != order.rend(); ++it) {
      Duration rest{0};
      for (const ValueId value : graph_.outputs(*it)) {
        for (const EdgeId edge : graph_.consumers(value)) {
          rest = std::max(rest, transfer(edge) + tail_[graph_.edge_to(edge).index]);
        }
      }
      tail_[it->index] = run_time(*it) + rest;
    }
    running_.clear();
    std::fill(waiting_load_.begin(), waiting_load_.end(), Duration{0});
    for (const DeviceId device : problem_.machine.devices()) {
      free_slots_[device.index] = problem_.machine.device(device).slots;
    }
    left_ = graph_.size();
    for (const OpId op : graph_.ops()) {
      missing_[op.index] = 0;
      ready_at_[op.index] = Duration{0};
      waiting_load_[placement_[op.index].index] += run_time(op);
      for (const EdgeId edge : graph_.edges(op)) {
        if (graph_.edge_from(edge).valid()) {
          ++missing_[op.index];
        } else {
          ready_at_[op.index] =
              std::max(ready_at_[op.index],
                       input_arrival(problem_, graph_.edge_value(edge), placement_[op.index]));
        }
      }
      start_[op.index] = Duration{-1};
    }
    dispatch(Duration{0}, 0);
  }

  bool waits(OpId op, Duration now) const {
    return start_[op.index].count() < 0 && missing_[op.index] == 0 && ready_at_[op.index] <= now;
  }

  // Whatever is decided from here on, it will not end sooner.
  Duration least_end(Duration now) const {
    Duration end = now;
    for (const OpId op : graph_.ops()) {
      if (start_[op.index].count() >= 0) {
        end = std::max(end, start_[op.index] + tail_[op.index]);
      } else if (missing_[op.index] == 0) {
        end = std::max(end, std::max(now, ready_at_[op.index]) + tail_[op.index]);
      }
    }
    for (const DeviceId device : problem_.machine.devices()) {
      Duration work = waiting_load_[device.index];
      for (const OpId op : running_) {
        if (placement_[op.index] == device) work += finish_[op.index] - now;
      }
      end = std::max(end, now + work / problem_.machine.device(device).slots);
    }
    return end;
  }

  // A free slot of a device at or behind `device` takes each of the ops that wait for it in turn;
  // none may stay free.
  void dispatch(Duration now, int32_t device) {
    if (out_of_budget() || least_end(now) >= best_.makespan) return;
    for (; device < problem_.machine.size(); ++device) {
      if (free_slots_[device] == 0) continue;
      bool any = false;
      for (const OpId op : graph_.ops()) {
        if (placement_[op.index].index != device || !waits(op, now)) continue;
        any = true;
        --free_slots_[device];
        --left_;
        start_[op.index] = now;
        finish_[op.index] = now + run_time(op);
        waiting_load_[device] -= run_time(op);
        running_.push_back(op);
        dispatch(now, device);
        running_.pop_back();
        waiting_load_[device] += run_time(op);
        start_[op.index] = Duration{-1};
        ++left_;
        ++free_slots_[device];
      }
      if (any) return;
    }
    advance(now);
  }

  void advance(Duration now) {
    Duration next = kNever;
    for (const OpId op : running_) next = std::min(next, finish_[op.index]);
    for (const OpId op : graph_.ops()) {
      if (start_[op.index].count() < 0 && missing_[op.index] == 0 && ready_at_[op.index] > now) {
        next = std::min(next, ready_at_[op.index]);
      }
    }
    if (next == kNever) {
      if (left_ == 0) note(now);
      return;
    }
    // Ends what ends then, and remembers how to take it back.
    const std::vector<OpId> running_before = running_;
    std::vector<std::pair<OpId, Duration>> ready_before;
    std::vector<OpId> ended;
    std::erase_if(running_, [&](OpId op) {
      if (finish_[op.index] != next) return false;
      ended.push_back(op);
      return true;
    });
    for (const OpId op : ended) {
      ++free_slots_[placement_[op.index].index];
      for (const ValueId value : graph_.outputs(op)) {
        for (const EdgeId edge : graph_.consumers(value)) {
          const OpId reader = graph_.edge_to(edge);
          ready_before.emplace_back(reader, ready_at_[reader.index]);
          ready_at_[reader.index] = std::max(ready_at_[reader.index], next + transfer(edge));
          --missing_[reader.index];
        }
      }
    }
    dispatch(next, 0);
    for (auto it = ready_before.rbegin(); it != ready_before.rend(); ++it) {
      ready_at_[it->first.index] = it->second;
      ++missing_[it->first.index];
    }
    for (const OpId op : ended) --free_slots_[placement_[op.index].index];
    running_ = running_before;
  }

  void note(Duration makespan) {
    if (makespan >= best_.makespan) return;
    best_.makespan = makespan;
    best_.plan.placement = placement_;
    best_start_ = start_;
    best_finish_ = finish_;
  }

  const Problem& problem_;
  const Graph& graph_;
  Stop stop_;
  bool alike_ = false;
  bool stopped_ = false;
  int64_t steps_ = 0;
  int64_t most_steps_;
  std::vector<DeviceId> placement_;
  std::vector<Duration> load_;  // by device, of ops placed so far
  // The run of one placement.
  std::vector<int32_t> missing_;
  std::vector<Duration> ready_at_;
  std::vector<Duration> start_;  // -1: not yet
  std::vector<Duration> finish_;
  std::vector<Duration> tail_;
  std::vector<int> free_slots_;
  std::vector<Duration> waiting_load_;  // by device: run times not yet started
  std::vector<OpId> running_;
  int32_t left_ = 0;
  ExactPlan best_;
  std::vector<Duration> best_start_;
  std::vector<Duration> best_finish_;
};

}  // namespace

Result<ExactPlan> best_work_conserving(const Problem& problem, const Budget& budget) {
  const Result<void> fit = require_no_contention(problem);
  if (!fit) return fit.error();
  constexpr int32_t kMostOps = 1000;  // it goes one level deeper for each, and twice
  if (problem.graph.size() > kMostOps) {
    return invalid_input(
        fmt::format("the exact method takes up to {} ops and this graph has {}; use auto", kMostOps,
                    problem.graph.size()));
  }
  ExactPlan exact = Enumeration(problem, budget).run();
  if (exact.plan.placement.empty() && problem.graph.size() > 0) {
    return failed("the budget ended before the first plan was complete; allow more");
  }
  return exact;
}

}  // namespace tutti
