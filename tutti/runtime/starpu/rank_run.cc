// What a rank's run does in all modes: make a task of an op, run it, and say afterwards what
// happened.

#include "tutti/runtime/starpu/rank_run.h"

#include <fmt/format.h>
#include <starpu.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "tutti/base/check.h"

namespace tutti {

RankRun::RankRun(const Place& place, Session& session, const Problem& problem)
    : place_(place),
      session_(session),
      problem_(problem),
      graph_(problem.graph),
      first_copy_(static_cast<size_t>(graph_.value_count()), nullptr),
      tasks_(static_cast<size_t>(graph_.size())),
      on_end_([this](Task& task) { ended(task); }) {}

RankRun::~RankRun() {
  for (Copy& copy : copies_) {
    if (!copy.kept) std::free(copy.bytes);
  }
}

const OpTable::Entry* RankRun::code(OpId op, DeviceId device) const {
  return place_.ops.find(graph_.op_kind_name(op), place_.machine.device(device).kind);
}

Result<void> RankRun::check_code(OpId op, DeviceId device) const {
  if (code(op, device) != nullptr) return {};
  return invalid_input(fmt::format(
      "op '{}' is of kind '{}', for which there is no code on device '{}' of kind '{}'; add some "
      "to the OpTable",
      graph_.op_name(op), graph_.op_kind_name(op), place_.machine.device(device).name,
      place_.machine.device(device).kind));
}

void RankRun::fail(Error error) {
  const MutexLock lock(mutex_);
  if (!error_) {
    error_ = std::move(error);
    failed_at_ = place_.ranks.now();
  }
  failed_.store(true);
}

// The most urgent first: a worker may take the first one before the second is there.
void RankRun::submit_all(std::vector<Task*>& ready) {
  std::sort(ready.begin(), ready.end(), [](const Task* a, const Task* b) {
    return std::pair(b->priority, a->placed.op) < std::pair(a->priority, b->placed.op);
  });
  for (Task* task : ready) submit(*task);
  ready.clear();
}

void RankRun::submit(Task& task) {
  starpu_task* made = starpu_task_create();
  made->cl = task.codelet;
  made->cl_arg = &task;
  made->cl_arg_size = sizeof(task);
  made->callback_func = task_ended;
  made->callback_arg = &task;
  made->priority = task.priority;
  if (session_.scheduler().empty()) made->sched_data = &task.placed;
  TUTTI_CHECK(starpu_task_submit(made) == 0);
}

void RankRun::run_codelet(void** /*buffers*/, void* argument) {
  auto& task = *static_cast<Task*>(argument);
  task.run->execute(task);
}

void RankRun::task_ended(void* argument) {
  auto& task = *static_cast<Task*>(argument);
  task.run->on_end_(task);
}

// Ops of one kind are alike if their operands and outputs have the same shapes.
uint32_t RankRun::footprint(starpu_task* task) {
  const auto& mine = *static_cast<const Task*>(task->cl_arg);
  const OpId op = mine.placed.op;
  if (!op.valid()) return 0;
  const Graph& graph = mine.run->graph_;
  uint32_t sum = 0;
  const auto add = [&](ValueId value) {
    for (const int64_t size : graph.shape(value)) {
      sum = starpu_hash_crc32c_be(static_cast<uint32_t>(size), sum);
    }
    sum = starpu_hash_crc32c_be(static_cast<uint32_t>(graph.bytes(value)), sum);
  };
  for (const ValueId value : graph.operands(op)) add(value);
  for (const ValueId value : graph.outputs(op)) add(value);
  return sum;
}

// With one of StarPU's schedulers a worker serves one device.
DeviceId RankRun::device_of(const Task& task) const {
  return task.placed.device.valid() ? task.placed.device : place_.workers.devices(task.worker)[0];
}

// After a failure nothing is computed any more, but every task and message still comes to its end,
// here and at the other ranks.
void RankRun::execute(Task& task) {
  Pulse& pulse = place_.ranks.pulse();
  pulse.busy.fetch_add(1);
  task.worker = starpu_worker_get_id();
  const DeviceId device = device_of(task);
  task.start = place_.ranks.now();
  for (size_t i = task.operands; i < task.values.size(); ++i) make_room(*task.values[i]);
  if (!task.placed.op.valid()) {
    std::memcpy(task.values[1]->bytes, task.values[0]->bytes, bytes_of(*task.values[0]));
  } else if (!over()) {
    execute_op(task, device);
  }
  task.finish = place_.ranks.now();
  pulse.events.fetch_add(1);
  pulse.busy.fetch_sub(1);
}

void RankRun::execute_op(const Task& task, DeviceId device) {
  const OpId op = task.placed.op;
  if (place_.options.stop.now()) {
    return fail(
        failed(fmt::format("cancelled after {} of {} ops", ended_ops_.load(), graph_.size())));
  }
  std::vector<ConstBlock> operands;
  std::vector<Block> outputs;
  for (size_t i = 0; i < task.values.size(); ++i) {
    const ValueId value = task.values[i]->value;
    std::byte* bytes = task.values[i]->bytes;
    if (i < task.operands) operands.emplace_back(graph_.shape(value), graph_.dtype(value), bytes);
    if (i >= task.operands) outputs.push_back({graph_.shape(value), graph_.dtype(value), bytes});
  }
  const Attributes attributes(graph_.attributes(op));
  OpCall call{
      .op = graph_.op_name(op), .attributes = attributes, .operands = operands, .outputs = outputs};
  const Result<void> done = place_.workers.run(task.worker, device, *code(op, device), call);
  ended_ops_.fetch_add(1);
  if (done) return;
  fail(failed(fmt::format("op '{}' on device '{}': {}", graph_.op_name(op),
                          place_.machine.device(device).name, done.error().message)));
}

// What was made is there, and what was read may go.
void RankRun::ended(Task& task) {
  std::vector<Task*> ready;
  for (size_t i = task.operands; i < task.values.size(); ++i) arrive(*task.values[i], ready);
  submit_all(ready);
  for (size_t i = 0; i < task.operands; ++i) used(*task.values[i]);
  count_down(1);
}

void RankRun::count_down(int64_t tasks) {
  if (left_.fetch_sub(tasks) != tasks) return;
  { const std::lock_guard lock(done_mutex_); }  // a waiter sees the number or the notice
  done_.notify_all();
}

RankRecords RankRun::records() const {
  RankRecords records;
  records.began = began_;
  for (const Task& task : tasks_) {
    if (task.worker < 0) continue;
    const DeviceId device = device_of(task);
    records.ops.push_back({.op = task.placed.op,
                           .device = device,
                           .slot = place_.workers.slot(task.worker, device),
                           .start = task.start,
                           .finish = task.finish});
  }
  const auto add = [&](const Copy& to, Duration start, Duration finish) {
    records.transfers.push_back({.value = to.value,
                                 .from = to.source->memory,
                                 .to = to.memory,
                                 .start = start,
                                 .finish = finish});
  };
  for (const Task& task : transfers_) {
    if (task.worker >= 0) add(*task.values[1], task.start, task.finish);
  }
  for (const Copy& one : copies_) {
    if (one.start != kNever || one.finish != kNever) add(one, one.start, one.finish);
  }
  return records;
}

}  // namespace tutti
