#include "tutti/search/planners.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "tutti/search/affordable.h"
#include "tutti/search/annealing.h"
#include "tutti/search/beam.h"
#include "tutti/search/exact/work_conserving.h"
#include "tutti/search/neighbourhoods.h"
#include "tutti/search/random_keys.h"
#include "tutti/search/refusal.h"

namespace tutti {
namespace {

constexpr int kBeamWidth = 8;
constexpr double kStartsUntil = 0.2;  // of a wall clock

bool is_quick(const PolicyEntry& entry) {
  return entry.name == "single_device" || entry.name == "critical_path" || entry.name == "heft";
}

// The quick ones; then all others, for problems that those find no plan for.
std::vector<const PolicyEntry*> starters() {
  std::vector<const PolicyEntry*> entries;
  for (const PolicyEntry& entry : policy_registry()) {
    if (!entry.for_comparison) entries.push_back(&entry);
  }
  std::stable_partition(entries.begin(), entries.end(),
                        [](const PolicyEntry* entry) { return is_quick(*entry); });
  return entries;
}

using MakeSearch = std::function<std::unique_ptr<Improver>(const Problem&, bool ordering)>;

// One way of searching, by itself, from the best of a few quick plans; or, where those do not run,
// from the first plan of the registry that does.
class SearchPlanner : public Planner {
 public:
  SearchPlanner(MakeSearch make, AutoSettings settings)
      : make_(std::move(make)), settings_(std::move(settings)) {}

  Result<Plan> plan(const Problem& problem, const Budget& budget, uint64_t seed) override {
    const Progress progress(budget);
    SearchModel model = settings_.model;
    int64_t spent = 0;
    std::vector<Candidate> starts;
    std::vector<Refusal> refusals;
    for (const PolicyEntry* entry : starters()) {
      const bool must = starts.empty();  // there has to be one, whatever the clock says
      const Stop stop = progress.until(kStartsUntil);
      if (!must && (stop.now() || !is_quick(*entry))) continue;
      Result<Plan> plan = make_plan(
          *entry, problem,
          {.wall_clock = {}, .evaluations = {}, .stop = must ? stop.without_time() : stop}, seed);
      if (!plan) {
        refusals.push_back({entry->name, plan.error().message});
        continue;
      }
      if (must) {
        model.scenarios.count =
            affordable_scenarios(problem, model, *plan, progress, settings_.threads).scenarios;
      }
      Evaluator evaluator(problem, model, stop);
      const double cost =
          must ? cost_in_any_case(problem, model, *plan, evaluator) : evaluator.cost(*plan);
      spent += evaluator.evaluations();
      if (cost != kNoPlan) {
        starts.push_back({std::move(*plan), cost});
      } else if (must) {
        const Result<Duration> run =
            Judge(problem, model.model, model.order).makespan(*plan, model.scenarios.seed);
        refusals.push_back({entry->name, run ? "memory is short" : run.error().message});
      }
    }
    if (starts.empty() && budget.stop.raised())
      return failed("interrupted before there was a plan");
    if (starts.empty()) return why_no_plan(problem, refusals);
    std::stable_sort(starts.begin(), starts.end(),
                     [](const Candidate& a, const Candidate& b) { return a.cost < b.cost; });
    IslandsState state = start_islands(starts);
    const bool ordering = Judge(problem, model.model, model.order).depends_on_priority();
    const Leg whole{.evaluations = budget.evaluations.value_or(default_evaluations(problem))};
    run_islands(
        problem, model, [&](int, int) { return make_(problem, ordering); }, whole, progress, seed,
        settings_.threads, settings_.on_round, state);
    const auto best =
        std::min_element(state.walks.begin(), state.walks.end(),
                         [](const Walk& a, const Walk& b) { return a.best_cost < b.best_cost; });
    Plan plan = std::move(best->best);
    plan.start.clear();  // those of the plan it started from
    plan.finish.clear();
    plan.planned_makespan = Duration{0};
    plan.provenance = {.evaluations = state.evaluations + spent};
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
          .spends = Spends::simulations,
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
                     .spends = Spends::steps,
                     .make_planner = [] { return std::make_unique<ExactPlanner>(); }});
  entries.push_back(
      {.name = "auto",
       .what = "all of them within one budget; the best on fresh scenarios",
       .source = "",
       .seeded = true,
       .spends = Spends::simulations,
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
