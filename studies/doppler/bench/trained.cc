// What a trained model makes of one graph: its greedy plan, the best of that and 64 samples, the
// best and the mean of 64 samples alone, compared with critical path (the mean of 50 plans with
// ties drawn, and the best of them). Deterministic model without noise. One JSON line; times in ns.
//
//   trained MODEL GRAPH MACHINE physical|released

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>

#include "studies/doppler/bench/listed.h"
#include "studies/doppler/samples.h"
#include "studies/studies.h"
#include "tutti/base/check.h"
#include "tutti/graph/import/import.h"
#include "tutti/machine/preset.h"
#include "tutti/policy/doppler/planner.h"
#include "tutti/policy/registry.h"
#include "tutti/search/walk/guide.h"

namespace tutti {
namespace {

constexpr int kSamples = 64;
constexpr int kTeachers = 50;

template <class T>
T must(Result<T> result) {
  if (!result) std::fprintf(stderr, "trained: %s\n", result.error().message.c_str());
  TUTTI_CHECK(result.has_value());
  return std::move(*result);
}

void run(const std::string& name, const std::string& path, const std::string& machine_name,
         const std::string& simulator) {
  const DopplerModel model = model_named(name);
  const Problem problem =
      must(Problem::make(must(load_graph(path)).graph, must(load_machine(machine_name))));
  SearchModel judging;
  const std::optional<SimModel> known = find_sim_model(simulator);
  if (!known) {
    std::fprintf(stderr, "trained: there is no model of evaluation '%s'\n", simulator.c_str());
    std::exit(2);
  }
  judging.model = *known;
  Evaluator evaluator(problem, judging);
  double mean = 0;
  double best = kNoPlan;
  for (uint64_t seed = 1; seed <= kTeachers; ++seed) {
    const double cost =
        evaluator.cost(must(make_plan(**find_policy("critical_path"), problem, {}, seed)));
    mean += cost / kTeachers;
    best = std::min(best, cost);
  }
  const auto before = std::chrono::steady_clock::now();
  const Plan greedy = must(plan_greedily(model, problem));
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - before;
  const CostedPlan drawn = best_of_samples(model, problem, judging, kSamples, Rng(1), 1);
  Guide guide(problem, model);
  double drawn_mean = 0;
  double drawn_best = kNoPlan;
  for (uint64_t k = 0; k < kSamples; ++k) {
    const auto plan = guide.draw_plan(Rng(2).split(k), Stop{});
    TUTTI_CHECK(plan.has_value());
    const double cost = evaluator.cost(*plan);
    drawn_mean += cost / kSamples;
    drawn_best = std::min(drawn_best, cost);
  }
  fmt::print(
      "{{\"greedy\":{:.0f},\"samples_64\":{:.0f},\"samples_alone\":{:.0f},\"samples_mean\":{:.0f},"
      "\"critical_path_mean\":{:.0f},\"critical_path_best\":{:.0f},\"greedy_ms\":{:.2f}}}\n",
      evaluator.cost(greedy), drawn.cost, drawn_best, drawn_mean, mean, best, took.count());
}

}  // namespace
}  // namespace tutti

int main(int argc, char** argv) {
  tutti::add_studies();
  if (argc != 5) {
    std::fprintf(stderr, "usage: trained MODEL GRAPH MACHINE physical|released\n");
    return 2;
  }
  tutti::run(argv[1], argv[2], argv[3], argv[4]);
  return 0;
}
