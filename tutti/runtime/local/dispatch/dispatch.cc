#include "tutti/runtime/local/dispatch/dispatch.h"

#include <algorithm>
#include <thread>

namespace tutti {

Dispatch::Dispatch(const Machine& machine, const TickClock& clock, Crew& crew)
    : clock_(clock), crew_(crew), devices_(static_cast<size_t>(machine.size())) {
  for (const DeviceId id : machine.devices()) {
    devices_[static_cast<size_t>(id.index)].first = slot_count_;
    slot_count_ += machine.device(id).slots;
  }
  slots_ = std::make_unique<Slot[]>(static_cast<size_t>(slot_count_));
  for (const DeviceId id : machine.devices()) {
    for (int i = 0; i < machine.device(id).slots; ++i) slots_[slot(id, i)].device = id.index;
  }
}

void Dispatch::begin(std::span<const int> slots, int32_t ranks, Notes notes) {
  stamped_ = notes != Notes::none;
  steps_ = notes == Notes::steps;
  queued_.assign(steps_ ? static_cast<size_t>(ranks) : 0, 0);
  int threads = 0;
  for (size_t i = 0; i < devices_.size(); ++i) {
    devices_[i].count = slots[i];
    devices_[i].sleepers.store(0);
    devices_[i].wake_ups.store(0);
    threads += slots[i];
  }
  for (int32_t i = 0; i < slot_count_; ++i) {
    // Also those of slots that take no part: they must be seen to be empty.
    slots_[i].queue.begin(ranks);
    slots_[i].looked = 0;
    slots_[i].sleeps.clear();
  }
  between_looks_ = clock_.ticks_of(std::chrono::microseconds(10));
  // Where threads outnumber cores, spinning takes a core from one that could work.
  const bool roomy = threads <= static_cast<int>(std::thread::hardware_concurrency());
  spin_ = roomy ? clock_.ticks_of(std::chrono::microseconds(5)) : 0;
}

Dispatch::Taken Dispatch::take_from(int32_t index, std::span<const int32_t> fresh) {
  Taken taken;
  taken.rank = slots_[index].queue.exchange(
      fresh,
      [&] {
        if (stamped_) taken.when = taken.look_from = taken.look_to = clock_.now();
      },
      [&] {
        if (!steps_) return;
        // Neighbours look without the lock: what they can see is there from now on.
        const bool alone = devices_[static_cast<size_t>(slots_[index].device)].count == 1;
        const int64_t now = alone ? taken.when : clock_.now();
        for (const int32_t rank : fresh) queued_[static_cast<size_t>(rank)] = now;
      });
  return taken;
}

Dispatch::Taken Dispatch::take(int32_t index, std::span<const int32_t> fresh) {
  Slot& mine = slots_[index];
  Device& device = devices_[static_cast<size_t>(mine.device)];
  Taken taken = take_from(index, fresh);
  if (device.count == 1) return taken;
  if (!fresh.empty() && mine.queue.head() != kNoRank) {
    wake(device, static_cast<int32_t>(fresh.size()));
  }
  if (taken.rank == kNoRank) return look_around(index, taken);
  const int64_t now = stamped_ ? taken.when : clock_.about_now();
  if (now - mine.looked < between_looks_) {
    taken.looked = false;
    taken.look_from = mine.looked;
    return taken;
  }
  mine.looked = now;
  return look_around(index, taken);
}

Dispatch::Taken Dispatch::look_around(int32_t index, Taken mine) {
  Slot& own = slots_[index];
  Device& device = devices_[static_cast<size_t>(own.device)];
  for (;;) {
    const int64_t from = steps_ ? clock_.now() : 0;
    int32_t best = mine.rank;
    int32_t victim = -1;
    // Its own queue too: others may have added to it.
    for (int32_t i = device.first; i < device.first + device.count; ++i) {
      const int32_t head = slots_[i].queue.head();
      if (head >= best) continue;
      best = head;
      victim = i;
    }
    const int64_t to = steps_ ? clock_.now() : 0;
    if (victim >= 0) {
      const Taken other = take_from(victim, {});
      if (other.rank == kNoRank) continue;  // another slot was faster
      const int32_t worse = std::max(mine.rank, other.rank);
      if (other.rank < mine.rank) mine = other;
      if (worse != kNoRank) {
        own.queue.give(worse, [&] {
          if (steps_) queued_[static_cast<size_t>(worse)] = clock_.now();
        });
        wake(device, 1);
      }
      if (mine.rank > best) continue;  // another slot was faster; yet another may have a better op
    }
    mine.look_from = from;
    mine.look_to = to;
    return mine;
  }
}

Dispatch::Taken Dispatch::wait(int32_t index) {
  Slot& mine = slots_[index];
  Device& device = devices_[static_cast<size_t>(mine.device)];
  for (;;) {
    for (const int64_t until = clock_.now() + spin_;;) {
      if (crew_.over()) return {};
      for (int32_t i = device.first; i < device.first + device.count; ++i) {
        if (slots_[i].queue.head() == kNoRank) continue;
        if (const Taken taken = take(index, {}); taken.rank != kNoRank) return taken;
      }
      if (clock_.now() >= until) break;
      relax();
    }
    device.sleepers.fetch_add(1);
    const int64_t from = steps_ ? clock_.now() : 0;
    for (int32_t i = device.first; i < device.first + device.count; ++i) {
      const Taken taken = take_from(i, {});
      if (taken.rank == kNoRank) continue;
      // No sleeper after all. A slot that was counted as one is rung for, and heeds it.
      int32_t sleepers = device.sleepers.load();
      while (sleepers > 0 && !device.sleepers.compare_exchange_weak(sleepers, sleepers - 1)) {
      }
      if (sleepers == 0) heed(device, crew_);
      return look_around(index, taken);
    }
    if (steps_) mine.sleeps.push_back({from, clock_.now()});
    crew_.sleep();
    heed(device, crew_);
    crew_.wake();
  }
}

void Dispatch::wake(Device& device, int32_t count) {
  int32_t sleepers = device.sleepers.load(std::memory_order_relaxed);
  while (count > 0 && sleepers > 0) {
    if (!device.sleepers.compare_exchange_weak(sleepers, sleepers - 1)) continue;
    device.wake_ups.fetch_add(1);
    device.wake_ups.notify_one();
    --count;
    --sleepers;
  }
}

void Dispatch::heed(Device& device, const Crew& crew) {
  for (;;) {
    int32_t rung = device.wake_ups.load();
    if (rung > 0 && device.wake_ups.compare_exchange_weak(rung, rung - 1)) return;
    if (crew.over()) return;
    if (rung == 0) device.wake_ups.wait(0);
  }
}

bool Dispatch::empty() const {
  for (int32_t i = 0; i < slot_count_; ++i) {
    if (slots_[i].queue.head() != kNoRank) return false;
  }
  return true;
}

void Dispatch::ring_all() {
  for (Device& device : devices_) {
    device.wake_ups.fetch_add(device.count);
    device.wake_ups.notify_all();
  }
}

}  // namespace tutti
