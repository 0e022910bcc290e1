// The policies and planners that tutti knows by name. One visible table: a new policy is a file in
// its folder and a row in registry.cc.

#ifndef TUTTI_POLICY_REGISTRY_H_
#define TUTTI_POLICY_REGISTRY_H_

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tutti/plan/policy.h"

namespace tutti {

class DopplerModel;

// What a policy spends a budget on. Most go through the graph once and ignore it.
enum class Spends { nothing, steps, simulations };

// Makes the pair for one problem and seed: policies may compute things beforehand.
using MakePolicy = std::function<Policy(const Problem& problem, uint64_t seed)>;

struct PolicyEntry {
  std::string name;
  std::string what;             // one line for `tutti policies`
  std::string source;           // the paper it follows, if any
  bool seeded = false;          // different seeds may give different plans
  bool for_comparison = false;  // known to be wrong; `auto` leaves it out
  bool learned = false;         // uses a trained model, which may be another than ours
  Spends spends = Spends::nothing;
  // How portfolios (search/candidates.h) ask it: the smallest turn first, what gains most for its
  // time; equal turns in the order of the registry.
  int turn = 50;
  bool starts_search = false;  // quick: planners that search start from its plan
  // Its planning time at most, in that of contention_eft, as measured; 0: not known to be slow.
  double slowness = 0;
  double slowness_if_large = 0;  // for graphs that doppler plans in groups; 0: the same
  Planner plan;
  MakePolicy make_policy{};  // empty: it plans ahead and cannot be asked during a run
};

const std::vector<PolicyEntry>& policy_registry();
// For programs with policies of their own: call it in main, before anything else. The name must be
// new.
void add_policy(PolicyEntry entry);

// The same with another model behind `doppler`; null: the one that comes with tutti.
std::vector<PolicyEntry> policies_with(const std::shared_ptr<const DopplerModel>& model);

// Fails with a sentence that suggests the nearest name and lists those there are.
Result<const PolicyEntry*> find_policy(std::string_view name);

// A policy that can be asked during a run. Fails likewise, and lists only such policies.
Result<const PolicyEntry*> find_online_policy(std::string_view name);
std::vector<std::string> online_policy_names();

// Plans with a policy of the registry and fills in the provenance.
Result<Plan> make_plan(const PolicyEntry& entry, const Problem& problem, const Budget& budget,
                       uint64_t seed);

}  // namespace tutti

#endif  // TUTTI_POLICY_REGISTRY_H_
