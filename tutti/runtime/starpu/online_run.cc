#include "tutti/runtime/starpu/online_run.h"

#include <fmt/format.h>
#include <starpu.h>

#include <algorithm>
#include <limits>

#include "tutti/base/check.h"
#include "tutti/plan/world/online_choices.h"

namespace tutti {

OnlineRun::OnlineRun(const RankRun::Place& place, Session& session, const Problem& problem,
                     Policy& policy)
    : base_(place, session, problem), policy_(policy) {
  const Graph& graph = problem.graph;
  const auto ops = static_cast<size_t>(graph.size());
  base_.on_end_ = [this](RankRun::Task& task) {
    const std::lock_guard lock(mutex_);
    completed(task);
  };
  placement_.resize(ops);
  finish_.assign(ops, Duration{0});
  on_.resize(static_cast<size_t>(problem.machine.size()));
  for (const OpId op : graph.ops()) {
    unmade_.push_back(graph.made_operands(op));
    if (unmade_.back() == 0) undecided_.push_back(op);
  }
}

Duration OnlineRun::now() const {
  return base_.place_.ranks.now() - base_.began_;
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
RankRun::Copy& OnlineRun::copy_in(ValueId value, MemoryId memory) {
  if (RankRun::Copy* found = base_.find_copy(value, memory)) return *found;
  const OpId producer = base_.graph_.producer(value);
  const MemoryId home = producer.valid()
                            ? base_.place_.machine.memory_of(placement_[producer.index])
                            : base_.problem_.home(value);
  RankRun::Copy* source = nullptr;
  if (home.valid() && home != memory) source = &copy_in(value, home);
  RankRun::Copy& copy = base_.add_copy(value, memory, source);
  if (source == nullptr) {
    base_.provide_input(copy);  // what an op made has had its copy since the op was placed
    copy.there = true;
    return copy;
  }
  RankRun::Task& task = base_.transfers_.emplace_back();
  task.run = &base_;
  for (const DeviceId device : base_.place_.machine.devices()) {
    if (base_.place_.machine.memory_of(device) == memory) task.placed.device = device;
  }
  task.codelet = base_.session_.codelet("transfer");
  read(task, *source);
  task.values.push_back(&copy);
  start(task);
  return copy;
}

// Bytes stay until the end of the run: what is placed later may read them.
void OnlineRun::read(RankRun::Task& task, RankRun::Copy& copy) {
  task.values.push_back(&copy);
  ++task.operands;
  copy.uses.store(std::numeric_limits<int32_t>::max());
  if (copy.there) return;
  copy.readers.push_back(&task);
  task.missing.fetch_add(1);
}

void OnlineRun::start(RankRun::Task& task) {
  base_.left_.fetch_add(1);
  if (task.missing.load() == 0) base_.submit(task);
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
  for (const ValueId value : graph.operands(op)) read(task, copy_in(value, memory));
  for (const ValueId value : graph.outputs(op)) {
    task.values.push_back(&base_.add_copy(value, memory, nullptr));
  }
  task.codelet = base_.session_.codelet(graph.op_kind_name(op));
  start(task);
}

void OnlineRun::completed(RankRun::Task& task) {
  const OpId op = task.placed.op;
  if (op.valid()) {
    ++ended_ops_;
    std::erase(on_[placement_[op.index].index], op);
    finish_[op.index] = now();
    for (const EdgeId edge : base_.graph_.out_edges(op)) {
      const OpId reader = base_.graph_.edge_to(edge);
      if (--unmade_[reader.index] == 0) undecided_.push_back(reader);
    }
  }
  if (!undecided_.empty()) decide();
  base_.ended(task);
  if (base_.left_.load() == 0) ended_.notify_all();
}

Result<void> OnlineRun::run() {
  for (const OpId op : base_.graph_.ops()) {
    for (const DeviceId device : base_.problem_.devices_for(op)) {
      if (Result<void> checked = base_.check_code(op, device); !checked) return checked;
    }
  }
  base_.place_.queues.begin({});
  base_.began_ = base_.place_.ranks.now();
  {
    std::unique_lock lock(mutex_);
    if (!undecided_.empty()) decide();
    ended_.wait(lock, [this] { return base_.left_.load() == 0; });
  }
  starpu_task_wait_for_all();
  const MutexLock lock(base_.mutex_);
  if (base_.error_) return *base_.error_;
  if (ended_ops_ == base_.graph_.size()) return {};
  return failed(
      fmt::format("the policy chose to wait with {} ops ready and nothing running: the run cannot "
                  "go on",
                  undecided_.size()));
}

Trace OnlineRun::trace() const {
  const RankRecords records = base_.records();
  Trace trace = to_trace(base_.problem_, /*scheduler=*/"", {&records, 1});
  trace.placed = placed_;
  trace.pauses = pauses_;
  return trace;
}

}  // namespace tutti
