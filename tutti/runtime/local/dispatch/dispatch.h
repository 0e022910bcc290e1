// Which op a slot runs next. Every slot has a queue of its own for what it makes ready, so that
// slots of one device seldom meet; a slot that has nothing takes from its neighbours, and one that
// has looks whether a neighbour has something better. That look costs as much as an op that does
// nothing, so a slot looks at most every ten microseconds: a device of one slot keeps to the order
// of ranks exactly, one of several within that time. What it notes of its steps is what
// local/events_testing.h judges.
//
// A slot without work spins for a moment and then sleeps. The thread that gives an op to a device
// wakes one of its sleepers, if there are any: the giver adds to a queue under its lock and then
// looks for sleepers; a slot first counts itself as a sleeper and then looks into the queues under
// their locks. So one of the two sees the other.

#ifndef TUTTI_RUNTIME_LOCAL_DISPATCH_DISPATCH_H_
#define TUTTI_RUNTIME_LOCAL_DISPATCH_DISPATCH_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "tutti/machine/machine.h"
#include "tutti/runtime/local/dispatch/crew.h"
#include "tutti/runtime/local/dispatch/ready_queue.h"
#include "tutti/runtime/local/dispatch/ticks.h"

namespace tutti {

class Dispatch {
 public:
  struct Taken {
    int32_t rank = kNoRank;
    int64_t when = 0;  // if stamped: the tick at which it left its queue
    // If steps are noted: the ticks between which the slot looked at all queues of the device, and
    // saw nothing better all the while. Without a look: the tick of its last one, and when.
    int64_t look_from = 0;
    int64_t look_to = 0;
    bool looked = true;
  };
  // What is noted of a run: nothing; when ops were ready and taken; and every look of a slot at the
  // queues of its device, which costs about as much again.
  enum class Notes : uint8_t { none, times, steps };
  // A slot saw every queue of its device empty, one after the other, and went to sleep. In ticks.
  struct Sleep {
    int64_t look_from;
    int64_t look_to;
  };

  // Keeps references.
  Dispatch(const Machine& machine, const TickClock& clock, Crew& crew);

  // A run begins, in which this many slots of each device take part, of ops with ranks below that.
  void begin(std::span<const int> slots, int32_t ranks, Notes notes);

  // The number of a slot, for the calls below.
  int32_t slot(DeviceId device, int index) const {
    return devices_[static_cast<size_t>(device.index)].first + index;
  }

  // Adds what the slot itself has made ready and takes the next op, if there is one.
  Taken take(int32_t slot, std::span<const int32_t> fresh);
  // The same with nothing to add, but waits. No rank: the run is over.
  Taken wait(int32_t slot);

  // Adds an op of that device; any thread may. `stamp` is called with the tick at which it could be
  // taken, before any slot takes it, if stamped.
  template <class Stamp>
  void give(DeviceId id, int32_t rank, Stamp stamp) {
    Device& device = devices_[static_cast<size_t>(id.index)];
    const int32_t slot = device.first + (device.count == 1 ? 0 : rank % device.count);
    slots_[slot].queue.give(rank, [&] {
      if (!stamped_) return;
      const int64_t now = clock_.now();
      if (steps_) queued_[static_cast<size_t>(rank)] = now;
      stamp(now);
    });
    wake(device, 1);
  }

  // After the run: the tick at which the op was last put into a queue, and sleeps. Nothing unless
  // steps are noted.
  int64_t queued(int32_t rank) const {
    return queued_.empty() ? 0 : queued_[static_cast<size_t>(rank)];
  }
  const std::vector<Sleep>& sleeps(int32_t slot) const { return slots_[slot].sleeps; }

  // True if no op waits. Requires that no thread gives or takes.
  bool empty() const;
  // Wakes all.
  void ring_all();

 private:
  struct alignas(64) Slot {
    ReadyQueue queue;
    int64_t looked = 0;  // when at its neighbours
    int32_t device = 0;
    std::vector<Sleep> sleeps;
  };
  struct alignas(64) Device {
    int32_t first = 0;
    int32_t count = 0;                 // of slots that take part
    std::atomic<int32_t> sleepers{0};  // that no thread has woken yet
    std::atomic<int32_t> wake_ups{0};  // that no sleeper has heeded yet
  };

  // Takes from the slot's queue, whose owner alone may add.
  Taken take_from(int32_t slot, std::span<const int32_t> fresh);
  // The better of this and what neighbours have.
  Taken look_around(int32_t slot, Taken mine);
  static void wake(Device& device, int32_t count);
  static void heed(Device& device, const Crew& crew);

  const TickClock& clock_;
  Crew& crew_;
  int32_t slot_count_ = 0;
  std::unique_ptr<Slot[]> slots_;
  std::vector<Device> devices_;  // never resized: a Device cannot be moved
  bool stamped_ = false;         // times are noted
  bool steps_ = false;           // and steps
  std::vector<int64_t> queued_;  // by rank, ticks; written under the lock of the op's queue
  int64_t between_looks_ = 0;    // ticks
  int64_t spin_ = 0;             // ticks
};

}  // namespace tutti

#endif  // TUTTI_RUNTIME_LOCAL_DISPATCH_DISPATCH_H_
