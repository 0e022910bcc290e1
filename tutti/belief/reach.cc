// Which variables a law's constants can move: those that are d-connected to a parent that one
// imagines above it for its constants (Koller and Friedman 2009, algorithm 3.1; Shachter's
// Bayes-ball).

#include <map>
#include <utility>

#include "tutti/belief/gradient.h"

namespace tutti {
namespace {

std::vector<bool> with_ancestors(const Network& network, std::span<const VariableId> observed) {
  std::vector<bool> above(static_cast<size_t>(network.size()), false);
  for (const VariableId id : observed) above[id.index] = true;
  for (int32_t i = network.size() - 1; i >= 0; --i) {
    if (!above[i]) continue;
    for (const VariableId parent : network.variable(VariableId{i}).parents)
      above[parent.index] = true;
  }
  return above;
}

// Walks from the imagined parent of `start`. A visit comes from above (a parent) or from below.
std::vector<bool> moved_by(const Network& network, VariableId start,
                           const std::vector<bool>& is_observed,
                           const std::vector<bool>& explains) {
  const auto size = static_cast<size_t>(network.size());
  std::vector<bool> moved(size, false);
  std::vector<bool> seen_from_above(size, false);
  std::vector<bool> seen_from_below(size, false);
  std::vector<std::pair<VariableId, bool>> open{{start, true}};
  while (!open.empty()) {
    const auto [id, from_above] = open.back();
    open.pop_back();
    std::vector<bool>& seen = from_above ? seen_from_above : seen_from_below;
    if (seen[id.index]) continue;
    seen[id.index] = true;
    if (!is_observed[id.index]) moved[id.index] = true;
    const bool to_parents = from_above ? static_cast<bool>(explains[id.index])
                                       : !static_cast<bool>(is_observed[id.index]);
    if (to_parents) {
      for (const VariableId parent : network.variable(id).parents) open.emplace_back(parent, false);
    }
    if (!is_observed[id.index]) {
      for (const VariableId child : network.children(id)) open.emplace_back(child, true);
    }
  }
  return moved;
}

}  // namespace

Reach::Reach(const Network& network, std::span<const VariableId> observed) {
  const std::vector<bool> explains = with_ancestors(network, observed);
  std::vector<bool> is_observed(static_cast<size_t>(network.size()), false);
  for (const VariableId id : observed) is_observed[id.index] = true;
  std::map<std::vector<bool>, int> number_of;
  for (const VariableId id : network.variables()) {
    const std::vector<bool> moved = moved_by(network, id, is_observed, explains);
    const auto [found, is_new] = number_of.try_emplace(moved, set_count());
    if (is_new) sets_.push_back(moved);
    set_of_.push_back(found->second);
  }
}

}  // namespace tutti
