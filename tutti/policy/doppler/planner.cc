#include "tutti/policy/doppler/planner.h"

#include <optional>
#include <utility>
#include <vector>

#include "tutti/policy/coarse/coarse_problem.h"
#include "tutti/policy/coarse/refine.h"
#include "tutti/policy/heuristic/contention_eft.h"
#include "tutti/policy/schedule/ranks.h"
#include "tutti/policy/schedule/tight_memory.h"

namespace tutti {
namespace {

// The better of two refinements, by estimated makespan: the longest path first, with ops leaving
// their groups if it pays; and in the order of the groups, with all ops staying. The first is good
// if devices would wait, the second if links are narrow.
std::optional<Plan> best_refined(const Problem& problem, const OpGroups& groups,
                                 const Plan& coarse_plan, const std::vector<double>& rank,
                                 double memory_share, const Stop& stop) {
  std::vector<DeviceId> suggested;
  std::vector<double> turn;
  for (const int32_t group : groups.of_op) {
    suggested.push_back(coarse_plan.placement[static_cast<size_t>(group)]);
    turn.push_back(-static_cast<double>(coarse_plan.priority[static_cast<size_t>(group)]));
  }
  std::optional<Plan> staying =
      refined(problem, suggested, turn,
              {.loyalty = kNeverLeave, .memory_share = memory_share, .stop = stop});
  std::optional<Plan> leaving =
      refined(problem, suggested, rank, {.memory_share = memory_share, .stop = stop});
  if (!staying || !leaving) return staying ? std::move(staying) : std::move(leaving);
  return staying->planned_makespan < leaving->planned_makespan ? std::move(staying)
                                                               : std::move(leaving);
}

}  // namespace

Result<Plan> plan_greedily(const DopplerModel& model, const Problem& problem, const Stop& stop) {
  return problem.graph.size() > kMostOpByOp ? plan_by_groups(model, problem, stop)
                                            : plan_op_by_op(model, problem, stop);
}

Result<Plan> plan_guarded(const DopplerModel& model, const Problem& problem, const Stop& stop) {
  Result<Plan> greedy = plan_greedily(model, problem, stop);
  // Plans that are timed without contention cannot be compared, and stay as they are.
  if (greedy && model.estimate() != Estimate::with_contention) return greedy;
  if (stop.now()) return greedy;
  if (!greedy && greedy.error().kind == Error::Kind::invalid_input) return greedy;
  Result<Plan> rule = contention_eft(problem, {.stop = stop});
  if (!greedy) return rule ? std::move(rule) : std::move(greedy);
  if (!rule || greedy->planned_makespan <= rule->planned_makespan) return greedy;
  return rule;
}

Result<Plan> plan_op_by_op(const DopplerModel& model, const Problem& problem, const Stop& stop) {
  const auto features = model.features(problem);
  const auto actor = model.actor(problem, *features);
  bool overflow = false;
  Result<Plan> plan = plan_with_room(problem, stop, [&](double share) {
    return actor->act(
        {.mode = Acting::Mode::greedy, .memory_share = share, .stop = stop, .overflow = &overflow},
        Rng(0));
  });
  if (!overflow) return plan;
  return invalid_input(
      "the model's weights are so large that its answers are no numbers; take another model, or "
      "train it again with lower rates");
}

Result<Plan> plan_by_groups(const DopplerModel& model, const Problem& problem, const Stop& stop,
                            const Coarsening& coarsening) {
  const OpGroups groups = group_ops(problem, coarsening);
  if (groups.count > problem.graph.size() / 2) return plan_op_by_op(model, problem, stop);
  const Result<Problem> coarse = coarse_problem(problem, groups);
  if (!coarse) return plan_op_by_op(model, problem, stop);  // sums beyond all limits
  const Result<Plan> coarse_plan = plan_op_by_op(model, *coarse, stop);
  if (!coarse_plan && stop.now()) return out_of_time();
  if (!coarse_plan && coarse_plan.error().kind == Error::Kind::invalid_input) return coarse_plan;
  if (!coarse_plan) return plan_op_by_op(model, problem, stop);
  const std::vector<double> rank = upward_ranks(problem, EdgeWeight::all_pairs);
  return plan_with_room(problem, stop, [&](double share) {
    return best_refined(problem, groups, *coarse_plan, rank, share, stop);
  });
}

}  // namespace tutti
