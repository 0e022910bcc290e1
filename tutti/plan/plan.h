// A Plan is a decision about a whole graph: a device for each op, a priority that orders ops that
// could start at the same time, and the planner's estimate of when each op runs.
//
// A work-conserving runtime obeys placement and priority and re-times the rest, so a plan has two
// makespans: the planned one (planned_makespan) and that of a run. docs/formats/plan.md.

#ifndef TUTTI_PLAN_PLAN_H_
#define TUTTI_PLAN_PLAN_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tutti/base/id.h"
#include "tutti/base/time.h"
#include "tutti/plan/weights.h"

namespace tutti {

class Problem;

// Where a plan comes from, so that it can be made again.
struct Provenance {
  std::string policy{};
  uint64_t seed = 0;
  int64_t evaluations = 0;
  uint64_t graph_fingerprint = 0;
  uint64_t machine_fingerprint = 0;
  uint64_t costs_fingerprint = 0;
  std::string note{};  // what else the planner has to say, such as which of its methods it used
  std::string
      validation{};  // how well the simulator that evaluated it predicts real runs; or empty
};

// Fills in the seed and the fingerprints of graph, machine and costs.
void note_origin(const Problem& problem, uint64_t seed, Provenance& provenance);

inline constexpr int kMostPasses = 1000;  // in flight

// What a plan for repeated passes promises (tutti/runtime/sim/passes.h).
struct PlannedPasses {
  int in_flight = 1;
  Duration time_per_pass{0};  // of a simulated steady state by priority, with mean durations
};

struct Plan {
  std::vector<DeviceId> placement;  // by op
  std::vector<int64_t> priority;    // by op; the smallest goes first; normally start_ns
  std::vector<Duration> start{};    // by op: the planner's own timeline; empty: it has none
  std::vector<Duration> finish{};
  // The timeline is that of a run in the physical simulator, by priority and with mean durations,
  // which the judge repeats. False: it is the planner's estimate, in which transfers need not meet.
  bool simulated = false;
  // By device: the ops in the order they must start there. Empty: priority alone decides.
  std::vector<std::vector<OpId>> strict_order{};
  std::optional<Duration> planned_makespan{};  // the end of the timeline; none without one
  // Which weights with homes are kept where, and which are streamed. Not stated: each is brought to
  // every memory where it is read when the run begins, and stays there.
  WeightKeeping weights{};
  std::optional<PlannedPasses> passes{};  // none: the plan is for one pass
  Provenance provenance{};
};

}  // namespace tutti

#endif  // TUTTI_PLAN_PLAN_H_
