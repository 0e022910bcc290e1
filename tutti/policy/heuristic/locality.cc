// Data locality: ops in order of upward rank, each where its operands are soonest, weighed against
// the work already there: the device with the least sum of the time to bring the missing operands
// over and the run times placed on it, its own included, over the device's slots. Knows no
// timeline, so that a wrong estimate of one op does not mislead the next.

#include <utility>
#include <vector>

#include "tutti/policy/heuristic/heuristics.h"
#include "tutti/policy/places/fetches.h"
#include "tutti/policy/places/placement.h"
#include "tutti/policy/schedule/ranks.h"
#include "tutti/policy/schedule/ready_queue.h"

namespace tutti {

Result<Plan> plan_locality(const Problem& problem, const Budget& budget, uint64_t /*seed*/) {
  const std::vector<double> rank = upward_ranks(problem, EdgeWeight::all_pairs);
  Placement placement(problem);
  Fetches fetches(problem);
  std::vector<Duration> load(static_cast<size_t>(problem.machine.size()), Duration{0});
  for (ReadyQueue ready(problem.graph, rank); !ready.empty();) {
    if (budget.stop.now()) return out_of_time();
    const OpId op = ready.pop();
    DeviceId best{};
    std::pair<Duration, Duration> best_cost{};  // all of it, and of that the transfers
    for (const DeviceId device : placement.choices(op)) {
      const Duration fetch = fetches.time(op, device);
      const Duration work =
          problem.costs.run_time(op, device) / problem.machine.device(device).slots;
      const std::pair cost{fetch + load[device.index] + work, fetch};
      if (best.valid() && cost >= best_cost) continue;
      best = device;
      best_cost = cost;
    }
    fetches.place(op, best);
    placement.put(op, best);
    load[best.index] += best_cost.first - best_cost.second - load[best.index];
  }
  return placement.to_plan();
}

}  // namespace tutti
