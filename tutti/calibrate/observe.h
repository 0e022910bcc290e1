// What a trace says about durations, in the sense in which a simulator needs them: an op lasts from
// the moment it could start, its slot free and its operands there, until its end. What an engine
// takes to notice that it can start is part of that, as it is part of every makespan.
//
// The same goes for the hops of transfers: from the moment the value is there and the channels are
// free.

#ifndef TUTTI_CALIBRATE_OBSERVE_H_
#define TUTTI_CALIBRATE_OBSERVE_H_

#include <string>
#include <vector>

#include "tutti/plan/problem.h"
#include "tutti/trace/trace.h"

namespace tutti {

struct ObservedOp {
  OpId op;
  DeviceId device;
  double ns = 0;
  double waited_ns = 0;  // of these, before it started
};
struct ObservedHop {
  const Hop* hop = nullptr;
  int64_t bytes = 0;
  double ns = 0;
};
// In the order in which they ended.
struct Observed {
  std::vector<ObservedOp> ops;
  std::vector<ObservedHop> hops;
};

// Leaves out what says nothing: ops and hops that took no time, transfers with given times, and
// hops that were on a channel together with another, be it one that should not carry two. The trace
// must be of that problem.
Observed observe(const Problem& problem, const Trace& trace);

// The channels of a hop in a word, "a>+b<"; hops over the same channels have the same.
std::string hop_name(const Machine& machine, const Hop& hop);

}  // namespace tutti

#endif  // TUTTI_CALIBRATE_OBSERVE_H_
