// Plans with a trained pair of SELECT and PLACE and nothing else: one greedy episode, no
// simulation.
//
// Large graphs are coarsened first: the networks place clusters of ops (tutti/policy/coarse), and a
// pass or two without them put the ops near where their clusters went. That takes half of the time
// in the mean, and gives plans that are a little better in the mean: docs/results/large-graphs.md.

#ifndef TUTTI_POLICY_DOPPLER_PLANNER_H_
#define TUTTI_POLICY_DOPPLER_PLANNER_H_

#include <memory>

#include "tutti/policy/coarse/clusters.h"
#include "tutti/policy/doppler/model.h"

namespace tutti {

// Beyond so many ops, clusters are placed.
inline constexpr int32_t kMostOpByOp = 4000;

// Op by op, or by clusters if the graph is large. All of these obey memory as plan_with_room does
// (tight_memory.h), and fail (infeasible) if that finds no room; (invalid_input) if the model's
// answers are no numbers.
Result<Plan> plan_greedily(const DopplerModel& model, const Problem& problem,
                           const Stop& stop = {});

// The networks decide about every op.
Result<Plan> plan_op_by_op(const DopplerModel& model, const Problem& problem,
                           const Stop& stop = {});

// The networks decide about clusters. Op by op after all if few ops can be joined, or if memory has
// no room for clusters.
Result<Plan> plan_by_clusters(const DopplerModel& model, const Problem& problem,
                              const Stop& stop = {}, const Coarsening& coarsening = {});

// The greedy plan, or that of contention-aware earliest finish if it is done sooner by the account
// of both, which is the same. Where there is nothing to learn, networks are a little worse than the
// rule they add to; so this is what is shipped. Fails (invalid_input) as above.
Result<Plan> plan_guarded(const DopplerModel& model, const Problem& problem, const Stop& stop = {});

class DopplerPlanner : public Planner {
 public:
  explicit DopplerPlanner(std::shared_ptr<const DopplerModel> model) : model_(std::move(model)) {}

  Result<Plan> plan(const Problem& problem, const Budget& budget, uint64_t /*seed*/) override {
    return plan_guarded(*model_, problem, budget.stop);
  }

 private:
  std::shared_ptr<const DopplerModel> model_;
};

}  // namespace tutti

#endif  // TUTTI_POLICY_DOPPLER_PLANNER_H_
