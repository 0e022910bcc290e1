// A pair of Select and Place as a Decider: the jobs in the system are asked for in the order of
// their arrival, each with a pair of its own, through a JobView of the job.
//
// Select and Place know nothing of FPGAs. A context is configured here for a ready op that only
// reconfigurable devices can run, unless some context is configured for its kind, or will be.

#ifndef TUTTI_PLAN_WORLD_SELECT_PLACE_H_
#define TUTTI_PLAN_WORLD_SELECT_PLACE_H_

#include <map>
#include <utility>
#include <vector>

#include "tutti/plan/policy.h"
#include "tutti/plan/world/decider.h"

namespace tutti {

class SelectPlace final : public Decider {
 public:
  explicit SelectPlace(MakePolicy make) : make_(std::move(make)) {}

  void begin(const Cluster& cluster, uint64_t seed) override;
  // Nothing if no job has a ready op with room or Select says "nothing now" for all that have; but
  // the first legal action if the whole cluster is idle.
  Action decide(const WorldState& state) override;

 private:
  Policy& policy_of(const WorldState& state, const JobStatus& job);

  MakePolicy make_;
  uint64_t seed_ = 0;
  std::map<JobId, Policy> policies_;  // of the jobs in the system that were asked for
  std::vector<Action> legal_;
};

// One pair asked about the one job there is, for runs of a single graph. It may wait by choice.
class OnePolicy final : public Decider {
 public:
  // Keeps a reference.
  explicit OnePolicy(Policy& policy) : policy_(policy) {}

  void begin(const Cluster& /*cluster*/, uint64_t /*seed*/) override {}
  Action decide(const WorldState& state) override;

 private:
  Policy& policy_;
};

}  // namespace tutti

#endif  // TUTTI_PLAN_WORLD_SELECT_PLACE_H_
