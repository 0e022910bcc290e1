// How a plan becomes StarPU tasks and messages: copies are laid out from the whole plan, the same
// at every rank, and each rank submits what it runs, sends and receives, op after op in the order
// of the graph.

#include <fmt/format.h>
#include <starpu.h>
#include <starpu_mpi.h>

#include <algorithm>
#include <numeric>

#include "tutti/base/check.h"
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
    for (const EdgeId edge : graph.edges(op)) before[op.index] += graph.edge_from(edge).valid();
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
    for (const ValueId value : graph.outputs(op)) {
      for (const EdgeId edge : graph.consumers(value)) lose(graph.edge_to(edge));
    }
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
  return check_order(graph_, plan);
}

Result<void> RankRun::prepare(const Plan& plan) {
  if (Result<void> checked = check(plan); !checked) return checked;
  lay_out(plan);
  find_priorities(plan);
  return {};
}

int32_t RankRun::add_copy(ValueId value, MemoryId memory, int32_t source) {
  const auto index = static_cast<int32_t>(copies_.size());
  copies_.push_back({.value = value,
                     .memory = memory,
                     .source = source,
                     .next = first_copy_[static_cast<size_t>(value.index)],
                     .here = place_.layout.rank_of(memory) == place_.ranks.rank()});
  first_copy_[static_cast<size_t>(value.index)] = index;
  return index;
}

int32_t RankRun::find_copy(ValueId value, MemoryId memory) const {
  int32_t copy = first_copy_[static_cast<size_t>(value.index)];
  while (copy >= 0 && copies_[static_cast<size_t>(copy)].memory != memory) {
    copy = copies_[static_cast<size_t>(copy)].next;
  }
  return copy;
}

void RankRun::lay_out(const Plan& plan) {
  first_copy_.assign(static_cast<size_t>(graph_.value_count()), -1);
  for (const ValueId value : graph_.values()) lay_out_value(value, plan);
  int64_t within = 0;
  int64_t from_others = 0;
  for (const Copy& copy : copies_) {
    if (!copy.here || copy.source < 0) continue;
    ++(copies_[static_cast<size_t>(copy.source)].here ? within : from_others);
  }
  // Addresses are given to StarPU, so that nothing may move later.
  tasks_.resize(static_cast<size_t>(graph_.size()));
  transfers_.reserve(static_cast<size_t>(within));
  arrivals_.reserve(static_cast<size_t>(from_others));
}

// Counts the uses of each copy: ops that read it, transfers and messages that leave from it.
void RankRun::lay_out_value(ValueId value, const Plan& plan) {
  const auto memory_of = [&](OpId op) {
    return place_.machine.memory_of(plan.placement[static_cast<size_t>(op.index)]);
  };
  const OpId producer = graph_.producer(value);
  const MemoryId home = producer.valid() ? memory_of(producer) : problem_.home(value);
  int32_t first = -1;
  if (home.valid()) first = add_copy(value, home, -1);
  for (const EdgeId edge : graph_.consumers(value)) {
    const OpId reader = graph_.edge_to(edge);
    int32_t copy = find_copy(value, memory_of(reader));
    if (copy < 0) {
      copy = add_copy(value, memory_of(reader), first);
      if (first >= 0) ++copies_[static_cast<size_t>(first)].uses;
    }
    ++copies_[static_cast<size_t>(copy)].uses;
  }
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

std::vector<std::byte>& RankRun::input_block(ValueId value, MemoryId memory) {
  std::vector<std::byte>& block = place_.inputs[{value, memory}];
  const auto bytes = static_cast<size_t>(std::max<int64_t>(1, graph_.bytes(value)));
  if (block.size() == bytes) return block;
  block.assign(bytes, std::byte{0});
  if (place_.options.input && graph_.bytes(value) > 0) {
    place_.options.input(value, {graph_.shape(value), graph_.dtype(value), block.data()});
  }
  return block;
}

void RankRun::register_here(int32_t index) {
  Copy& copy = copies_[static_cast<size_t>(index)];
  const auto bytes = static_cast<size_t>(std::max<int64_t>(1, graph_.bytes(copy.value)));
  if (!graph_.producer(copy.value).valid() && copy.source < 0) {
    void* data = input_block(copy.value, copy.memory).data();
    starpu_variable_data_register(&copy.handle, STARPU_MAIN_RAM, reinterpret_cast<uintptr_t>(data),
                                  bytes);
  } else {
    starpu_variable_data_register(&copy.handle, -1, 0, bytes);  // StarPU finds room when needed
  }
  if (place_.ranks.several()) starpu_mpi_data_register(copy.handle, index, place_.ranks.rank());
}

void RankRun::register_copies() {
  for (size_t i = 0; i < copies_.size(); ++i) {
    const Copy& copy = copies_[i];
    const bool result = graph_.producer(copy.value).valid() && copy.source < 0;
    if (copy.here && (copy.uses > 0 || result)) register_here(static_cast<int32_t>(i));
  }
}

// A copy is given up after its last use; results stay.
void RankRun::used(int32_t index) {
  Copy& copy = copies_[static_cast<size_t>(index)];
  if (--copy.uses > 0) return;
  starpu_data_unregister_submit(copy.handle);
  copy.handle = nullptr;
}

// Sends a value that is here to the ranks that read it.
void RankRun::send_copies(ValueId value) {
  for (int32_t index = first_copy_[static_cast<size_t>(value.index)]; index >= 0;
       index = copies_[static_cast<size_t>(index)].next) {
    const Copy& copy = copies_[static_cast<size_t>(index)];
    if (copy.here || copy.source < 0 || !copies_[static_cast<size_t>(copy.source)].here) continue;
    int priority = std::numeric_limits<int>::min();
    for (const EdgeId edge : graph_.consumers(value)) {
      priority = std::max(priority, priorities_[static_cast<size_t>(graph_.edge_to(edge).index)]);
    }
    starpu_mpi_isend_detached_prio(copies_[static_cast<size_t>(copy.source)].handle,
                                   place_.layout.rank_of(copy.memory), index, priority,
                                   MPI_Comm_f2c(place_.ranks.communicator()), nullptr, nullptr);
    used(copy.source);
  }
}

// Gets a copy for its first reader: from another memory of this rank, or from another rank.
void RankRun::bring(int32_t index) {
  Copy& copy = copies_[static_cast<size_t>(index)];
  if (copy.source < 0 || copy.brought) return;
  copy.brought = true;
  const Copy& source = copies_[static_cast<size_t>(copy.source)];
  if (!source.here) {
    arrivals_.push_back({.run = this, .copy = index});
    const auto arrived = [](void* argument) {
      auto& arrival = *static_cast<Arrival*>(argument);
      arrival.time = Duration(static_cast<int64_t>(starpu_timing_now() * 1e3));
      arrival.run->place_.ranks.pulse().events.fetch_add(1);
    };
    starpu_mpi_irecv_detached(copy.handle, place_.layout.rank_of(source.memory), index,
                              MPI_Comm_f2c(place_.ranks.communicator()), arrived,
                              &arrivals_.back());
    return;
  }
  transfers_.push_back({.run = this, .placed = {}, .copy = index});
  Task& task = transfers_.back();
  // A device that works on that memory copies it: values come to where they are read.
  for (const DeviceId device : place_.layout.devices_of(place_.ranks.rank())) {
    if (place_.machine.memory_of(device) == copy.memory) task.placed.device = device;
  }
  std::vector<starpu_data_descr> data = {{source.handle, STARPU_R}, {copy.handle, STARPU_W}};
  submit(task, session_.codelet("transfer"), data, 0);
  used(copy.source);
}

void RankRun::submit_op(OpId op, const Plan& plan) {
  const MemoryId memory = place_.machine.memory_of(plan.placement[static_cast<size_t>(op.index)]);
  Task& task = tasks_[static_cast<size_t>(op.index)];
  task.run = this;
  task.placed = {.device = plan.placement[static_cast<size_t>(op.index)],
                 .op = op,
                 .priority = plan.priority[static_cast<size_t>(op.index)]};
  if (!session_.scheduler().empty()) task.placed.device = {};
  std::vector<int32_t> read;
  std::vector<starpu_data_descr> data;
  bool twice = false;
  for (const ValueId value : graph_.operands(op)) {
    const int32_t copy = find_copy(value, memory);
    const auto found = std::find(read.begin(), read.end(), copy);
    task.buffers.push_back(static_cast<int32_t>(found - read.begin()));
    if (found != read.end()) {
      twice = true;
      continue;
    }
    read.push_back(copy);
    bring(copy);
    data.push_back({copies_[static_cast<size_t>(copy)].handle, STARPU_R});
  }
  if (!twice) task.buffers.clear();
  for (const ValueId value : graph_.outputs(op)) {
    data.push_back({copies_[static_cast<size_t>(find_copy(value, memory))].handle, STARPU_W});
  }
  submit(task, session_.codelet(graph_.op_kind_name(op)), data,
         priorities_[static_cast<size_t>(op.index)]);
  for (const ValueId value : graph_.operands(op)) used(find_copy(value, memory));
  for (const ValueId value : graph_.outputs(op)) send_copies(value);
}

void RankRun::submit(Task& task, starpu_codelet* codelet, std::vector<starpu_data_descr>& data,
                     int priority) {
  const auto count = static_cast<int>(data.size());
  const bool several = place_.ranks.several();
  const int rank = place_.ranks.rank();
  const MPI_Comm world = several ? MPI_Comm_f2c(place_.ranks.communicator()) : MPI_COMM_NULL;
  task.task = several ? starpu_mpi_task_build(world, codelet, STARPU_EXECUTE_ON_NODE, rank,
                                              STARPU_DATA_MODE_ARRAY, data.data(), count, 0)
                      : starpu_task_build(codelet, STARPU_DATA_MODE_ARRAY, data.data(), count, 0);
  TUTTI_CHECK(task.task != nullptr);
  task.task->cl_arg = &task;  // there was none before
  task.task->cl_arg_size = sizeof(task);
  task.task->cl_arg_free = 0;  // StarPU-MPI thinks that it is its own
  task.task->priority = priority;
  task.task->destroy = 0;  // its times are read at the end
  if (session_.scheduler().empty()) task.task->sched_data = &task.placed;
  TUTTI_CHECK(starpu_task_submit(task.task) == 0);
  if (several) {
    starpu_mpi_task_post_build(world, codelet, STARPU_EXECUTE_ON_NODE, rank, STARPU_DATA_MODE_ARRAY,
                               data.data(), count, 0);
  }
}

Result<void> RankRun::run(const Plan& plan) {
  if (session_.scheduler().empty()) place_.queues.begin(plan.strict_order);
  Pulse& pulse = place_.ranks.pulse();
  register_copies();
  place_.ranks.sync_clock();
  place_.ranks.barrier();
  pulse.events.fetch_add(1);
  pulse.waiting.store(true);
  began_ = anchor();
  for (const ValueId value : graph_.values()) {
    if (!graph_.producer(value).valid()) send_copies(value);
  }
  for (const OpId op : graph_.topological_order()) {
    const DeviceId device = plan.placement[static_cast<size_t>(op.index)];
    if (place_.layout.rank_of(device) == place_.ranks.rank()) submit_op(op, plan);
  }
  if (place_.ranks.several()) {
    starpu_mpi_wait_for_all(MPI_Comm_f2c(place_.ranks.communicator()));
  } else {
    starpu_task_wait_for_all();
  }
  pulse.waiting.store(false);
  ended_ = anchor();
  const MutexLock lock(mutex_);
  if (error_) return *error_;
  return {};
}

}  // namespace tutti
