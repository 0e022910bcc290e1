#include "tutti/runtime/local/run/values.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tutti/base/check.h"

namespace tutti {

Values::Values(EngineContext& run, Hardware& hardware, Listener& listener)
    : run_(run),
      listener_(listener),
      rooms_(std::make_unique<Room[]>(static_cast<size_t>(run.machine.memory_count()))),
      lanes_(hardware, run.crew) {
  for (int32_t i = 0; i < run.machine.memory_count(); ++i) {
    pools_.push_back(std::make_unique<Pool>(hardware.store(MemoryId{i})));
  }
}

void Values::fail_for_room(const std::string& what, MemoryId memory, int64_t bytes) {
  run_.crew.fail(infeasible(fmt::format(
      "{} needs {} bytes in memory '{}', which cannot provide them; allow more memory or place "
      "fewer ops there",
      what, bytes, run_.machine.memory(memory).name)));
}

// An op for which there is no room is put aside; one that fits may overtake it.
bool Values::admit(MemoryId memory, OpId op, int32_t rank) {
  const int64_t bytes = run_.bytes_at_start(op);
  if (bytes == 0 || pool(memory).take_room(bytes)) return true;
  Room& its = room(memory);
  const SpinHold hold(its.lock);
  // A thread that gives room back looks at `waiting` after that, and we at the room after this.
  its.waiting.fetch_add(1);
  if (pool(memory).take_room(bytes)) {
    its.waiting.fetch_sub(1);
    return true;
  }
  its.ops.push_back({rank, bytes});
  return false;
}

bool Values::make_outputs(OpId op, DeviceId device) {
  const Graph& graph = run_.graph();
  for (const ValueId value : graph.outputs(op)) {
    const int64_t bytes = graph.bytes(value);
    if (bytes == 0) continue;
    const MemoryId memory = run_.machine.memory_of(device);
    Copy& copy = copies_.first(value);
    copy.address = pool(memory).allocate(bytes);
    copy.counted = true;
    if (copy.address != nullptr) continue;
    fail_for_room(
        fmt::format("op '{}' on device '{}'", graph.op_name(op), run_.machine.device(device).name),
        memory, bytes);
    return false;
  }
  return true;
}

void Values::gather(OpId op, MemoryId memory, std::vector<ConstBlock>& operands,
                    std::vector<Block>& outputs) const {
  const Graph& graph = run_.graph();
  operands.clear();
  for (const ValueId value : graph.operands(op)) {
    const void* address = nullptr;
    if (!run_.weightless) address = copies_[copies_.find(value, memory)].address;
    operands.emplace_back(graph.shape(value), graph.dtype(value), address);
  }
  outputs.clear();
  for (const ValueId value : graph.outputs(op)) {
    void* const address = run_.weightless ? nullptr : copies_.first(value).address;
    outputs.push_back({graph.shape(value), graph.dtype(value), address});
  }
}

void Values::release_operands(OpId op, MemoryId memory) {
  for (const ValueId value : run_.graph().operands(op)) drop(copies_.find(value, memory));
  const int64_t transient = run_.graph().transient_bytes(op);
  if (transient > 0) give_room(memory, transient);
}

void Values::drop(int32_t index) {
  Copy& copy = copies_[index];
  if (copy.uses.fetch_sub(1, std::memory_order_acq_rel) == 1) let_go(copy);
}

void Values::let_go(Copy& copy) {
  const int64_t bytes = copy.bytes;
  if (copy.address != nullptr && !copy.lent) pool(copy.memory).release(copy.address, bytes);
  copy.address = nullptr;
  if (copy.counted && bytes > 0) give_room(copy.memory, bytes);
}

void Values::give_room(MemoryId memory, int64_t bytes) {
  pool(memory).give_room(bytes);
  if (room(memory).waiting.load() > 0) retry_for_room(memory);
}

// Transfers first, in the order in which they were asked for. Ops that would fit are queued again
// and ask when it is their turn.
void Values::retry_for_room(MemoryId memory) {
  Room& its = room(memory);
  std::vector<int32_t> transfers;
  std::vector<int32_t> ops;
  {
    const SpinHold hold(its.lock);
    std::erase_if(its.transfers, [&](int32_t copy) {
      if (!pool(memory).take_room(copies_[copy].bytes)) return false;
      transfers.push_back(copy);
      return true;
    });
    std::erase_if(its.ops, [&](const WaitingOp& op) {
      if (op.bytes > pool(memory).left()) return false;
      ops.push_back(op.rank);
      return true;
    });
    its.waiting.fetch_sub(static_cast<int32_t>(transfers.size() + ops.size()));
  }
  for (const int32_t copy : transfers) start_transfer(copy);
  for (const int32_t rank : ops) listener_.has_room(rank);
}

// ---- Transfers

void Values::send(ValueId value) {
  for (int32_t copy = copies_.first(value).next; copy >= 0; copy = copies_[copy].next) {
    request_transfer(copy);
  }
}

void Values::request_transfer(int32_t index) {
  Copy& copy = copies_[index];
  copy.counted = true;
  const int64_t bytes = copy.bytes;
  if (bytes == 0 || pool(copy.memory).take_room(bytes)) return start_transfer(index);
  Room& its = room(copy.memory);
  {
    const SpinHold hold(its.lock);
    its.waiting.fetch_add(1);
    if (!pool(copy.memory).take_room(bytes)) {
      its.transfers.push_back(index);
      return;
    }
    its.waiting.fetch_sub(1);
  }
  start_transfer(index);
}

void Values::start_transfer(int32_t index) {
  Copy& copy = copies_[index];
  const int64_t bytes = copy.bytes;
  if (bytes > 0) {
    copy.address = pool(copy.memory).allocate(bytes);
    if (copy.address == nullptr) {
      return fail_for_room(fmt::format("a copy of value '{}'", run_.graph().value_name(copy.value)),
                           copy.memory, bytes);
    }
  }
  const MemoryId from = copies_.first(copy.value).memory;
  const Route* route = run_.machine.route(from, copy.memory);
  TUTTI_CHECK(route != nullptr);  // check_way has seen to it
  transfer(index) = {.direct = route->hops.size() == 1 ||
                               (!run_.options->staged && lanes_.join(from, copy.memory)),
                     .at = from};
  lanes_.send(from, next_stop(index), index);
}

MemoryId Values::next_stop(int32_t index) const {
  const Copy& copy = copies_[index];
  if (transfer(index).direct) return copy.memory;
  const MemoryId from = copies_.first(copy.value).memory;
  const auto hop = static_cast<size_t>(transfer(index).hop);
  return run_.machine.route(from, copy.memory)->hops[hop].to;
}

// One hop, on the thread of its lane.
void Values::move(Copier& copier, int32_t index) {
  Copy& copy = copies_[index];
  Copy& first = copies_.first(copy.value);
  Transfer& its = transfer(index);
  const MemoryId stop = next_stop(index);
  const int64_t bytes = copy.bytes;
  const int64_t start = run_.clock.now();
  void* const from = its.staging != nullptr ? its.staging : first.address;
  void* to = copy.address;
  if (stop != copy.memory && bytes > 0) {
    to = pool(stop).allocate(bytes);
    if (to == nullptr) {
      return fail_for_room(
          fmt::format("value '{}' on its way to memory '{}'", run_.graph().value_name(copy.value),
                      run_.machine.memory(copy.memory).name),
          stop, bytes);
    }
  }
  const Result<void> done = copier.copy(to, from, bytes);
  if (its.staging != nullptr) pool(its.at).release(its.staging, bytes);
  its.staging = stop == copy.memory ? nullptr : to;
  // Also of a hop that failed: its block is there, and is given back there.
  const MemoryId left = std::exchange(its.at, stop);
  if (!done) {
    return run_.crew.fail(failed(fmt::format(
        "value '{}' on its way from memory '{}' to '{}': {}", run_.graph().value_name(copy.value),
        run_.machine.memory(left).name, run_.machine.memory(stop).name, done.error().message)));
  }
  if (run_.options->trace) {
    const Duration begun(start);
    const Duration ended(run_.clock.now());
    const SpinHold hold(log_lock_);
    log_.push_back({.value = copy.value,
                    .from = first.memory,
                    .to = copy.memory,
                    .hop = its.hop,
                    .start = begun,
                    .finish = ended});
  }
  ++its.hop;
  if (stop == copy.memory) return listener_.arrived(index);
  lanes_.send(stop, next_stop(index), index);
}

// ---- After the run

void Values::release_copies(bool but_results) {
  for (int32_t i = 0; i < copies_.count(); ++i) {
    Copy& copy = copies_[i];
    if (i >= copies_.values()) {
      Transfer& its = transfer(i);
      if (its.staging != nullptr) pool(its.at).release(its.staging, copy.bytes);
      its.staging = nullptr;
    }
    const bool result = i < copies_.values() && is_kept(i);
    if (copy.address == nullptr || (but_results && result)) continue;
    if (!copy.lent) pool(copy.memory).release(copy.address, copy.bytes);
    copy.address = nullptr;
  }
}

void Values::record(Trace& trace) const {
  const SpinHold hold(log_lock_);
  trace.transfers = log_;
  for (TransferSpan& span : trace.transfers) {
    span.start = run_.time_of(span.start.count());
    span.finish = run_.time_of(span.finish.count());
  }
}

Result<std::vector<std::byte>> Values::result(ValueId value) const {
  if (run_.weightless) return std::vector<std::byte>();
  if (!value.valid() || value.index >= copies_.values() || !is_kept(value.index)) {
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

std::optional<Error> Values::explain_wait(const std::function<OpId(int32_t rank)>& op_of) const {
  for (int32_t i = 0; i < run_.machine.memory_count(); ++i) {
    const MemoryId memory{i};
    Room& its = room(memory);
    const SpinHold hold(its.lock);
    if (its.ops.empty() && its.transfers.empty()) continue;
    std::string what;
    int64_t bytes = 0;
    if (!its.ops.empty()) {
      const auto first =
          std::min_element(its.ops.begin(), its.ops.end(),
                           [](const auto& a, const auto& b) { return a.rank < b.rank; });
      const OpId op = op_of(first->rank);
      what = fmt::format("op '{}' on device '{}'", run_.graph().op_name(op),
                         run_.machine.device(run_.device_of[op.index]).name);
      bytes = first->bytes;
    } else {
      const Copy& copy = copies_[its.transfers.front()];
      what = fmt::format("a copy of value '{}'", run_.graph().value_name(copy.value));
      bytes = copy.bytes;
    }
    return infeasible(fmt::format(
        "the run stands still at {}: {} needs {} bytes in memory '{}', of which {} are left, and "
        "nothing that runs will free any; allow more memory or place fewer ops there",
        to_text(run_.now()), what, bytes, run_.machine.memory(memory).name, pool(memory).left()));
  }
  return std::nullopt;
}

}  // namespace tutti
