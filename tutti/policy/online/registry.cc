#include "tutti/policy/online/registry.h"

#include "tutti/base/suggest.h"
#include "tutti/policy/heuristic/heuristics.h"
#include "tutti/policy/online/fifo.h"
#include "tutti/policy/online/graphene.h"
#include "tutti/policy/online/online_heft.h"
#include "tutti/policy/online/paragon.h"
#include "tutti/policy/online/planned.h"
#include "tutti/policy/online/sparrow.h"

namespace tutti {
namespace {

// Tuned values: the least mean slow-down of 20 runs of 20 validation jobs at load 0.6 with hidden
// load 0.8 on the cluster of tutti/plan/default_cluster.h, among thirty settings each. Found on 17
// November 2026 by
//
//   build/release/bench/symphony_quality tune        (docs/results/symphony/knobs.txt)
//
// `symphony_quality settings` compares them with the untuned ones on jobs of the test set;
// figures: docs/results/decider_settings.md.
Knob patience() {
  return {"patience", 5, 3, {0, 1.5, 2, 3, 5, 8}};
}

// Without limits on memory HEFT always finds a plan, and jobs here have none.
Plan plan_by_heft(const Problem& problem) {
  return plan_heft(problem, {}, 0).value();
}

}  // namespace

std::vector<double> DeciderEntry::tuned() const {
  std::vector<double> values;
  for (const Knob& knob : knobs) values.push_back(knob.tuned);
  return values;
}

std::vector<double> DeciderEntry::untuned() const {
  std::vector<double> values;
  for (const Knob& knob : knobs) values.push_back(knob.untuned);
  return values;
}

const std::vector<DeciderEntry>& decider_registry() {
  using Values = std::span<const double>;
  static const std::vector<DeciderEntry> kEntries = {
      {"fifo",
       "first come, first served, on the quickest free device",
       "",
       {patience()},
       [](Values v) { return std::make_unique<Fifo>(Fifo::Prefer::quickest, v[0]); }},
      {"least_loaded",
       "first come, first served, on the least busy device",
       "",
       {patience()},
       [](Values v) { return std::make_unique<Fifo>(Fifo::Prefer::least_loaded, v[0]); }},
      {"sparrow",
       "reservations in the queues of slots drawn at random; the first that is free takes the op",
       "Ousterhout et al. 2013",
       {{"probes", 8, 2, {1, 1.5, 2, 3, 4, 8}}},
       [](Values v) { return std::make_unique<Sparrow>(v[0]); }},
      {"graphene",
       "long and hard-to-pack ops first, packed by what they draw, small jobs before large ones",
       "Grandl et al. 2016",
       {{"packing", 0, 0.5, {0, 0.25, 0.5, 1, 2}},
        {"remaining", 0.5, 0.5, {0, 0.25, 0.5, 1, 2}},
        patience()},
       [](Values v) {
         return std::make_unique<Graphene>(
             GrapheneOptions{.packing = v[0], .remaining = v[1], .patience = v[2]});
       }},
      {"paragon",
       "where ops are quick and do each other least harm, which is learned as they run",
       "Delimitrou, Kozyrakis 2013",
       {{"learning_rate", 0.05, 0.05, {0.01, 0.02, 0.05, 0.1}},
        {"care", 0, 1, {0, 0.25, 0.5, 1, 2}},
        patience()},
       [](Values v) {
         return std::make_unique<Paragon>(
             ParagonOptions{.learning_rate = v[0], .care = v[1], .patience = v[2]});
       }},
      {"heft",
       "highest upward rank of all jobs first, on the slot that finishes it first, free or not",
       "Topcuoglu, Hariri, Wu 2002",
       {{"age", 10, 0, {0, 0.1, 0.3, 1, 3, 10}}},
       [](Values v) { return std::make_unique<OnlineHeft>(v[0]); }},
      {"planned",
       "each job as HEFT plans it when it has the machine to itself",
       "Topcuoglu, Hariri, Wu 2002",
       {},
       [](Values) { return std::make_unique<Planned>(plan_by_heft); }},
  };
  return kEntries;
}

Result<const DeciderEntry*> find_decider(std::string_view name,
                                         const std::vector<DeciderEntry>& among) {
  std::vector<std::string> names;
  for (const DeciderEntry& entry : among) {
    if (entry.name == name) return &entry;
    names.push_back(entry.name);
  }
  return invalid_input(unknown_word("decider", name, names));
}

}  // namespace tutti
