// Clusters say which ops of a large graph are placed as one. Joining them never makes a cycle, so
// that the clusters are the ops of a smaller graph (coarse_problem.h).
//
// Ops that may use different devices, or are in different colocation groups, are never in one
// cluster. Of the others are joined, round after round:
//
//   trees     ops all of whose readers, or producers, are one and the same op; chains are the
//             smallest trees;
//   edges     the dearest first, between neighbouring levels, in the manner of Herrmann et al.
//             (Multilevel algorithms for acyclic partitioning of directed acyclic graphs, SIAM J.
//             Sci. Comput. 2019): theirs forbids any edge between two such pairs on the same two
//             levels; it is enough that an op whose reader is already taken is left alone;
//   siblings  ops of one level that share an operand or a reader, where a level has plenty.
//
// No cluster is much heavier than all would be if they were equal. Where a graph has no grain (ops
// that read any others), large clusters all read from each other, and placing them says little of
// where their ops should be; so joining ends early there. Takes time about linear in ops and edges.
// The same in every run.

#ifndef TUTTI_POLICY_COARSE_CLUSTERS_H_
#define TUTTI_POLICY_COARSE_CLUSTERS_H_

#include <cstdint>
#include <vector>

#include "tutti/plan/problem.h"

namespace tutti {

struct Clusters {
  // By op. Whatever reads from another cluster reads from one with a lower number.
  std::vector<int32_t> of_op;
  int32_t count = 0;
};

struct Coarsening {
  int32_t most = 4000;    // clusters; more only if nothing else may be joined
  int32_t fewest = 1000;  // as long as a cluster is linked to few others
};

Clusters cluster_ops(const Problem& problem, const Coarsening& coarsening);

}  // namespace tutti

#endif  // TUTTI_POLICY_COARSE_CLUSTERS_H_
