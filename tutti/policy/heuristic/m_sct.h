// Memory-constrained Small Communication Times (Jeon et al., Baechi; SoCC 2020, after Hanen and
// Munier 1995): as m_etf.h, but each op may have one favourite child, which should follow it on its
// device, and is the favourite of at most one op. After an op the device is kept free for its
// favourite until another device could have the value too; meanwhile it takes only ops that can
// start at once.
//
// The papers take favourites from a linear program's relaxation. We take them greedily instead:
// edges by the length of the longest way through them with all transfers charged, the longest
// first, as long as both ends are still unattached. That takes n log n steps for any graph.

#ifndef TUTTI_POLICY_HEURISTIC_M_SCT_H_
#define TUTTI_POLICY_HEURISTIC_M_SCT_H_

#include <vector>

#include "tutti/policy/heuristic/etf.h"

namespace tutti {

// By op: its favourite child, or an invalid id.
std::vector<OpId> favourite_children(const Problem& problem);

class MSct : public Planner {
 public:
  Result<Plan> plan(const Problem& problem, const Budget& /*budget*/, uint64_t /*seed*/) override {
    return earliest_task_first(problem, {.memory = true, .favourite = favourite_children(problem)});
  }
};

}  // namespace tutti

#endif  // TUTTI_POLICY_HEURISTIC_M_SCT_H_
