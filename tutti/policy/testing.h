// What the tests of policies share.

#ifndef TUTTI_POLICY_TESTING_H_
#define TUTTI_POLICY_TESTING_H_

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>
#include <string>

#include "test/support/world.h"
#include "tutti/policy/places/placement.h"
#include "tutti/policy/registry.h"

namespace tutti {

inline Result<Plan> plan_with(const char* name, const Problem& problem, uint64_t seed = 1) {
  return make_plan(**find_policy(name), problem, {}, seed);
}

// Edges whose ends are on different devices.
inline int crossings(const Graph& graph, const Plan& plan) {
  int count = 0;
  for (const OpId op : graph.ops()) {
    for (const EdgeId edge : graph.edges(op)) {
      const OpId producer = graph.edge_from(edge);
      if (producer.valid() && plan.placement[producer.index] != plan.placement[op.index]) ++count;
    }
  }
  return count;
}

inline size_t devices_used(const Plan& plan) {
  return std::set<DeviceId>(plan.placement.begin(), plan.placement.end()).size();
}

// How long a plan's placement takes when transfers queue for links, ops by plan-aware b-level.
inline Duration estimate(const Problem& problem, const Plan& plan) {
  Placement placement(problem);
  for (const OpId op : problem.graph.ops()) placement.put(op, plan.placement[op.index]);
  return must(placement.to_plan()).planned_makespan.value();
}

// One op of a graph file: run time in ns, operands and what each takes to travel.
inline std::string op_json(const std::string& name, int64_t run_time_ns,
                           const std::vector<std::string>& operands = {},
                           const std::vector<int64_t>& transfer_ns = {},
                           const std::string& more = "") {
  const std::string quoted =
      operands.empty() ? "" : fmt::format(R"("{}")", fmt::join(operands, R"(",")"));
  const std::string transfers =
      transfer_ns.empty() ? ""
                          : fmt::format(R"(,"transfer_time_ns":[{}])", fmt::join(transfer_ns, ","));
  return fmt::format(R"({{"name":"{}","kind":"k","run_time_ns":{},"operands":[{}]{}{}}})", name,
                     run_time_ns, quoted, transfers, more);
}

inline Graph graph_of_ops(const std::vector<std::string>& ops) {
  return graph_from(fmt::format(R"("ops":[{}])", fmt::join(ops, ",")));
}

}  // namespace tutti

#endif  // TUTTI_POLICY_TESTING_H_
