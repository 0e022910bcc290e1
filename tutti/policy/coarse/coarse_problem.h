// A coarse problem is a Problem whose ops are the clusters of a larger one: same machine, and what
// the larger one's constraints come to for clusters. A policy plans it like any other; where it
// puts a cluster, all ops of the cluster go.
//
// A cluster starts when all it reads is there, does its ops one after another, and has all its
// results at the end. That is not what a run does, so the plan's times mean little; where it puts
// things is what it is made for.
//
// - Run times are the sums over a cluster's ops (Costs::gathered).
// - A value that leaves its cluster travels once to each memory that reads it, as it does between
//   ops. Values of one cluster that are read by the same clusters become one, with all their bytes;
//   unless transfer times are given with the edges: then all stay as they are.
// - Values that do not leave their cluster count as transient memory, all at once.

#ifndef TUTTI_POLICY_COARSE_COARSE_PROBLEM_H_
#define TUTTI_POLICY_COARSE_COARSE_PROBLEM_H_

#include "tutti/policy/coarse/clusters.h"

namespace tutti {

// Op i of the coarse problem is cluster i. Fails as Problem::make does.
Result<Problem> coarse_problem(const Problem& problem, const Clusters& clusters);

}  // namespace tutti

#endif  // TUTTI_POLICY_COARSE_COARSE_PROBLEM_H_
