#include "tools/report_alternatives.h"

#include <algorithm>

#include "tutti/search/explain.h"

namespace tutti {
namespace {

// Each op is simulated once on every device, and its own run is recorded, which takes as long as
// some eight simulations.
constexpr int64_t kMostSimulatedOps = 3'000'000;
constexpr int64_t kRecording = 8;
constexpr int64_t kMostExplained = 400;

std::vector<OpId> longest_ops(const Problem& problem, const Plan& plan) {
  std::vector<OpId> ops;
  for (const OpId op : problem.graph.ops()) ops.push_back(op);
  const auto length = [&](OpId op) { return problem.costs.run_time(op, plan.placement[op.index]); };
  std::stable_sort(ops.begin(), ops.end(), [&](OpId a, OpId b) { return length(a) > length(b); });
  const int64_t each = (problem.machine.size() + kRecording) * std::max(1, problem.graph.size());
  const int64_t most = std::min(kMostExplained, kMostSimulatedOps / each);
  ops.resize(static_cast<size_t>(std::min<int64_t>(most, problem.graph.size())));
  return ops;
}

}  // namespace

ReportedAlternatives find_alternatives(const Problem& problem, const std::string& name,
                                       const Plan& plan) {
  ReportedAlternatives found{.plan = name};
  for (const OpId op : longest_ops(problem, plan)) {
    const Result<Explanation> why = explain(problem, plan, op, {});
    if (!why) {
      found.obstacle = why.error().message;
      found.ops.clear();
      return found;
    }
    ExplainedOp explained{.op = op, .because = why->because};
    for (const Alternative& other : why->alternatives) {
      explained.alternatives.push_back({.device = other.device,
                                        .chosen = other.chosen,
                                        .run_time = other.run_time,
                                        .makespan = other.makespan,
                                        .obstacle = other.obstacle});
    }
    found.ops.push_back(std::move(explained));
  }
  return found;
}

}  // namespace tutti
