#include "tutti/runtime/sim/ledger.h"

#include <algorithm>

namespace tutti {

Ledger::Ledger(const Problem& problem)
    : problem_(problem),
      enforced_(problem.has_memory_limits()),
      keeps_books_(enforced_),
      memories_(static_cast<size_t>(problem.machine.memory_count())),
      freed_(memories_, false) {
  if (!enforced_) return;
  int64_t transient = 0;
  for (const OpId op : problem.graph.ops()) {
    transient = std::max(transient, problem.graph.transient_bytes(op));
    output_bytes_.push_back(need(op) - problem.graph.transient_bytes(op));
  }
  most_transient_.assign(memories_, 0);
  for (const DeviceId device : problem.machine.devices()) {
    most_transient_[static_cast<size_t>(problem.machine.memory_of(device).index)] +=
        transient * problem.machine.device(device).slots;
  }
}

void Ledger::set_weights_aside(const WeightKeeping& keeping) {
  aside_.clear();
  reserved_.clear();
  if (!enforced_ || !keeping.stated()) return;
  reserved_ = reserved_bytes(problem_, keeping);
  aside_.assign(static_cast<size_t>(problem_.graph.value_count()), 0);
  for (const ValueId weight : problem_.homed_weights()) aside_[weight.index] = 1;
}

void Ledger::reset_for(std::span<const MemoryId> memory_of_op) {
  keeps_books_ = enforced_ && !surely_fits(memory_of_op);
  if (keeps_books_) reset();
  calls_.clear();
}

bool Ledger::surely_fits(std::span<const MemoryId> memory_of_op) {
  const Graph& graph = problem_.graph;
  most_ = most_transient_;
  for (size_t i = 0; i < reserved_.size(); ++i) most_[i] += reserved_[i];
  for (const OpId op : graph.ops()) {
    const MemoryId memory = memory_of_op[op.index];
    int64_t& most = most_[memory.index];
    most += output_bytes_[op.index];
    for (const ValueId value : graph.operands(op)) {
      if (is_aside(value)) continue;
      const OpId producer = graph.producer(value);
      if (!producer.valid() || memory_of_op[producer.index] != memory) most += graph.bytes(value);
    }
  }
  for (size_t i = 0; i < memories_; ++i) {
    if (most_[i] > problem_.memory_limit(MemoryId{static_cast<int32_t>(i)})) return false;
  }
  return true;
}

void Ledger::reset() {
  keeps_books_ = enforced_;
  if (!enforced_) return;
  const Graph& graph = problem_.graph;
  const auto values = static_cast<size_t>(graph.value_count());
  calls_.clear();
  used_.assign(memories_, 0);
  if (!reserved_.empty()) used_ = reserved_;
  std::fill(freed_.begin(), freed_.end(), false);
  readers_.assign(values * memories_, 0);
  held_.assign(values * memories_, 0);
  leaving_.assign(values, 0);
  made_in_.assign(values, MemoryId{});
  unplaced_.resize(values);
  for (const ValueId value : graph.values()) {
    unplaced_[value.index] = static_cast<int32_t>(graph.consumers(value).size());
  }
}

void Ledger::place(OpId op, MemoryId memory) {
  if (!keeps_books_) return;
  for (const ValueId value : problem_.graph.operands(op)) {
    if (is_aside(value)) continue;
    const bool last = --unplaced_[value.index] == 0;
    if (readers(value, memory)++ == 0 && !held(value, memory)) {
      if (problem_.graph.producer(value).valid()) {
        // Until the producer has finished, every memory counts as one to be served; the producer's
        // own is taken off then.
        if (made_in_[value.index] != memory) ++leaving_[value.index];
      } else if (const MemoryId home = problem_.home(value); !home.valid() || home == memory) {
        used_[memory.index] += problem_.graph.bytes(value);
        held(value, memory) = 1;
      }
    }
    if (last) let_unread_copies_go(value);
  }
}

MemoryId Ledger::overfull() const {
  for (size_t i = 0; i < used_.size(); ++i) {
    const MemoryId memory{static_cast<int32_t>(i)};
    if (used_[i] > problem_.memory_limit(memory)) return memory;
  }
  return {};
}

int64_t Ledger::need(OpId op) const {
  int64_t bytes = problem_.graph.transient_bytes(op);
  for (const ValueId value : problem_.graph.outputs(op)) bytes += problem_.graph.bytes(value);
  return bytes;
}

int64_t Ledger::left(MemoryId memory) const {
  const int64_t limit = problem_.memory_limit(memory);
  return !keeps_books_ || limit == kUnlimitedBytes ? kUnlimitedBytes : limit - used_[memory.index];
}

bool Ledger::fits(OpId op, MemoryId memory) const {
  return !keeps_books_ || need(op) <= left(memory);
}

bool Ledger::fits_copy(ValueId value, MemoryId memory) const {
  return !keeps_books_ || problem_.graph.bytes(value) <= left(memory);
}

void Ledger::start(OpId op, MemoryId memory) {
  if (!keeps_books_) return;
  calls_.push_back({.kind = LedgerCall::Kind::start, .index = op.index, .memory = memory});
  used_[memory.index] += need(op);
}

void Ledger::let_go(ValueId value, MemoryId memory) {
  used_[memory.index] -= problem_.graph.bytes(value);
  held(value, memory) = 0;
  freed_[static_cast<size_t>(memory.index)] = true;
}

// Copies were kept for readers that might still have come; now all are placed.
void Ledger::let_unread_copies_go(ValueId value) {
  const bool weight = !problem_.graph.producer(value).valid() && problem_.graph.is_weight(value);
  for (size_t i = 0; i < memories_ && !weight; ++i) {
    const MemoryId memory{static_cast<int32_t>(i)};
    if (readers(value, memory) == 0 && held(value, memory)) let_go(value, memory);
  }
  let_first_copy_go(value);
}

void Ledger::let_first_copy_go(ValueId value) {
  const MemoryId home = made_in_[value.index];
  if (!home.valid() || problem_.graph.consumers(value).empty()) return;
  if (readers(value, home) == 0 && leaving_[value.index] == 0 && unplaced_[value.index] == 0) {
    let_go(value, home);
  }
}

void Ledger::finish(OpId op, MemoryId memory) {
  if (!keeps_books_) return;
  calls_.push_back({.kind = LedgerCall::Kind::finish, .index = op.index, .memory = memory});
  const Graph& graph = problem_.graph;
  used_[memory.index] -= graph.transient_bytes(op);
  freed_[static_cast<size_t>(memory.index)] = true;
  for (const ValueId value : graph.outputs(op)) {
    made_in_[value.index] = memory;
    if (readers(value, memory) > 0) --leaving_[value.index];
  }
  for (const ValueId value : graph.operands(op)) {
    if (is_aside(value)) continue;
    if (--readers(value, memory) > 0 || unplaced_[value.index] > 0) continue;
    if (graph.producer(value).valid()) {
      if (made_in_[value.index] == memory) {
        let_first_copy_go(value);
      } else {
        let_go(value, memory);
      }
    } else if (!graph.is_weight(value)) {
      let_go(value, memory);
    }
  }
}

void Ledger::start_copy(ValueId value, MemoryId to) {
  if (!keeps_books_) return;
  calls_.push_back({.kind = LedgerCall::Kind::start_copy, .index = value.index, .memory = to});
  used_[to.index] += problem_.graph.bytes(value);
  held(value, to) = 1;
}

void Ledger::finish_copy(ValueId value) {
  if (!keeps_books_ || !problem_.graph.producer(value).valid()) return;
  calls_.push_back({.kind = LedgerCall::Kind::finish_copy, .index = value.index});
  --leaving_[value.index];
  let_first_copy_go(value);
}

bool Ledger::repeat(std::span<const LedgerCall> calls) {
  calls_.reserve(calls_.size() + calls.size());
  for (const LedgerCall& call : calls) {
    switch (call.kind) {
      case LedgerCall::Kind::start:
        if (!fits(OpId{call.index}, call.memory)) return false;
        start(OpId{call.index}, call.memory);
        break;
      case LedgerCall::Kind::finish:
        finish(OpId{call.index}, call.memory);
        break;
      case LedgerCall::Kind::start_copy:
        if (!fits_copy(ValueId{call.index}, call.memory)) return false;
        start_copy(ValueId{call.index}, call.memory);
        break;
      case LedgerCall::Kind::finish_copy:
        finish_copy(ValueId{call.index});
        break;
    }
  }
  std::fill(freed_.begin(), freed_.end(), false);
  return true;
}

bool Ledger::take_freed(MemoryId memory) {
  const bool freed = freed_[static_cast<size_t>(memory.index)];
  freed_[static_cast<size_t>(memory.index)] = false;
  return freed;
}

}  // namespace tutti
