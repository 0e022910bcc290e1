// The deciders that tutti knows by name. One visible table: a new decider is a file in this
// folder and a row in registry.cc. One that needs a simulator to decide stands in
// tutti/search/deciders.h.

#ifndef TUTTI_POLICY_ONLINE_REGISTRY_H_
#define TUTTI_POLICY_ONLINE_REGISTRY_H_

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tutti/plan/decider.h"

namespace tutti {

// A number that can be tuned.
struct Knob {
  std::string name;
  double tuned = 0;    // what tutti uses; registry.cc says how it was found
  double untuned = 0;  // a first guess; tuning starts from it and is measured against it
  std::vector<double> choices{};
};

struct DeciderEntry {
  std::string name;
  std::string what;    // one line
  std::string source;  // the paper it follows, if any
  std::vector<Knob> knobs;
  // Requires a value for each knob.
  std::function<std::unique_ptr<Decider>(std::span<const double> values)> make;

  // A value for each knob. Commands, servers and real runs use the tuned ones.
  std::vector<double> tuned() const;
  std::vector<double> untuned() const;
};

const std::vector<DeciderEntry>& decider_registry();

// Fails with a sentence that suggests a name and lists those there are. The entries must outlive
// what it returns.
Result<const DeciderEntry*> find_decider(
    std::string_view name, const std::vector<DeciderEntry>& among = decider_registry());

}  // namespace tutti

#endif  // TUTTI_POLICY_ONLINE_REGISTRY_H_
