// Earliest Task First (Hwang, Chow, Anger, Lee; SIAM J. Comput. 1989): of all pairs of a ready op
// and a device, the one that can start earliest goes next; of equal starts the op with the longest
// way to the end (b-level), then the earlier finish, then the smaller ids. Also the frame of
// m_etf.h and m_sct.h, which add memory and favourite children.
//
// The paper looks at every pair in every step. Here each device keeps its pairs in two heaps, those
// that wait for operands by arrival and those that could start at once by b-level, so that a step
// takes time in proportion to the devices and the logarithm of the ready ops.

#ifndef TUTTI_POLICY_HEURISTIC_ETF_H_
#define TUTTI_POLICY_HEURISTIC_ETF_H_

#include <vector>

#include "tutti/plan/policy.h"

namespace tutti {

struct EtfOptions {
  // Pairs without room for the op are left out, and plan_with_room helps (tight_memory.h).
  // Without it memory is looked at only in the end: a plan that does not fit is refused.
  bool memory = false;
  // By op: a reader that should follow it on the same device; may be empty. See m_sct.h.
  std::vector<OpId> favourite{};
  Stop stop{};
};

Result<Plan> earliest_task_first(const Problem& problem, const EtfOptions& options);

class Etf : public Planner {
 public:
  Result<Plan> plan(const Problem& problem, const Budget& budget, uint64_t /*seed*/) override {
    return earliest_task_first(problem, {.stop = budget.stop});
  }
};

}  // namespace tutti

#endif  // TUTTI_POLICY_HEURISTIC_ETF_H_
