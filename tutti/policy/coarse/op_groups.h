// OpGroups say which ops of a large graph are placed together. Joining them never makes a cycle, so
// that the groups are the ops of a smaller graph (coarse_problem.h).
//
// Ops that may use different devices, or are in different colocation groups, are never in one
// group. Of the others these are joined, in rounds:
//
//   trees     ops all of whose readers, or producers, are one and the same op; chains are the
//             smallest trees;
//   edges     those with most traffic first, between neighbouring levels, in the manner of Herrmann
//   et al.
//             (Multilevel algorithms for acyclic partitioning of directed acyclic graphs, SIAM J.
//             Sci. Comput. 2019): theirs forbids any edge between two such pairs on the same two
//             levels; it is enough that an op whose reader is already taken is left alone;
//   siblings  ops of one level that share an operand or a reader, if the level has many ops.
//
// No group has much more work than an equal share. In a graph without structure (any op reads any
// other) large groups all read from each other, and their placement says little about where their
// ops should be; so joining ends early there. Takes time about linear in ops and edges. The same in
// every run.

#ifndef TUTTI_POLICY_COARSE_OP_GROUPS_H_
#define TUTTI_POLICY_COARSE_OP_GROUPS_H_

#include <cstdint>
#include <vector>

#include "tutti/plan/problem.h"

namespace tutti {

struct OpGroups {
  // By op. A group reads only from groups with lower numbers.
  std::vector<int32_t> of_op;
  int32_t count = 0;
};

struct Coarsening {
  int32_t most = 4000;    // groups; more only if nothing else may be joined
  int32_t fewest = 1000;  // as long as a group is linked to few others
};

OpGroups group_ops(const Problem& problem, const Coarsening& coarsening);

}  // namespace tutti

#endif  // TUTTI_POLICY_COARSE_OP_GROUPS_H_
