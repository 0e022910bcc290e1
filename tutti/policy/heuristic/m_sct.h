// Memory-constrained Small Communication Times (Jeon et al., Baechi; SoCC 2020, after Hanen and
// Munier 1995): as m_etf.h, but each op may have one favourite child, which should follow it on its
// device, and is the favourite of at most one op (policy/favourites.h says how they are chosen; on
// large graphs greedily, and provenance.note says which). After an op the device is kept free for
// its favourite until another device could have the value too; meanwhile it takes only ops that can
// start at once.

#ifndef TUTTI_POLICY_HEURISTIC_M_SCT_H_
#define TUTTI_POLICY_HEURISTIC_M_SCT_H_

#include "tutti/plan/policy.h"

namespace tutti {

class MSct : public Planner {
 public:
  Result<Plan> plan(const Problem& problem, const Budget& budget, uint64_t seed) override;
};

}  // namespace tutti

#endif  // TUTTI_POLICY_HEURISTIC_M_SCT_H_
