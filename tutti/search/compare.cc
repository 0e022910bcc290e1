#include "tutti/search/compare.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "tutti/base/parallel.h"
#include "tutti/search/evaluate/scenario_simulator.h"

namespace tutti {
namespace {

// Far from the scenarios that a search takes its means over: plans are judged on fresh ones.
constexpr uint64_t kFreshSeeds = uint64_t{1} << 40;

// As placed: each value once to every other memory that reads it.
double bytes_moved(const Problem& problem, const Plan& plan) {
  double bytes = 0;
  std::vector<MemoryId> there;
  for (const ValueId value : problem.graph.values()) {
    const OpId producer = problem.graph.producer(value);
    const MemoryId home = producer.valid()
                              ? problem.machine.memory_of(plan.placement[producer.index])
                              : problem.home(value);
    there.assign(1, home);
    for (const EdgeId edge : problem.graph.consumers(value)) {
      const OpId reader = problem.graph.edge_to(edge);
      const MemoryId memory = problem.machine.memory_of(plan.placement[reader.index]);
      if (!home.valid() || std::find(there.begin(), there.end(), memory) != there.end()) continue;
      there.push_back(memory);
      bytes += static_cast<double>(problem.graph.bytes(value));
    }
  }
  return bytes;
}

// A mean over some of them only would be that of other plans than the makespan's.
std::optional<double> mean_planned_ns(const std::vector<PolicySample>& runs) {
  double sum = 0;
  for (const PolicySample& run : runs) {
    if (!run.planned_ns) return std::nullopt;
    sum += *run.planned_ns;
  }
  return sum / static_cast<double>(runs.size());
}

PolicyOutcome summarise(const std::string& policy, const std::vector<PolicySample>& runs) {
  PolicyOutcome row;
  row.policy = policy;
  row.min_ns = std::numeric_limits<double>::infinity();
  const auto count = static_cast<double>(runs.size());
  for (const PolicySample& run : runs) {
    if (run.error && !row.error) row.error = run.error;
    for (const double makespan : run.makespans_ns) {
      row.mean_ns += makespan;
      row.min_ns = std::min(row.min_ns, makespan);
      ++row.runs;
    }
    row.plan_seconds += run.plan_seconds;
    row.bytes_moved += run.bytes_moved;
    row.evaluations += run.evaluations;
  }
  row.mean_ns /= std::max(1, row.runs);
  row.planned_ns = mean_planned_ns(runs);
  row.plan_seconds /= count;
  row.bytes_moved /= count;
  double squares = 0;
  for (const PolicySample& run : runs) {
    for (const double makespan : run.makespans_ns) squares += std::pow(makespan - row.mean_ns, 2);
  }
  if (row.runs > 1) row.stddev_ns = std::sqrt(squares / (row.runs - 1));
  return row;
}

}  // namespace

PolicySample sample_policy(const PolicyEntry& entry, const Problem& problem, const Budget& budget,
                           int runs, ScenarioSimulator& simulator, uint64_t seed) {
  PolicySample run;
  const auto begin = std::chrono::steady_clock::now();
  const Result<Plan> plan = make_plan(entry, problem, budget, seed);
  run.plan_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (!plan) {
    run.error = plan.error();
    return run;
  }
  for (int i = 0; i < runs; ++i) {
    const uint64_t scenario = kFreshSeeds + seed * static_cast<uint64_t>(runs);
    const Result<Duration> makespan =
        simulator.makespan(*plan, scenario + static_cast<uint64_t>(i));
    if (!makespan) {
      run.error = makespan.error();
      return run;
    }
    run.makespans_ns.push_back(static_cast<double>(makespan->count()));
  }
  if (plan->planned_makespan) run.planned_ns = static_cast<double>(plan->planned_makespan->count());
  run.evaluations = plan->provenance.evaluations;
  run.bytes_moved = bytes_moved(problem, *plan);
  return run;
}

std::vector<PolicyOutcome> compare_policies(const Problem& problem,
                                            std::span<const PolicyEntry> entries,
                                            const CompareOptions& options) {
  const int threads = options.budget.wall_clock ? 1 : options.threads;
  std::vector<PolicyOutcome> rows;
  for (const PolicyEntry& entry : entries) {
    if (options.on_policy) options.on_policy(rows.size(), entry);
    ScenarioSimulator probe(problem, options.model, options.order);
    // Where nothing depends on the seed one run stands for all.
    const bool once = !entry.seeded && !probe.depends_on_seed();
    const int distinct = once ? 1 : options.seeds;
    std::vector<PolicySample> runs(static_cast<size_t>(distinct));
    std::vector<std::optional<ScenarioSimulator>> judges(static_cast<size_t>(threads));
    parallel_for(distinct, threads, [&](int index, int thread) {
      auto& judge = judges[static_cast<size_t>(thread)];
      if (!judge) judge.emplace(problem, options.model, options.order);
      const uint64_t seed = options.seed + static_cast<uint64_t>(index);
      runs[static_cast<size_t>(index)] = sample_policy(
          entry, problem, options.budget, probe.depends_on_seed() ? options.runs : 1, *judge, seed);
    });
    runs.resize(static_cast<size_t>(options.seeds), runs.front());
    rows.push_back(summarise(entry.name, runs));
  }
  return rows;
}

}  // namespace tutti
