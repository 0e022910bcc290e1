// One op of a job on its way through the engine: given to a device, waiting for operands, in the
// device's queue, running. The scheduler owns it until it is queued, the slot that takes it from
// then on.

#ifndef TUTTI_RUNTIME_LOCAL_JOBS_OP_ENTRY_H_
#define TUTTI_RUNTIME_LOCAL_JOBS_OP_ENTRY_H_

#include <atomic>
#include <cstdint>
#include <vector>

#include "tutti/base/id.h"
#include "tutti/machine/machine.h"

namespace tutti {

class JobRun;

struct OpEntry {
  enum class State : uint8_t {
    free,      // not given to a device
    fetching,  // operands are on their way
    queued,    // has its operands: in the queue of its device, or put aside for want of memory
    taken,     // by a slot
  };

  JobRun* job = nullptr;
  OpId op{};
  DeviceId device{};
  MemoryId memory{};
  int64_t turn = 0;            // the least goes first
  int64_t bytes_at_start = 0;  // outputs and transient memory
  std::atomic<State> state{State::free};
  std::atomic<int32_t> absent{0};  // operands
  int32_t given = 0;               // how often it was given to a device
  std::vector<int32_t> copies;     // by operand: where in JobValues
  // Ticks.
  int64_t placed = 0;
  int64_t queued = 0;
  int64_t taken = 0;
  int64_t first_queued = 0;  // an op that waits for memory is queued again
  int64_t first_taken = 0;
  int64_t ready = 0;
  int64_t no_room = 0;         // span from ready to placed in which no device had room
  int64_t room_at_finish = 0;  // the scheduler's sum of such spans when the op ended
  int64_t started = 0;
  int64_t finished = 0;
  int slot = 0;  // of the device
};

}  // namespace tutti

#endif  // TUTTI_RUNTIME_LOCAL_JOBS_OP_ENTRY_H_
