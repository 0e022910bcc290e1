#include "tutti/runtime/starpu/online_run.h"

#include <fmt/format.h>
#include <starpu.h>

#include <algorithm>

#include "tutti/base/check.h"
#include "tutti/plan/world/online_choices.h"

namespace tutti {

OnlineRun::OnlineRun(const RankRun::Place& place, Session& session, const Problem& problem,
                     Policy& policy)
    : base_(place, session, problem), policy_(policy) {
  const Graph& graph = problem.graph;
  const auto ops = static_cast<size_t>(graph.size());
  base_.first_copy_.assign(static_cast<size_t>(graph.value_count()), -1);
  base_.tasks_.resize(ops);
  // StarPU and its threads look at these while others are added, so that nothing may move: an edge
  // needs one transfer at most.
  base_.copies_.reserve(static_cast<size_t>(graph.value_count() + graph.edge_count()));
  base_.transfers_.reserve(static_cast<size_t>(graph.edge_count()));
  placement_.resize(ops);
  finish_.assign(ops, Duration{0});
  on_.resize(static_cast<size_t>(problem.machine.size()));
  for (const OpId op : graph.ops()) {
    int32_t unmade = 0;
    for (const EdgeId edge : graph.edges(op)) unmade += graph.edge_from(edge).valid();
    unmade_.push_back(unmade);
    if (unmade == 0) undecided_.push_back(op);
  }
}

Duration OnlineRun::now() const {
  return base_.place_.ranks.now() - base_.began_.common;
}

// What is placed there and has not ended, as long as its costs say, over the slots.
Duration OnlineRun::free_at(DeviceId device) const {
  Duration work{0};
  for (const OpId op : on_[device.index]) work += base_.problem_.costs.run_time(op, device);
  return now() + work / base_.place_.machine.device(device).slots;
}

std::span<const DeviceId> OnlineRun::devices_for(OpId op) const {
  return online_choices(*this, op, /*bytes_at_start=*/0, choices_);  // memories have no books here
}

int64_t OnlineRun::memory_left(DeviceId device) const {
  return base_.problem_.memory_limit(base_.place_.machine.memory_of(device));
}

void OnlineRun::decide() {
  if (paused_) {
    pauses_.push_back({.start = *paused_, .finish = now()});
    paused_.reset();
  }
  while (!undecided_.empty() && !base_.over()) {
    const std::optional<OpId> op = policy_.select->select(*this);
    if (!op) {
      paused_ = now();  // until something happens
      return;
    }
    place(*op, policy_.place->place(*this, *op));
  }
}

// The value's copy in a memory, with the transfer that brings it if it is new.
int32_t OnlineRun::copy_in(ValueId value, MemoryId memory) {
  int32_t copy = base_.find_copy(value, memory);
  if (copy >= 0) return copy;
  const Graph& graph = base_.graph_;
  const OpId producer = graph.producer(value);
  const MemoryId home = producer.valid()
                            ? base_.place_.machine.memory_of(placement_[producer.index])
                            : base_.problem_.home(value);
  const int32_t source = !home.valid() || home == memory ? -1 : copy_in(value, home);
  copy = base_.add_copy(value, memory, source);
  base_.register_here(copy);
  if (source < 0) return copy;
  base_.transfers_.push_back({.run = &base_, .placed = {}, .copy = copy});
  RankRun::Task& task = base_.transfers_.back();
  for (const DeviceId device : base_.place_.machine.devices()) {
    if (base_.place_.machine.memory_of(device) == memory) task.placed.device = device;
  }
  std::vector<starpu_data_descr> data = {
      {base_.copies_[static_cast<size_t>(source)].handle, STARPU_R},
      {base_.copies_[static_cast<size_t>(copy)].handle, STARPU_W}};
  submit(task, base_.session_.codelet("transfer"), data);
  return copy;
}

void OnlineRun::place(OpId op, DeviceId device) {
  const auto found = std::find(undecided_.begin(), undecided_.end(), op);
  TUTTI_CHECK(found != undecided_.end());
  undecided_.erase(found);
  placement_[op.index] = device;
  on_[device.index].push_back(op);
  finish_[op.index] = free_at(device);
  placed_.push_back({.op = op, .time = now()});
  const Graph& graph = base_.graph_;
  const MemoryId memory = base_.place_.machine.memory_of(device);
  RankRun::Task& task = base_.tasks_[op.index];
  task.run = &base_;
  task.placed = {.device = device, .op = op, .priority = static_cast<int64_t>(placed_.size())};
  std::vector<int32_t> read;
  std::vector<starpu_data_descr> data;
  for (const ValueId value : graph.operands(op)) {
    const int32_t copy = copy_in(value, memory);
    const auto at = std::find(read.begin(), read.end(), copy);
    task.buffers.push_back(static_cast<int32_t>(at - read.begin()));
    if (at != read.end()) continue;
    read.push_back(copy);
    data.push_back({base_.copies_[static_cast<size_t>(copy)].handle, STARPU_R});
  }
  for (const ValueId value : graph.outputs(op)) {
    const int32_t copy = base_.add_copy(value, memory, -1);
    base_.register_here(copy);
    data.push_back({base_.copies_[static_cast<size_t>(copy)].handle, STARPU_W});
  }
  submit(task, base_.session_.codelet(graph.op_kind_name(op)), data);
}

void OnlineRun::submit(RankRun::Task& task, starpu_codelet* codelet,
                       std::vector<starpu_data_descr>& data) {
  ++in_flight_;
  told_.push_back({this, &task});
  task.task = starpu_task_build(codelet, STARPU_DATA_MODE_ARRAY, data.data(),
                                static_cast<int>(data.size()), 0);
  TUTTI_CHECK(task.task != nullptr);
  task.task->cl_arg = &task;
  task.task->cl_arg_size = sizeof(task);
  task.task->destroy = 0;
  task.task->sched_data = &task.placed;
  task.task->callback_func = task_ended;
  task.task->callback_arg = &told_.back();
  TUTTI_CHECK(starpu_task_submit(task.task) == 0);
}

void OnlineRun::task_ended(void* argument) {
  const Told& told = *static_cast<const Told*>(argument);
  const std::lock_guard lock(told.run->mutex_);
  told.run->completed(*told.task);
}

void OnlineRun::completed(RankRun::Task& task) {
  --in_flight_;
  const OpId op = task.placed.op;
  if (op.valid()) {
    ++ended_ops_;
    std::erase(on_[placement_[op.index].index], op);
    finish_[op.index] = now();
    for (const ValueId value : base_.graph_.outputs(op)) {
      for (const EdgeId edge : base_.graph_.consumers(value)) {
        const OpId reader = base_.graph_.edge_to(edge);
        if (--unmade_[reader.index] == 0) undecided_.push_back(reader);
      }
    }
  }
  if (!undecided_.empty()) decide();
  if (in_flight_ == 0) ended_.notify_all();
}

Result<void> OnlineRun::run() {
  for (const OpId op : base_.graph_.ops()) {
    for (const DeviceId device : base_.problem_.devices_for(op)) {
      if (Result<void> checked = base_.check_code(op, device); !checked) return checked;
    }
  }
  base_.place_.queues.begin({});
  base_.began_ = base_.anchor();
  {
    std::unique_lock lock(mutex_);
    if (!undecided_.empty()) decide();
    ended_.wait(lock, [this] { return in_flight_ == 0; });
  }
  starpu_task_wait_for_all();
  base_.ended_ = base_.anchor();
  const MutexLock lock(base_.mutex_);
  if (base_.error_) return *base_.error_;
  if (ended_ops_ == base_.graph_.size()) return {};
  return failed(
      fmt::format("the policy chose to wait with {} ops ready and nothing running: the run cannot "
                  "go on",
                  undecided_.size()));
}

Trace OnlineRun::trace() const {
  Trace trace = to_trace(base_.problem_, /*scheduler=*/"", {base_.records()});
  trace.placed = placed_;
  trace.pauses = pauses_;
  return trace;
}

}  // namespace tutti
