// Critical Path on a Processor (Topcuoglu, Hariri, Wu; TPDS 2002), with insertion: the ready op of
// the highest upward plus downward rank goes next; ops of the critical path all go to the device
// that runs that path quickest, the others to the device that finishes them first. Mean transfers
// are counted as in heft.cc. Ops of the path that constraints keep from that device, or bind to
// others, go where they finish first.

#include <algorithm>
#include <utility>
#include <vector>

#include "tutti/policy/heuristic/heuristics.h"
#include "tutti/policy/schedule/insertion.h"
#include "tutti/policy/schedule/ranks.h"
#include "tutti/policy/schedule/ready_queue.h"

namespace tutti {
namespace {

// The critical path: from the entry op of the highest priority, always on to a reader whose
// priority is as high. Ranks are sums of doubles in different orders, hence the tolerance.
std::vector<bool> critical_path(const Problem& problem, const std::vector<double>& priority) {
  const Graph& graph = problem.graph;
  std::vector<bool> on_path(static_cast<size_t>(graph.size()), false);
  OpId next{};
  for (const OpId op : graph.ops()) {
    const bool entry = std::none_of(graph.operands(op).begin(), graph.operands(op).end(),
                                    [&](ValueId value) { return graph.producer(value).valid(); });
    if (entry && (!next.valid() || priority[op.index] > priority[next.index])) next = op;
  }
  while (next.valid()) {
    on_path[static_cast<size_t>(next.index)] = true;
    const double wanted = priority[next.index] * (1 - 1e-9);
    OpId following{};
    for (const EdgeId edge : graph.out_edges(next)) {
      const OpId reader = graph.edge_to(edge);
      if (priority[reader.index] >= wanted && (!following.valid() || reader < following)) {
        following = reader;
      }
    }
    next = following;
  }
  return on_path;
}

// The device that may run most of the path, and among those runs it quickest.
DeviceId path_device(const Problem& problem, const std::vector<bool>& on_path) {
  DeviceId best{};
  std::pair<int64_t, Duration> best_cost{};
  for (const DeviceId device : problem.machine.devices()) {
    std::pair<int64_t, Duration> cost{0, Duration{0}};
    for (const OpId op : problem.graph.ops()) {
      if (!on_path[static_cast<size_t>(op.index)]) continue;
      if (problem.allows(op, device)) {
        cost.second += problem.costs.run_time(op, device);
      } else {
        ++cost.first;
      }
    }
    if (!best.valid() || cost < best_cost) {
      best = device;
      best_cost = cost;
    }
  }
  return best;
}

}  // namespace

Result<Plan> plan_cpop(const Problem& problem, const Budget& budget, uint64_t /*seed*/) {
  std::vector<double> priority = upward_ranks(problem, EdgeWeight::all_pairs);
  const std::vector<double> downward = downward_ranks(problem, EdgeWeight::all_pairs);
  for (size_t i = 0; i < priority.size(); ++i) priority[i] += downward[i];
  const std::vector<bool> on_path = critical_path(problem, priority);
  const DeviceId chosen = path_device(problem, on_path);

  InsertionSchedule schedule(problem);
  for (ReadyQueue ready(problem.graph, priority); !ready.empty();) {
    if (budget.stop.now()) return out_of_time();
    const OpId op = ready.pop();
    const bool follow_path = on_path[static_cast<size_t>(op.index)] &&
                             problem.colocation_group(op) < 0 && problem.allows(op, chosen);
    schedule.place(op, follow_path ? schedule.best_on(op, chosen) : schedule.best(op));
  }
  return std::move(schedule).to_plan();
}

}  // namespace tutti
