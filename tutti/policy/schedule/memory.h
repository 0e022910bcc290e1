// What policies say when memory is short. A policy that does not know how to obey a limit looks at
// its finished placement with require_room and refuses rather than emit a plan that cannot run.

#ifndef TUTTI_POLICY_SCHEDULE_MEMORY_H_
#define TUTTI_POLICY_SCHEDULE_MEMORY_H_

#include <vector>

#include "tutti/plan/state.h"

namespace tutti {

// Fails (infeasible) if it is proven that no plan has room: an op that works on more than any
// device it may use can hold, or weights that all memories together cannot. That it does not fail
// proves nothing.
Result<void> require_possible_room(const Problem& problem);

// The sentence for a ready op that has no room in a draft: the roomiest device and how many bytes
// lack there, if none of its operands is there yet; "fits on no device" only if that is proven.
// With a device: the same for an op that should go there.
Error no_room_for(const State& state, OpId op);
Error no_room_for(const State& state, OpId op, DeviceId device);

// Fails (infeasible) if the weights read in some memory and the largest op placed there exceed its
// limit: no order of the ops could run such a placement.
Result<void> require_room(const Problem& problem, const std::vector<DeviceId>& placement);

// Bytes an op needs at once: operands, outputs and transient memory.
int64_t working_set_bytes(const Graph& graph, OpId op);

}  // namespace tutti

#endif  // TUTTI_POLICY_SCHEDULE_MEMORY_H_
