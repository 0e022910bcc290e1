// From a suggested placement to a plan: one pass over all ops, the longest way first, in which an
// op leaves the device suggested for it where another finishes it sooner by enough. Transfers queue
// for their links (contention.h).
//
// Where memory or colocation rules the suggestion out, the op goes where it finishes first.

#ifndef TUTTI_POLICY_COARSE_REFINE_H_
#define TUTTI_POLICY_COARSE_REFINE_H_

#include <optional>
#include <vector>

#include "tutti/base/stop.h"
#include "tutti/plan/plan.h"
#include "tutti/plan/problem.h"

namespace tutti {

struct Refining {
  double loyalty = 1;  // how much sooner is enough, in mean run times of the op
  double memory_share = 1;  // as in Draft
  Stop stop{};
  int order = 0;
  const std::vector<double>* keys = nullptr;
};

// None if memory leaves an op no device, or if it was stopped.
std::optional<Plan> refined(const Problem& problem, const std::vector<DeviceId>& suggested,
                            const Refining& refining);

}  // namespace tutti

#endif  // TUTTI_POLICY_COARSE_REFINE_H_
