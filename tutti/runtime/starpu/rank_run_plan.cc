// How a plan becomes tasks and messages: copies are laid out from the whole plan, the same at every
// rank; each rank counts what its own ops wait for and begins with those that wait for nothing.

#include <fmt/format.h>
#include <starpu.h>

#include <algorithm>
#include <numeric>

#include "tutti/base/check.h"
#include "tutti/runtime/no_streams.h"
#include "tutti/runtime/starpu/rank_run.h"

namespace tutti {
namespace {

// A strict order must name every op once, where it is placed, and not contradict the graph: a run
// would wait for ever.
Result<void> check_order(const Graph& graph, const Plan& plan) {
  if (plan.strict_order.empty()) return {};
  std::vector<int32_t> before(static_cast<size_t>(graph.size()), 0);  // what it waits for
  std::vector<OpId> next(static_cast<size_t>(graph.size()));
  std::vector<int32_t> named(static_cast<size_t>(graph.size()), 0);
  for (size_t device = 0; device < plan.strict_order.size(); ++device) {
    const std::vector<OpId>& order = plan.strict_order[device];
    for (size_t i = 0; i < order.size(); ++i) {
      const OpId op = order[i];
      const bool good = op.valid() && op.index < graph.size() &&
                        static_cast<size_t>(plan.placement[op.index].index) == device &&
                        ++named[op.index] == 1;
      if (!good)
        return invalid_input(
            "the plan's strict order does not name each op once, on the "
            "device where it is placed");
      if (i == 0) continue;
      next[order[i - 1].index] = op;
      ++before[op.index];
    }
  }
  std::vector<OpId> free;
  for (const OpId op : graph.ops()) {
    if (named[op.index] == 0) {
      return invalid_input(
          fmt::format("the plan's strict order leaves out op '{}'", graph.op_name(op)));
    }
    before[op.index] += graph.made_operands(op);
    if (before[op.index] == 0) free.push_back(op);
  }
  int32_t ended = 0;
  const auto lose = [&](OpId op) {
    if (--before[op.index] == 0) free.push_back(op);
  };
  while (!free.empty()) {
    const OpId op = free.back();
    free.pop_back();
    ++ended;
    if (next[op.index].valid()) lose(next[op.index]);
    for (const EdgeId edge : graph.out_edges(op)) lose(graph.edge_to(edge));
  }
  if (ended == graph.size()) return {};
  return infeasible(
      fmt::format("the plan's strict order contradicts the graph: {} ops could never start",
                  graph.size() - ended));
}

}  // namespace

Result<void> RankRun::check(const Plan& plan) const {
  const auto ops = static_cast<size_t>(graph_.size());
  if (plan.placement.size() != ops || plan.priority.size() != ops) {
    return invalid_input(
        fmt::format("the plan places {} ops and gives {} priorities, but graph '{}' has {} ops",
                    plan.placement.size(), plan.priority.size(), graph_.name(), ops));
  }
  const auto devices = static_cast<size_t>(place_.machine.size());
  if (!plan.strict_order.empty() && plan.strict_order.size() != devices) {
    return invalid_input(
        fmt::format("the plan's strict order is of {} devices, but machine '{}' has {}",
                    plan.strict_order.size(), place_.machine.name(), devices));
  }
  for (const OpId op : graph_.ops()) {
    const DeviceId device = plan.placement[static_cast<size_t>(op.index)];
    if (!device.valid() || device.index >= place_.machine.size()) {
      return invalid_input(
          fmt::format("the plan places op '{}' on device {}, but machine '{}' has "
                      "{} devices",
                      graph_.op_name(op), device.index, place_.machine.name(), devices));
    }
    if (Result<void> checked = check_code(op, device); !checked) return checked;
  }
  if (Result<void> kept = require_no_streams(problem_, plan, "the StarPU runtime"); !kept)
    return kept;
  return check_order(graph_, plan);
}

Result<void> RankRun::prepare(const Plan& plan) {
  if (Result<void> checked = check(plan); !checked) return checked;
  plan_ = &plan;
  find_priorities(plan);
  lay_out(plan);
  if (place_.messages == nullptr) return {};
  const int64_t most = place_.messages->most_tag();
  if (static_cast<int64_t>(copies_.size()) <= most) return {};
  return invalid_input(fmt::format(
      "the plan has {} copies of values, and this MPI can tell {} messages apart; use an MPI with "
      "greater tags, or a graph of fewer and larger ops",
      copies_.size(), most));
}

void RankRun::lay_out(const Plan& plan) {
  for (const ValueId value : graph_.values()) lay_out_value(value, plan);
  for (const OpId op : graph_.ops()) {
    if (place_.layout.rank_of(plan.placement[static_cast<size_t>(op.index)]) ==
        place_.ranks.rank()) {
      add_op(op, plan);
    }
  }
  for (Copy& one : copies_) {
    if (one.source == nullptr) continue;
    if (one.source->here && one.here) add_transfer(one);
    if (one.source->here && !one.here) one.source->uses.fetch_add(1);
    if (!one.source->here && one.here) ++from_others_;
  }
  for (Copy& one : copies_) {
    const bool given = one.here && one.source == nullptr && !graph_.producer(one.value).valid();
    if (given && one.uses.load() > 0) provide_input(one);
  }
}

// Where the value is made or given, and where it is read.
void RankRun::lay_out_value(ValueId value, const Plan& plan) {
  const auto memory_of = [&](OpId op) {
    return place_.machine.memory_of(plan.placement[static_cast<size_t>(op.index)]);
  };
  const OpId producer = graph_.producer(value);
  const MemoryId home = producer.valid() ? memory_of(producer) : problem_.home(value);
  Copy* first = home.valid() ? &add_copy(value, home, nullptr) : nullptr;
  for (const EdgeId edge : graph_.consumers(value)) {
    const MemoryId memory = memory_of(graph_.edge_to(edge));
    if (find_copy(value, memory) == nullptr) add_copy(value, memory, first);
  }
}

void RankRun::add_transfer(Copy& to) {
  Task& task = transfers_.emplace_back();
  task.run = this;
  // A device that works on that memory copies it: values come to where they are read.
  for (const DeviceId device : place_.layout.devices_of(place_.ranks.rank())) {
    if (place_.machine.memory_of(device) == to.memory) task.placed.device = device;
  }
  task.codelet = session_.codelet("transfer");
  task.values = {to.source, &to};
  task.operands = 1;
  task.missing = 1;
  to.source->readers.push_back(&task);
  to.source->uses.fetch_add(1);
}

void RankRun::add_op(OpId op, const Plan& plan) {
  const DeviceId device = plan.placement[static_cast<size_t>(op.index)];
  const MemoryId memory = place_.machine.memory_of(device);
  Task& task = tasks_[static_cast<size_t>(op.index)];
  task.run = this;
  task.placed = {
      .device = device, .op = op, .priority = plan.priority[static_cast<size_t>(op.index)]};
  if (!session_.scheduler().empty()) task.placed.device = {};
  task.codelet = session_.codelet(graph_.op_kind_name(op));
  task.priority = priorities_[static_cast<size_t>(op.index)];
  task.operands = graph_.operands(op).size();
  task.values.reserve(task.operands + graph_.outputs(op).size());
  for (const ValueId value : graph_.operands(op)) {
    Copy* copy = find_copy(value, memory);
    task.values.push_back(copy);
    copy->readers.push_back(&task);  // twice if it is read twice, and counted as often
    copy->uses.fetch_add(1);
  }
  for (const ValueId value : graph_.outputs(op)) task.values.push_back(find_copy(value, memory));
  task.missing = static_cast<int32_t>(task.operands);
}

// Larger numbers go first in StarPU, and some schedulers know only a few of them.
void RankRun::find_priorities(const Plan& plan) {
  std::vector<int32_t> order(static_cast<size_t>(graph_.size()));
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
    return std::pair(plan.priority[static_cast<size_t>(a)], a) <
           std::pair(plan.priority[static_cast<size_t>(b)], b);
  });
  const int64_t least = starpu_sched_get_min_priority();
  const int64_t most = starpu_sched_get_max_priority();
  const int64_t levels = most - least + 1;
  const auto count = static_cast<int64_t>(order.size());
  priorities_.resize(order.size());
  for (int64_t i = 0; i < count; ++i) {
    const int64_t level = levels >= count ? i : i * levels / count;
    priorities_[static_cast<size_t>(order[static_cast<size_t>(i)])] =
        static_cast<int>(std::max(least, std::min(most, count) - level));
  }
}

Result<void> RankRun::run(const Plan& plan) {
  if (session_.scheduler().empty()) place_.queues.begin(plan.strict_order);
  Pulse& pulse = place_.ranks.pulse();
  std::vector<Task*> ready;
  int64_t ops = 0;
  for (Task& task : tasks_) {
    if (task.run == nullptr) continue;  // another rank's
    ++ops;
    if (task.operands == 0) ready.push_back(&task);
  }
  // The one more is let go when everything has been asked for.
  left_.store(ops + static_cast<int64_t>(transfers_.size()) + 1);
  if (place_.messages != nullptr) place_.messages->begin(*this, from_others_);
  place_.ranks.sync_clock();
  place_.ranks.barrier();
  pulse.events.fetch_add(1);
  pulse.waiting.store(true);
  began_ = place_.ranks.now();
  for (Copy& one : copies_) {
    if (one.kept) arrive(one, ready);
  }
  submit_all(ready);
  count_down(1);
  {
    std::unique_lock lock(done_mutex_);
    done_.wait(lock, [this] { return left_.load() == 0; });
  }
  if (place_.messages != nullptr) place_.messages->finish();
  starpu_task_wait_for_all();  // callbacks of the last ones have returned
  pulse.waiting.store(false);
  const MutexLock lock(mutex_);
  if (error_) return *error_;
  return {};
}

}  // namespace tutti
