// Plans with a trained pair of SELECT and PLACE and nothing else: one greedy episode, no
// simulation.

#ifndef TUTTI_POLICY_DOPPLER_PLANNER_H_
#define TUTTI_POLICY_DOPPLER_PLANNER_H_

#include <memory>

#include "tutti/policy/doppler/model.h"

namespace tutti {

// Obeys memory as plan_with_room does (tight_memory.h). Fails (infeasible) if that finds no room.
Result<Plan> plan_greedily(const DopplerModel& model, const Problem& problem,
                           const Stop& stop = {});

class DopplerPlanner : public Planner {
 public:
  explicit DopplerPlanner(std::shared_ptr<const DopplerModel> model) : model_(std::move(model)) {}

  Result<Plan> plan(const Problem& problem, const Budget& budget, uint64_t /*seed*/) override {
    return plan_greedily(*model_, problem, budget.stop);
  }

 private:
  std::shared_ptr<const DopplerModel> model_;
};

}  // namespace tutti

#endif  // TUTTI_POLICY_DOPPLER_PLANNER_H_
