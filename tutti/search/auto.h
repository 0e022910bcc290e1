// `auto`: what `tutti plan` emits. It asks every policy it knows, lets the simulator judge, and
// keeps the best; all on one device is among them, so that it is never worse than doing nothing.

#ifndef TUTTI_SEARCH_AUTO_H_
#define TUTTI_SEARCH_AUTO_H_

#include <string>
#include <vector>

#include "tutti/plan/policy.h"
#include "tutti/plan/problem.h"
#include "tutti/runtime/sim/sim.h"

namespace tutti {

struct Tried {
  std::string policy;
  Duration makespan{kNever};  // mean of the runs; kNever if it made no plan that runs
  std::string refusal{};      // its sentence, then
};

struct AutoResult {
  Plan plan;
  Duration makespan{0};
  std::vector<Tried> tried;  // in the order of the registry
};

// Fails (infeasible) if no policy finds a plan that runs; the sentence is the last refusal. The
// same problem, model, order and seed give the same plan with any number of threads.
Result<AutoResult> plan_auto(const Problem& problem, SimModel model, ReadyOrder order,
                             uint64_t seed, int threads);

}  // namespace tutti

#endif  // TUTTI_SEARCH_AUTO_H_
