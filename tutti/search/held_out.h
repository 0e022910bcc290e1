// Held-out scenarios: those that no search has seen. Plans are compared and reported on them.

#ifndef TUTTI_SEARCH_HELD_OUT_H_
#define TUTTI_SEARCH_HELD_OUT_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "tutti/search/candidates.h"

namespace tutti {

inline constexpr int kHeldOutScenarios = 32;

// Chooses the winner: every candidate is simulated in the same held-out scenarios, and the best few
// in more of them, since the least of many means is partly luck. If nothing depends on the seed,
// the costs of the search decide.
class HeldOut {
 public:
  // `work` counts the simulations. `count` is the budget's; the final may add a share of it.
  HeldOut(PortfolioWork& work, int64_t count) : work_(work), count_(count) {}

  // Fills in the makespans, and drops the plans that do not run in every scenario or that there was
  // no time for; one is simulated in any case. Returns the winner, or null if no plan is left.
  const Candidate* choose(std::vector<Candidate>& candidates);

  // How many the winner's makespan is the mean of.
  int scenarios() const { return scenarios_; }

  // The most simulations that comparing so many candidates may take.
  static double simulations(size_t candidates);

 private:
  // A candidate and its makespans so far.
  struct Record {
    Candidate* candidate;
    std::vector<double> makespans{};
  };

  // One scenario for all that are still in. False if there was no time for all.
  bool simulate_in(uint64_t seed, std::vector<Record>& records);
  // The figures of a candidate over the scenarios that all were simulated in.
  void settle(Record& record, const Scenarios& held_out) const;
  void hold_final(const Scenarios& held_out, std::vector<Record>& records);

  PortfolioWork& work_;
  int64_t count_;
  int scenarios_ = 1;
  std::vector<std::optional<ScenarioSimulator>> simulators_{};  // by thread
};

struct HeldOutMean {
  Duration makespan{0};
  int scenarios = 1;
};

// The mean makespan of one plan: if it was searched for, over as many held-out scenarios as there
// is time for, at least one; else in the scenario of `seed`, as `tutti simulate` runs it. Fails if
// the plan does not run.
Result<HeldOutMean> held_out_mean(const Problem& problem, const SearchModel& model, uint64_t seed,
                                  bool searched, const Stop& stop, const Plan& plan);

}  // namespace tutti

#endif  // TUTTI_SEARCH_HELD_OUT_H_
