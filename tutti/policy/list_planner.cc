#include "tutti/policy/list_planner.h"

#include "tutti/base/check.h"
#include "tutti/plan/draft.h"
#include "tutti/policy/memory.h"

namespace tutti {

Result<Plan> ListPlanner::plan(const Problem& problem, const Budget& budget, uint64_t seed) {
  Policy policy = make_policy_(problem, seed);
  Draft draft(problem);
  while (!draft.complete()) {
    if (budget.stop.now()) return out_of_time();
    const std::optional<OpId> op = policy.select->select(draft);
    TUTTI_CHECK(op.has_value());
    if (draft.devices_for(*op).empty()) return no_room_for(draft, *op);
    draft.apply(*op, policy.place->place(draft, *op));
  }
  return draft.to_plan();
}

}  // namespace tutti
