// From a suggested placement to a plan: one pass over all ops, in which an op leaves the device
// suggested for it if another finishes it sooner by enough. Transfers queue for their links
// (contention.h).
//
// Where memory or colocation rules the suggestion out, the op goes where it finishes first. Ops of
// a colocation group never leave: the first of them would decide for all.

#ifndef TUTTI_POLICY_COARSE_REFINE_H_
#define TUTTI_POLICY_COARSE_REFINE_H_

#include <limits>
#include <optional>
#include <vector>

#include "tutti/base/stop.h"
#include "tutti/plan/plan.h"
#include "tutti/plan/problem.h"

namespace tutti {

inline constexpr double kNeverLeave = std::numeric_limits<double>::infinity();

struct Refining {
  double loyalty = 16;      // how much sooner is enough, in mean run times of the op
  double memory_share = 1;  // as in Draft
  Stop stop{};
};

// `suggested` and `key` are by op; of the ready ops the one with the highest key goes first. None
// if memory leaves an op no device, or if it was stopped.
std::optional<Plan> refined(const Problem& problem, const std::vector<DeviceId>& suggested,
                            const std::vector<double>& key, const Refining& refining);

}  // namespace tutti

#endif  // TUTTI_POLICY_COARSE_REFINE_H_
