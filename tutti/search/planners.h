// Every planner by name: the policies of the registry, and those that search with a simulator.

#ifndef TUTTI_SEARCH_PLANNERS_H_
#define TUTTI_SEARCH_PLANNERS_H_

#include <string_view>
#include <vector>

#include "tutti/policy/registry.h"
#include "tutti/search/auto.h"

namespace tutti {

// Those that search use `settings`; budget and seed come with each call of plan().
std::vector<PolicyEntry> all_planners(const AutoSettings& settings);

// Fails with a sentence that lists the names there are.
Result<PolicyEntry> find_planner(std::string_view name, const AutoSettings& settings);

}  // namespace tutti

#endif  // TUTTI_SEARCH_PLANNERS_H_
