#include "tutti/policy/registry.h"

#include <fmt/format.h>

#include "tutti/base/check.h"
#include "tutti/base/suggest.h"
#include "tutti/plan/draft.h"
#include "tutti/policy/doppler/general.h"
#include "tutti/policy/doppler/planner.h"
#include "tutti/policy/heuristic/heuristics.h"
#include "tutti/policy/schedule/memory.h"

namespace tutti {
namespace {

// List scheduling: until all ops are placed, asks which op is next and where it goes, and notes
// both in a draft. Fails (infeasible) when memory leaves a ready op no device, naming op, device
// and bytes.
Result<Plan> plan_step_by_step(const MakePolicy& make_policy, const Problem& problem,
                               const Budget& budget, uint64_t seed) {
  Policy policy = make_policy(problem, seed);
  Draft draft(problem);
  while (!draft.complete()) {
    if (budget.stop.now()) return out_of_time();
    const std::optional<OpId> op = policy.select->select(draft);
    TUTTI_CHECK(op.has_value());
    if (draft.devices_for(*op).empty()) return no_room_for(draft, *op);
    draft.apply(*op, policy.place->place(draft, *op));
  }
  return draft.to_plan();
}

PolicyEntry step_by_step(PolicyEntry entry) {
  entry.seeded = true;
  entry.plan = [make_policy = entry.make_policy](const Problem& problem, const Budget& budget,
                                                 uint64_t seed) {
    return plan_step_by_step(make_policy, problem, budget, seed);
  };
  return entry;
}

Planner doppler_planner(std::shared_ptr<const DopplerModel> model) {
  return
      [model = std::move(model)](const Problem& problem, const Budget& budget, uint64_t /*seed*/) {
        return plan_guarded(*model_or_general(model), problem, budget.stop);
      };
}

std::vector<PolicyEntry>& entries_of_registry() {
  static std::vector<PolicyEntry> entries = {
      {.name = "single_device",
       .what = "everything on the best single device: the do-nothing baseline",
       .source = "",
       .turn = 1,
       .starts_search = true,
       .plan = plan_single_device},
      step_by_step({.name = "random",
                    .what = "any ready op on any device: the smallest policy, to copy from",
                    .source = "",
                    .make_policy = random_policy}),
      step_by_step({.name = "critical_path",
                    .what = "longest path to the end first, on the device that starts it first",
                    .source = "Yao et al. 2025 (Doppler), both defects fixed",
                    .turn = 8,
                    .starts_search = true,
                    .make_policy = critical_path_policy}),
      {.name = "heft",
       .what = "highest upward rank first, on the device that finishes it first, with insertion",
       .source = "Topcuoglu, Hariri, Wu 2002",
       .turn = 5,
       .starts_search = true,
       .plan = plan_heft},
      {.name = "cpop",
       .what = "the critical path on one device, the rest where it finishes first",
       .source = "Topcuoglu, Hariri, Wu 2002",
       .turn = 9,
       .plan = plan_cpop},
      {.name = "peft",
       .what = "looks ahead by a table of the least time from each op and device to the end",
       .source = "Arabnejad, Barbosa 2014",
       .plan = plan_peft},
      {.name = "etf",
       .what = "of all ready ops and devices the pair that can start earliest",
       .source = "Hwang, Chow, Anger, Lee 1989",
       .plan = plan_etf},
      {.name = "m_etf",
       .what = "etf among the pairs that fit into memory",
       .source = "Jeon et al. 2020 (Baechi)",
       .plan = plan_m_etf},
      {.name = "m_sct",
       .what = "m_etf that keeps a device free for an op's favourite child",
       .source =
           "Jeon et al. 2020 (Baechi); favourites by a linear program, greedily on large graphs",
       .turn = 95,
       .slowness = 3,
       .plan = plan_m_sct},
      {.name = "contention_eft",
       .what = "as heft, with transfers queueing for their links in the estimate",
       .source = "Sinnen, Sousa 2005",
       .seeded = true,
       .turn = 2,
       .slowness = 1,
       .plan = plan_contention_eft},
      {.name = "best_subset",
       .what = "contention_eft on the number of devices that it does best with",
       .source = "",
       .turn = 91,
       .slowness = 6,
       .plan = plan_best_subset},
      {.name = "components",
       .what = "independent parts of the graph packed onto devices, the longest first",
       .source = "Graham 1969",
       .turn = 6,
       .plan = plan_components},
      {.name = "locality",
       .what = "where the operands are soonest, weighed against the work placed there",
       .source = "",
       .turn = 3,
       .plan = plan_locality},
      {.name = "round_robin",
       .what = "one device after the other, in topological order",
       .source = "",
       .plan = plan_round_robin},
      {.name = "expert",
       .what = "where the graph's `shard` attributes say that a person would put each op",
       .source = "",
       .turn = 4,
       .plan = plan_expert},
      {.name = "greedy_locator",
       .what = "where the most expensive site, in flops and bytes brought to it, stays cheapest",
       .source = "Einsummable's alocate01, op by op",
       .turn = 7,
       .plan = plan_greedy_locator},
      {.name = "enumerative",
       .what = "group by group the even division that moves least, then the reductions",
       .source = "Yao et al. 2025 (Doppler), ENUMERATIVEOPTIMIZER",
       .turn = 92,
       .slowness = 10,
       .plan = plan_enumerative},
#ifdef TUTTI_HAVE_METIS
      {.name = "min_cut",
       .what = "parts of even work with the least transfer between them",
       .source = "Karypis, Kumar 1998 (METIS)",
       .seeded = true,
       .turn = 93,
       .slowness = 8,
       .plan = plan_min_cut},
#endif
      {.name = "doppler",
       .what = "the trained model that comes with tutti, greedily",
       .source = "Yao et al. 2025 (Doppler)",
       .learned = true,
       .turn = 94,
       .slowness = 40,
       .slowness_if_large = 6,
       .plan = doppler_planner(nullptr)},
  };
  return entries;
}

}  // namespace

const std::vector<PolicyEntry>& policy_registry() {
  return entries_of_registry();
}

void add_policy(PolicyEntry entry) {
  for (const PolicyEntry& known : policy_registry()) TUTTI_CHECK(known.name != entry.name);
  entries_of_registry().push_back(std::move(entry));
}

std::vector<PolicyEntry> policies_with(const std::shared_ptr<const DopplerModel>& model) {
  std::vector<PolicyEntry> entries = policy_registry();
  if (model == nullptr) return entries;
  for (PolicyEntry& entry : entries) {
    if (entry.name == "doppler") entry.plan = doppler_planner(model);
  }
  return entries;
}

Result<const PolicyEntry*> find_policy(std::string_view name) {
  std::vector<std::string> names;
  for (const PolicyEntry& entry : policy_registry()) {
    if (entry.name == name) return &entry;
    names.push_back(entry.name);
  }
  return invalid_input(unknown_word("policy", name, names));
}

std::vector<std::string> online_policy_names() {
  std::vector<std::string> names;
  for (const PolicyEntry& entry : policy_registry()) {
    if (entry.make_policy) names.push_back(entry.name);
  }
  return names;
}

Result<const PolicyEntry*> find_online_policy(std::string_view name) {
  const std::vector<std::string> names = online_policy_names();
  for (const PolicyEntry& entry : policy_registry()) {
    if (entry.name != name) continue;
    if (entry.make_policy) return &entry;
    return invalid_input(
        fmt::format("policy '{}' plans ahead and cannot be asked during a run; those that can are: "
                    "{}",
                    name, comma_list(names)));
  }
  return invalid_input(unknown_word("policy that can be asked during a run", name, names));
}

Result<Plan> make_plan(const PolicyEntry& entry, const Problem& problem, const Budget& budget,
                       uint64_t seed) {
  Result<Plan> plan = entry.plan(problem, budget, seed);
  if (!plan) return plan.error();
  if (plan->provenance.policy.empty()) plan->provenance.policy = entry.name;
  note_origin(problem, seed, plan->provenance);
  return plan;
}

}  // namespace tutti
