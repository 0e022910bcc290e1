// Jobs planned one by one, as if each had the machine to itself: every op goes to the device of its
// job's plan; of several that could start, the one with the earliest planned start, counted from
// its job's arrival. The plans know neither each other nor hidden load.

#ifndef TUTTI_POLICY_ONLINE_PLANNED_H_
#define TUTTI_POLICY_ONLINE_PLANNED_H_

#include <functional>
#include <map>
#include <vector>

#include "tutti/plan/plan.h"
#include "tutti/policy/online/openings.h"

namespace tutti {

// Must return a plan for the problem of every job; called once for each different job.
using PlanJob = std::function<Plan(const Problem& problem)>;

class Planned final : public PlacingDecider {
 public:
  explicit Planned(PlanJob plan) : plan_(std::move(plan)) {}

 protected:
  void on_begin(const Cluster& cluster, uint64_t seed) override;
  std::optional<Choice> choose(const WorldState& state) override;

 private:
  const Plan& plan_of(const std::shared_ptr<const Job>& job);

  PlanJob plan_;
  // Kept from run to run, as long as the job is used elsewhere: jobs do not change.
  std::map<std::shared_ptr<const Job>, Plan> plans_;
};

}  // namespace tutti

#endif  // TUTTI_POLICY_ONLINE_PLANNED_H_
