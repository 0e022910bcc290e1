// What the local engine saw of each op: when it was ready, when a slot took it, when it ended. From
// these alone events_faults judges the engine: no slot idle beside a ready op, the first by
// priority first. trace/check.h judges the rest.
//
// Most rules are of the order of the dispatcher's own steps, whose ticks are taken where they
// happen, so that they hold on a host that lets threads wait for long. One is of the clock: how
// long an op may wait beside a slot that does nothing at all.

#ifndef TUTTI_RUNTIME_LOCAL_EVENTS_H_
#define TUTTI_RUNTIME_LOCAL_EVENTS_H_

#include <span>
#include <string>
#include <vector>

#include "tutti/plan/plan.h"
#include "tutti/plan/problem.h"

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

struct EventRules {
  const Plan* plan = nullptr;  // whose priorities are checked; null: an online run, by turn
  // How long an op may wait beside an idle slot: the threads of a busy host may not run at once.
  Duration patience = std::chrono::milliseconds(100);
};

// Every rule that the steps of the dispatcher break, one sentence each, whatever the clock says.
// No slot goes to sleep by a look during all of which an op was in a queue of its device. None
// takes an op by a look during all of which one was there that goes before it. None takes an op
// without a look, but within ten microseconds of its last one and where the device has other slots.
std::vector<std::string> step_faults(const Problem& problem, std::span<const OpEvents> events,
                                     std::span<const SleepEvent> sleeps, const EventRules& rules);

// Every rule of time that the events break. No op is ready for longer than the patience while a
// slot of its device idles, in all, whatever other slots do meanwhile. On a device of one slot no
// op starts while one that goes before it is ready.
std::vector<std::string> events_faults(const Problem& problem, std::span<const OpEvents> events,
                                       const EventRules& rules);

// From when an op is ready and its slot is free until it starts, for each op, ascending.
std::vector<Duration> dispatch_delays(const Problem& problem, std::span<const OpEvents> events);

}  // namespace tutti

#endif  // TUTTI_RUNTIME_LOCAL_EVENTS_H_
