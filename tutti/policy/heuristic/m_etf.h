// Memory-constrained Earliest Task First (Jeon et al., Baechi; SoCC 2020): as etf.h, but a pair of
// op and device counts only while the device has room for the op's operands, outputs and transient
// memory. Baechi keeps all memory for the whole of a training step; here a value gives its memory
// back when its last reader is placed, so a pair that did not fit may fit again.

#ifndef TUTTI_POLICY_HEURISTIC_M_ETF_H_
#define TUTTI_POLICY_HEURISTIC_M_ETF_H_

#include "tutti/policy/heuristic/etf.h"

namespace tutti {

class MEtf : public Planner {
 public:
  Result<Plan> plan(const Problem& problem, const Budget& budget, uint64_t /*seed*/) override {
    return earliest_task_first(problem, {.memory = true, .stop = budget.stop});
  }
};

}  // namespace tutti

#endif  // TUTTI_POLICY_HEURISTIC_M_ETF_H_
