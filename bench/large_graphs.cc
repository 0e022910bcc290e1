// The value of placing groups of ops on large graphs: the greedy plan by groups compared with the
// one op by op and with contention-aware earliest finish, by simulated makespan and by the
// processor time of planning. docs/results/large-graphs.md.
//
//   large_graphs [MOST_OPS [SEED]]

#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <utility>
#include <vector>

#include "tutti/base/check.h"
#include "tutti/graph/make/cholesky.h"
#include "tutti/graph/make/family/family.h"
#include "tutti/graph/make/layered.h"
#include "tutti/machine/preset.h"
#include "tutti/policy/doppler/general.h"
#include "tutti/policy/doppler/planner.h"
#include "tutti/policy/heuristic/contention_eft.h"
#include "tutti/runtime/sim/physical.h"

namespace tutti {
namespace {

template <class T>
T must(Result<T> result) {
  if (!result) std::fprintf(stderr, "large_graphs: %s\n", result.error().message.c_str());
  TUTTI_CHECK(result.has_value());
  return std::move(*result);
}

std::vector<Graph> graphs(int32_t most_ops, uint64_t seed) {
  const Weights weights{.seed = seed};
  std::vector<Graph> all;
  const auto add = [&](Result<Graph> made) {
    Graph graph = must(std::move(made));
    if (graph.size() <= most_ops) all.push_back(std::move(graph));
  };
  for (const int32_t ops : {5'000, 20'000, 100'000}) {
    add(make_layered({.ops = ops, .seed = seed}));
    // Without a window everything stays alive, and 100,000 do not fit.
    add(make_random({.ops = ops, .window = 2000, .weights = {.ccr = 1, .seed = seed}}));
  }
  add(make_stencil({.width = 60, .steps = 80, .weights = weights}));
  add(make_stencil({.width = 200, .steps = 100, .weights = weights}));
  add(make_stencil({.width = 200, .steps = 500, .weights = weights}));
  add(make_fft({.points = 512, .weights = weights}));
  add(make_fft({.points = 2048, .weights = weights}));
  add(make_cholesky({.tiles = 32}));
  add(make_cholesky({.tiles = 40}));
  add(make_fork_join({.stages = 20, .width = 500, .weights = weights}));
  add(make_tree({.levels = 13, .weights = weights}));
  add(make_all_to_all({.width = 50, .phases = 200, .weights = weights}));
  return all;
}

struct Outcome {
  double makespan_ms = 0;
  double time_ms = 0;
};

template <class MakePlan>
Outcome outcome(PhysicalSimulator& simulator, MakePlan make_plan) {
  const std::clock_t begin = std::clock();
  const Plan plan = must(make_plan());
  const double taken_ms = 1e3 * static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  return {.makespan_ms = 1e-6 * static_cast<double>(must(simulator.run(plan, {})).count()),
          .time_ms = taken_ms};
}

struct Means {
  double log_sum = 0;
  int count = 0;
  void add(double ratio) {
    log_sum += std::log(ratio);
    ++count;
  }
  double value() const { return std::exp(log_sum / count); }
};

void compare(int32_t most_ops, uint64_t seed) {
  const DopplerModel model = general_model();
  Means clusters_over_ops;
  Means eft_over_ops;
  Means times;
  fmt::print(
      "| graph | ops | machine | op by op | groups | ratio | earliest finish | "
      "op by op takes | groups take |\n|---|---:|---|---:|---:|---:|---:|---:|---:|\n");
  for (const Graph& graph : graphs(most_ops, seed)) {
    for (const char* preset : {"p100-4", "cluster-2x4", "mixed-5"}) {
      const Problem problem =
          must(Problem::make(Shared<Graph>::borrowed(graph), must(make_preset(preset))));
      PhysicalSimulator simulator(problem);
      const Outcome ops = outcome(simulator, [&] { return plan_op_by_op(model, problem); });
      const Outcome clusters = outcome(simulator, [&] { return plan_by_groups(model, problem); });
      const Outcome eft = outcome(simulator, [&] { return contention_eft(problem, {.seed = 1}); });
      clusters_over_ops.add(clusters.makespan_ms / ops.makespan_ms);
      eft_over_ops.add(eft.makespan_ms / ops.makespan_ms);
      times.add(clusters.time_ms / ops.time_ms);
      fmt::print(
          "| {} | {} | {} | {:.1f} ms | {:.1f} ms | {:.3f} | {:.1f} ms | {:.0f} ms | {:.0f} ms |\n",
          graph.name(), graph.size(), preset, ops.makespan_ms, clusters.makespan_ms,
          clusters.makespan_ms / ops.makespan_ms, eft.makespan_ms, ops.time_ms, clusters.time_ms);
      std::fflush(stdout);
    }
  }
  fmt::print(
      "geometric means of ratios to op by op: groups {:.3f}, earliest finish {:.3f}; time {:.3f}\n",
      clusters_over_ops.value(), eft_over_ops.value(), times.value());
}

}  // namespace
}  // namespace tutti

int main(int argc, char** argv) {
  tutti::compare(argc > 1 ? std::atoi(argv[1]) : 1'000'000,
                 argc > 2 ? static_cast<uint64_t>(std::atoll(argv[2])) : 2);
  return 0;
}
