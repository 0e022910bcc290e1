// Compares policies on one problem: each plans with several seeds, and its plans are simulated in
// scenarios that no search has seen.

#ifndef TUTTI_SEARCH_COMPARE_H_
#define TUTTI_SEARCH_COMPARE_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tutti/policy/registry.h"
#include "tutti/runtime/sim/model.h"
#include "tutti/search/evaluate/scenario_simulator.h"
#include "tutti/trace/ready_order.h"

namespace tutti {

// One plan of a policy, and how long it takes in scenarios that no search has seen.
struct PolicySample {
  std::vector<double> makespans_ns{};  // of each scenario
  std::optional<double> planned_ns{};  // none: the plan has no timeline
  double plan_seconds = 0;
  int64_t evaluations = 0;
  double bytes_moved = 0;  // as placed: each value once to every other memory that reads it
  std::optional<Error> error{};
};

// Plans with that seed and simulates the plan in `runs` scenarios, which belong to the seed.
PolicySample sample_policy(const PolicyEntry& entry, const Problem& problem, const Budget& budget,
                           int runs, ScenarioSimulator& simulator, uint64_t seed);

// What became of one policy.
struct PolicyOutcome {
  std::string policy;
  double mean_ns = 0;  // makespans
  double min_ns = 0;
  double stddev_ns = 0;
  std::optional<double> planned_ns{};  // mean; none if any of its plans has no timeline
  double plan_seconds = 0;             // mean
  double bytes_moved = 0;              // mean
  int64_t evaluations = 0;
  int runs = 0;
  std::optional<Error> error{};  // of the first seed that failed
};

struct CompareOptions {
  SimModel model = SimModel::physical;
  ReadyOrder order = ReadyOrder::priority;
  uint64_t seed = 1;
  int seeds = 10;
  int runs = 1;  // scenarios of each plan, if anything is drawn
  Budget budget{};
  // Under a wall clock seeds must not take each other's time, and one runs after another.
  int threads = 1;
  std::function<void(size_t done, const PolicyEntry& next)> on_policy{};  // to show progress
};

// In the order of the entries.
std::vector<PolicyOutcome> compare_policies(const Problem& problem,
                                            std::span<const PolicyEntry> entries,
                                            const CompareOptions& options);

}  // namespace tutti

#endif  // TUTTI_SEARCH_COMPARE_H_
