// An Evaluator gives a candidate plan one number to be minimised: its makespan over a fixed set of
// scenarios, as a mean, or as a mean plus a weight times the mean of the worst of them (CVaR;
// Rockafellar, Uryasev 2000). All candidates of a search meet the same scenarios. Where nothing
// depends on the seed there is but one, and the number is its makespan, whatever the weight.

#ifndef TUTTI_SEARCH_EVALUATOR_H_
#define TUTTI_SEARCH_EVALUATOR_H_

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "tutti/search/judge.h"

namespace tutti {

// Which scenarios, and how their makespans become one number.
struct Scenarios {
  uint64_t seed = 1;         // scenario i is drawn with seed + i
  int count = 1;             // one is enough where nothing depends on the seed
  double tail_weight = 0;    // of the worst scenarios, beside the mean
  double tail_share = 0.25;  // which of them are the worst
};

// The makespans of some scenarios as one number. Requires at least one.
double cost_of(std::span<const double> makespans, const Scenarios& scenarios);

// What a search is told about the runs that its plans will be judged by.
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
  // also, whatever the plan, once it is stopped, in the midst of scenarios or of a simulation.
  double cost(const Plan& plan, double give_up_beyond = kNoPlan);

  // Simulations so far.
  int64_t evaluations() const { return evaluations_; }
  const Judge& judge() const { return judge_; }
  const Stop& stop() const { return stop_; }
  // The makespan of each scenario in the last call, unless it gave up.
  std::span<const double> makespans() const { return makespans_; }

 private:
  Judge judge_;
  Scenarios scenarios_;
  Stop stop_;
  int64_t evaluations_ = 0;
  std::vector<double> makespans_;
};

}  // namespace tutti

#endif  // TUTTI_SEARCH_EVALUATOR_H_
