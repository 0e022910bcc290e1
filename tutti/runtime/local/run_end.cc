// How a run ends: what it held is given back, what happened is written down, and a run that could
// not go on says why.

#include <fmt/format.h>

#include <algorithm>

#include "tutti/runtime/local/run.h"

namespace tutti {

int64_t Run::ended() const {
  int64_t sum = 0;
  for (const Worker* worker : workers_in_use_) sum += worker->ended.load(std::memory_order_relaxed);
  return sum;
}

Result<void> Run::end() {
  if (watch_ != nullptr) keep_time();
  std::function<void()> look;
  if (options_->progress) {
    look = [this] { options_->progress(ended(), problem_->graph.size()); };
  }
  std::optional<Error> error = crew_.wait(look);
  // Who was told times during the run goes on with the same ones.
  if (watch_ == nullptr) clock_.calibrate();
  if (!error && ended() < problem_->graph.size()) error = explain_standstill();
  record(trace_);
  release_copies(/*but_results=*/!error);
  if (error) return *error;
  return {};
}

void Run::release_copies(bool but_results) {
  for (int32_t i = 0; i < copies_.count(); ++i) {
    Copy& copy = copies_[i];
    if (i >= copies_.values()) {
      Transfer& transfer = transfers_[i - copies_.values()];
      if (transfer.staging != nullptr) pool(transfer.at).release(transfer.staging, copy.bytes);
      transfer.staging = nullptr;
    }
    const bool result = i < copies_.values() && kept_[static_cast<size_t>(i)] != 0;
    if (copy.address == nullptr || (but_results && result)) continue;
    if (!copy.lent) pool(copy.memory).release(copy.address, copy.bytes);
    copy.address = nullptr;
  }
}

void Run::record(Trace& trace) const {
  if (!options_->trace) {
    for (const Worker* worker : workers_in_use_) {
      trace.makespan = std::max(trace.makespan, time_of(worker->last_finish));
    }
    return;
  }
  trace.order = policy_ == nullptr ? ReadyOrder::priority : ReadyOrder::fifo;
  trace.ops.reserve(static_cast<size_t>(ended()));
  for (const Worker* worker : workers_in_use_) {
    for (const Worker::Stint& stint : worker->log) {
      trace.ops.push_back({.op = op_of(stint.rank),
                           .device = worker->device,
                           .slot = worker->index,
                           .start = time_of(stint.start),
                           .finish = time_of(stint.finish)});
    }
    if (!worker->log.empty()) trace.makespan = std::max(trace.makespan, trace.ops.back().finish);
  }
  record_transfers(trace);
}

void Run::record_transfers(Trace& trace) const {
  const SpinHold hold(transfer_log_lock_);
  trace.transfers = transfer_log_;
  for (TransferSpan& span : trace.transfers) {
    span.start = time_of(span.start.count());
    span.finish = time_of(span.finish.count());
  }
  const MutexLock lock(deciding_);
  if (policy_ == nullptr) return;
  for (const PlacedAt& placed : online_.placed) {
    trace.placed.push_back({.op = placed.op, .time = time_of(placed.time.count())});
  }
  for (const Pause& pause : online_.pauses) {
    trace.pauses.push_back(
        {.start = time_of(pause.start.count()), .finish = time_of(pause.finish.count())});
  }
}

std::vector<OpEvents> Run::events() const {
  std::vector<OpEvents> events;
  for (const Worker* worker : workers_in_use_) {
    for (size_t i = 0; i < worker->log.size(); ++i) {
      const Worker::Stint& stint = worker->log[i];
      const Dispatch::Taken look = worker->looks.empty() ? Dispatch::Taken{} : worker->looks[i];
      const OpId op = op_of(stint.rank);
      events.push_back({.op = op,
                        .device = worker->device,
                        .slot = worker->index,
                        .ready = time_of(ready_at_[static_cast<size_t>(op.index)]),
                        .start = time_of(stint.taken),
                        .finish = time_of(stint.finish),
                        .turn = stint.rank,
                        .queued = time_of(dispatch_.queued(stint.rank)),
                        .look_from = time_of(look.look_from),
                        .look_to = time_of(look.look_to),
                        .looked = look.looked});
    }
  }
  return events;
}

std::vector<SleepEvent> Run::sleeps() const {
  std::vector<SleepEvent> sleeps;
  for (const Worker* worker : workers_in_use_) {
    for (const Dispatch::Sleep& sleep : dispatch_.sleeps(worker->slot)) {
      sleeps.push_back({.device = worker->device,
                        .slot = worker->index,
                        .look_from = time_of(sleep.look_from),
                        .look_to = time_of(sleep.look_to)});
    }
  }
  return sleeps;
}

Result<std::vector<std::byte>> Run::result(ValueId value) const {
  if (weightless_) return std::vector<std::byte>();
  const bool kept = value.valid() && value.index < copies_.values() &&
                    kept_[static_cast<size_t>(value.index)] != 0;
  if (!kept) {
    return invalid_input(
        fmt::format("value {} was not kept by the last run; name it in keep", value.index));
  }
  const Copy& copy = copies_.first(value);
  std::vector<std::byte> bytes(static_cast<size_t>(copy.bytes));
  if (copy.bytes == 0) return bytes;
  if (copy.address == nullptr) return failed("the last run failed, so that there is no result");
  const Result<void> read = pool(copy.memory).store().read(bytes.data(), copy.address, copy.bytes);
  if (!read) return read.error();
  return bytes;
}

Error Run::explain_standstill() {
  const std::string when = to_text(time_of(clock_.now()));
  for (int32_t i = 0; i < machine_.memory_count(); ++i) {
    Room& room = rooms_[static_cast<size_t>(i)];
    const Pool& its = pool(MemoryId{i});
    const SpinHold hold(room.lock);
    if (!room.ops.empty()) {
      const OpId op = op_of(*std::min_element(room.ops.begin(), room.ops.end()));
      return infeasible(fmt::format(
          "the run stands still at {}: op '{}' on device '{}' needs {} bytes in memory '{}', of "
          "which {} are left, and nothing that runs will free any; allow more memory or place "
          "fewer ops there",
          when, problem_->graph.op_name(op), machine_.device(device_of_[op.index]).name,
          bytes_at_start(op), machine_.memory(MemoryId{i}).name, its.left()));
    }
    if (!room.transfers.empty()) {
      const Copy& copy = copies_[room.transfers.front()];
      return infeasible(fmt::format(
          "the run stands still at {}: a copy of value '{}' needs {} bytes in memory '{}', of "
          "which {} are left, and nothing that runs will free any; allow more memory or place "
          "fewer ops there",
          when, problem_->graph.value_name(copy.value), copy.bytes,
          machine_.memory(MemoryId{i}).name, its.left()));
    }
  }
  const MutexLock lock(deciding_);
  if (policy_ != nullptr && !online_.undecided.empty()) {
    return failed(fmt::format(
        "the policy chose to wait with {} ops ready and nothing running: the run cannot go on",
        online_.undecided.size()));
  }
  return infeasible(fmt::format(
      "the run stands still at {} with {} ops left: the plan's strict order contradicts the graph",
      when, problem_->graph.size() - ended()));
}

}  // namespace tutti
