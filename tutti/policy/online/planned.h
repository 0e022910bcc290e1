// Jobs that were planned one by one, as if each had the machine to itself: every op goes to the
// device its job's plan says, and of several that could go now the one that was to start first,
// counted from its job's arrival. What the plans do not know, they meet: each other, and load that
// nobody told of.

#ifndef TUTTI_POLICY_ONLINE_PLANNED_H_
#define TUTTI_POLICY_ONLINE_PLANNED_H_

#include <functional>
#include <map>
#include <vector>

#include "tutti/plan/plan.h"
#include "tutti/policy/online/openings.h"

namespace tutti {

// Must give a plan for every job's problem; called once for each different job.
using PlanJob = std::function<Plan(const Problem& problem)>;

class Planned final : public PlacingDispatcher {
 public:
  explicit Planned(PlanJob plan) : plan_(std::move(plan)) {}

 protected:
  void on_begin(const Cluster& cluster, uint64_t seed) override;
  std::optional<Choice> choose(const ClusterState& state) override;

 private:
  const Plan& plan_of(const std::shared_ptr<const Job>& job);

  PlanJob plan_;
  // Kept from run to run, as long as somebody else knows the job: jobs do not change.
  std::map<std::shared_ptr<const Job>, Plan> plans_;
};

}  // namespace tutti

#endif  // TUTTI_POLICY_ONLINE_PLANNED_H_
