// Which weights with homes a memory keeps, and which are streamed (tutti/plan/weights.h), for ops
// that are placed. A policy places ops first; this follows.

#ifndef TUTTI_POLICY_SCHEDULE_KEEPING_H_
#define TUTTI_POLICY_SCHEDULE_KEEPING_H_

#include <vector>

#include "tutti/base/result.h"
#include "tutti/plan/plan.h"
#include "tutti/plan/problem.h"

namespace tutti {

// What saves the most stream time per byte is kept first, and of equal weights those that are read
// first: streams of later ones go on meanwhile. A memory that has room for all weights that are
// read there keeps them. Else a stream buffer is set aside first, with room for the weights of two
// ops, or of one if there is no more.
//
// Replaces plan.weights. Uses the plan's timeline, if it has one, to find how much room other
// values take. Fails (infeasible) with a sentence that names op, memory and missing bytes if some
// memory has no room for the streamed weights of one op. Requires a complete placement.
Result<void> choose_keeping(const Problem& problem, Plan& plan);

// The time of one transfer of the weight from its home.
Duration stream_time(const Problem& problem, ValueId weight, MemoryId to);

// By memory: the weights with homes elsewhere that ops placed there read, by id, each once.
std::vector<std::vector<ValueId>> weights_read_in(const Problem& problem,
                                                  const std::vector<DeviceId>& placement);

}  // namespace tutti

#endif  // TUTTI_POLICY_SCHEDULE_KEEPING_H_
