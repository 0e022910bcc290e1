// A coarse problem is a Problem whose ops are the groups of a larger one: same machine, and what
// the larger one's constraints mean for groups. A policy plans it like any other; all ops of a
// group go where the policy puts the group.
//
// A group starts when all it reads is there, does its ops one after another, and has all its
// results at the end. That is not what a run does, so the times of the plan mean little; only its
// placement is used.
//
// - Run times are the sums over a group's ops (Costs::gathered).
// - A value that leaves its group travels once to each memory that reads it, as it does between
//   ops. Values of one group that are read by the same groups become one, with all their bytes;
//   unless transfer times are given with the edges: then all stay as they are.
// - Values that do not leave their group count as transient memory, all at once.

#ifndef TUTTI_POLICY_COARSE_COARSE_PROBLEM_H_
#define TUTTI_POLICY_COARSE_COARSE_PROBLEM_H_

#include "tutti/policy/coarse/op_groups.h"

namespace tutti {

// Op i of the coarse problem is group i. Fails as Problem::make does.
Result<Problem> coarse_problem(const Problem& problem, const OpGroups& groups);

}  // namespace tutti

#endif  // TUTTI_POLICY_COARSE_COARSE_PROBLEM_H_
