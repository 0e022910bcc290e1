#include "tutti/search/planners.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "tutti/search/annealing.h"
#include "tutti/search/beam.h"
#include "tutti/search/exact/work_conserving.h"
#include "tutti/search/neighbourhoods.h"
#include "tutti/search/random_keys.h"

namespace tutti {
namespace {

constexpr int kBeamWidth = 8;

using MakeSearch = std::function<std::unique_ptr<Improver>(const Problem&, bool ordering)>;

// One way of searching, by itself, from the best of a few quick plans.
class SearchPlanner : public Planner {
 public:
  SearchPlanner(MakeSearch make, AutoSettings settings)
      : make_(std::move(make)), settings_(std::move(settings)) {}

  Result<Plan> plan(const Problem& problem, const Budget& budget, uint64_t seed) override {
    const Progress progress(budget);
    Evaluator evaluator(problem, settings_.model);
    std::vector<Candidate> starts;
    std::optional<Error> refusal;
    for (const char* name : {"single_device", "critical_path", "heft"}) {
      Result<Plan> plan = make_plan(**find_policy(name), problem, {}, seed);
      if (!plan) {
        refusal = plan.error();
        continue;
      }
      const double cost = evaluator.cost(*plan);
      if (cost != kNoPlan) starts.push_back({std::move(*plan), cost});
    }
    if (starts.empty()) {
      return refusal.value_or(infeasible("no quick plan runs: memory is short on the way"));
    }
    std::stable_sort(starts.begin(), starts.end(),
                     [](const Candidate& a, const Candidate& b) { return a.cost < b.cost; });
    IslandsState state = start_islands(starts);
    const bool ordering = evaluator.judge().depends_on_priority();
    const Leg whole{.evaluations = budget.evaluations.value_or(default_evaluations(problem))};
    run_islands(
        problem, settings_.model, [&](int, int) { return make_(problem, ordering); }, whole,
        progress, seed, settings_.threads, settings_.on_round, state);
    const auto best =
        std::min_element(state.walks.begin(), state.walks.end(),
                         [](const Walk& a, const Walk& b) { return a.best_cost < b.best_cost; });
    Plan plan = std::move(best->best);
    plan.start.clear();  // those of the plan it started from
    plan.finish.clear();
    plan.planned_makespan = Duration{0};
    plan.provenance = {.evaluations = state.evaluations + evaluator.evaluations()};
    return plan;
  }

 private:
  MakeSearch make_;
  AutoSettings settings_;
};

class AutoPlanner : public Planner {
 public:
  explicit AutoPlanner(AutoSettings settings) : settings_(std::move(settings)) {}

  Result<Plan> plan(const Problem& problem, const Budget& budget, uint64_t seed) override {
    AutoSettings settings = settings_;
    settings.budget = budget;
    settings.seed = seed;
    Result<AutoResult> result = plan_auto(problem, settings);
    if (!result) return result.error();
    return std::move(result->plan);
  }

 private:
  AutoSettings settings_;
};

class ExactPlanner : public Planner {
 public:
  Result<Plan> plan(const Problem& problem, const Budget& budget, uint64_t /*seed*/) override {
    Result<ExactPlan> exact = best_work_conserving(problem, budget);
    if (!exact) return exact.error();
    if (!exact->proven)
      return failed("the budget ended before the best plan was proven; allow more");
    return std::move(exact->plan);
  }
};

PolicyEntry search_entry(const char* name, const char* what, const char* source, MakeSearch make,
                         const AutoSettings& settings) {
  return {.name = name,
          .what = what,
          .source = source,
          .seeded = true,
          .make_planner = [make = std::move(make), settings] {
            return std::make_unique<SearchPlanner>(make, settings);
          }};
}

}  // namespace

std::vector<PolicyEntry> all_planners(const AutoSettings& settings) {
  std::vector<PolicyEntry> entries = policy_registry();
  entries.push_back(search_entry(
      "annealing", "simulated annealing of placement and order", "Kirkpatrick et al. 1983",
      [](const Problem& problem, bool ordering) {
        return std::make_unique<Annealing>(problem, ordering);
      },
      settings));
  entries.push_back(search_entry(
      "lns", "large-neighbourhood search: a few ops out, each back where it costs least",
      "Shaw 1998",
      [](const Problem& problem, bool) { return std::make_unique<LargeNeighbourhoods>(problem); },
      settings));
  entries.push_back(search_entry(
      "random_keys", "HEFT with its ranks shaken, many times", "Bean 1994",
      [](const Problem& problem, bool) { return std::make_unique<RandomKeys>(problem); },
      settings));
  entries.push_back({.name = "beam",
                     .what = "beam search over critical_path's choices",
                     .source = "Lowerre 1976",
                     .seeded = true,
                     .make_planner = [] {
                       return std::make_unique<Beam>((*find_policy("critical_path"))->make_policy,
                                                     kBeamWidth);
                     }});
  entries.push_back({.name = "exact",
                     .what = "the best work-conserving plan, by enumeration; for a dozen ops",
                     .source = "",
                     .make_planner = [] { return std::make_unique<ExactPlanner>(); }});
  entries.push_back(
      {.name = "auto",
       .what = "all of them within one budget; the best on fresh scenarios",
       .source = "",
       .seeded = true,
       .make_planner = [settings] { return std::make_unique<AutoPlanner>(settings); }});
  return entries;
}

Result<PolicyEntry> find_planner(std::string_view name, const AutoSettings& settings) {
  const std::vector<PolicyEntry> entries = all_planners(settings);
  const auto found = std::find_if(entries.begin(), entries.end(),
                                  [&](const PolicyEntry& entry) { return entry.name == name; });
  if (found != entries.end()) return *found;
  std::string names;
  for (const PolicyEntry& entry : entries) names += (names.empty() ? "" : ", ") + entry.name;
  return invalid_input(fmt::format("there is no policy '{}'; there are {}", name, names));
}

}  // namespace tutti
