// The policies that tutti knows by name. One visible table: a new policy is a file in its folder
// and a row in registry.cc. An entry says what the policy can be: a planner, a pair of Select and
// Place, a decider of jobs that arrive, or several of these. Policies that need a simulator stand
// in tutti/search/planners.h and tutti/search/deciders.h.

#ifndef TUTTI_POLICY_REGISTRY_H_
#define TUTTI_POLICY_REGISTRY_H_

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tutti/plan/policy.h"
#include "tutti/plan/world/decider.h"

namespace tutti {

class DopplerModel;

// What a policy spends a budget on. Most go through the graph once and ignore it.
enum class Spends { nothing, steps, simulations };

// A number that can be tuned.
struct Knob {
  std::string name;
  double tuned = 0;    // what tutti uses; registry.cc says how it was found
  double untuned = 0;  // a first guess; tuning starts from it and is measured against it
  std::vector<double> choices{};
};

struct PolicyEntry {
  std::string name;
  std::string what;             // one line for `tutti policies`
  std::string source{};         // the paper it follows, if any
  bool seeded = false;          // different seeds may give different plans
  bool for_comparison = false;  // `auto` leaves it out: known to be wrong, or not made to plan
  bool learned = false;         // uses a trained model, which may be another than ours
  Spends spends = Spends::nothing;
  // How portfolios (search/candidates.h) ask it: the smallest turn first, what gains most for its
  // time; equal turns in the order of the registry.
  int turn = 50;
  bool starts_search = false;  // quick: planners that search start from its plan
  // Its planning time at most, in that of contention_eft, as measured; 0: not known to be slow.
  double slowness = 0;
  double slowness_if_large = 0;  // for graphs that doppler plans in groups; 0: the same
  Planner plan{};                // empty: it decides during runs only
  MakePolicy make_policy{};      // empty: it cannot be asked op by op
  std::vector<Knob> knobs{};
  // Requires a value for each knob. Empty: it cannot be asked about jobs that arrive.
  std::function<std::unique_ptr<Decider>(std::span<const double> values)> make_decider{};

  // A value for each knob. Commands, servers and real runs use the tuned ones.
  std::vector<double> tuned() const;
  std::vector<double> untuned() const;
  std::unique_ptr<Decider> tuned_decider() const { return make_decider(tuned()); }
};

const std::vector<PolicyEntry>& policy_registry();
// For programs with policies of their own: call it in main, before anything else. The name must be
// new. What make_policy or make_decider can also be is added.
void add_policy(PolicyEntry entry);

// The policies that plan, with another model behind `doppler`; null: the one that comes with tutti.
std::vector<PolicyEntry> planning_policies(
    const std::shared_ptr<const DopplerModel>& model = nullptr);

// Fails with a sentence that suggests the nearest name and lists those there are.
Result<const PolicyEntry*> find_policy(std::string_view name);

// A policy that can be asked op by op during a run. Fails likewise, and lists only such policies.
Result<const PolicyEntry*> find_online_policy(std::string_view name);
// The same for one that can be asked about jobs that arrive. The entries must outlive the result.
Result<const PolicyEntry*> find_decider(std::string_view name,
                                        const std::vector<PolicyEntry>& among = policy_registry());

// Plans with a policy that can, and fills in the provenance.
Result<Plan> make_plan(const PolicyEntry& entry, const Problem& problem, const Budget& budget,
                       uint64_t seed);

}  // namespace tutti

#endif  // TUTTI_POLICY_REGISTRY_H_
