#include "tutti/search/planners.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "tutti/base/suggest.h"
#include "tutti/policy/doppler/general.h"
#include "tutti/policy/doppler/planner.h"
#include "tutti/search/affordable.h"
#include "tutti/search/annealing.h"
#include "tutti/search/asking.h"
#include "tutti/search/beam.h"
#include "tutti/search/exact/exact.h"
#include "tutti/search/neighbourhoods.h"
#include "tutti/search/random_keys.h"
#include "tutti/search/refusal.h"
#include "tutti/search/samples.h"
#include "tutti/search/simulated_timeline.h"

namespace tutti {
namespace {

constexpr double kStartsUntil = 0.2;   // of a wall clock
constexpr double kSearchUntil = 0.97;  // the rest is for whoever asked: a simulation, the answer
constexpr double kGreedyUntil = 0.8;   // for that of a trained policy, which is the start of all

bool is_quick(const PolicyEntry& entry) {
  return entry.name == "single_device" || entry.name == "critical_path" || entry.name == "heft";
}

// The quick ones; then all others, for problems that those find no plan for.
std::vector<PolicyEntry> starters(const AutoSettings& settings) {
  std::vector<PolicyEntry> entries = policies_to_ask(settings.network);
  std::stable_partition(entries.begin(), entries.end(), is_quick);
  return entries;
}

// A walk and round that is to be searched in.
struct WalkRound {
  const Problem& problem;
  bool ordering;  // priorities matter
  int round;
  Guide* guide;  // the walk's own, if the way of searching has one
};
using MakeSearch = std::function<std::unique_ptr<Improver>(const WalkRound&)>;

struct Way {
  MakeSearch make;                              // none: there is nothing to do
  std::shared_ptr<const DopplerModel> model{};  // if it asks a trained policy
  MakeSearch unguided{};                        // where that would take too long
};

// One way of searching, by itself, from the best of a few quick plans; or, where those do not run,
// from the first plan of the registry that does. With a trained policy, its greedy plan is one of
// them.
class SearchPlanner : public Planner {
 public:
  SearchPlanner(Way way, AutoSettings settings)
      : way_(std::move(way)), settings_(std::move(settings)) {}

  Result<Plan> plan(const Problem& problem, const Budget& budget, uint64_t seed) override {
    const Progress progress(budget);
    Starts starts{.model = settings_.model};
    look_for_starts(problem, progress, seed, starts);
    if (starts.found.empty()) look_for_room(problem, progress, seed, starts);
    const bool guided = way_.model != nullptr && add_greedy_plan(problem, progress, starts);
    if (starts.found.empty() && budget.stop.raised())
      return failed("interrupted before there was a plan");
    if (starts.found.empty()) return why_no_plan(problem, starts.refusals);
    std::stable_sort(starts.found.begin(), starts.found.end(),
                     [](const Candidate& a, const Candidate& b) { return a.cost < b.cost; });
    const SearchModel& model = starts.model;
    IslandsState state = start_islands(starts.found);
    const bool ordering = Judge(problem, model.model, model.order).depends_on_priority();
    const Leg whole{
        .end = progress.timed() ? kSearchUntil : 1,
        .evaluations = std::max<int64_t>(
            0, budget.evaluations.value_or(default_evaluations(problem)) - starts.evaluations)};
    std::vector<std::unique_ptr<Guide>> guides(state.walks.size());
    const MakeSearch& make_search = way_.model == nullptr || guided ? way_.make : way_.unguided;
    const auto make = [&](int round, int island) {
      auto& guide = guides[static_cast<size_t>(island)];
      if (guided && guide == nullptr) guide = std::make_unique<Guide>(problem, *way_.model);
      return make_search({problem, ordering, round, guide.get()});
    };
    if (make_search) {
      run_islands(problem, model, make, whole, progress, seed, settings_.threads,
                  settings_.on_round, state);
    }
    const auto best =
        std::min_element(state.walks.begin(), state.walks.end(),
                         [](const Walk& a, const Walk& b) { return a.best_cost < b.best_cost; });
    Plan plan = std::move(best->best);
    give_timeline(problem, model, progress.until(1), plan);
    plan.provenance = {.evaluations = state.evaluations + starts.evaluations};
    if (way_.model != nullptr && !guided) {
      plan.provenance.note =
          "searched without the trained networks: they are too slow for this graph and budget";
    }
    return plan;
  }

 private:
  struct Starts {
    SearchModel model;  // with as many scenarios as time allows, once there is a plan
    std::vector<Candidate> found{};
    std::vector<Refusal> refusals{};
    int64_t evaluations = 0;
  };

  void look_for_starts(const Problem& problem, const Progress& progress, uint64_t seed,
                       Starts& starts) const {
    for (const PolicyEntry& entry : starters(settings_)) {
      const bool must = starts.found.empty();  // there has to be one, whatever the clock says
      const Stop stop = progress.until(kStartsUntil);
      if (!must && (stop.now() || !is_quick(entry))) continue;
      Result<Plan> plan = make_plan(
          entry, problem,
          {.wall_clock = {}, .evaluations = {}, .stop = must ? stop.without_time() : stop}, seed);
      if (!plan) {
        starts.refusals.push_back({entry.name, plan.error().message});
        continue;
      }
      SearchModel& model = starts.model;
      if (must) {
        model.scenarios.count =
            affordable_scenarios(problem, model, *plan, progress, settings_.threads).scenarios;
      }
      Evaluator evaluator(problem, model, stop);
      const double cost =
          must ? cost_in_any_case(problem, model, *plan, evaluator) : evaluator.cost(*plan);
      starts.evaluations += evaluator.evaluations();
      if (cost != kNoPlan) {
        starts.found.push_back({std::move(*plan), cost});
      } else if (must) {
        const Result<Duration> run =
            Judge(problem, model.model, model.order).makespan(*plan, model.scenarios.seed);
        starts.refusals.push_back({entry.name, run ? "memory is short" : run.error().message});
      }
    }
  }

  void look_for_room(const Problem& problem, const Progress& progress, uint64_t seed,
                     Starts& starts) const {
    AutoWork work{.problem = problem,
                  .progress = progress,
                  .model = starts.model,
                  .seed = seed,
                  .threads = settings_.threads,
                  .network = settings_.network};
    for (Entrant& entrant : ask_with_less_memory(work)) {
      starts.found.push_back(std::move(*entrant.candidate));
    }
    starts.evaluations += work.evaluations;
  }

  // Whether guides can be afforded beyond that: to look, or where nothing else is done to draw.
  bool add_greedy_plan(const Problem& problem, const Progress& progress, Starts& starts) const {
    const Stop stop = progress.until(kGreedyUntil);
    const auto before = Stop::Clock::now();
    Result<Plan> plan = plan_guarded(*way_.model, problem, stop);
    const std::chrono::duration<double> took = Stop::Clock::now() - before;
    const bool affordable = way_.unguided ? has_time_to_look(problem, progress, took.count())
                                          : has_time_to_draw(problem, progress, took.count());
    if (!plan) return affordable;
    Evaluator evaluator(problem, starts.model, stop);
    const double cost = evaluator.cost(*plan);
    starts.evaluations += evaluator.evaluations();
    if (cost != kNoPlan) starts.found.push_back({std::move(*plan), cost});
    return affordable;
  }

  Way way_;
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
    Result<ExactPlan> exact = solve_work_conserving(problem, budget);
    if (!exact) return exact.error();
    exact->plan.provenance.note =
        exact->proven ? "proven optimal among work-conserving plans"
                      : "not proven optimal: the budget ended first; allow more with --budget";
    return std::move(exact->plan);
  }
};

PolicyEntry search_entry(const char* name, const char* what, const char* source, Way way,
                         const AutoSettings& settings) {
  return {.name = name,
          .what = what,
          .source = source,
          .seeded = true,
          .learned = way.model != nullptr,
          .spends = Spends::simulations,
          .make_planner = [way = std::move(way), settings] {
            return std::make_unique<SearchPlanner>(way, settings);
          }};
}

// Draws at first, then anneals with the policy's say, and in between takes out what it doubts.
std::unique_ptr<Improver> guided(const WalkRound& at) {
  if (at.round == 0) return std::make_unique<PolicySamples>(*at.guide);
  if (at.round % 6 == 5) {
    return std::make_unique<LargeNeighbourhoods>(at.problem, at.guide);
  }
  return std::make_unique<Annealing>(at.problem, at.ordering, Cooling{}, at.guide);
}

}  // namespace

std::vector<PolicyEntry> all_planners(const AutoSettings& settings) {
  std::vector<PolicyEntry> entries = policies_with(settings.network);
  entries.push_back(search_entry(
      "annealing", "simulated annealing of placement and order", "Kirkpatrick et al. 1983",
      {[](const WalkRound& at) { return std::make_unique<Annealing>(at.problem, at.ordering); }},
      settings));
  entries.push_back(search_entry(
      "lns", "large-neighbourhood search: a few ops out, each back where it costs least",
      "Shaw 1998",
      {[](const WalkRound& at) { return std::make_unique<LargeNeighbourhoods>(at.problem); }},
      settings));
  entries.push_back(search_entry(
      "random_keys", "HEFT with its ranks shaken, many times", "Bean 1994",
      {[](const WalkRound& at) { return std::make_unique<RandomKeys>(at.problem); }}, settings));
  entries.push_back(search_entry(
      "contention_keys", "contention_eft with its ranks shaken, many times", "Bean 1994",
      {[](const WalkRound& at) {
        return std::make_unique<RandomKeys>(at.problem, RandomKeys::Decoder::contention);
      }},
      settings));
  const auto model = model_or_general(settings.network);
  entries.push_back(search_entry(
      "doppler_samples", "plans drawn from the trained networks, the best of them",
      "Yao et al. 2025 (Doppler)",
      {[](const WalkRound& at) { return std::make_unique<PolicySamples>(*at.guide); }, model, {}},
      settings));
  entries.push_back(search_entry(
      "guided",
      "annealing and neighbourhoods where the trained networks would "
      "have it otherwise",
      "",
      {guided, model,
       [](const WalkRound& at) { return std::make_unique<Annealing>(at.problem, at.ordering); }},
      settings));
  entries.push_back(beam_entry());
  entries.push_back({.name = "exact",
                     .what = "the best work-conserving plan, by branch and bound; for a dozen ops",
                     .source = "",
                     .spends = Spends::steps,
                     .make_planner = [] { return std::make_unique<ExactPlanner>(); }});
  entries.push_back(
      {.name = "auto",
       .what = "all policies that do not search, then search; the best on fresh scenarios",
       .source = "",
       .seeded = true,
       .learned = true,
       .spends = Spends::simulations,
       .make_planner = [settings] { return std::make_unique<AutoPlanner>(settings); }});
  return entries;
}

Result<PolicyEntry> find_planner(std::string_view name, const AutoSettings& settings) {
  const std::vector<PolicyEntry> entries = all_planners(settings);
  const auto found = std::find_if(entries.begin(), entries.end(),
                                  [&](const PolicyEntry& entry) { return entry.name == name; });
  if (found != entries.end()) return *found;
  std::vector<std::string> names;
  for (const PolicyEntry& entry : entries) names.push_back(entry.name);
  return invalid_input(unknown_word("policy", name, names));
}

}  // namespace tutti
