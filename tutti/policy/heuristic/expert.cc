#include "tutti/policy/heuristic/expert.h"

#include <fmt/format.h>

#include "tutti/graph/groups.h"
#include "tutti/policy/places/placement.h"

namespace tutti {

Result<Plan> Expert::plan(const Problem& problem, const Budget& /*budget*/, uint64_t /*seed*/) {
  const auto shards = shards_of(problem.graph);
  if (!shards) {
    return infeasible(
        fmt::format("graph '{}' does not say where an expert would put its ops: not every op has "
                    "a whole number as its attribute '{}'",
                    problem.graph.name(), kShardAttribute));
  }
  Placement placement(problem);
  for (const OpId op : problem.graph.ops()) {
    placement.put_near(op, DeviceId{(*shards)[op.index] % problem.machine.size()});
  }
  return placement.to_plan();
}

}  // namespace tutti
