// Work that cannot be asked to stop, such as a solver of somebody else's, runs in a child process,
// which can be ended at any time. What it leaves is a list of numbers.

#ifndef TUTTI_SEARCH_EXACT_IN_CHILD_H_
#define TUTTI_SEARCH_EXACT_IN_CHILD_H_

#include <functional>
#include <optional>
#include <vector>

#include "tutti/base/stop.h"

namespace tutti {

// What `work` returns; none if it was stopped before, or could not be begun or ended. The work may
// read what the caller has, and changes nothing of it.
std::optional<std::vector<double>> run_in_child(const std::function<std::vector<double>()>& work,
                                                const Stop& stop);

}  // namespace tutti

#endif  // TUTTI_SEARCH_EXACT_IN_CHILD_H_
