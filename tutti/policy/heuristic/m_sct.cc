// Memory-constrained Small Communication Times (Jeon et al., Baechi; SoCC 2020, after Hanen and
// Munier 1995): as m_etf (etf.h), but each op may have one favourite child, which should follow it
// on its device, and is the favourite of at most one op (policy/heuristic/favourites.h says how
// they are chosen; on large graphs greedily, and provenance.note says which). After an op the
// device is kept free for its favourite until another device could have the value too; meanwhile it
// takes only ops that can start at once.

#include "tutti/policy/heuristic/etf.h"
#include "tutti/policy/heuristic/favourites.h"
#include "tutti/policy/heuristic/heuristics.h"

namespace tutti {

Result<Plan> plan_m_sct(const Problem& problem, const Budget& budget, uint64_t /*seed*/) {
  Favourites favourites = favourite_children(problem, budget.stop);
  Result<Plan> plan = earliest_task_first(
      problem, {.memory = true, .favourite = std::move(favourites.of_op), .stop = budget.stop});
  if (plan) plan->provenance.note = favourites.method;
  return plan;
}

}  // namespace tutti
