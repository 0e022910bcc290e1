#include "tutti/search/auto.h"

#include <algorithm>
#include <optional>

#include "tutti/base/parallel.h"
#include "tutti/plan/bound.h"
#include "tutti/policy/order.h"
#include "tutti/policy/registry.h"
#include "tutti/search/annealing.h"
#include "tutti/search/exact/work_conserving.h"
#include "tutti/search/neighbourhoods.h"
#include "tutti/search/random_keys.h"

namespace tutti {
namespace {

// Shares of a wall clock: policies that have not begun by then are left out, and judging the
// finalists has to fit behind the search.
constexpr double kPoliciesUntil = 0.35;
constexpr double kSearchUntil = 0.95;

// Far from the scenarios of the search, so that the winner is chosen on runs nobody trained on.
constexpr uint64_t kJudgingSeeds = uint64_t{1} << 32;
constexpr int kJudgingScenarios = 32;

struct Entrant {
  Tried tried;
  std::string order{};  // the rule that gave it its priorities, if not the policy itself
  std::optional<Candidate> candidate;
};

class Portfolio {
 public:
  Portfolio(const Problem& problem, const AutoSettings& settings)
      : problem_(problem),
        settings_(settings),
        progress_(settings.budget, settings.interrupted),
        evaluations_(settings.budget.evaluations.value_or(default_evaluations(problem))) {}

  Result<AutoResult> run() {
    ask_policies();
    add_given_plan();
    add_exact_plan();
    if (best_of(entrants_) == nullptr) return refusal();
    reorder_best();
    search();
    judge();
    return result();
  }

 private:
  static const Entrant* best_of(const std::vector<Entrant>& entrants) {
    const Entrant* best = nullptr;
    for (const Entrant& entrant : entrants) {
      if (!entrant.candidate) continue;
      if (best == nullptr || entrant.candidate->cost < best->candidate->cost) best = &entrant;
    }
    return best;
  }

  Entrant try_policy(const PolicyEntry& entry, Evaluator& evaluator) const {
    Entrant entrant{.tried = {.policy = entry.name}, .candidate = {}};
    Result<Plan> plan = make_plan(entry, problem_, {}, settings_.seed);
    if (!plan) {
      entrant.tried.refusal = plan.error().message;
      return entrant;
    }
    take(std::move(*plan), evaluator, entrant);
    return entrant;
  }

  void take(Plan plan, Evaluator& evaluator, Entrant& entrant) const {
    const double cost = evaluator.cost(plan);
    if (cost == kNoPlan) {  // the run itself tells where it stands still, and for how many bytes
      const Result<Duration> run = Judge(problem_, settings_.model.model, settings_.model.order)
                                       .makespan(plan, settings_.model.scenarios.seed);
      entrant.tried.refusal =
          run ? "its plan does not run in every scenario: memory is short" : run.error().message;
      return;
    }
    entrant.candidate = Candidate{.plan = std::move(plan), .cost = cost};
  }

  void ask_policies() {
    std::vector<const PolicyEntry*> entries;
    for (const PolicyEntry& entry : policy_registry()) {
      if (!entry.for_comparison) entries.push_back(&entry);
    }
    entrants_.resize(entries.size());
    const int threads = settings_.threads;
    std::vector<int64_t> spent(static_cast<size_t>(threads), 0);
    std::vector<std::optional<Evaluator>> evaluators(static_cast<size_t>(threads));
    parallel_for(static_cast<int>(entries.size()), threads, [&](int index, int thread) {
      auto& entrant = entrants_[static_cast<size_t>(index)];
      const PolicyEntry& entry = *entries[static_cast<size_t>(index)];
      entrant.tried.policy = entry.name;
      const bool late = progress_.timed() && progress_.elapsed() > kPoliciesUntil;
      if (index > 0 && (late || progress_.interrupted())) {
        entrant.tried.refusal = "left out: the budget was short";
        return;
      }
      auto& evaluator = evaluators[static_cast<size_t>(thread)];
      if (!evaluator) evaluator.emplace(problem_, settings_.model);
      const int64_t before = evaluator->evaluations();
      entrant = try_policy(entry, *evaluator);
      spent[static_cast<size_t>(thread)] += evaluator->evaluations() - before;
    });
    for (const int64_t count : spent) spent_ += count;
  }

  void add_given_plan() {
    if (!settings_.from) return;
    Evaluator evaluator(problem_, settings_.model);
    Entrant entrant{.tried = {.policy = "given"}, .candidate = {}};
    take(*settings_.from, evaluator, entrant);
    spent_ += evaluator.evaluations();
    entrants_.push_back(std::move(entrant));
  }

  // The smallest problems can be solved outright, if transfers do not meet.
  void add_exact_plan() {
    constexpr int32_t kFewOps = 10;
    constexpr int64_t kSteps = 300'000;
    if (problem_.graph.size() > kFewOps || settings_.model.model != SimModel::physical) return;
    Result<ExactPlan> exact =
        best_work_conserving(problem_, {.wall_clock = {}, .evaluations = kSteps});
    if (!exact) return;
    Evaluator evaluator(problem_, settings_.model);
    Entrant entrant{.tried = {.policy = "exact"}, .candidate = {}};
    take(std::move(exact->plan), evaluator, entrant);
    spent_ += evaluator.evaluations();
    entrants_.push_back(std::move(entrant));
  }

  // The best placements under every order rule. Each keeps its best order and stays one entrant.
  void reorder_best() {
    constexpr size_t kPlacements = 6;
    if (!Judge(problem_, settings_.model.model, settings_.model.order).depends_on_priority())
      return;
    std::vector<Entrant*> ranked;
    for (Entrant& entrant : entrants_) {
      if (entrant.candidate) ranked.push_back(&entrant);
    }
    std::stable_sort(ranked.begin(), ranked.end(), [](const Entrant* a, const Entrant* b) {
      return a->candidate->cost < b->candidate->cost;
    });
    if (ranked.size() > kPlacements) ranked.resize(kPlacements);
    const auto rules = order_rules();
    std::vector<Candidate> tries(ranked.size() * rules.size());
    std::vector<int64_t> spent(tries.size(), 0);
    std::vector<std::optional<Evaluator>> evaluators(static_cast<size_t>(settings_.threads));
    parallel_for(static_cast<int>(tries.size()), settings_.threads, [&](int index, int thread) {
      if (progress_.timed() && progress_.elapsed() > kPoliciesUntil) return;
      auto& evaluator = evaluators[static_cast<size_t>(thread)];
      if (!evaluator) evaluator.emplace(problem_, settings_.model);
      const auto at = static_cast<size_t>(index);
      const Candidate& original = *ranked[at / rules.size()]->candidate;
      const int64_t before = evaluator->evaluations();
      Plan plan = reordered(problem_, original.plan, rules[at % rules.size()]);
      const double cost = evaluator->cost(plan, original.cost);
      tries[at] = {.plan = std::move(plan), .cost = cost};
      spent[at] = evaluator->evaluations() - before;
    });
    for (size_t i = 0; i < tries.size(); ++i) {
      spent_ += spent[i];
      Entrant& entrant = *ranked[i / rules.size()];
      if (tries[i].cost >= entrant.candidate->cost) continue;
      entrant.candidate = std::move(tries[i]);
      entrant.order = rules[i % rules.size()].name;
    }
  }

  // The best few, no two of equal cost: they would be the same plan under another name.
  std::vector<Candidate> starts() const {
    std::vector<const Candidate*> ranked;
    for (const Entrant& entrant : entrants_) {
      if (entrant.candidate) ranked.push_back(&*entrant.candidate);
    }
    std::stable_sort(ranked.begin(), ranked.end(),
                     [](const Candidate* a, const Candidate* b) { return a->cost < b->cost; });
    std::vector<Candidate> chosen;
    for (const Candidate* candidate : ranked) {
      if (chosen.size() == kIslands) break;
      if (chosen.empty() || candidate->cost > chosen.back().cost) chosen.push_back(*candidate);
    }
    return chosen;
  }

  // One walk searches over keys, the others anneal and look around in between.
  std::unique_ptr<Improver> improver(int round, int island) const {
    if (round == 0 || island == 0) return std::make_unique<RandomKeys>(problem_);
    if (round % 6 == 5) return std::make_unique<LargeNeighbourhoods>(problem_);
    const bool ordering =
        Judge(problem_, settings_.model.model, settings_.model.order).depends_on_priority();
    // The last one is hotter: small problems of few steps are left only at a leap.
    const Cooling cooling{.hottest = island + 1 == kIslands ? 0.1 : Cooling{}.hottest};
    return std::make_unique<Annealing>(problem_, ordering, cooling);
  }

  void search() {
    Leg whole{.begin = progress_.timed() ? progress_.elapsed() : 0,
              .end = progress_.timed() ? kSearchUntil : 1,
              .evaluations = std::max<int64_t>(0, evaluations_ - spent_),
              .good_enough = static_cast<double>(lower_bounds(problem_).strongest().count())};
    IslandsState state = settings_.resume ? *settings_.resume : start_islands(starts());
    run_islands(
        problem_, settings_.model,
        [this](int round, int island) { return improver(round, island); }, whole, progress_,
        settings_.seed, settings_.threads, settings_.on_round, state);
    spent_ += state.evaluations;
    for (Walk& walk : state.walks) {
      entrants_.push_back({.tried = {.policy = "search"},
                           .candidate = Candidate{std::move(walk.best), walk.best_cost}});
    }
  }

  // As many as the rest of a wall clock allows.
  int judging_scenarios() {
    if (!progress_.timed()) return kJudgingScenarios;
    const double before = progress_.elapsed();
    Evaluator(problem_, {settings_.model.model, settings_.model.order, {}})
        .cost(best_of(entrants_)->candidate->plan);
    const double one = progress_.elapsed() - before;
    const double each = one * static_cast<double>(entrants_.size()) / settings_.threads;
    return static_cast<int>(
        std::clamp((1 - progress_.elapsed()) / each, 1.0, double{kJudgingScenarios}));
  }

  // Every entrant on the same fresh scenarios. The finalists of the search come as one.
  void judge() {
    if (!Judge(problem_, settings_.model.model, settings_.model.order).depends_on_seed()) {
      for (Entrant& entrant : entrants_) {  // one scenario is as good as another
        if (entrant.candidate) entrant.tried.makespan = nanoseconds_of(entrant.candidate->cost);
      }
      return;
    }
    SearchModel fresh = settings_.model;
    fresh.scenarios.seed += kJudgingSeeds;
    fresh.scenarios.count = judging_scenarios();
    std::vector<std::optional<Evaluator>> evaluators(static_cast<size_t>(settings_.threads));
    std::vector<int64_t> spent(entrants_.size(), 0);
    parallel_for(static_cast<int>(entrants_.size()), settings_.threads, [&](int index, int thread) {
      Entrant& entrant = entrants_[static_cast<size_t>(index)];
      if (!entrant.candidate) return;
      auto& evaluator = evaluators[static_cast<size_t>(thread)];
      if (!evaluator) evaluator.emplace(problem_, fresh);
      const int64_t before = evaluator->evaluations();
      entrant.candidate->cost = evaluator->cost(entrant.candidate->plan);
      double sum = 0;
      for (const double makespan : evaluator->makespans()) sum += makespan;
      if (entrant.candidate->cost == kNoPlan) {
        entrant.candidate.reset();
        entrant.tried.refusal = "its plan does not run in every scenario: memory is short";
      } else {
        entrant.tried.makespan =
            nanoseconds_of(sum / static_cast<double>(evaluator->makespans().size()));
      }
      spent[static_cast<size_t>(index)] = evaluator->evaluations() - before;
    });
    for (const int64_t count : spent) spent_ += count;
  }

  Error refusal() const {
    const Entrant* told = nullptr;
    for (const Entrant& entrant : entrants_) {
      if (entrant.tried.refusal.empty()) continue;
      told = &entrant;
      if (entrant.tried.policy == "m_etf") break;  // it looks at memory closest
    }
    if (told != nullptr) return infeasible(told->tried.refusal);
    return infeasible("no policy made a plan");
  }

  Result<AutoResult> result() {
    const Entrant* best = best_of(entrants_);
    if (best == nullptr) return refusal();
    AutoResult result;
    result.plan = best->candidate->plan;
    result.makespan = best->tried.makespan;
    const bool searched = best->tried.policy == "search";
    if (searched) {  // its own timeline is that of the plan it started from
      result.plan.start.clear();
      result.plan.finish.clear();
      result.plan.planned_makespan = Duration{0};
    }
    Provenance& provenance = result.plan.provenance;
    provenance.policy = "auto:" + best->tried.policy;
    provenance.seed = settings_.seed;
    provenance.evaluations = spent_;
    provenance.graph_fingerprint = problem_.graph.fingerprint();
    provenance.machine_fingerprint = problem_.machine.fingerprint();
    provenance.costs_fingerprint = problem_.costs.fingerprint();
    if (!best->order.empty()) provenance.policy += "+" + best->order;
    std::optional<Tried> search;
    for (Entrant& entrant : entrants_) {
      if (!entrant.order.empty()) entrant.tried.policy += "+" + entrant.order;
      if (entrant.tried.policy != "search") {
        result.tried.push_back(entrant.tried);
      } else if (!search || entrant.tried.makespan < search->makespan) {
        search = entrant.tried;
      }
    }
    if (search) result.tried.push_back(*search);
    return result;
  }

  const Problem& problem_;
  const AutoSettings& settings_;
  Progress progress_;
  int64_t evaluations_;
  int64_t spent_ = 0;
  std::vector<Entrant> entrants_;
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
