// The heuristics of the registry (tutti/policy/registry.cc), one paper or idea each. The top of
// each file, NAME.cc, says what it does, after which paper, and where it departs.

#ifndef TUTTI_POLICY_HEURISTIC_HEURISTICS_H_
#define TUTTI_POLICY_HEURISTIC_HEURISTICS_H_

#include <cstdint>
#include <vector>

#include "tutti/plan/policy.h"

namespace tutti {

// Policies that go step by step.
Policy random_policy(const Problem& problem, uint64_t seed);
Policy critical_path_policy(const Problem& problem, uint64_t seed);

// Planners (plan/policy.h).
Result<Plan> plan_single_device(const Problem& problem, const Budget& budget, uint64_t seed);
Result<Plan> plan_heft(const Problem& problem, const Budget& budget, uint64_t seed);
Result<Plan> plan_cpop(const Problem& problem, const Budget& budget, uint64_t seed);
Result<Plan> plan_peft(const Problem& problem, const Budget& budget, uint64_t seed);
Result<Plan> plan_etf(const Problem& problem, const Budget& budget, uint64_t seed);
Result<Plan> plan_m_etf(const Problem& problem, const Budget& budget, uint64_t seed);
Result<Plan> plan_m_sct(const Problem& problem, const Budget& budget, uint64_t seed);
Result<Plan> plan_contention_eft(const Problem& problem, const Budget& budget, uint64_t seed);
Result<Plan> plan_best_subset(const Problem& problem, const Budget& budget, uint64_t seed);
Result<Plan> plan_components(const Problem& problem, const Budget& budget, uint64_t seed);
Result<Plan> plan_locality(const Problem& problem, const Budget& budget, uint64_t seed);
Result<Plan> plan_round_robin(const Problem& problem, const Budget& budget, uint64_t seed);
Result<Plan> plan_expert(const Problem& problem, const Budget& budget, uint64_t seed);
Result<Plan> plan_greedy_locator(const Problem& problem, const Budget& budget, uint64_t seed);
Result<Plan> plan_enumerative(const Problem& problem, const Budget& budget, uint64_t seed);
Result<Plan> plan_min_cut(const Problem& problem, const Budget& budget, uint64_t seed);

// PEFT's table. By op x device, in ns; infinite if the device may not run the op.
//   oct(op, d) = max over readers r of min over devices w of
//                oct(r, w) + run time(r, w) + (w is d ? 0 : mean transfer time)
std::vector<double> optimistic_costs(const Problem& problem);

}  // namespace tutti

#endif  // TUTTI_POLICY_HEURISTIC_HEURISTICS_H_
