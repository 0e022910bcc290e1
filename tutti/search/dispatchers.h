// Every dispatcher by name: those of the registry (tutti/policy/online/registry.h), and
// planned_auto, which plans with a simulator.

#ifndef TUTTI_SEARCH_DISPATCHERS_H_
#define TUTTI_SEARCH_DISPATCHERS_H_

#include <string_view>
#include <vector>

#include "tutti/policy/online/registry.h"

namespace tutti {

const std::vector<DispatcherEntry>& all_dispatchers();

// Fails with a sentence that lists the names there are.
Result<const DispatcherEntry*> find_any_dispatcher(std::string_view name);

}  // namespace tutti

#endif  // TUTTI_SEARCH_DISPATCHERS_H_
