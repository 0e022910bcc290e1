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
#include "tutti/policy/list_planner.h"

namespace tutti {

class DopplerModel;

// What a policy spends a budget on. Most go through the graph once and have no use for one.
enum class Spends { nothing, steps, simulations };

struct PolicyEntry {
  std::string name;
  std::string what;             // one line for `tutti policies`
  std::string source;           // the paper it follows, if any
  bool seeded = false;          // different seeds may give different plans
  bool for_comparison = false;  // known to be wrong; `auto` leaves it out
  bool learned = false;         // asks a trained model, which may be another than ours
  Spends spends = Spends::nothing;
  std::function<std::unique_ptr<Planner>()> make_planner;
  MakePolicy make_policy{};  // empty: it plans ahead and cannot be asked during a run
};

const std::vector<PolicyEntry>& policy_registry();
// For programs with policies of their own: in main, before anything else. A new name.
void add_policy(PolicyEntry entry);

// The same with another model behind `doppler`; null: the one that comes with tutti.
std::vector<PolicyEntry> policies_with(const std::shared_ptr<const DopplerModel>& model);

// Fails with a sentence that suggests the nearest name and lists those there are.
Result<const PolicyEntry*> find_policy(std::string_view name);

// One that can be asked during a run. Fails likewise; the names it lists are of such policies.
Result<const PolicyEntry*> find_online_policy(std::string_view name);
std::vector<std::string> online_policy_names();

// Plans with a policy of the registry and fills in the provenance.
Result<Plan> make_plan(const PolicyEntry& entry, const Problem& problem, const Budget& budget,
                       uint64_t seed);

}  // namespace tutti

#endif  // TUTTI_POLICY_REGISTRY_H_
