#include "tutti/policy/heuristic/m_sct.h"

#include "tutti/policy/favourites.h"
#include "tutti/policy/heuristic/etf.h"

namespace tutti {

Result<Plan> MSct::plan(const Problem& problem, const Budget& budget, uint64_t /*seed*/) {
  Favourites favourites = favourite_children(problem, budget.stop);
  Result<Plan> plan = earliest_task_first(
      problem, {.memory = true, .favourite = std::move(favourites.of_op), .stop = budget.stop});
  if (plan) plan->provenance.note = favourites.method;
  return plan;
}

}  // namespace tutti
