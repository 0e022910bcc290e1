#include "tutti/policy/registry.h"

#include <fmt/format.h>

#include "tutti/base/check.h"
#include "tutti/base/suggest.h"
#include "tutti/policy/doppler/general.h"
#include "tutti/policy/doppler/planner.h"
#include "tutti/policy/heuristic/best_subset.h"
#include "tutti/policy/heuristic/components.h"
#include "tutti/policy/heuristic/contention_eft.h"
#include "tutti/policy/heuristic/cpop.h"
#include "tutti/policy/heuristic/critical_path.h"
#include "tutti/policy/heuristic/enumerative.h"
#include "tutti/policy/heuristic/etf.h"
#include "tutti/policy/heuristic/expert.h"
#include "tutti/policy/heuristic/greedy_locator.h"
#include "tutti/policy/heuristic/heft.h"
#include "tutti/policy/heuristic/locality.h"
#include "tutti/policy/heuristic/m_etf.h"
#include "tutti/policy/heuristic/m_sct.h"
#include "tutti/policy/heuristic/min_cut.h"
#include "tutti/policy/heuristic/peft.h"
#include "tutti/policy/heuristic/random.h"
#include "tutti/policy/heuristic/round_robin.h"
#include "tutti/policy/heuristic/single_device.h"

namespace tutti {
namespace {

template <class PlannerType>
std::unique_ptr<Planner> make() {
  return std::make_unique<PlannerType>();
}

PolicyEntry step_by_step(std::string name, std::string what, std::string source,
                         const MakePolicy& make_policy) {
  return {.name = std::move(name),
          .what = std::move(what),
          .source = std::move(source),
          .seeded = true,
          .make_planner = [make_policy] { return std::make_unique<ListPlanner>(make_policy); },
          .make_policy = make_policy};
}

std::vector<PolicyEntry>& entries_of_registry() {
  static std::vector<PolicyEntry> entries = {
      {.name = "single_device",
       .what = "everything on the best single device: the do-nothing baseline",
       .source = "",
       .make_planner = make<SingleDevice>},
      step_by_step("random", "any ready op on any device: the smallest policy, to copy from", "",
                   random_policy),
      step_by_step("critical_path",
                   "longest way to the end first, on the device that starts it first",
                   "Yao et al. 2025 (Doppler), both defects mended", critical_path_policy),
      {.name = "heft",
       .what = "highest upward rank first, on the device that finishes it first, with insertion",
       .source = "Topcuoglu, Hariri, Wu 2002",
       .make_planner = make<Heft>},
      {.name = "cpop",
       .what = "the critical path on one device, the rest where it finishes first",
       .source = "Topcuoglu, Hariri, Wu 2002",
       .make_planner = make<Cpop>},
      {.name = "peft",
       .what = "looks ahead by a table of the least time from each op and device to the end",
       .source = "Arabnejad, Barbosa 2014",
       .make_planner = make<Peft>},
      {.name = "etf",
       .what = "of all ready ops and devices the pair that can start earliest",
       .source = "Hwang, Chow, Anger, Lee 1989",
       .make_planner = make<Etf>},
      {.name = "m_etf",
       .what = "etf among the pairs that fit into memory",
       .source = "Jeon et al. 2020 (Baechi)",
       .make_planner = make<MEtf>},
      {.name = "m_sct",
       .what = "m_etf that keeps a device free for an op's favourite child",
       .source =
           "Jeon et al. 2020 (Baechi); favourites by a linear program, greedily on large graphs",
       .make_planner = make<MSct>},
      {.name = "contention_eft",
       .what = "as heft, with transfers queueing for their links in the estimate",
       .source = "Sinnen, Sousa 2005",
       .seeded = true,
       .make_planner = make<ContentionEft>},
      {.name = "best_subset",
       .what = "contention_eft on the number of devices that it does best with",
       .source = "",
       .make_planner = make<BestSubset>},
      {.name = "components",
       .what = "independent parts of the graph packed onto devices, the longest first",
       .source = "Graham 1969",
       .make_planner = make<ComponentPacking>},
      {.name = "locality",
       .what = "where the operands are soonest, weighed against the work placed there",
       .source = "",
       .make_planner = make<Locality>},
      {.name = "round_robin",
       .what = "one device after the other, in topological order",
       .source = "",
       .make_planner = make<RoundRobin>},
      {.name = "expert",
       .what = "where the graph's `shard` attributes say that a person would put each op",
       .source = "",
       .make_planner = make<Expert>},
      {.name = "greedy_locator",
       .what = "where the dearest site, in flops and bytes brought to it, stays cheapest",
       .source = "Einsummable's alocate01, op by op",
       .make_planner = make<GreedyLocator>},
      {.name = "enumerative",
       .what = "group by group the even division that moves least, then the reductions",
       .source = "Yao et al. 2025 (Doppler), ENUMERATIVEOPTIMIZER",
       .make_planner = make<Enumerative>},
#ifdef TUTTI_HAVE_METIS
      {.name = "min_cut",
       .what = "parts of even work with the least transfer between them",
       .source = "Karypis, Kumar 1998 (METIS)",
       .seeded = true,
       .make_planner = make<MinCut>},
#endif
      {.name = "doppler",
       .what = "the trained networks that come with tutti, greedily",
       .source = "Yao et al. 2025 (Doppler)",
       .learned = true,
       .make_planner =
           [] {
             return std::make_unique<DopplerPlanner>(
                 std::make_shared<const DopplerModel>(general_model()));
           }},
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
    if (entry.name != "doppler") continue;
    entry.make_planner = [model] { return std::make_unique<DopplerPlanner>(model); };
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
  Result<Plan> plan = entry.make_planner()->plan(problem, budget, seed);
  if (!plan) return plan.error();
  if (plan->provenance.policy.empty()) plan->provenance.policy = entry.name;
  plan->provenance.seed = seed;
  plan->provenance.graph_fingerprint = problem.graph.fingerprint();
  plan->provenance.machine_fingerprint = problem.machine.fingerprint();
  plan->provenance.costs_fingerprint = problem.costs.fingerprint();
  return plan;
}

}  // namespace tutti
