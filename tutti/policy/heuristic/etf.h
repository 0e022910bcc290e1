// Earliest Task First (Hwang, Chow, Anger, Lee; SIAM J. Comput. 1989): of all pairs of a ready op
// and a device, the one that can start earliest goes next; of equal starts the op with the longest
// way to the end (b-level), then the earlier finish, then the smaller ids.
//
// m_etf, Memory-constrained Earliest Task First (Jeon et al., Baechi; SoCC 2020), is the same, but
// a pair counts only while the device has room for the op's operands, outputs and transient memory.
// Baechi keeps all memory for the whole of a training step; here a value gives its memory back when
// its last reader is placed, so that a pair that did not fit may fit again. m_sct.cc adds favourite
// children.
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
  // By op: a reader that should follow it on the same device; may be empty. See m_sct.cc.
  std::vector<OpId> favourite{};
  Stop stop{};
};

Result<Plan> earliest_task_first(const Problem& problem, const EtfOptions& options);

}  // namespace tutti

#endif  // TUTTI_POLICY_HEURISTIC_ETF_H_
