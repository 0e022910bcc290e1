// Plans with a trained pair of SELECT and PLACE and nothing else: one greedy episode, no
// simulation.
//
// Large graphs are coarsened first: the net places groups of ops (tutti/policy/coarse), and one or
// two passes without it place the ops near their groups. On average that takes half of the time and
// gives slightly better plans: docs/results/large-graphs.md.

#ifndef TUTTI_POLICY_DOPPLER_PLANNER_H_
#define TUTTI_POLICY_DOPPLER_PLANNER_H_

#include <memory>

#include "tutti/policy/coarse/op_groups.h"
#include "tutti/policy/doppler/model.h"

namespace tutti {

// Graphs of more ops are planned in groups.
inline constexpr int32_t kMostOpByOp = 4000;

// Op by op, or by groups if the graph is large. All of these obey memory as plan_with_room does
// (tight_memory.h), and fail (infeasible) if that finds no room; (invalid_input) if the model's
// output is NaN or infinite.
Result<Plan> plan_greedily(const DopplerModel& model, const Problem& problem,
                           const Stop& stop = {});

// The net decides about every op.
Result<Plan> plan_op_by_op(const DopplerModel& model, const Problem& problem,
                           const Stop& stop = {});

// The net decides about groups. Op by op if few ops can be joined, or if memory has no room for
// groups.
Result<Plan> plan_by_groups(const DopplerModel& model, const Problem& problem,
                            const Stop& stop = {}, const Coarsening& coarsening = {});

// The greedy plan, or that of contention-aware earliest finish if its estimated makespan is less;
// both use the same estimate. If there is nothing to learn, a net is slightly worse than the rule
// it adds to; so this is what `doppler` does. Fails (invalid_input) as above.
Result<Plan> plan_guarded(const DopplerModel& model, const Problem& problem, const Stop& stop = {});

}  // namespace tutti

#endif  // TUTTI_POLICY_DOPPLER_PLANNER_H_
