// Which ops have a time on which kinds of devices, and names in a costs file that look like slips.
//
// A time is a row of the costs, a given time of the graph, or a roofline estimate from rates that
// the device states and work that the op states. Where there is none the device cannot run the op
// (Costs::can_run).

#ifndef TUTTI_COSTS_COVERAGE_H_
#define TUTTI_COSTS_COVERAGE_H_

#include <string>
#include <vector>

#include "tutti/base/result.h"
#include "tutti/costs/costs.h"

namespace tutti {

// Ops of these kinds, or some of them, have no time on devices of these kinds.
struct CoverageGap {
  std::vector<std::string> op_kinds;
  std::vector<std::string> device_kinds;
};

// By op kind and device kind, op kinds with the same device kinds together; none if every op has a
// time everywhere.
std::vector<CoverageGap> coverage_gaps(const Costs& costs);
// "'a', 'b' and 3 more".
std::string first_names(const std::vector<std::string>& names);
// "kinds 'lu', 'fwd' on 'slow-gpu'; kind 'bmod' on 'cpu', 'gpu'", the first few names of each.
std::string to_text(const std::vector<CoverageGap>& gaps);

// Fails (invalid_input), with file, line and the name that was probably meant, if some op of the
// graph has no row of its own on some device of the machine while a row that fits nothing here has
// nearly that name: one of its two names, at most two edits away. Names that differ in their digits
// alone are different names; so are two op kinds that tutti knows.
Result<void> check_names(const Graph& graph, const Machine& machine, const CostSpec& spec,
                         const std::string& file);

}  // namespace tutti

#endif  // TUTTI_COSTS_COVERAGE_H_
