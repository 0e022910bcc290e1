#include "tutti/search/planners.h"

#include <fmt/format.h>

#include <algorithm>

#include "tutti/base/suggest.h"
#include "tutti/policy/doppler/general.h"
#include "tutti/search/beam.h"
#include "tutti/search/exact.h"
#include "tutti/search/walk/annealing.h"
#include "tutti/search/walk/neighbourhoods.h"
#include "tutti/search/walk/random_keys.h"
#include "tutti/search/walk/samples.h"

namespace tutti {
namespace {

AutoSettings with(AutoSettings settings, const Budget& budget, uint64_t seed) {
  settings.budget = budget;
  settings.seed = seed;
  return settings;
}

Result<Plan> plan_exact(const Problem& problem, const Budget& budget, uint64_t /*seed*/) {
  Result<ExactPlan> exact = solve_work_conserving(problem, budget);
  if (!exact) return exact.error();
  exact->plan.provenance.note =
      exact->proven ? "proven optimal among work-conserving plans"
                    : "not proven optimal: the budget ended first; allow more with --budget";
  return std::move(exact->plan);
}

PolicyEntry search_entry(const char* name, const char* what, const char* source,
                         SearchMethod method, const AutoSettings& settings) {
  return {.name = name,
          .what = what,
          .source = source,
          .seeded = true,
          .learned = method.model != nullptr,
          .spends = Spends::simulations,
          .plan = [method = std::move(method), settings](const Problem& problem,
                                                         const Budget& budget, uint64_t seed) {
            return plan_by_search(problem, method, with(settings, budget, seed));
          }};
}

// Draws plans at first, then anneals with the guide, with neighbourhood search in between.
std::unique_ptr<Improver> guided(const WalkRound& at) {
  if (at.round == 0) return std::make_unique<PolicySamples>(*at.guide);
  if (at.round % 6 == 5) {
    return std::make_unique<LargeNeighbourhoods>(at.problem, at.guide);
  }
  return std::make_unique<Annealing>(at.problem, at.ordering, Cooling{}, at.guide);
}

}  // namespace

std::vector<PolicyEntry> all_planners(const AutoSettings& settings) {
  std::vector<PolicyEntry> entries = planning_policies(settings.trained_model);
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
      "random_keys", "HEFT with its ranks perturbed, many times", "Bean 1994",
      {[](const WalkRound& at) { return std::make_unique<RandomKeys>(at.problem); }}, settings));
  entries.push_back(search_entry(
      "contention_keys", "contention_eft with its ranks perturbed, many times", "Bean 1994",
      {[](const WalkRound& at) {
        return std::make_unique<RandomKeys>(at.problem, RandomKeys::Decoder::contention);
      }},
      settings));
  const auto model = model_or_general(settings.trained_model);
  entries.push_back(search_entry(
      "doppler_samples", "plans drawn from the trained model, the best of them",
      "Yao et al. 2025 (Doppler)",
      {[](const WalkRound& at) { return std::make_unique<PolicySamples>(*at.guide); }, model, {}},
      settings));
  entries.push_back(search_entry(
      "guided", "annealing and neighbourhood search, guided by the trained model", "",
      {guided, model,
       [](const WalkRound& at) { return std::make_unique<Annealing>(at.problem, at.ordering); }},
      settings));
  entries.push_back(beam_entry());
  entries.push_back({.name = "exact",
                     .what = "the best work-conserving plan, by branch and bound; for a dozen ops",
                     .source = "",
                     .spends = Spends::steps,
                     .plan = plan_exact});
  entries.push_back(
      {.name = "auto",
       .what = "all policies that do not search, then search; the best on held-out scenarios",
       .source = "",
       .seeded = true,
       .learned = true,
       .spends = Spends::simulations,
       .plan = [settings](const Problem& problem, const Budget& budget,
                          uint64_t seed) -> Result<Plan> {
         Result<AutoResult> result = plan_auto(problem, with(settings, budget, seed));
         if (!result) return result.error();
         return std::move(result->plan);
       }});
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
