// The half of a Run that keeps values: room for them, their blocks, their ways to other memories.

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tutti/base/check.h"
#include "tutti/runtime/local/run.h"

namespace tutti {

void Run::fail_for_room(const std::string& what, MemoryId memory, int64_t bytes) {
  crew_.fail(infeasible(fmt::format(
      "{} needs {} bytes in memory '{}', which cannot provide them; allow more memory or place "
      "fewer ops there",
      what, bytes, machine_.memory(memory).name)));
}

bool Run::make_outputs(Worker& me, OpId op) {
  const Graph& graph = problem_->graph;
  for (const ValueId value : graph.outputs(op)) {
    const int64_t bytes = graph.bytes(value);
    if (bytes == 0) continue;
    Copy& copy = copies_.first(value);
    copy.address = pool(me.memory).allocate(bytes);
    copy.counted = true;
    if (copy.address != nullptr) continue;
    fail_for_room(
        fmt::format("op '{}' on device '{}'", graph.op_name(op), machine_.device(me.device).name),
        me.memory, bytes);
    return false;
  }
  return true;
}

void Run::drop(int32_t index) {
  Copy& copy = copies_[index];
  if (copy.uses.fetch_sub(1, std::memory_order_acq_rel) == 1) let_go(copy);
}

void Run::let_go(Copy& copy) {
  const int64_t bytes = copy.bytes;
  if (copy.address != nullptr && !copy.lent) pool(copy.memory).release(copy.address, bytes);
  copy.address = nullptr;
  if (copy.counted && bytes > 0) room_given_back(copy.memory, bytes);
}

void Run::room_given_back(MemoryId memory, int64_t bytes) {
  pool(memory).give_room(bytes);
  if (rooms_[static_cast<size_t>(memory.index)].waiting.load() > 0) retry_for_room(memory);
}

// Transfers first, in the order in which they were asked for. Ops that would fit are queued again
// and ask when it is their turn.
void Run::retry_for_room(MemoryId memory) {
  Room& room = rooms_[static_cast<size_t>(memory.index)];
  std::vector<int32_t> transfers;
  std::vector<int32_t> ops;
  {
    const SpinHold hold(room.lock);
    std::erase_if(room.transfers, [&](int32_t copy) {
      if (!pool(memory).take_room(copies_[copy].bytes)) return false;
      transfers.push_back(copy);
      return true;
    });
    std::erase_if(room.ops, [&](int32_t rank) {
      if (bytes_at_start(op_of(rank)) > pool(memory).left()) return false;
      ops.push_back(rank);
      return true;
    });
    room.waiting.fetch_sub(static_cast<int32_t>(transfers.size() + ops.size()));
  }
  for (const int32_t copy : transfers) start_transfer(copy);
  for (const int32_t rank : ops) queue(op_of(rank), rank);
}

void Run::send(ValueId value) {
  for (int32_t copy = copies_.first(value).next; copy >= 0; copy = copies_[copy].next) {
    request_transfer(copy);
  }
}

void Run::request_transfer(int32_t index) {
  Copy& copy = copies_[index];
  copy.state = Copy::State::on_its_way;
  copy.counted = true;
  const int64_t bytes = copy.bytes;
  if (bytes == 0 || pool(copy.memory).take_room(bytes)) return start_transfer(index);
  Room& room = rooms_[static_cast<size_t>(copy.memory.index)];
  {
    const SpinHold hold(room.lock);
    room.waiting.fetch_add(1);
    if (!pool(copy.memory).take_room(bytes)) {
      room.transfers.push_back(index);
      return;
    }
    room.waiting.fetch_sub(1);
  }
  start_transfer(index);
}

void Run::start_transfer(int32_t index) {
  Copy& copy = copies_[index];
  const int64_t bytes = copy.bytes;
  if (bytes > 0) {
    copy.address = pool(copy.memory).allocate(bytes);
    if (copy.address == nullptr) {
      return fail_for_room(
          fmt::format("a copy of value '{}'", problem_->graph.value_name(copy.value)), copy.memory,
          bytes);
    }
  }
  const MemoryId from = copies_.first(copy.value).memory;
  Transfer& transfer = transfers_[index - copies_.values()];
  transfer = {.at = from};
  const Route* route = machine_.route(from, copy.memory);
  TUTTI_CHECK(route != nullptr);  // begin has seen to it
  transfer.direct =
      route->hops.size() == 1 || (!options_->staged && lanes_.join(from, copy.memory));
  lanes_.send(from, next_stop(index), index);
}

MemoryId Run::next_stop(int32_t index) const {
  const Copy& copy = copies_[index];
  const Transfer& transfer = transfers_[index - copies_.values()];
  if (transfer.direct) return copy.memory;
  const MemoryId from = copies_.first(copy.value).memory;
  return machine_.route(from, copy.memory)->hops[static_cast<size_t>(transfer.hop)].to;
}

// One hop, on the thread of its lane.
void Run::move(Copier& copier, int32_t index) {
  Copy& copy = copies_[index];
  Copy& first = copies_.first(copy.value);
  Transfer& transfer = transfers_[index - copies_.values()];
  const MemoryId stop = next_stop(index);
  const int64_t bytes = copy.bytes;
  const int64_t start = clock_.now();
  void* const from = transfer.staging != nullptr ? transfer.staging : first.address;
  void* to = copy.address;
  if (stop != copy.memory && bytes > 0) {
    to = pool(stop).allocate(bytes);
    if (to == nullptr) {
      return fail_for_room(
          fmt::format("value '{}' on its way to memory '{}'",
                      problem_->graph.value_name(copy.value), machine_.memory(copy.memory).name),
          stop, bytes);
    }
  }
  const Result<void> done = copier.copy(to, from, bytes);
  if (transfer.staging != nullptr) pool(transfer.at).release(transfer.staging, bytes);
  transfer.staging = stop == copy.memory ? nullptr : to;
  // Also of a hop that failed: its block is there, and is given back there.
  const MemoryId left = std::exchange(transfer.at, stop);
  if (!done) {
    return crew_.fail(
        failed(fmt::format("value '{}' on its way from memory '{}' to '{}': {}",
                           problem_->graph.value_name(copy.value), machine_.memory(left).name,
                           machine_.memory(stop).name, done.error().message)));
  }
  if (options_->trace) {
    const Duration begun(start);
    const Duration ended(clock_.now());
    const SpinHold hold(transfer_log_lock_);
    transfer_log_.push_back({.value = copy.value,
                             .from = first.memory,
                             .to = copy.memory,
                             .hop = transfer.hop,
                             .start = begun,
                             .finish = ended});
  }
  ++transfer.hop;
  if (stop == copy.memory) return arrived(index);
  lanes_.send(stop, next_stop(index), index);
}

void Run::arrived(int32_t index) {
  if (policy_ != nullptr) return arrived_online(index);
  const Graph& graph = problem_->graph;
  const Copy& copy = copies_[index];
  const MemoryId memory = copy.memory;
  const ValueId value = copy.value;
  // From here on the copy may be read and dropped.
  for (const EdgeId edge : graph.consumers(value)) {
    const OpId reader = graph.edge_to(edge);
    if (memory_of(reader) == memory) lose_token(nullptr, reader, 0);
  }
  drop(value.index);
}

}  // namespace tutti
