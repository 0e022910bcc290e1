// Planning with limited memory. A draft places one op after another, but a run overlaps: values are
// sent as soon as they are made, and a device may run ahead. A plan that just fits a draft can
// therefore get stuck in a run. So a plan is replayed on its own timeline, and if it does not fit,
// it is made again with a part of the memory kept free; then with few values at a time.

#ifndef TUTTI_POLICY_SCHEDULE_TIGHT_MEMORY_H_
#define TUTTI_POLICY_SCHEDULE_TIGHT_MEMORY_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "tutti/base/stop.h"
#include "tutti/plan/plan.h"
#include "tutti/plan/problem.h"

namespace tutti {

// Plans within a share of every limited memory; none if that finds no room, or was stopped.
using PlanInShare = std::function<std::optional<Plan>(double memory_share)>;

// The first plan that fits when replayed: by `plan`, with all memory or with less; else depth
// first (finish what is started, so that values are read and given back soon), each op on the
// device that finishes it first, or that has most room. If none fits, the one that exceeds memory
// least. Without memory limits it is the first plan. Fails (infeasible) if not even a draft has
// room, naming the op, the roomiest device and the bytes that lack; or if it was stopped before a
// plan was complete.
Result<Plan> plan_with_room(const Problem& problem, const Stop& stop, const PlanInShare& plan);

// By how many bytes the plan's timeline passes a memory's limit at worst; 0 if it never does.
// Values are sent to all their readers' memories when they are made, and each copy stays until its
// last reader there has finished. Requires a plan with a timeline.
int64_t bytes_over_in_rehearsal(const Problem& problem, const Plan& plan);

// By memory: the most bytes that values other than weights with homes take at one time of the
// plan's timeline. Requires a plan with a timeline.
std::vector<int64_t> peaks_beside_homed_weights(const Problem& problem, const Plan& plan);

}  // namespace tutti

#endif  // TUTTI_POLICY_SCHEDULE_TIGHT_MEMORY_H_
