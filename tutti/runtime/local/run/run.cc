// What a slot's thread does: take an op, run it, see what it made ready.

#include "tutti/runtime/local/run/run.h"

#include <fmt/format.h>

namespace tutti {

bool Run::enter(Worker& me) {
  if (me.entered) return true;
  const Result<void> entered = me.runner->enter();
  me.entered = entered.has_value();
  if (!entered) {
    run_.crew.fail(
        failed(fmt::format("device '{}' cannot be used: {}", run_.machine.device(me.device).name,
                           entered.error().message)));
  }
  return me.entered;
}

bool Run::fail_if_stopped() {
  if (!run_.options->stop.now()) return false;
  run_.crew.fail(failed(fmt::format("cancelled after {} of {} ops", ended(), run_.graph().size())));
  return true;
}

void Run::work(Worker& me) {
  if (!enter(me)) return run_.crew.leave(/*awake=*/true);
  const LocalOptions& options = *run_.options;
  Dispatch::Taken taken = dispatch_.take(me.slot, {});
  bool ran = false;
  for (;;) {
    if (taken.rank == kNoRank) {
      if (ran) me.last_finish = run_.clock.now();
      ran = false;
      taken = dispatch_.wait(me.slot);
    }
    if (taken.rank == kNoRank || run_.crew.over()) break;
    const OpId op = op_of(taken.rank);
    if (fail_if_stopped()) break;
    me.fresh.clear();
    if (run_.weightless || values_.admit(me.memory, op, taken.rank)) {
      // The room may have been given back after the op was taken.
      const int64_t start = options.trace && !run_.weightless ? run_.clock.now() : taken.when;
      started(op);
      if (!execute(me, op)) break;
      const int64_t now = options.trace ? run_.clock.now() : 0;
      if (options.trace) me.log.push_back({taken.when, start, now, taken.rank});
      if (options.trace && options.steps) me.looks.push_back(taken);
      me.ended.store(me.ended.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
      ran = true;
      complete(me, op, now);
    }
    taken = dispatch_.take(me.slot, me.fresh);
  }
  run_.crew.leave(/*awake=*/true);
}

void Run::started(OpId op) {
  readiness_.started(op, [&](OpId next) { queue(next, ranks_.of(next.index)); });
}

bool Run::execute(Worker& me, OpId op) {
  const Graph& graph = run_.graph();
  if (!run_.weightless && !values_.make_outputs(op, me.device)) return false;
  values_.gather(op, me.memory, me.operands, me.outputs);
  const Attributes attributes(graph.attributes(op));
  OpCall call{.op = graph.op_name(op),
              .device = run_.machine.device(me.device).name,
              .attributes = attributes,
              .operands = me.operands,
              .outputs = me.outputs};
  const Result<void> done = me.runner->run(*codes_.find(op, me.device), call);
  if (done) return true;
  run_.crew.fail(failed(fmt::format("op '{}' on device '{}': {}", graph.op_name(op),
                                    run_.machine.device(me.device).name, done.error().message)));
  return false;
}

void Run::complete(Worker& me, OpId op, int64_t now) {
  const Graph& graph = run_.graph();
  const auto ready = [&](OpId next) { op_is_ready(me, next, now); };
  if (!run_.weightless) values_.release_operands(op, me.memory);
  if (run_.streams != nullptr) {
    for (const OpId served : values_.release_streams(op)) readiness_.operand_came(served, ready);
  }
  for (const ValueId value : graph.outputs(op)) {
    for (const EdgeId edge : graph.consumers(value)) {
      const OpId reader = graph.edge_to(edge);
      if (run_.one_memory || run_.memory_of(reader) == me.memory) {
        readiness_.operand_came(reader, ready);
      }
    }
    if (!run_.one_memory) values_.send(value);
  }
  readiness_.ended(op, ready);
}

void Run::op_is_ready(Worker& me, OpId op, int64_t now) {
  const int32_t rank = ranks_.of(op.index);
  if (run_.device_of[op.index] != me.device) return queue(op, rank);
  // It can be taken only once this thread has added it.
  if (run_.options->trace) ready_at_[static_cast<size_t>(op.index)] = now;
  me.fresh.push_back(rank);
}

void Run::queue(OpId op, int32_t rank) {
  dispatch_.give(run_.device_of[op.index], rank,
                 [&](int64_t now) { ready_at_[static_cast<size_t>(op.index)] = now; });
}

void Run::arrived(int32_t index) {
  const Graph& graph = run_.graph();
  const MemoryId memory = values_.copy(index).memory;
  const ValueId value = values_.copy(index).value;
  const auto ready = [&](OpId op) { queue(op, ranks_.of(op.index)); };
  if (run_.is_aside(value)) {
    for (const OpId op : values_.stream_arrived(index)) readiness_.operand_came(op, ready);
    return;
  }
  // From here on the copy may be read and dropped.
  for (const EdgeId edge : graph.consumers(value)) {
    const OpId reader = graph.edge_to(edge);
    if (run_.memory_of(reader) != memory) continue;
    readiness_.operand_came(reader, ready);
  }
  values_.drop(value.index);
}

}  // namespace tutti
