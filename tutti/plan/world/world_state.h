// A WorldState is what a Decider (tutti/plan/world/decider.h) sees: the jobs in the system and
// their ready ops, what each slot does, which ops wait in the queue of each device, where values
// are, how much memory is left, and what was measured since the last decision. It is plain data,
// kept by the WorldLedger of the runtime that acts.

#ifndef TUTTI_PLAN_WORLD_WORLD_STATE_H_
#define TUTTI_PLAN_WORLD_WORLD_STATE_H_

#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "tutti/base/chunk_table.h"
#include "tutti/machine/counter.h"
#include "tutti/plan/world/cluster.h"

namespace tutti {

using JobId = Id<struct JobTag>;  // in the order of arrival

struct OpStatus {
  enum class Phase : uint8_t {
    waiting,  // for producers
    ready,
    queued,  // given to a device: waits for its operands, a slot or memory there
    running,
    done,
  };
  Phase phase = Phase::waiting;
  DeviceId device{};     // from its being queued on
  int slot = -1;         // of the device; -1: it has none yet
  Duration launched{0};  // when it was given to the device
  Duration started{0};
  Duration finished{0};  // while it runs: expected, by its mean run time
};

// A job that is in the system.
struct JobStatus {
  JobId id{};
  std::shared_ptr<const Job> job;
  Duration arrival{0};
  std::vector<OpStatus> ops;  // by op
  std::vector<OpId> ready;    // by id
  std::vector<OpId> held{};   // ops that would be ready, if the job is hidden from deciders
  bool hidden = false;
  int32_t left = 0;              // ops that are not done
  Duration work_left{0};         // their least run times
  bool abandoned = false;        // none of its ops will be given to a device any more
  std::vector<uint64_t> copies;  // by value: a bit for each memory that holds it

  bool holds(MemoryId memory, ValueId value) const {
    return (copies[value.index] >> memory.index & 1) != 0;
  }
};

struct SlotStatus {
  enum class Phase : uint8_t { idle, busy, reconfiguring };
  Phase phase = Phase::idle;
  JobId job{};  // if busy: whose op runs in it, or will once it has its operands
  OpId op{};
  Duration since{0};
  OpKindId configured{};  // of a context: the kind that it runs, or will; none: not configured yet

  bool is_idle() const { return phase == Phase::idle; }
};

struct QueuedOp {
  JobId job{};
  OpId op{};
};

inline constexpr int32_t kUnlimitedDepth = std::numeric_limits<int32_t>::max();

struct DeviceStatus {
  int32_t idle_slots = 0;
  int32_t depth = 0;              // how many ops may wait behind busy slots
  std::vector<QueuedOp> queue{};  // those that do, by turn
  Duration backlog{0};  // mean run times of ops that were given to it and have not started
};

// An op that ended since the last decision.
struct FinishedOp {
  JobId job{};
  OpId op{};
  OpKindId kind{};
  DeviceId device{};
  Duration launched{0};
  Duration started{0};
  Duration finished{0};
  Duration alone{0};  // its mean run time there, with nothing else on the machine
};

// Between two decisions of one epoch the clock stands still and only what was decided changes.
struct WorldState {
  const Cluster* cluster = nullptr;
  Duration now{0};
  int64_t epoch = 0;                            // how often the clock has moved on
  ChunkTable<std::unique_ptr<JobStatus>> jobs;  // by JobId; null: has ended
  std::vector<JobId> in_system;                 // by id; but those that are hidden
  std::vector<DeviceStatus> devices;            // by device
  std::vector<SlotStatus> slots;                // numbered across devices; Cluster::first_slot
  int32_t busy_slots = 0;                       // busy or reconfiguring
  std::vector<int64_t> memory_left;  // by memory, in bytes; kUnlimitedBytes: nothing is enforced
  std::vector<int32_t> pending;      // by kind: ops in the system that were not launched yet
  std::vector<int32_t> ready;        // by kind: those of them that are ready
  std::vector<FinishedOp> finished;  // since the last epoch, by time
  // What counters said of the time between the last epoch and this one, and what ops that were
  // launched in this epoch will need in addition.
  std::vector<Counter> counters;
  std::vector<CounterReading> readings;
  std::vector<Launched> launched;

  const JobStatus& job(JobId id) const { return *jobs[id.index]; }
  const SlotStatus& slot(DeviceId device, int slot) const {
    return slots[cluster->first_slot(device) + slot];
  }
  // A slot in which the device could run an op of that kind now, numbered within the device; -1 if
  // there is none. Of several: one on idle cores, then the first.
  int free_slot(DeviceId device, OpKindId kind) const;
  // The device could take an op of that kind: a slot is free, or its queue has a place. Devices
  // with contexts have no queue: what is configured next decides what they can run.
  bool has_room(DeviceId device, OpKindId kind) const {
    const DeviceStatus& status = devices[device.index];
    return static_cast<int32_t>(status.queue.size()) < status.depth || free_slot(device, kind) >= 0;
  }
  // When a slot has worked off what was given to the device so far, by mean run times.
  Duration free_at(DeviceId device) const;
  // When the op's operands would be in the device's memory if nothing else were on the links.
  Duration fetch_time(const JobStatus& job, OpId op, DeviceId device) const;
};

}  // namespace tutti

#endif  // TUTTI_PLAN_WORLD_WORLD_STATE_H_
