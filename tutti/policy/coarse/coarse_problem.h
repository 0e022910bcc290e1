// A CoarseProblem is a Problem whose ops are the clusters of a larger one: same machine, and what
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

#include <memory>
#include <span>
#include <vector>

#include "tutti/policy/coarse/clusters.h"

namespace tutti {

class CoarseProblem {
 public:
  // Op i of the coarse problem is cluster i. The machine must outlive it, the problem need not.
  static Result<CoarseProblem> make(const Problem& problem, const Clusters& clusters);

  const Problem& problem() const { return *problem_; }

 private:
  CoarseProblem() = default;

  std::unique_ptr<const Graph> graph_;
  std::unique_ptr<const Costs> costs_;
  std::unique_ptr<const Problem> problem_;
};

}  // namespace tutti

#endif  // TUTTI_POLICY_COARSE_COARSE_PROBLEM_H_
