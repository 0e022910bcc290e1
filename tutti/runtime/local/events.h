// What the local engine saw of each op: when it was ready, when a slot took it, when it ended; and
// when slots went to sleep. Tests judge the engine by it (events_testing.h); trace/check.h judges
// the rest.

#ifndef TUTTI_RUNTIME_LOCAL_EVENTS_H_
#define TUTTI_RUNTIME_LOCAL_EVENTS_H_

#include <cstdint>

#include "tutti/base/id.h"
#include "tutti/base/time.h"

namespace tutti {

struct OpEvents {
  OpId op;
  DeviceId device;
  int slot = 0;
  Duration ready{0};  // operands there and, where memory was short, room for it
  Duration start{0};
  Duration finish{0};
  int32_t turn = 0;  // the least goes first; online: as ops became ready
  // When all could see it in a queue, which it left at its start, and between which times the slot
  // that took it looked at all queues of the device. Without a look, which a device of several
  // slots may do: `look_from` is when the slot began its last one.
  Duration queued{0};
  Duration look_from{0};
  Duration look_to{0};
  bool looked = true;
};

// A slot looked at all queues of its device between these times, saw nothing and went to sleep.
struct SleepEvent {
  DeviceId device;
  int slot = 0;
  Duration look_from{0};
  Duration look_to{0};
};

}  // namespace tutti

#endif  // TUTTI_RUNTIME_LOCAL_EVENTS_H_
