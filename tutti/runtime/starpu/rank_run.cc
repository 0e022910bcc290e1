// What a rank's run does in all modes: run an op in a task, and say afterwards what happened.

#include "tutti/runtime/starpu/rank_run.h"

#include <fmt/format.h>
#include <starpu.h>

#include <algorithm>
#include <cstring>

namespace tutti {
namespace {

Duration time_of(const timespec& time) {
  return std::chrono::seconds(time.tv_sec) + Duration(time.tv_nsec);
}

// Rounded down: what happens next is never earlier.
Duration starpu_now() {
  return Duration(static_cast<int64_t>(starpu_timing_now() * 1e3));
}

void* address_of(void* buffer) {
  return reinterpret_cast<void*>(STARPU_VARIABLE_GET_PTR(buffer));
}

}  // namespace

RankRun::RankRun(const Place& place, Session& session, const Problem& problem)
    : place_(place), session_(session), problem_(problem), graph_(problem.graph) {}

RankRun::~RankRun() {
  for (std::vector<Task>* tasks : {&tasks_, &transfers_}) {
    for (Task& task : *tasks) {
      if (task.task != nullptr) starpu_task_destroy(task.task);
    }
  }
  for (Copy& copy : copies_) {
    if (copy.handle != nullptr) starpu_data_unregister_no_coherency(copy.handle);
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
  if (!error_) error_ = std::move(error);
  failed_.store(true);
}

void RankRun::run_codelet(void** buffers, void* argument) {
  auto& task = *static_cast<Task*>(argument);
  task.run->execute(task, buffers);
}

// After a failure nothing is computed any more, but every task and message still comes to its end,
// here and at the other ranks.
void RankRun::execute(Task& task, void** buffers) {
  Pulse& pulse = place_.ranks.pulse();
  pulse.busy.fetch_add(1);
  if (task.copy >= 0) {
    execute_transfer(task, buffers);
  } else if (!over()) {
    const int worker = starpu_worker_get_id();
    const DeviceId device =
        task.placed.device.valid() ? task.placed.device : place_.workers.devices(worker)[0];
    execute_op(task, device, worker, buffers);
  }
  pulse.events.fetch_add(1);
  pulse.busy.fetch_sub(1);
}

void RankRun::execute_op(Task& task, DeviceId device, int worker, void** buffers) {
  const OpId op = task.placed.op;
  if (place_.options.stop.now()) {
    return fail(
        failed(fmt::format("cancelled after {} of {} ops", ended_ops_.load(), graph_.size())));
  }
  std::vector<ConstBlock> operands;
  size_t next = 0;
  for (const ValueId value : graph_.operands(op)) {
    const size_t at = task.buffers.empty() ? next : static_cast<size_t>(task.buffers[next]);
    operands.emplace_back(graph_.shape(value), graph_.dtype(value), address_of(buffers[at]));
    ++next;
  }
  size_t at =
      task.buffers.empty()
          ? next
          : static_cast<size_t>(*std::max_element(task.buffers.begin(), task.buffers.end()) + 1);
  std::vector<Block> outputs;
  for (const ValueId value : graph_.outputs(op)) {
    outputs.push_back({graph_.shape(value), graph_.dtype(value), address_of(buffers[at++])});
  }
  const Attributes attributes(graph_.attributes(op));
  OpCall call{
      .op = graph_.op_name(op), .attributes = attributes, .operands = operands, .outputs = outputs};
  const Result<void> done = place_.workers.run(worker, device, *code(op, device), call);
  ended_ops_.fetch_add(1);
  if (done) return;
  fail(failed(fmt::format("op '{}' on device '{}': {}", graph_.op_name(op),
                          place_.machine.device(device).name, done.error().message)));
}

void RankRun::execute_transfer(Task& task, void** buffers) const {
  const int64_t bytes = graph_.bytes(copies_[static_cast<size_t>(task.copy)].value);
  std::memcpy(address_of(buffers[1]), address_of(buffers[0]), static_cast<size_t>(bytes));
}

// The two clocks at one moment: of several readings the one that nothing came between.
RankRun::Anchor RankRun::anchor() const {
  Anchor best;
  Duration shortest = kNever;
  for (int i = 0; i < 8; ++i) {
    const Duration before = starpu_now();
    const Duration common = place_.ranks.now();
    const Duration lasted = starpu_now() - before;
    if (lasted >= shortest) continue;
    shortest = lasted;
    best = {before + lasted / 2, common};
  }
  return best;
}

Duration RankRun::common_time(Duration starpu) const {
  const auto span = static_cast<double>((ended_.starpu - began_.starpu).count());
  const auto common = static_cast<double>((ended_.common - began_.common).count());
  const auto since = static_cast<double>((starpu - began_.starpu).count());
  return began_.common + Duration(std::llround(span > 0 ? since * (common / span) : since));
}

RankRecords RankRun::records() const {
  RankRecords records;
  records.began = began_.common;
  std::vector<Duration> ready(tasks_.size(), kNever);
  for (const Task& task : tasks_) {
    if (task.task == nullptr || task.task->profiling_info == nullptr) continue;
    const starpu_profiling_task_info& info = *task.task->profiling_info;
    const DeviceId device =
        task.placed.device.valid() ? task.placed.device : place_.workers.devices(info.workerid)[0];
    ready[static_cast<size_t>(task.placed.op.index)] = time_of(info.push_start_time);
    records.ops.push_back({.op = task.placed.op,
                           .device = device,
                           .slot = place_.workers.slot(info.workerid, device),
                           .start = common_time(time_of(info.start_time)),
                           .finish = common_time(time_of(info.end_time))});
  }
  const auto add = [&](int32_t index, Duration start, Duration finish) {
    const Copy& copy = copies_[static_cast<size_t>(index)];
    records.transfers.push_back({.value = copy.value,
                                 .from = copies_[static_cast<size_t>(copy.source)].memory,
                                 .to = copy.memory,
                                 .start = start,
                                 .finish = common_time(finish)});
  };
  for (const Task& task : transfers_) {
    if (task.task == nullptr || task.task->profiling_info == nullptr) continue;
    const starpu_profiling_task_info& info = *task.task->profiling_info;
    add(task.copy, common_time(time_of(info.start_time)), time_of(info.end_time));
  }
  for (const Arrival& arrival : arrivals_) {
    if (arrival.time == kNever) continue;
    // StarPU-MPI hands a value on before it tells us: a reader that was ready has had it by then.
    const Copy& copy = copies_[static_cast<size_t>(arrival.copy)];
    Duration time = arrival.time;
    for (const EdgeId edge : graph_.consumers(copy.value)) {
      const OpId reader = graph_.edge_to(edge);
      const Task& task = tasks_[static_cast<size_t>(reader.index)];
      if (task.task == nullptr) continue;
      // With StarPU's schedulers all devices of a rank have one memory.
      const bool there = !task.placed.device.valid() ||
                         place_.machine.memory_of(task.placed.device) == copy.memory;
      if (there) time = std::min(time, ready[static_cast<size_t>(reader.index)]);
    }
    add(arrival.copy, kNever, time);
  }
  return records;
}

std::map<ValueId, std::vector<std::byte>> RankRun::take_results() {
  std::map<ValueId, std::vector<std::byte>> results;
  for (Copy& copy : copies_) {
    const bool result = copy.handle != nullptr && copy.source < 0 &&
                        graph_.producer(copy.value).valid() && graph_.consumers(copy.value).empty();
    if (!result) continue;
    starpu_data_acquire(copy.handle, STARPU_R);
    const auto* data = static_cast<const std::byte*>(starpu_data_get_local_ptr(copy.handle));
    results.emplace(copy.value, std::vector<std::byte>(data, data + graph_.bytes(copy.value)));
    starpu_data_release(copy.handle);
  }
  return results;
}

}  // namespace tutti
