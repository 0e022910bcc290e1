// An Evaluator gives a plan one number to minimise, its cost: the mean makespan over a fixed set of
// scenarios, optionally plus a weight times the mean of the worst of them (CVaR; Rockafellar,
// Uryasev 2000). All plans of a search are evaluated on the same scenarios. If nothing depends on
// the seed there is one scenario, and the cost is its makespan, whatever the weight.

#ifndef TUTTI_SEARCH_EVALUATE_EVALUATOR_H_
#define TUTTI_SEARCH_EVALUATE_EVALUATOR_H_

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "tutti/search/evaluate/scenario_simulator.h"

namespace tutti {

// Which scenarios, and how their makespans become one number.
struct Scenarios {
  uint64_t seed = 1;         // scenario i is drawn with seed + i
  int count = 1;             // one is enough if nothing depends on the seed
  double tail_weight = 0;    // of the worst scenarios, in addition to the mean
  double tail_share = 0.25;  // which of them are the worst
};

// The makespans of some scenarios as one number. Requires at least one.
double cost_of(std::span<const double> makespans, const Scenarios& scenarios);

// How a search simulates its plans.
struct SearchModel {
  SimModel model = SimModel::physical;
  ReadyOrder order = ReadyOrder::priority;
  Scenarios scenarios{};
};

inline constexpr double kNoPlan = std::numeric_limits<double>::infinity();

// One object serves one thread.
class Evaluator {
 public:
  // Keeps a reference to the problem.
  Evaluator(const Problem& problem, const SearchModel& model, const Stop& stop = {});

  // In ns. kNoPlan if the plan does not run, or is certain to cost more than `give_up_beyond`;
  // also, whatever the plan, once it is stopped, between scenarios or within a simulation.
  double cost(const Plan& plan, double give_up_beyond = kNoPlan);

  // Simulations so far.
  int64_t evaluations() const { return evaluations_; }
  const ScenarioSimulator& simulator() const { return simulator_; }
  const Stop& stop() const { return stop_; }
  // The makespan of each scenario in the last call, unless it gave up.
  std::span<const double> makespans() const { return makespans_; }

 private:
  ScenarioSimulator simulator_;
  Scenarios scenarios_;
  Stop stop_;
  int64_t evaluations_ = 0;
  std::vector<double> makespans_;
};

// Replaces the timeline and planned makespan of a plan that a search found by those of one
// simulation with mean durations, and returns that makespan. Leaves the plan without a timeline if
// it does not run, if the simulation was stopped (those of small graphs take milliseconds and are
// not), or under another model than the physical one, whose rules plans are checked by.
std::optional<Duration> give_timeline(const Problem& problem, const SearchModel& model,
                                      const Stop& stop, Plan& plan);

}  // namespace tutti

#endif  // TUTTI_SEARCH_EVALUATE_EVALUATOR_H_
