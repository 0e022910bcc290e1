// Predict Earliest Finish Time (Arabnejad, Barbosa; TPDS 2014). The optimistic cost table holds,
// for each op and device, the least time from the op's end on that device to the end of the graph
// if every op behind it had its best device and no other op stood in its way. Ready ops go by the
// mean of their row, the largest first, each to the device with the least finish plus table entry,
// with insertion.
//
// So an op may take a device that finishes it later if that pays further on; HEFT never does.

#ifndef TUTTI_POLICY_HEURISTIC_PEFT_H_
#define TUTTI_POLICY_HEURISTIC_PEFT_H_

#include <vector>

#include "tutti/plan/policy.h"

namespace tutti {

// By op x device, in ns; infinite where the device may not run the op.
//   oct(op, d) = max over readers r of min over devices w of
//                oct(r, w) + run time(r, w) + (w is d ? 0 : mean transfer time)
std::vector<double> optimistic_costs(const Problem& problem);

class Peft : public Planner {
 public:
  Result<Plan> plan(const Problem& problem, const Budget& budget, uint64_t seed) override;
};

}  // namespace tutti

#endif  // TUTTI_POLICY_HEURISTIC_PEFT_H_
