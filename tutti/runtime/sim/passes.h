// Repeated passes: a plan that is carried out again and again, with several passes of the graph in
// flight, and the time per pass in the steady state.
//
// A pass begins when the one `in_flight` before it, and all earlier ones, have ended; its inputs
// set out then. Weights are shared by all passes: they are in memory once. Every other value is
// each pass's own. Among ops that are ready on a device the earlier pass goes first; within a pass
// the plan's order holds. Streamed weights of the next pass may set out before this one ends.
//
// What this is not: a run with noise (durations are the means of the problem's costs), or one that
// loads kept weights (that happens once, whatever --cold says). A value that no op reads leaves
// memory with its op.
//
// One object serves one thread.

#ifndef TUTTI_RUNTIME_SIM_PASSES_H_
#define TUTTI_RUNTIME_SIM_PASSES_H_

#include <memory>
#include <vector>

#include "tutti/base/stop.h"
#include "tutti/plan/plan.h"
#include "tutti/plan/problem.h"
#include "tutti/runtime/sim/physical.h"

namespace tutti {

inline constexpr int kUsualPasses = 8;

class Passes {
 public:
  // For so many passes in flight. Keeps a reference to the problem. Fails (invalid_input) if
  // that is too many for the size of the graph, or if transfers are given and the devices are of
  // more than 16 kinds.
  static Result<Passes> make(const Problem& problem, int in_flight);

  // Simulates three times as many passes as are in flight. With F(p) the time by which the first p
  // passes have ended and K in flight,
  //
  //   time per pass = (F(2 K) - F(K)) / K, rounded up to a nanosecond,
  //
  // or the work of the busiest device if that is more: passes may end in bursts, which K of them do
  // not always average out. The first K fill the pipeline; the last K keep the devices busy while
  // those before them end.
  // Fails if the plan does not run so, for instance because memory is too small for what the passes
  // hold together. Requires a plan that check_plan accepts.
  Result<Duration> time_per_pass(const Plan& plan, const Stop& stop = {});

  // The graph and machine of all passes; op `op` of pass `pass` is pass * size + op.
  const Problem& unrolled() const { return *unrolled_; }
  // The plan of all passes.
  Plan unroll(const Plan& plan) const;
  int count() const { return 3 * in_flight_; }

 private:
  friend class Unroller;
  // The work of the device that has most, over its slots.
  Duration busiest(const Plan& plan) const;
  Passes(const Problem& problem, int in_flight) : problem_(&problem), in_flight_(in_flight) {}

  const Problem* problem_;
  int in_flight_;
  std::unique_ptr<const Problem> unrolled_{};
  std::vector<ValueId> weights_{};  // by value of the problem: the weight in the unrolled graph
  std::unique_ptr<PhysicalSimulator> simulator_{};
};

}  // namespace tutti

#endif  // TUTTI_RUNTIME_SIM_PASSES_H_
