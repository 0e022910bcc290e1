#include "tutti/search/auto.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "tutti/base/parallel.h"
#include "tutti/plan/bound.h"
#include "tutti/policy/doppler/general.h"
#include "tutti/policy/order.h"
#include "tutti/search/annealing.h"
#include "tutti/search/asking.h"
#include "tutti/search/exact/work_conserving.h"
#include "tutti/search/judging.h"
#include "tutti/search/neighbourhoods.h"
#include "tutti/search/random_keys.h"
#include "tutti/search/refusal.h"
#include "tutti/search/samples.h"
#include "tutti/search/simulated_timeline.h"

namespace tutti {
namespace {

// Shares of a wall clock, beside those of the policies (asking.h). Order rules get a little even if
// the policies took all of theirs.
constexpr double kOrderRules = 0.1;
constexpr double kJudgingAtMost = 0.05;
// What judging gets even so, where simulations are dear: one scenario for the best few.
constexpr double kJudgedOnceAtMost = 0.3;
constexpr int kJudgedOnce = 2 * kIslands;
constexpr double kHot = 0.1;
constexpr int32_t kFew = 64;  // ops

// False if no transfer between devices takes time: then only order and speeds matter, and networks
// that have learned what to keep together have nothing to say.
bool transfers_take_time(const Problem& problem) {
  const Graph& graph = problem.graph;
  if (problem.costs.has_given_transfers()) return true;
  bool read = false;
  bool bytes = false;
  for (const ValueId value : graph.values()) {
    if (graph.consumers(value).empty()) continue;
    read = true;
    bytes = bytes || graph.bytes(value) > 0;
  }
  const Machine& machine = problem.machine;
  const auto takes_time = [&](const Hop& hop) {
    return read && (hop.latency > Duration{0} || (bytes && hop.ns_per_byte > 0));
  };
  for (const DeviceId from : machine.devices()) {
    for (const DeviceId to : machine.devices()) {
      const Route* route = machine.route(machine.memory_of(from), machine.memory_of(to));
      if (route == nullptr) continue;
      if (std::any_of(route->hops.begin(), route->hops.end(), takes_time)) return true;
    }
  }
  return false;
}

class Portfolio {
 public:
  Portfolio(const Problem& problem, const AutoSettings& settings)
      : problem_(problem),
        settings_(settings),
        progress_(settings.budget),
        work_{.problem = problem,
              .progress = progress_,
              .model = settings.model,
              .seed = settings.seed,
              .threads = settings.threads,
              .network = settings.network},
        evaluations_(settings.budget.evaluations.value_or(default_evaluations(problem))),
        model_(model_or_general(settings.network)),
        has_transfers_(transfers_take_time(problem)) {
    const Judge judge(problem, settings.model.model, settings.model.order);
    depends_on_seed_ = judge.depends_on_seed();
    depends_on_priority_ = judge.depends_on_priority();
  }

  Result<AutoResult> run() {
    entrants_ = ask_policies(work_);
    add_given_plan();
    add_exact_plan();
    if (by_cost(entrants_).empty()) retry_with_less_memory();
    if (by_cost(entrants_).empty()) return refusal();
    reorder_best();
    if (const Result<void> searched = search(); !searched) return searched.error();
    Judging judging(work_, evaluations_);
    const Entrant* winner = judging.judge(entrants_);
    if (winner == nullptr) return refusal();
    return result(*winner, judging.judged_on());
  }

 private:
  void add(const char* name, Plan plan, Stopping stopping) {
    Evaluator evaluator(problem_, work_.model, progress_.until(kPoliciesEnd));
    Entrant entrant{.tried = {.policy = name}};
    weigh(work_, std::move(plan), stopping, evaluator, entrant);
    work_.evaluations += evaluator.evaluations();
    entrants_.push_back(std::move(entrant));
  }

  void retry_with_less_memory() {
    for (Entrant& retried : ask_with_less_memory(work_)) {
      const auto earlier = std::find_if(
          entrants_.begin(), entrants_.end(),
          [&](const Entrant& entrant) { return entrant.tried.policy == retried.tried.policy; });
      if (earlier == entrants_.end()) {
        entrants_.push_back(std::move(retried));
      } else {
        *earlier = std::move(retried);
      }
    }
  }

  void add_given_plan() {
    if (settings_.from) add("given", *settings_.from, Stopping::not_before_a_plan);
  }

  // The smallest problems can be solved outright, if transfers do not meet.
  void add_exact_plan() {
    constexpr int32_t kFewOps = 10;
    constexpr int64_t kSteps = 300'000;
    if (problem_.graph.size() > kFewOps || work_.model.model != SimModel::physical) return;
    const Stop stop = progress_.until(kPoliciesEnd);
    Result<ExactPlan> exact =
        best_work_conserving(problem_, {.wall_clock = {}, .evaluations = kSteps, .stop = stop});
    if (!exact) return;
    add("exact", std::move(exact->plan), Stopping::allowed);
  }

  // The best placements under every order rule. Each keeps its best order and stays one entrant.
  void reorder_best() {
    constexpr size_t kPlacements = 6;
    if (!depends_on_priority_) return;
    std::vector<Entrant*> ranked = by_cost(entrants_);
    if (ranked.size() > kPlacements) ranked.resize(kPlacements);
    const auto rules = order_rules();
    std::vector<Candidate> tries(ranked.size() * rules.size());
    if (!progress_.timed()) {  // the count is kept
      const int64_t left = std::max<int64_t>(0, evaluations_ - work_.evaluations);
      const int each = depends_on_seed_ ? work_.model.scenarios.count : 1;
      tries.resize(std::min(tries.size(), static_cast<size_t>(left / each)));
    }
    std::vector<int64_t> spent(tries.size(), 0);
    const Stop stop =
        progress_.timed()
            ? progress_.until(std::max(kPoliciesBegin, progress_.elapsed() + kOrderRules))
            : progress_.until(1);
    std::vector<std::optional<Evaluator>> evaluators(static_cast<size_t>(settings_.threads));
    parallel_for(static_cast<int>(tries.size()), settings_.threads, [&](int index, int thread) {
      if (stop.now()) return;
      auto& evaluator = evaluators[static_cast<size_t>(thread)];
      if (!evaluator) evaluator.emplace(problem_, work_.model, stop);
      const auto at = static_cast<size_t>(index);
      const Candidate& original = *ranked[at / rules.size()]->candidate;
      const int64_t before = evaluator->evaluations();
      Plan plan = reordered(problem_, original.plan, rules[at % rules.size()]);
      const double cost = evaluator->cost(plan, original.cost);
      tries[at] = {.plan = std::move(plan), .cost = cost};
      spent[at] = evaluator->evaluations() - before;
    });
    for (size_t i = 0; i < tries.size(); ++i) {
      work_.evaluations += spent[i];
      Entrant& entrant = *ranked[i / rules.size()];
      if (tries[i].cost >= entrant.candidate->cost) continue;
      entrant.candidate = std::move(tries[i]);
      entrant.order = rules[i % rules.size()].name;
    }
  }

  // The best few, no two of equal cost: they would be the same plan under another name.
  std::vector<Candidate> starts() {
    std::vector<Candidate> chosen;
    for (const Entrant* entrant : by_cost(entrants_)) {
      if (chosen.size() == kIslands) break;
      const Candidate& candidate = *entrant->candidate;
      if (chosen.empty() || candidate.cost > chosen.back().cost) chosen.push_back(candidate);
    }
    return chosen;
  }

  // One walk searches over keys, the others anneal and look around in between. With guides all of
  // them begin with plans drawn from the trained policy, and keys have every fourth round of one.
  std::unique_ptr<Improver> improver(int round, int island) {
    Guide* guide = guide_of(island);
    if (round == 0 && guide != nullptr) return std::make_unique<PolicySamples>(*guide);
    if (round == 0 || (island == 0 && (guide == nullptr || round % 4 == 2))) {
      const bool queues = (guide != nullptr || round % 2 == 1) &&
                          work_.model.model == SimModel::physical && has_transfers_;
      return std::make_unique<RandomKeys>(
          problem_, queues ? RandomKeys::Decoder::contention : RandomKeys::Decoder::insertion);
    }
    if (round % 6 == 5) return std::make_unique<LargeNeighbourhoods>(problem_, guide);
    // The last one is hotter where there is no guide or little to guide: problems of few steps are
    // left only at a leap.
    const bool hot = island + 1 == kIslands && (guide == nullptr || problem_.graph.size() <= kFew);
    const Cooling cooling{.hottest = hot ? kHot : Cooling{}.hottest};
    return std::make_unique<Annealing>(problem_, depends_on_priority_, cooling, guide);
  }

  // None where the policy itself was too slow, or found no plan: what it says costs the same again.
  Guide* guide_of(int island) {
    auto& guide = guides_[static_cast<size_t>(island)];
    const auto affordable = [&](const Entrant& entrant) {
      return entrant.tried.policy == "doppler" && entrant.candidate &&
             has_time_to_look(problem_, progress_, entrant.plan_seconds);
    };
    if (guide == nullptr && has_transfers_ &&
        std::any_of(entrants_.begin(), entrants_.end(), affordable)) {
      guide = std::make_unique<Guide>(problem_, *model_);
    }
    return guide.get();
  }

  // The share of the wall clock at which judging begins.
  double search_until() const {
    if (!progress_.timed()) return 1;
    const double now = progress_.elapsed();
    // Of what is left, if it takes twice as long as it should: threads may have to share cores.
    const auto share_of = [&](double simulations) {
      return 2 * simulations * work_.simulation / work_.threads / progress_.time_left();
    };
    const double all = share_of(Judging::simulations(entrants_.size() + kIslands));
    const double share =
        std::max(std::min(all, kJudgingAtMost), std::min(share_of(kJudgedOnce), kJudgedOnceAtMost));
    return now + (1 - now) * (1 - std::clamp(share, 0.0, 1.0));
  }

  // What an earlier run says of its costs is simulated anew: a file may say anything. Under a wall
  // clock it may have taken its means over more or fewer scenarios; else it must have told the
  // truth. A walk that there is no time to weigh starts afresh.
  Result<void> weigh_anew(IslandsState& state) {
    const bool same_scenarios = settings_.budget.evaluations || !depends_on_seed_;
    Evaluator evaluator(problem_, work_.model, progress_.until(kPoliciesEnd));
    const IslandsState fresh = start_islands(starts());
    for (size_t i = 0; i < state.walks.size(); ++i) {
      Walk& walk = state.walks[i];
      const double cost = evaluator.cost(walk.plan);
      const double best_cost = evaluator.cost(walk.best);
      const bool same = cost == walk.cost && best_cost == walk.best_cost;
      if (!same && same_scenarios && !evaluator.stop().now()) {
        return invalid_input(
            "the costs in the search state are not those of its plans; delete the file to begin "
            "anew");
      }
      walk.cost = cost;
      walk.best_cost = best_cost;
      if (best_cost == kNoPlan) walk = fresh.walks[i];
      if (cost == kNoPlan) walk.start_from(walk.best, walk.best_cost);
    }
    if (progress_.timed())
      work_.evaluations += evaluator.evaluations();  // a count is that of one go
    return {};
  }

  Result<void> search() {
    const Duration bound =
        settings_.lower_bound ? *settings_.lower_bound : lower_bounds(problem_).strongest();
    Leg whole{.begin = progress_.timed() ? progress_.elapsed() : 0,
              .end = search_until(),
              .evaluations = std::max<int64_t>(0, evaluations_ - work_.evaluations),
              .good_enough = static_cast<double>(bound.count())};
    IslandsState state = settings_.resume ? *settings_.resume : start_islands(starts());
    if (settings_.resume) {
      if (Result<void> weighed = weigh_anew(state); !weighed) return weighed;
    }
    run_islands(
        problem_, work_.model, [this](int round, int island) { return improver(round, island); },
        whole, progress_, settings_.seed, settings_.threads, settings_.on_round, state);
    work_.evaluations += state.evaluations;
    for (Walk& walk : state.walks) {
      entrants_.push_back({.tried = {.policy = "search"},
                           .candidate = Candidate{std::move(walk.best), walk.best_cost}});
    }
    return {};
  }

  Error refusal() const {
    if (settings_.budget.stop.raised()) return failed("interrupted before there was a plan");
    std::vector<Refusal> refusals;
    for (const Entrant& entrant : entrants_) {
      refusals.push_back({entrant.tried.policy, entrant.tried.refusal});
    }
    return why_no_plan(problem_, refusals);
  }

  void count_scenarios(int judged_on, AutoResult& result) const {
    const int asked = settings_.model.scenarios.count;
    result.scenarios = work_.model.scenarios.count;
    result.judged_on = judged_on;
    if (result.scenarios == asked && judged_on >= kJudgingScenarios) return;
    result.shortfall =
        fmt::format("time was short: searched on {} of {} scenarios, judged on {} of {} fresh ones",
                    result.scenarios, asked, judged_on, kJudgingScenarios);
  }

  AutoResult result(const Entrant& winner, int judged_on) {
    AutoResult result;
    result.plan = winner.candidate->plan;
    result.makespan = winner.tried.makespan;
    if (depends_on_seed_) count_scenarios(judged_on, result);
    if (winner.tried.policy == "search") {  // what else it says is of the plan it started from
      result.plan = {.placement = std::move(result.plan.placement),
                     .priority = std::move(result.plan.priority),
                     .strict_order = std::move(result.plan.strict_order)};
    }
    // By which it was chosen; that of the policy, if it has one, where it cannot be had.
    Plan timed = result.plan;
    if (give_timeline(problem_, work_.model, progress_.until(1), timed)) {
      result.plan = std::move(timed);
    }
    Provenance& provenance = result.plan.provenance;
    provenance.policy = "auto:" + winner.tried.policy;
    provenance.seed = settings_.seed;
    provenance.evaluations = work_.evaluations;
    provenance.graph_fingerprint = problem_.graph.fingerprint();
    provenance.machine_fingerprint = problem_.machine.fingerprint();
    provenance.costs_fingerprint = problem_.costs.fingerprint();
    if (!winner.order.empty()) provenance.policy += "+" + winner.order;
    std::optional<Tried> search;
    for (const Entrant& entrant : entrants_) {
      Tried tried = entrant.tried;
      if (!entrant.order.empty()) tried.policy += "+" + entrant.order;
      if (tried.policy != "search") {
        result.tried.push_back(std::move(tried));
      } else if (!search || tried.makespan < search->makespan) {
        search = std::move(tried);
      }
    }
    if (search) result.tried.push_back(*search);
    return result;
  }

  const Problem& problem_;
  const AutoSettings& settings_;
  const Progress progress_;
  AutoWork work_;
  const int64_t evaluations_;
  std::vector<Entrant> entrants_;
  const std::shared_ptr<const DopplerModel> model_;
  const bool has_transfers_;
  bool depends_on_seed_ = false;
  bool depends_on_priority_ = false;
  std::array<std::unique_ptr<Guide>, kIslands> guides_;  // each walk its own
};

}  // namespace

int64_t default_evaluations(const Problem& problem) {
  constexpr int64_t kOpsToSimulate = 2'000'000;
  return std::clamp<int64_t>(kOpsToSimulate / std::max(1, problem.graph.size()), 100, 20'000);
}

Result<AutoResult> plan_auto(const Problem& problem, const AutoSettings& settings) {
  return Portfolio(problem, settings).run();
}

}  // namespace tutti
