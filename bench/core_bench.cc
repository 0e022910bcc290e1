// Speed of the core: evaluations of the published model, HEFT, physical simulation, bounds, and the
// growth of the cost per op from a thousand ops to a million.

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <filesystem>
#include <optional>

#include "studies/doppler/released/simulator.h"
#include "tutti/base/check.h"
#include "tutti/base/random.h"
#include "tutti/graph/import/import.h"
#include "tutti/graph/make/layered.h"
#include "tutti/machine/preset.h"
#include "tutti/plan/bound.h"
#include "tutti/plan/problem.h"
#include "tutti/policy/registry.h"
#include "tutti/runtime/sim/physical.h"

namespace tutti {
namespace {

template <class T>
T must(Result<T> result) {
  if (!result) std::fprintf(stderr, "core_bench: %s\n", result.error().message.c_str());
  TUTTI_CHECK(result.has_value());
  return std::move(*result);
}

// Benchmarks share one problem, because a graph of a million ops takes a while to make.
const Problem& layered_problem(int64_t ops, const char* preset) {
  static std::optional<Problem> problem;
  static std::pair<int64_t, std::string> made;
  if (!problem || made != std::pair<int64_t, std::string>{ops, preset}) {
    problem.reset();
    problem.emplace(must(Problem::make(must(make_layered({.ops = static_cast<int32_t>(ops)})),
                                       must(make_preset(preset)))));
    made = {ops, preset};
  }
  return *problem;
}

Plan plan_with(const char* policy, const Problem& problem) {
  return must(make_plan(**find_policy(policy), problem, {}, 1));
}

void per_op(benchmark::State& state, int64_t ops) {
  state.counters["ops"] = static_cast<double>(ops);
  state.counters["per_op"] =
      benchmark::Counter(static_cast<double>(ops) * static_cast<double>(state.iterations()),
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

// The published LLAMA-LAYER graph, if the shared data is there. Annealing and training spend most
// of their time on such evaluations.
void released_layer(benchmark::State& state) {
  const char* chosen = std::getenv("TUTTI_DATA");
  const std::string folder = chosen != nullptr ? chosen : "../shared/data";
  const std::string path = folder + "/doppler/full_transformer_layer_261nodes.txt";
  if (!std::filesystem::exists(path)) {
    state.SkipWithError("needs doppler/ in ../shared/data or $TUTTI_DATA");
    return;
  }
  const Problem problem =
      must(Problem::make(must(load_graph(path)).graph, must(make_preset("uniform-4"))));
  std::vector<Plan> plans;
  for (uint64_t seed = 0; seed < 16; ++seed) {
    plans.push_back(must(make_plan(**find_policy("random"), problem, {}, seed)));
  }
  ReleasedSimulator simulator(problem);
  size_t next = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(simulator.evaluate(plans[next++ % plans.size()].placement));
  }
  state.counters["evaluations_per_s"] =
      benchmark::Counter(static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}
BENCHMARK(released_layer);

void heft(benchmark::State& state) {
  const Problem& problem = layered_problem(state.range(0), "uniform-8");
  for (auto _ : state) benchmark::DoNotOptimize(plan_with("heft", problem));
  per_op(state, state.range(0));
}
BENCHMARK(heft)->RangeMultiplier(10)->Range(1000, 1000000)->Unit(benchmark::kMillisecond);

// Plans differ from run to run: the processor would learn the branches of a short run that is
// repeated, and a search never evaluates the same plan twice. The first run allocates the
// simulator's memory and is not timed.
void simulate(benchmark::State& state, const char* preset) {
  const Problem& problem = layered_problem(state.range(0), preset);
  std::vector<Plan> plans;
  for (int64_t ops = 0; ops < 100000; ops += state.range(0)) {
    plans.push_back(plan_with("heft", problem));
    Rng rng(plans.size());
    for (const OpId op : problem.graph.ops()) {  // one op in fifty is moved
      if (plans.size() == 1 || rng.below(50) != 0) continue;
      plans.back().placement[op.index].index = static_cast<int32_t>(rng.below(8));
    }
  }
  PhysicalSimulator simulator(problem);
  must(simulator.run(plans.front(), {}));
  size_t next = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(must(simulator.run(plans[next++ % plans.size()], {})));
  }
  per_op(state, state.range(0));
}

void physical_simulation(benchmark::State& state) {
  simulate(state, "uniform-8");
}
BENCHMARK(physical_simulation)
    ->RangeMultiplier(10)
    ->Range(1000, 1000000)
    ->Unit(benchmark::kMillisecond);

void physical_simulation_contended(benchmark::State& state) {
  simulate(state, "v100-8-nvlink");
}
BENCHMARK(physical_simulation_contended)
    ->RangeMultiplier(10)
    ->Range(1000, 100000)
    ->Unit(benchmark::kMillisecond);

void bounds(benchmark::State& state) {
  const Problem& problem = layered_problem(state.range(0), "uniform-8");
  for (auto _ : state) benchmark::DoNotOptimize(lower_bounds(problem));
  per_op(state, state.range(0));
}
BENCHMARK(bounds)->RangeMultiplier(10)->Range(100, 1000000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace tutti
