#include "tutti/policy/tight_memory.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <vector>

#include "tutti/plan/draft.h"
#include "tutti/policy/memory.h"
#include "tutti/policy/order.h"

namespace tutti {
namespace {

enum class Prefer { earliest_finish, most_room };

DeviceId choose(const Draft& draft, OpId op, Prefer prefer) {
  const auto cost = [&](DeviceId device) {
    if (prefer == Prefer::most_room) return -draft.memory_left(device);
    return (draft.earliest_start(op, device) + draft.problem().costs.run_time(op, device)).count();
  };
  const auto devices = draft.devices_for(op);
  return *std::min_element(devices.begin(), devices.end(),
                           [&](DeviceId a, DeviceId b) { return cost(a) < cost(b); });
}

// Requires an order that lists each op after its producers.
Result<Plan> place_all(const Problem& problem, const std::vector<OpId>& order, Prefer prefer) {
  Draft draft(problem);
  for (const OpId op : order) {
    if (draft.devices_for(op).empty()) return no_room_for(draft, op);
    draft.apply(op, choose(draft, op, prefer));
  }
  return draft.to_plan();
}

std::vector<OpId> depth_first_order(const Problem& problem) {
  for (const OrderRule& rule : order_rules()) {
    if (std::string_view(rule.name) != "depth_first") continue;
    const Priorities priority = rule.priorities(problem, {});
    std::vector<OpId> order(priority.size());
    for (const OpId op : problem.graph.ops()) {
      order[static_cast<size_t>(priority[op.index])] = op;
    }
    return order;
  }
  return {};
}

}  // namespace

Result<Plan> plan_in_tight_memory(const Problem& problem) {
  const auto topological = problem.graph.topological_order();
  const std::vector<OpId> orders[] = {depth_first_order(problem),
                                      {topological.begin(), topological.end()}};
  std::optional<Error> refusal;
  for (const std::vector<OpId>& order : orders) {
    for (const Prefer prefer : {Prefer::earliest_finish, Prefer::most_room}) {
      Result<Plan> plan = place_all(problem, order, prefer);
      if (plan) return plan;
      if (!refusal) refusal = plan.error();
    }
  }
  return *refusal;
}

}  // namespace tutti
