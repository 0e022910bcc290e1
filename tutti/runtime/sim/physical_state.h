// The state of a simulated run between two instants, apart from the books of memory (ledger.h). It
// is copied to continue a run later (remembered_run.h).

#ifndef TUTTI_RUNTIME_SIM_PHYSICAL_STATE_H_
#define TUTTI_RUNTIME_SIM_PHYSICAL_STATE_H_

#include <cstdint>
#include <vector>

#include "tutti/base/time.h"
#include "tutti/graph/graph.h"
#include "tutti/machine/machine.h"
#include "tutti/runtime/sim/event_queue.h"
#include "tutti/runtime/sim/links/channels.h"
#include "tutti/runtime/sim/links/flows.h"

namespace tutti {

struct PhysicalState {
  struct Transfer {
    ValueId value;
    MemoryId from;
    MemoryId to;
    const Route* route = nullptr;  // null: its time was given
    int hop = 0;
    Duration hop_start{0};
    double factor = 1;  // how this draw differs from the mean
  };
  struct Waiting {  // an op that waits for a slot; the smallest key goes first
    int64_t key;
    int32_t op;
    friend bool operator>(const Waiting& a, const Waiting& b) {
      return a.key != b.key ? a.key > b.key : a.op > b.op;
    }
  };
  static constexpr int32_t kNoSlot = -1;
  enum class Presence : uint8_t { absent, on_its_way, present };

  explicit PhysicalState(const Machine& machine) : channels_(machine), flows_(machine) {}

  Duration now_{0};
  int64_t turn_ = 0;  // of ops becoming ready
  int32_t unfinished_ = 0;
  Duration latest_end_{0};  // the makespan is at least this, if durations are means
  bool was_tight_ = false;  // something has waited for room in a memory
  EventQueue events_;
  // By op.
  std::vector<DeviceId> device_of_;
  std::vector<MemoryId> memory_of_;
  std::vector<int32_t> absent_;  // operands not in its memory yet
  std::vector<Duration> start_;
  std::vector<Duration> finish_;  // expected while it runs
  std::vector<int32_t> slot_of_;  // kNoSlot before it starts
  std::vector<Duration> ready_at_;
  std::vector<OpId> decided_by_;
  // By device.
  std::vector<std::vector<Waiting>> waiting_;     // heaps
  std::vector<std::vector<int32_t>> free_slots_;  // heaps, the smallest on top
  std::vector<std::vector<OpId>> last_on_slot_;
  std::vector<size_t> next_in_order_;  // into the plan's strict order
  std::vector<Duration> work_left_;    // mean run times of ops that have not started
  // Values and transfers.
  std::vector<Presence> presence_;  // by value x memory
  std::vector<Transfer> transfers_;
  std::vector<int32_t> free_transfers_;  // entries of transfers_ that can be used again
  std::vector<std::vector<int32_t>> waiting_for_room_;  // by memory
  int32_t room_waiters_ = 0;
  Channels channels_;
  Flows flows_;
};

}  // namespace tutti

#endif  // TUTTI_RUNTIME_SIM_PHYSICAL_STATE_H_
