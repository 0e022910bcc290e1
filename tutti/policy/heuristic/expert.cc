// The expert's placement: each op on the device that its `shard` attribute names, counted from 0
// and taken modulo the number of devices (graph/groups.h). The tool that sharded the graph wrote
// down where a person would put each block; the order is plan-aware b-level.
//
// Where constraints do not allow that device the next one that they allow is taken. Refuses
// (infeasible) a graph of which some op has no shard.

#include <fmt/format.h>

#include "tutti/graph/groups.h"
#include "tutti/policy/heuristic/heuristics.h"
#include "tutti/policy/places/placement.h"

namespace tutti {

Result<Plan> plan_expert(const Problem& problem, const Budget& /*budget*/, uint64_t /*seed*/) {
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
