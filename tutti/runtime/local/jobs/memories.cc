#include "tutti/runtime/local/jobs/memories.h"

#include <algorithm>
#include <utility>

namespace tutti {

Memories::Memories(const Machine& machine, Hardware& hardware, Waker waker)
    : waker_(std::move(waker)),
      rooms_(std::make_unique<Room[]>(static_cast<size_t>(machine.memory_count()))) {
  for (int32_t i = 0; i < machine.memory_count(); ++i)
    pools_.push_back(std::make_unique<Pool>(hardware.store(MemoryId{i})));
}

void Memories::begin(const std::vector<int64_t>& limits) {
  for (size_t i = 0; i < pools_.size(); ++i) pools_[i]->begin(limits[i]);
}

template <class Add>
bool Memories::take_or_wait(MemoryId memory, int64_t bytes, Add add) {
  if (bytes == 0 || pool(memory).take_room(bytes)) return true;
  Room& room = rooms_[memory.index];
  const SpinHold hold(room.lock);
  // A thread that gives room back looks at `waiting` after that, and we at the room after this.
  room.waiting.fetch_add(1);
  if (!pool(memory).take_room(bytes)) {
    add(room);
    return false;
  }
  room.waiting.fetch_sub(1);
  return true;
}

bool Memories::take_room(OpEntry& entry) {
  return take_or_wait(entry.memory, entry.bytes_at_start,
                      [&](Room& room) TUTTI_THREAD_ATTRIBUTE(no_thread_safety_analysis) {
                        entry.state.store(OpEntry::State::queued, std::memory_order_relaxed);
                        room.ops.push_back(&entry);
                      });
}

bool Memories::take_room(MemoryId memory, int64_t bytes, int32_t transfer) {
  return take_or_wait(memory, bytes,
                      [&](Room& room) TUTTI_THREAD_ATTRIBUTE(no_thread_safety_analysis) {
                        room.transfers.push_back({transfer, bytes});
                      });
}

void Memories::give_room(MemoryId memory, int64_t bytes) {
  pool(memory).give_room(bytes);
  if (rooms_[memory.index].waiting.load() > 0) retry(memory);
}

// Transfers first, in the order in which they were asked for. Ops that would fit are queued again
// and ask when it is their turn.
void Memories::retry(MemoryId memory) {
  Room& room = rooms_[memory.index];
  std::vector<int32_t> transfers;
  std::vector<OpEntry*> ops;
  {
    const SpinHold hold(room.lock);
    std::erase_if(room.transfers, [&](const WaitingTransfer& waiting) {
      if (!pool(memory).take_room(waiting.bytes)) return false;
      transfers.push_back(waiting.transfer);
      return true;
    });
    std::erase_if(room.ops, [&](OpEntry* entry) {
      if (entry->bytes_at_start > pool(memory).left()) return false;
      ops.push_back(entry);
      return true;
    });
    room.waiting.fetch_sub(static_cast<int32_t>(transfers.size() + ops.size()));
  }
  for (const int32_t transfer : transfers) waker_.transfer(transfer);
  for (OpEntry* entry : ops) waker_.op(*entry);
}

Memories::Waiting Memories::waiting() const {
  Waiting all;
  for (size_t i = 0; i < pools_.size(); ++i) {
    const SpinHold hold(rooms_[i].lock);
    all.ops += std::ssize(rooms_[i].ops);
    all.transfers += std::ssize(rooms_[i].transfers);
  }
  return all;
}

OpEntry* Memories::waiting_op() const {
  OpEntry* first = nullptr;
  for (size_t i = 0; i < pools_.size(); ++i) {
    const SpinHold hold(rooms_[i].lock);
    for (OpEntry* entry : rooms_[i].ops) {
      if (first == nullptr || entry->turn < first->turn) first = entry;
    }
  }
  return first;
}

std::vector<int32_t> Memories::forget_transfers(
    const std::function<bool(int32_t transfer)>& which) {
  std::vector<int32_t> forgotten;
  for (size_t i = 0; i < pools_.size(); ++i) {
    const SpinHold hold(rooms_[i].lock);
    rooms_[i].waiting.fetch_sub(static_cast<int32_t>(
        std::erase_if(rooms_[i].transfers, [&](const WaitingTransfer& waiting) {
          if (!which(waiting.transfer)) return false;
          forgotten.push_back(waiting.transfer);
          return true;
        })));
  }
  return forgotten;
}

bool Memories::forget(OpEntry& entry) {
  Room& room = rooms_[entry.memory.index];
  const SpinHold hold(room.lock);
  if (std::erase(room.ops, &entry) == 0) return false;
  room.waiting.fetch_sub(1);
  entry.state.store(OpEntry::State::free, std::memory_order_relaxed);
  return true;
}

}  // namespace tutti
