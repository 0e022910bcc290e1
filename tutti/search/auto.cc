#include "tutti/search/auto.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "tutti/base/parallel.h"
#include "tutti/plan/bound.h"
#include "tutti/policy/order.h"
#include "tutti/policy/registry.h"
#include "tutti/search/affordable.h"
#include "tutti/search/annealing.h"
#include "tutti/search/exact/work_conserving.h"
#include "tutti/search/neighbourhoods.h"
#include "tutti/search/random_keys.h"
#include "tutti/search/refusal.h"

namespace tutti {
namespace {

// Shares of a wall clock. Policies that have not begun by then are left out; those that have are
// stopped a while later. Order rules get a little even if the policies took all of it.
constexpr double kPoliciesBegin = 0.35;
constexpr double kPoliciesEnd = 0.6;
constexpr double kOrderRules = 0.1;
constexpr double kJudgingAtMost = 0.1;

// Far from the scenarios of the search, so that the winner is chosen on runs nobody trained on.
constexpr uint64_t kJudgingSeeds = uint64_t{1} << 32;
constexpr int kJudgingScenarios = 32;
// The best of them meet again in more, since the least of many means is partly luck.
constexpr int kFinalists = 4;
constexpr int kFinalScenarios = 512;
// Under a count of simulations, the share of it that the final may add.
constexpr double kFinalShare = 0.1;

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
        progress_(settings.budget),
        model_(settings.model),
        evaluations_(settings.budget.evaluations.value_or(default_evaluations(problem))) {}

  Result<AutoResult> run() {
    ask_policies();
    add_given_plan();
    add_exact_plan();
    if (best_of(entrants_) == nullptr) return refusal();
    reorder_best();
    if (const Result<void> searched = search(); !searched) return searched.error();
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

  // May a part of the work be stopped before it has brought anything?
  enum class Stopping { allowed, not_before_a_plan };

  Entrant try_policy(const PolicyEntry& entry, const Budget& budget, Evaluator& evaluator) const {
    Entrant entrant{.tried = {.policy = entry.name}, .candidate = {}};
    Result<Plan> plan = make_plan(entry, problem_, budget, settings_.seed);
    if (!plan) {
      entrant.tried.refusal = plan.error().message;
      return entrant;
    }
    take(std::move(*plan), Stopping::allowed, evaluator, entrant);
    return entrant;
  }

  void take(Plan plan, Stopping stopping, Evaluator& evaluator, Entrant& entrant) const {
    const double cost = stopping == Stopping::allowed
                            ? evaluator.cost(plan)
                            : cost_in_any_case(problem_, model_, plan, evaluator);
    if (cost == kNoPlan && stopping == Stopping::allowed && evaluator.stop().now()) {
      entrant.tried.refusal = out_of_time().message;
      return;
    }
    if (cost == kNoPlan) {  // the run itself tells where it stands still, and for how many bytes
      const Result<Duration> run =
          Judge(problem_, model_.model, model_.order).makespan(plan, model_.scenarios.seed);
      entrant.tried.refusal =
          run ? "its plan does not run in every scenario: memory is short" : run.error().message;
      return;
    }
    entrant.candidate = Candidate{.plan = std::move(plan), .cost = cost};
  }

  // Until there is a plan that runs, policies are asked one after the other, and the clock stops
  // none of them; only an interrupt does, and the first not even that. Gives how many were asked.
  size_t ask_for_a_plan(const std::vector<const PolicyEntry*>& entries) {
    const Stop interrupt = settings_.budget.stop.without_time();
    size_t asked = 0;
    for (; asked < entries.size() && best_of(entrants_) == nullptr; ++asked) {
      const Budget budget{.wall_clock = {},
                          .evaluations = {},
                          .stop = asked == 0 ? progress_.until(kPoliciesBegin) : interrupt};
      Entrant& entrant = entrants_[asked];
      entrant.tried.policy = entries[asked]->name;
      Result<Plan> plan = make_plan(*entries[asked], problem_, budget, settings_.seed);
      if (!plan) {
        entrant.tried.refusal = plan.error().message;
        continue;
      }
      const Affordable affordable =
          affordable_scenarios(problem_, settings_.model, *plan, progress_, settings_.threads);
      model_.scenarios.count = affordable.scenarios;
      simulation_ = affordable.simulation;
      Evaluator evaluator(problem_, model_, progress_.until(kPoliciesBegin));
      take(std::move(*plan), Stopping::not_before_a_plan, evaluator, entrant);
      spent_ += evaluator.evaluations();
    }
    return asked;
  }

  void ask_policies() {
    std::vector<const PolicyEntry*> entries;
    for (const PolicyEntry& entry : policy_registry()) {
      if (!entry.for_comparison) entries.push_back(&entry);
    }
    entrants_.resize(entries.size());
    const size_t asked = ask_for_a_plan(entries);
    const int threads = settings_.threads;
    std::vector<int64_t> spent(static_cast<size_t>(threads), 0);
    std::vector<std::optional<Evaluator>> evaluators(static_cast<size_t>(threads));
    const Stop begin = progress_.until(kPoliciesBegin);
    const Stop end = progress_.until(kPoliciesEnd);
    parallel_for(static_cast<int>(entries.size() - asked), threads, [&](int index, int thread) {
      Entrant& entrant = entrants_[asked + static_cast<size_t>(index)];
      const PolicyEntry& entry = *entries[asked + static_cast<size_t>(index)];
      entrant.tried.policy = entry.name;
      if (begin.now()) {
        entrant.tried.refusal = out_of_time().message;
        return;
      }
      auto& evaluator = evaluators[static_cast<size_t>(thread)];
      if (!evaluator) evaluator.emplace(problem_, model_, end);
      const int64_t before = evaluator->evaluations();
      entrant = try_policy(entry, {.wall_clock = {}, .evaluations = {}, .stop = end}, *evaluator);
      spent[static_cast<size_t>(thread)] += evaluator->evaluations() - before;
    });
    for (const int64_t count : spent) spent_ += count;
  }

  void add_given_plan() {
    if (!settings_.from) return;
    Evaluator evaluator(problem_, model_, progress_.until(kPoliciesEnd));
    Entrant entrant{.tried = {.policy = "given"}, .candidate = {}};
    take(*settings_.from, Stopping::not_before_a_plan, evaluator, entrant);
    spent_ += evaluator.evaluations();
    entrants_.push_back(std::move(entrant));
  }

  // The smallest problems can be solved outright, if transfers do not meet.
  void add_exact_plan() {
    constexpr int32_t kFewOps = 10;
    constexpr int64_t kSteps = 300'000;
    if (problem_.graph.size() > kFewOps || model_.model != SimModel::physical) return;
    const Stop stop = progress_.until(kPoliciesEnd);
    Result<ExactPlan> exact =
        best_work_conserving(problem_, {.wall_clock = {}, .evaluations = kSteps, .stop = stop});
    if (!exact) return;
    Evaluator evaluator(problem_, model_, stop);
    Entrant entrant{.tried = {.policy = "exact"}, .candidate = {}};
    take(std::move(exact->plan), Stopping::allowed, evaluator, entrant);
    spent_ += evaluator.evaluations();
    entrants_.push_back(std::move(entrant));
  }

  // Those with a plan, the best first.
  std::vector<Entrant*> by_cost() {
    std::vector<Entrant*> ranked;
    for (Entrant& entrant : entrants_) {
      if (entrant.candidate) ranked.push_back(&entrant);
    }
    std::stable_sort(ranked.begin(), ranked.end(), [](const Entrant* a, const Entrant* b) {
      return a->candidate->cost < b->candidate->cost;
    });
    return ranked;
  }

  // The best placements under every order rule. Each keeps its best order and stays one entrant.
  void reorder_best() {
    constexpr size_t kPlacements = 6;
    if (!Judge(problem_, model_.model, model_.order).depends_on_priority()) return;
    std::vector<Entrant*> ranked = by_cost();
    if (ranked.size() > kPlacements) ranked.resize(kPlacements);
    const auto rules = order_rules();
    std::vector<Candidate> tries(ranked.size() * rules.size());
    std::vector<int64_t> spent(tries.size(), 0);
    const Stop stop =
        progress_.timed()
            ? progress_.until(std::max(kPoliciesBegin, progress_.elapsed() + kOrderRules))
            : progress_.until(1);
    std::vector<std::optional<Evaluator>> evaluators(static_cast<size_t>(settings_.threads));
    parallel_for(static_cast<int>(tries.size()), settings_.threads, [&](int index, int thread) {
      if (stop.now()) return;
      auto& evaluator = evaluators[static_cast<size_t>(thread)];
      if (!evaluator) evaluator.emplace(problem_, model_, stop);
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
  std::vector<Candidate> starts() {
    std::vector<Candidate> chosen;
    for (const Entrant* entrant : by_cost()) {
      if (chosen.size() == kIslands) break;
      const Candidate& candidate = *entrant->candidate;
      if (chosen.empty() || candidate.cost > chosen.back().cost) chosen.push_back(candidate);
    }
    return chosen;
  }

  // One walk searches over keys, the others anneal and look around in between.
  std::unique_ptr<Improver> improver(int round, int island) const {
    if (round == 0 || island == 0) return std::make_unique<RandomKeys>(problem_);
    if (round % 6 == 5) return std::make_unique<LargeNeighbourhoods>(problem_);
    const bool ordering = Judge(problem_, model_.model, model_.order).depends_on_priority();
    // The last one is hotter: small problems of few steps are left only at a leap.
    const Cooling cooling{.hottest = island + 1 == kIslands ? 0.1 : Cooling{}.hottest};
    return std::make_unique<Annealing>(problem_, ordering, cooling);
  }

  // The share of the wall clock at which judging begins: it needs so many simulations of each
  // entrant, and those of the search come on top.
  double search_until() const {
    if (!progress_.timed()) return 1;
    const double now = progress_.elapsed();
    const auto entrants = static_cast<double>(entrants_.size() + kIslands);
    // Twice as long as it should take: threads may have to share cores.
    const auto simulations = kJudgingScenarios * entrants + kFinalScenarios * kFinalists;
    const auto judging = 2 * simulations * simulation_ / settings_.threads;
    const double share = std::clamp(judging / progress_.time_left(), 0.0, kJudgingAtMost);
    return now + (1 - now) * (1 - share);
  }

  // What an earlier run says of its costs is simulated anew: a file may say anything. Under a wall
  // clock it may have taken its means over more or fewer scenarios; else it must have told the
  // truth. A walk that there is no time to weigh starts afresh.
  Result<void> weigh_anew(IslandsState& state) {
    const bool same_scenarios = settings_.budget.evaluations ||
                                !Judge(problem_, model_.model, model_.order).depends_on_seed();
    Evaluator evaluator(problem_, model_, progress_.until(kPoliciesEnd));
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
    if (progress_.timed()) spent_ += evaluator.evaluations();  // a count is that of one go
    return {};
  }

  Result<void> search() {
    const Duration bound =
        settings_.lower_bound ? *settings_.lower_bound : lower_bounds(problem_).strongest();
    Leg whole{.begin = progress_.timed() ? progress_.elapsed() : 0,
              .end = search_until(),
              .evaluations = std::max<int64_t>(0, evaluations_ - spent_),
              .good_enough = static_cast<double>(bound.count())};
    IslandsState state = settings_.resume ? *settings_.resume : start_islands(starts());
    if (settings_.resume) {
      if (Result<void> weighed = weigh_anew(state); !weighed) return weighed;
    }
    run_islands(
        problem_, model_, [this](int round, int island) { return improver(round, island); }, whole,
        progress_, settings_.seed, settings_.threads, settings_.on_round, state);
    spent_ += state.evaluations;
    for (Walk& walk : state.walks) {
      entrants_.push_back({.tried = {.policy = "search"},
                           .candidate = Candidate{std::move(walk.best), walk.best_cost}});
    }
    return {};
  }

  // Every entrant on the same fresh scenarios, one scenario after the other until time is up.
  void judge() {
    if (!Judge(problem_, model_.model, model_.order).depends_on_seed()) {
      for (Entrant& entrant : entrants_) {  // one scenario is as good as another
        if (entrant.candidate) entrant.tried.makespan = nanoseconds_of(entrant.candidate->cost);
      }
      return;
    }
    Scenarios fresh = model_.scenarios;
    fresh.seed += kJudgingSeeds;
    const std::vector<Entrant*> ranked = by_cost();
    std::vector<std::vector<double>> makespans(ranked.size());
    judges_.resize(static_cast<size_t>(settings_.threads));
    judged_on_ = 0;
    for (int i = 0; i < kJudgingScenarios &&
                    judge_in(fresh.seed + static_cast<uint64_t>(i), ranked, makespans);
         ++i) {
      ++judged_on_;
    }
    judged_on_ = std::max(1, judged_on_);
    for (size_t i = 0; i < ranked.size(); ++i) {
      Entrant& entrant = *ranked[i];
      if (!entrant.candidate) continue;
      if (makespans[i].empty()) {
        entrant.candidate.reset();
        entrant.tried.refusal = "not judged: the budget was short";
        continue;
      }
      makespans[i].resize(static_cast<size_t>(judged_on_));  // a scenario that not all have seen
      entrant.candidate->cost = cost_of(makespans[i], fresh);
      entrant.tried.makespan = nanoseconds_of(cost_of(makespans[i], {}));
    }
    if (judged_on_ == kJudgingScenarios) hold_final(fresh, ranked, std::move(makespans));
  }

  // The winner is the best of the final; the others keep the figures they left with.
  void hold_final(const Scenarios& fresh, const std::vector<Entrant*>& ranked,
                  std::vector<std::vector<double>> makespans) {
    std::vector<size_t> order;
    for (size_t i = 0; i < ranked.size(); ++i) {
      if (ranked[i]->candidate) order.push_back(i);
    }
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return ranked[a]->candidate->cost < ranked[b]->candidate->cost;
    });
    if (order.size() > kFinalists) order.resize(kFinalists);
    std::vector<Entrant*> finalists;
    std::vector<std::vector<double>> final;
    for (const size_t i : order) {
      finalists.push_back(ranked[i]);
      final.push_back(std::move(makespans[i]));
    }
    const int64_t affordable =
        static_cast<int64_t>(kFinalShare * static_cast<double>(evaluations_)) /
        std::max<int64_t>(1, static_cast<int64_t>(finalists.size()));
    const int64_t scenarios =
        progress_.timed() ? kFinalScenarios : std::min<int64_t>(kFinalScenarios, affordable);
    for (int64_t i = 0; i < scenarios; ++i) {
      const uint64_t seed = fresh.seed + static_cast<uint64_t>(kJudgingScenarios + i);
      if (!judge_in(seed, finalists, final)) break;
      ++judged_on_;
    }
    for (size_t i = 0; i < finalists.size(); ++i) {
      Entrant& entrant = *finalists[i];
      if (!entrant.candidate) continue;
      final[i].resize(static_cast<size_t>(judged_on_));
      entrant.candidate->cost = cost_of(final[i], fresh);
      entrant.tried.makespan = nanoseconds_of(cost_of(final[i], {}));
      if (winner_ == nullptr || entrant.candidate->cost < winner_->candidate->cost) {
        winner_ = &entrant;
      }
    }
  }

  // One scenario for all that are still in. False if there was no time for all; the first time, one
  // is judged in any case.
  bool judge_in(uint64_t seed, const std::vector<Entrant*>& ranked,
                std::vector<std::vector<double>>& makespans) {
    const Stop stop = progress_.until(1);
    std::vector<int64_t> spent(ranked.size(), 0);
    std::vector<uint8_t> late(ranked.size(), 0);
    const auto judge_one = [&](size_t index, int thread, const Stop& until) {
      Entrant& entrant = *ranked[index];
      if (!entrant.candidate) return;
      auto& judge = judges_[static_cast<size_t>(thread)];
      if (!judge) judge.emplace(problem_, model_.model, model_.order);
      const Result<Duration> makespan =
          judge->makespan(entrant.candidate->plan, seed, kNever, until);
      spent[index] = 1;
      if (!makespan) {
        entrant.candidate.reset();
        entrant.tried.refusal = "its plan does not run in every scenario: memory is short";
      } else if (*makespan == kNever) {
        late[index] = 1;
      } else {
        makespans[index].push_back(static_cast<double>(makespan->count()));
      }
    };
    size_t first = 0;
    if (judged_on_ == 0) {
      while (first < ranked.size() && (first == 0 || makespans[first - 1].empty())) {
        judge_one(first++, 0, {});
      }
    }
    parallel_for(static_cast<int>(ranked.size() - first), settings_.threads,
                 [&](int index, int thread) {
                   judge_one(first + static_cast<size_t>(index), thread, stop);
                 });
    for (const int64_t count : spent) spent_ += count;
    return std::none_of(late.begin(), late.end(), [](uint8_t is) { return is != 0; });
  }

  Error refusal() const {
    if (settings_.budget.stop.raised()) return failed("interrupted before there was a plan");
    std::vector<Refusal> refusals;
    for (const Entrant& entrant : entrants_) {
      refusals.push_back({entrant.tried.policy, entrant.tried.refusal});
    }
    return why_no_plan(problem_, refusals);
  }

  void count_scenarios(AutoResult& result) const {
    const int asked = settings_.model.scenarios.count;
    result.scenarios = model_.scenarios.count;
    result.judged_on = judged_on_;
    if (result.scenarios == asked && judged_on_ >= kJudgingScenarios) return;
    result.shortfall =
        fmt::format("time was short: searched on {} of {} scenarios, judged on {} of {} fresh ones",
                    result.scenarios, asked, judged_on_, kJudgingScenarios);
  }

  Result<AutoResult> result() {
    const Entrant* best = winner_ != nullptr ? winner_ : best_of(entrants_);
    if (best == nullptr) return refusal();
    AutoResult result;
    result.plan = best->candidate->plan;
    result.makespan = best->tried.makespan;
    if (Judge(problem_, model_.model, model_.order).depends_on_seed()) count_scenarios(result);
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
  SearchModel model_;  // with as many scenarios as time allows
  int64_t evaluations_;
  std::chrono::duration<double> simulation_{0};  // how long one takes, if that matters
  int judged_on_ = 1;
  std::vector<std::optional<Judge>> judges_;  // by thread
  int64_t spent_ = 0;
  std::vector<Entrant> entrants_;
  const Entrant* winner_ = nullptr;  // of the final, if there was one
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
