// Every decider by name: those of the registry (tutti/policy/registry.h), planned_auto,
// which plans with a simulator at hand, and models of Symphony as symphony=FILE.

#ifndef TUTTI_SEARCH_DECIDERS_H_
#define TUTTI_SEARCH_DECIDERS_H_

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tutti/policy/registry.h"

namespace tutti {

// Entries with make_decider.
const std::vector<PolicyEntry>& all_deciders();

// Fails with a sentence that lists the names there are.
Result<const PolicyEntry*> find_any_decider(std::string_view name);

struct NamedDecider {
  std::string name;
  std::function<std::unique_ptr<Decider>()> make;
};

struct ModelDeciderOptions {
  int decisions_per_look = 1;  // decisions that use one reading of the counters
  // The decider that takes over where decisions of the model take too long
  // (tutti/policy/online/fallback.h); empty: none does.
  std::string fallback{};
};

// Whether the name is symphony=FILE. Models read counters; the others ignore them.
bool is_model(const std::string& name);

// Without names: all but models. Models must be of this cluster, which must outlive them, with
// these counters. Fails (invalid_input) with a sentence.
Result<std::vector<NamedDecider>> find_deciders(const std::vector<std::string>& names,
                                                const Cluster& cluster,
                                                const std::vector<Counter>& counters,
                                                const ModelDeciderOptions& options);

// A line for each decider, for help texts.
std::string decider_help();

}  // namespace tutti

#endif  // TUTTI_SEARCH_DECIDERS_H_
