// What methods that learn nothing make of one graph, to compare trained models with: the mean of
// critical-path plans with ties drawn, the expected best of 50 of them, and the plans of simple
// methods with as many simulations as an episode-by-episode training has. Without noise. One JSON
// line for each method and seed; times in ns.
//
//   references GRAPH MACHINE physical|released SIMULATIONS SEED...

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

#include "studies/studies.h"
#include "tutti/base/check.h"
#include "tutti/graph/import/import.h"
#include "tutti/machine/preset.h"
#include "tutti/search/planners.h"

namespace tutti {
namespace {

constexpr int kDraws = 2000;  // that the reference is computed from
constexpr int kBestOf = 50;

template <class T>
T must(Result<T> result) {
  if (!result) {
    std::fprintf(stderr, "references: %s\n", result.error().message.c_str());
    std::exit(2);
  }
  return std::move(*result);
}

// Of `best_of` values drawn without replacement: the i-th smallest is the least of them with
// probability C(n - 1 - i, best_of - 1) / C(n, best_of).
double expected_least(std::vector<double> values, int best_of) {
  std::sort(values.begin(), values.end());
  const auto count = static_cast<double>(values.size());
  double expected = 0;
  double chance = best_of / count;
  for (size_t i = 0; i < values.size(); ++i) {
    expected += chance * values[i];
    const double left = count - 1 - static_cast<double>(i);
    if (left <= 0) break;
    chance *= std::max(0.0, left - best_of + 1) / left;
  }
  return expected;
}

class References {
 public:
  References(const std::string& path, const std::string& machine, const std::string& simulator,
             int64_t simulations)
      : problem_(must(Problem::make(must(load_graph(path)).graph, must(load_machine(machine))))),
        simulations_(simulations) {
    const std::optional<SimModel> known = find_sim_model(simulator);
    if (!known) {
      std::fprintf(stderr, "references: there is no model of evaluation '%s'\n", simulator.c_str());
      std::exit(2);
    }
    settings_.model.model = *known;
    settings_.budget.evaluations = simulations;
  }

  // The same whatever the seeds of the runs.
  void draw_critical_paths() {
    const double begin = core_seconds();
    const std::vector<double> costs = critical_paths(kDraws, /*first_seed=*/1);
    double mean = 0;
    for (const double cost : costs) mean += cost / kDraws;
    fmt::print(
        "{{\"method\":\"reference\",\"draws\":{},\"best_of\":{},\"greedy_ns\":{:.0f},"
        "\"mean_ns\":{:.0f},\"best_ns\":{:.0f},\"core_seconds\":{:.2f}}}\n",
        kDraws, kBestOf, expected_least(costs, kBestOf), mean,
        *std::min_element(costs.begin(), costs.end()), core_seconds() - begin);
  }

  void best_of_draws(uint64_t seed) {
    const double begin = core_seconds();
    const auto count = static_cast<int>(simulations_);
    const std::vector<double> costs = critical_paths(count, (seed << 32) + 1);
    tell("best-of-draws", seed, *std::min_element(costs.begin(), costs.end()), begin);
  }

  void plan(const char* policy, uint64_t seed) {
    const double begin = core_seconds();
    AutoSettings settings = settings_;
    settings.seed = seed;
    const PolicyEntry entry = must(find_planner(policy, settings));
    Budget budget = settings.budget;
    const Plan made = must(make_plan(entry, problem_, budget, seed));
    Evaluator evaluator(problem_, settings.model);
    tell(policy, seed, evaluator.cost(made), begin);
  }

 private:
  static double core_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

  void tell(const char* method, uint64_t seed, double cost, double begin) const {
    fmt::print(
        "{{\"method\":\"{}\",\"seed\":{},\"simulations\":{},\"greedy_ns\":{:.0f},"
        "\"core_seconds\":{:.2f}}}\n",
        method, seed, simulations_, cost, core_seconds() - begin);
  }

  std::vector<double> critical_paths(int count, uint64_t first_seed) {
    Evaluator evaluator(problem_, settings_.model);
    std::vector<double> costs;
    for (int i = 0; i < count; ++i) {
      const uint64_t seed = first_seed + static_cast<uint64_t>(i);
      costs.push_back(
          evaluator.cost(must(make_plan(**find_policy("critical_path"), problem_, {}, seed))));
    }
    return costs;
  }

  Problem problem_;
  int64_t simulations_;
  AutoSettings settings_;
};

}  // namespace
}  // namespace tutti

int main(int argc, char** argv) {
  tutti::add_studies();
  if (argc < 6) {
    std::fprintf(stderr, "usage: references GRAPH MACHINE physical|released SIMULATIONS SEED...\n");
    return 2;
  }
  tutti::References references(argv[1], argv[2], argv[3], std::atoll(argv[4]));
  references.draw_critical_paths();
  for (int i = 5; i < argc; ++i) {
    const uint64_t seed = std::strtoull(argv[i], nullptr, 10);
    references.best_of_draws(seed);
    for (const char* policy : {"annealing", "enumerative", "auto"}) references.plan(policy, seed);
  }
}
