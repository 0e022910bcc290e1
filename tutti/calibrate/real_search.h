// Finds a plan on the real machine, with a bounded number of runs. In each round a Proposer
// suggests plans, the simulator drops those that it predicts to be slow, the rest races with the
// best plan so far, and every run updates the costs that the simulator uses.
//
// It is safe: a plan that is predicted to take longer than the best one, by more than a margin, is
// never run, and the result has been measured against the plan that the search started from. A
// round has few runs for each plan, so that chance decides some of them. The last runs are
// therefore a race of the plans that were once the best, and the first one; all of these have been
// run before, so predictions do not matter there. A round without a plan worth a run takes no run;
// after a few such rounds only the last race is left.

#ifndef TUTTI_CALIBRATE_REAL_SEARCH_H_
#define TUTTI_CALIBRATE_REAL_SEARCH_H_

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "tutti/base/random.h"
#include "tutti/calibrate/knowledge.h"
#include "tutti/calibrate/measure/race.h"
#include "tutti/plan/constraints.h"

namespace tutti {

// The problem on the machine and with the costs as they are known now. Fails as Problem::make does.
// Borrows the graph.
Result<Problem> known_problem(const Graph& graph, const Machine& machine,
                              const Constraints& constraints, const Knowledge& knowledge);

// Suggests plans.
class Proposer {
 public:
  virtual ~Proposer() = default;
  // Up to `count` plans for the problem as it is known now, the most promising first. `best` is
  // the best plan so far.
  virtual std::vector<Plan> propose(const Problem& problem, const Plan& best, int count,
                                    Rng rng) = 0;
  // The results of a round: means in ns, infinite for plans that could not be run.
  virtual void learn(const Problem& problem, std::span<const Plan> plans,
                     std::span<const double> means_ns) = 0;
  // The plan that the learned policy makes by itself, without samples or search. It joins the last
  // race, to be compared with the plan that is kept. None: nothing is learned but costs.
  virtual std::optional<Plan> own_plan(const Problem& /*problem*/) { return std::nullopt; }
};

// How good the proposer's own plan is after the last round.
struct OwnPlan {
  double predicted = 0;             // its predicted time, divided by that of the best plan
  std::optional<double> mean_ns{};  // measured; none: it is predicted to be too slow to be run
};

struct RealRound {
  int round = 0;
  int64_t runs = 0;              // so far
  double best_ns = 0;            // the mean of the best plan in this round's race
  double start_ns = 0;           // the mean of the plan it started from, when it was last measured
  int raced = 0;                 // 0: there was nothing to race the best plan with
  int refused = 0;               // predicted to be too slow
  double error = 0;              // mean of |predicted / measured - 1| over the plans of the round
  std::optional<OwnPlan> own{};  // in the last race
};

// The state to resume from, in addition to the knowledge and the proposer.
struct RealSearchState {
  Plan best{};
  std::vector<Plan> past{};  // that were the best before, the latest first
  int round = 0;
  int64_t runs = 0;
  double start_ns = 0;
  double best_ns = 0;  // its mean in its last race
  // How many runs were allowed when the last race was run: with more it goes on. 0: it was not.
  int64_t complete_with = 0;
};

struct RealSearchSettings {
  int64_t runs = 500;     // real runs in all
  int plans_a_round = 6;  // raced with the best one
  int runs_a_round = 24;
  double last_share = 0.2;  // of the runs, for the last race
  // Plans that are predicted to take longer than the best plan by more than this share are not run.
  double margin = 0.1;
  uint64_t seed = 1;
  Stop stop{};
  // After each round; an error ends the search.
  std::function<Result<void>(const RealRound& round, const RealSearchState& state)> on_round{};
};

struct RealSearchResult {
  Plan plan{};
  double mean_ns = 0;  // in its last race
  int64_t runs = 0;
  int64_t new_runs = 0;  // of this call
  int rounds = 0;
  std::optional<OwnPlan> own{};  // if this call came to the end
};

// Starts with the first of the plans, which must run; the others join the first race. A resumed
// search needs none. Fails as the runtime does if no plan of a race can be run, as when a device
// is lost, also after rounds that on_round has seen; and (failed) if the first plan cannot be run,
// or it is stopped before that.
Result<RealSearchResult> search_for_real(const Graph& graph, const Machine& machine,
                                         const Constraints& constraints, Knowledge& knowledge,
                                         Runtime& runtime, Proposer& proposer,
                                         std::span<const Plan> start,
                                         const RealSearchSettings& settings,
                                         const std::optional<RealSearchState>& resume = {});

}  // namespace tutti

#endif  // TUTTI_CALIBRATE_REAL_SEARCH_H_
