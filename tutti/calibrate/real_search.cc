#include "tutti/calibrate/real_search.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tutti/runtime/sim/sim.h"

namespace tutti {
namespace {

// Predictions are cheap, runs are not.
constexpr int kProposedForEachRaced = 4;

// Plans that were the best once and may be it again.
constexpr size_t kPast = 5;

// Rounds in a row without a plan worth a run, after which there will be none.
constexpr int kIdleRounds = 3;

bool same(const Plan& a, const Plan& b) {
  return a.placement == b.placement && a.priority == b.priority && a.strict_order == b.strict_order;
}

// In ns; infinite for a plan that does not run.
double predicted(const Problem& problem, const Plan& plan) {
  const Result<Trace> trace = SimRuntime().run(problem, plan);
  return trace ? static_cast<double>(trace->makespan.count())
               : std::numeric_limits<double>::infinity();
}

struct Forecast {
  Plan plan;
  double ns;
};

class Search {
 public:
  Search(const Graph& graph, const Machine& machine, const Constraints& constraints,
         Knowledge& knowledge, Runtime& runtime, Proposer& proposer,
         const RealSearchSettings& settings)
      : graph_(graph),
        machine_(machine),
        constraints_(constraints),
        knowledge_(knowledge),
        runtime_(runtime),
        proposer_(proposer),
        settings_(settings),
        last_race_(settings.runs -
                   static_cast<int64_t>(settings.last_share * static_cast<double>(settings.runs))) {
  }

  Result<RealSearchResult> run(std::span<const Plan> start,
                               const std::optional<RealSearchState>& resume) {
    state_ = resume ? *resume : RealSearchState{.best = start.front()};
    const int64_t before = state_.runs;
    std::vector<Plan> given;
    if (!resume) given.assign(start.begin() + 1, start.end());
    int idle = 0;
    while (!complete() && !settings_.stop.now()) {
      const bool is_late = state_.runs >= last_race_ || idle == kIdleRounds;
      if (is_late) look_at_own_plan();
      const bool has_rivals = !rivals().empty();
      if (idle == kIdleRounds && !has_rivals) break;
      const bool is_last = has_rivals && is_late;
      const Result<RealRound> round = is_last ? take_last() : take_round(std::move(given));
      given.clear();
      // What was found before was given to on_round.
      if (!round && (state_.round == 0 || !settings_.stop.now())) return round.error();
      if (!round) break;
      idle = round->raced == 0 ? idle + 1 : 0;
      if (is_last) state_.complete_with = settings_.runs;
      if (settings_.on_round) {
        if (const auto good = settings_.on_round(*round, state_); !good) return good.error();
      }
    }
    if (state_.round == 0) return failed("stopped before a run had ended");
    return RealSearchResult{.plan = state_.best,
                            .mean_ns = state_.best_ns,
                            .runs = state_.runs,
                            .new_runs = state_.runs - before,
                            .rounds = state_.round,
                            .own = own_};
  }

 private:
  bool complete() const {
    return state_.runs >= settings_.runs || state_.complete_with >= settings_.runs;
  }

  // Those that were the best before, and are not it now; and the proposer's own plan, if it is
  // worth a run.
  std::vector<Plan> rivals() const {
    std::vector<Plan> found;
    for (const Plan& plan : state_.past) {
      if (!same(plan, state_.best)) found.push_back(plan);
    }
    const auto is_own = [&](const Plan& plan) { return same(plan, *own_plan_); };
    if (own_plan_ && own_->predicted <= 1 + settings_.margin && !is_own(state_.best) &&
        std::none_of(found.begin(), found.end(), is_own)) {
      found.push_back(*own_plan_);
    }
    return found;
  }

  void look_at_own_plan() {
    const Result<Problem> known = known_problem(graph_, machine_, constraints_, knowledge_);
    if (!known) return;  // the race says so
    own_plan_ = proposer_.own_plan(*known);
    if (!own_plan_) return;
    own_ = OwnPlan{.predicted = predicted(*known, *own_plan_) / predicted(*known, state_.best)};
    if (same(*own_plan_, state_.best)) own_->mean_ns = state_.best_ns;
  }

  Result<RealRound> take_round(std::vector<Plan> given) {
    const Result<Problem> known = known_problem(graph_, machine_, constraints_, knowledge_);
    if (!known) return known.error();
    const Problem& problem = *known;
    RealRound round{.round = state_.round};
    std::vector<Forecast> forecasts = choose(problem, std::move(given), round);
    if (forecasts.size() == 1 && state_.round > 0) return pass(round);
    const int64_t runs = std::min<int64_t>(settings_.runs_a_round, next_stop() - state_.runs);
    // With few runs the plan that it starts from must have one.
    if (state_.round == 0 && static_cast<int64_t>(forecasts.size()) > runs) {
      forecasts.erase(forecasts.begin() + std::max<int64_t>(1, runs), forecasts.end());
    }
    const Result<RaceResult> raced = run_race(forecasts, {.runs = runs});
    if (!raced) return raced.error();
    if (state_.round == 0 && raced->plans[0].times_ns.empty()) {
      const std::string& why = raced->plans[0].refusal;
      if (why.empty()) return failed("stopped before the plan that it starts from had been run");
      return failed("the plan that the search starts from cannot be run: " + why);
    }
    take_over(*raced, forecasts, round);
    std::vector<Plan> plans;
    std::vector<double> means;
    for (const Forecast& forecast : forecasts) plans.push_back(forecast.plan);
    for (const Raced& one : raced->plans) means.push_back(one.mean_ns());
    proposer_.learn(problem, plans, means);
    return round;
  }

  // The best plan has been run often enough: it needs no race with itself.
  RealRound pass(RealRound round) {
    ++state_.round;
    round.runs = state_.runs;
    round.best_ns = state_.best_ns;
    round.start_ns = state_.start_ns;
    return round;
  }

  // All runs that are left, for those that were the best at some time.
  Result<RealRound> take_last() {
    const Result<Problem> known = known_problem(graph_, machine_, constraints_, knowledge_);
    if (!known) return known.error();
    std::vector<Forecast> forecasts = {{state_.best, predicted(*known, state_.best)}};
    for (const Plan& plan : rivals()) {
      forecasts.push_back({plan, predicted(*known, plan)});
    }
    const int64_t runs = settings_.runs - state_.runs;
    const Result<RaceResult> raced = run_race(forecasts, {.runs = runs, .most_each = runs});
    if (!raced) return raced.error();
    for (size_t i = 0; own_plan_ && i < forecasts.size(); ++i) {
      if (raced->plans[i].times_ns.empty() || !same(forecasts[i].plan, *own_plan_)) continue;
      own_->mean_ns = raced->plans[i].mean_ns();
    }
    RealRound round{.round = state_.round};
    take_over(*raced, forecasts, round);
    round.own = own_;
    return round;
  }

  // On the machine as it was given: what was measured of it is only for predictions.
  Result<RaceResult> run_race(const std::vector<Forecast>& forecasts, RaceSettings race_settings) {
    const Result<Problem> bound =
        Problem::make(Shared<Graph>::borrowed(graph_), Shared<Machine>::borrowed(machine_),
                      knowledge_.costs(machine_), constraints_);
    if (!bound) return bound.error();
    std::vector<Plan> plans;
    for (const Forecast& forecast : forecasts) plans.push_back(forecast.plan);
    race_settings.stop = settings_.stop;
    race_settings.seed = Rng(settings_.seed).split(static_cast<uint64_t>(state_.round)).next();
    race_settings.on_run = [&](size_t /*plan*/, const Trace& trace) {
      knowledge_.learn(*bound, trace, "round " + std::to_string(state_.round));
    };
    return race(runtime_, *bound, plans, race_settings);
  }

  // Where the runs of this part end.
  int64_t next_stop() const { return state_.runs < last_race_ ? last_race_ : settings_.runs; }

  // The best plan first, then those worth a run, the best prediction first.
  std::vector<Forecast> choose(const Problem& problem, std::vector<Plan> given, RealRound& round) {
    std::vector<Forecast> chosen = {{state_.best, predicted(problem, state_.best)}};
    const Rng rng = Rng(settings_.seed).split(static_cast<uint64_t>(state_.round));
    std::vector<Plan> proposals = std::move(given);
    for (Plan& plan : proposer_.propose(problem, state_.best,
                                        settings_.plans_a_round * kProposedForEachRaced, rng)) {
      proposals.push_back(std::move(plan));
    }
    std::vector<Forecast> others;
    for (Plan& plan : proposals) {
      const auto known = [&](const Forecast& other) { return same(other.plan, plan); };
      if (known(chosen[0]) || std::any_of(others.begin(), others.end(), known)) continue;
      const double ns = predicted(problem, plan);
      if (ns > chosen[0].ns * (1 + settings_.margin)) {
        ++round.refused;
        continue;
      }
      others.push_back({std::move(plan), ns});
    }
    std::stable_sort(others.begin(), others.end(),
                     [](const Forecast& a, const Forecast& b) { return a.ns < b.ns; });
    const auto most = static_cast<size_t>(settings_.plans_a_round);
    if (others.size() > most) others.resize(most);
    for (Forecast& other : others) chosen.push_back(std::move(other));
    return chosen;
  }

  // The first one stays for good: nothing may end up worse than where it began.
  void step_down(Plan plan) {
    std::vector<Plan>& past = state_.past;
    if (std::any_of(past.begin(), past.end(), [&](const Plan& p) { return same(p, plan); })) return;
    past.insert(past.begin(), std::move(plan));
    if (past.size() > kPast) past.erase(past.end() - 2);
  }

  void take_over(const RaceResult& raced, const std::vector<Forecast>& forecasts,
                 RealRound& round) {
    const Plan& start = state_.past.empty() ? state_.best : state_.past.back();
    for (size_t i = 0; i < forecasts.size(); ++i) {
      if (raced.plans[i].times_ns.empty() || !same(forecasts[i].plan, start)) continue;
      state_.start_ns = raced.plans[i].mean_ns();
    }
    if (raced.best != 0) step_down(std::move(state_.best));
    state_.best = forecasts[raced.best].plan;
    state_.runs += raced.runs;
    ++state_.round;
    round.runs = state_.runs;
    state_.best_ns = raced.plans[raced.best].mean_ns();
    round.best_ns = state_.best_ns;
    round.start_ns = state_.start_ns;
    round.raced = static_cast<int>(forecasts.size());
    int measured = 0;
    for (size_t i = 0; i < forecasts.size(); ++i) {
      if (raced.plans[i].times_ns.empty()) continue;
      round.error += std::abs(forecasts[i].ns / raced.plans[i].mean_ns() - 1);
      ++measured;
    }
    round.error /= std::max(1, measured);
  }

  const Graph& graph_;
  const Machine& machine_;
  const Constraints& constraints_;
  Knowledge& knowledge_;
  Runtime& runtime_;
  Proposer& proposer_;
  const RealSearchSettings& settings_;
  int64_t last_race_;  // begins after so many runs
  RealSearchState state_;
  std::optional<Plan> own_plan_{};  // the proposer's, late in the search
  std::optional<OwnPlan> own_{};    // there if own_plan_ is
};

}  // namespace

Result<Problem> known_problem(const Graph& graph, const Machine& machine,
                              const Constraints& constraints, const Knowledge& knowledge) {
  Result<Machine> measured = Machine::build(knowledge.machine(machine));
  if (!measured) return measured.error();
  const CostSpec costs = knowledge.costs(*measured);
  return Problem::make(Shared<Graph>::borrowed(graph), std::move(*measured), costs, constraints);
}

Result<RealSearchResult> search_for_real(const Graph& graph, const Machine& machine,
                                         const Constraints& constraints, Knowledge& knowledge,
                                         Runtime& runtime, Proposer& proposer,
                                         std::span<const Plan> start,
                                         const RealSearchSettings& settings,
                                         const std::optional<RealSearchState>& resume) {
  return Search(graph, machine, constraints, knowledge, runtime, proposer, settings)
      .run(start, resume);
}

}  // namespace tutti
