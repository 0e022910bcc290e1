// What a slot's thread does: take an op, run it, see what it made ready.

#include "tutti/runtime/local/run.h"

#include <fmt/format.h>

namespace tutti {

bool Run::enter(Worker& me) {
  if (me.entered) return true;
  const Result<void> entered = me.runner->enter();
  me.entered = entered.has_value();
  if (!entered) {
    crew_.fail(failed(fmt::format("device '{}' cannot be used: {}", machine_.device(me.device).name,
                                  entered.error().message)));
  }
  return me.entered;
}

void Run::work(Worker& me) {
  if (!enter(me)) return crew_.leave(/*awake=*/true);
  Dispatch::Taken taken = dispatch_.take(me.slot, {});
  bool ran = false;
  for (;;) {
    if (taken.rank == kNoRank) {
      if (ran) me.last_finish = clock_.now();
      ran = false;
      taken = dispatch_.wait(me.slot);
    }
    if (taken.rank == kNoRank || crew_.over()) break;
    const OpId op = op_of(taken.rank);
    if (stop_asked()) {
      crew_.fail(
          failed(fmt::format("cancelled after {} of {} ops", ended(), problem_->graph.size())));
      break;
    }
    me.fresh.clear();
    if (admitted(me, op, taken.rank)) {
      // The room may have been given back after the op was taken.
      const int64_t start = options_->trace && !weightless_ ? clock_.now() : taken.when;
      started(me, op, start);
      if (!execute(me, op)) break;
      const int64_t now = options_->trace ? clock_.now() : 0;
      if (options_->trace) me.log.push_back({taken.when, start, now, taken.rank});
      if (options_->trace && options_->steps) me.looks.push_back(taken);
      me.ended.store(me.ended.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
      ran = true;
      complete(me, op, now);
    }
    taken = dispatch_.take(me.slot, me.fresh);
  }
  crew_.leave(/*awake=*/true);
}

int64_t Run::bytes_at_start(OpId op) const {
  int64_t bytes = problem_->graph.transient_bytes(op);
  for (const ValueId value : problem_->graph.outputs(op)) bytes += problem_->graph.bytes(value);
  return bytes;
}

// An op for which there is no room is put aside; one that fits may overtake it.
bool Run::admitted(Worker& me, OpId op, int32_t rank) {
  if (weightless_) return true;
  const int64_t bytes = bytes_at_start(op);
  if (bytes == 0 || pool(me.memory).take_room(bytes)) return true;
  Room& room = rooms_[static_cast<size_t>(me.memory.index)];
  const SpinHold hold(room.lock);
  // Who gives room back looks at `waiting` after that, and we at the room after this.
  room.waiting.fetch_add(1);
  if (pool(me.memory).take_room(bytes)) {
    room.waiting.fetch_sub(1);
    return true;
  }
  room.ops.push_back(rank);
  return false;
}

void Run::started(Worker& me, OpId op, int64_t when) {
  if (!next_in_order_.empty()) {
    const OpId next = next_in_order_[static_cast<size_t>(op.index)];
    if (next.valid()) lose_token(nullptr, next, when);
  }
  if (policy_ == nullptr) return;
  const MutexLock lock(deciding_);
  const Duration mean = problem_->costs.run_time(op, me.device);
  online_.backlog[static_cast<size_t>(me.device.index)] -= mean;
  online_.running[static_cast<size_t>(me.device.index)].push_back(op);
  const Duration now = time_of(clock_.now());
  online_.finish[static_cast<size_t>(op.index)] = now + mean;
  if (watch_ != nullptr) watch_->started(op, now);
}

void Run::gather_blocks(Worker& me, OpId op) {
  const Graph& graph = problem_->graph;
  me.operands.clear();
  for (const ValueId value : graph.operands(op)) {
    const void* address = nullptr;
    if (!weightless_) address = copies_[copies_.find(value, me.memory)].address;
    me.operands.emplace_back(graph.shape(value), graph.dtype(value), address);
  }
  me.outputs.clear();
  for (const ValueId value : graph.outputs(op)) {
    void* const address = weightless_ ? nullptr : copies_.first(value).address;
    me.outputs.push_back({graph.shape(value), graph.dtype(value), address});
  }
}

bool Run::execute(Worker& me, OpId op) {
  const Graph& graph = problem_->graph;
  if (!weightless_ && !make_outputs(me, op)) return false;
  if (policy_ == nullptr) {
    gather_blocks(me, op);
  } else {
    const MutexLock lock(deciding_);  // who places readers adds copies
    gather_blocks(me, op);
  }
  const Attributes attributes(graph.attributes(op));
  OpCall call{.op = graph.op_name(op),
              .device = machine_.device(me.device).name,
              .attributes = attributes,
              .operands = me.operands,
              .outputs = me.outputs};
  const Result<void> done = me.runner->run(*code_of(op, me.device), call);
  if (done) return true;
  crew_.fail(failed(fmt::format("op '{}' on device '{}': {}", graph.op_name(op),
                                machine_.device(me.device).name, done.error().message)));
  return false;
}

void Run::give_back(Worker& me, OpId op) {
  for (const ValueId value : problem_->graph.operands(op)) drop(copies_.find(value, me.memory));
  const int64_t transient = problem_->graph.transient_bytes(op);
  if (transient > 0) room_given_back(me.memory, transient);
}

void Run::complete(Worker& me, OpId op, int64_t now) {
  const Graph& graph = problem_->graph;
  if (policy_ != nullptr) return complete_online(me, op);
  if (!weightless_) give_back(me, op);
  for (const ValueId value : graph.outputs(op)) {
    for (const EdgeId edge : graph.consumers(value)) {
      const OpId reader = graph.edge_to(edge);
      if (one_memory_ || memory_of(reader) == me.memory) lose_token(&me, reader, now);
    }
    if (!one_memory_) send(value);
  }
  if (!level_.empty()) end_level(me, op, now);
}

void Run::end_level(Worker& me, OpId op, int64_t now) {
  const int32_t level = level_[static_cast<size_t>(op.index)];
  if (left_of_level_[level].fetch_sub(1) > 1) return;
  if (static_cast<size_t>(level) + 1 == ops_of_level_.size()) return;
  for (const OpId next : ops_of_level_[static_cast<size_t>(level) + 1]) {
    lose_token(&me, next, now);
  }
}

void Run::lose_token(Worker* me, OpId op, int64_t now) {
  if (absent_[op.index].fetch_sub(1, std::memory_order_acq_rel) == 1) op_is_ready(me, op, now);
}

void Run::op_is_ready(Worker* me, OpId op, int64_t now) {
  const int32_t rank = ranks_.of(op.index);
  if (me == nullptr || device_of_[op.index] != me->device) return queue(op, rank);
  // It can be taken only once this thread has added it.
  if (options_->trace) ready_at_[static_cast<size_t>(op.index)] = now;
  me->fresh.push_back(rank);
}

void Run::queue(OpId op, int32_t rank) {
  dispatch_.give(device_of_[op.index], rank,
                 [&](int64_t now) { ready_at_[static_cast<size_t>(op.index)] = now; });
}

}  // namespace tutti
