// What the local engine saw of each op: when it was ready, when a slot took it, when it ended. From
// these alone events_faults judges the engine: no slot idle beside a ready op, the first by
// priority first. trace/check.h judges the rest.

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
};

struct EventRules {
  const Plan* plan = nullptr;  // whose priorities are checked; null: an online run, by turn
  // How long an op may wait beside an idle slot: the threads of a busy host may not run at once.
  Duration patience = std::chrono::milliseconds(100);
};

// Every rule that the events break, one sentence each. No op is ready for longer than the patience
// while a slot of its device idles, in all, whatever other slots do meanwhile. No op starts while
// one that goes before it is ready there: exactly so on a device of one slot, within the patience
// on one of several, whose slots look at each other's ops only so often.
std::vector<std::string> events_faults(const Problem& problem, std::span<const OpEvents> events,
                                       const EventRules& rules);

// From when an op is ready and its slot is free until it starts, for each op, ascending.
std::vector<Duration> dispatch_delays(const Problem& problem, std::span<const OpEvents> events);

}  // namespace tutti

#endif  // TUTTI_RUNTIME_LOCAL_EVENTS_H_
