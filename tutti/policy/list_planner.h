// List scheduling turns any Select/Place pair into a Planner: until all ops are placed, ask which
// op is next and where it goes, and note both in a draft.

#ifndef TUTTI_POLICY_LIST_PLANNER_H_
#define TUTTI_POLICY_LIST_PLANNER_H_

#include <functional>

#include "tutti/plan/policy.h"

namespace tutti {

// Makes the pair for one problem and seed: policies may work things out beforehand.
using MakePolicy = std::function<Policy(const Problem& problem, uint64_t seed)>;

class ListPlanner : public Planner {
 public:
  explicit ListPlanner(MakePolicy make_policy) : make_policy_(std::move(make_policy)) {}

  // Fails (infeasible) when memory leaves a ready op no device, naming op, device and bytes.
  Result<Plan> plan(const Problem& problem, const Budget& budget, uint64_t seed) override;

 private:
  MakePolicy make_policy_;
};

}  // namespace tutti

#endif  // TUTTI_POLICY_LIST_PLANNER_H_
