// The features of a job when it arrives: a row for each op and for each edge. They never change, so
// that the net encodes them once.

#ifndef TUTTI_POLICY_SYMPHONY_JOB_ROWS_H_
#define TUTTI_POLICY_SYMPHONY_JOB_ROWS_H_

#include <vector>

#include "tutti/plan/world/cluster.h"

namespace tutti {

inline constexpr int kOpRow = 8;
inline constexpr int kEdgeRow = 2;

struct JobRows {
  int ops = 0;
  std::vector<float> rows;    // ops x kOpRow
  std::vector<int32_t> from;  // every edge both ways
  std::vector<int32_t> to;
  std::vector<float> edge_rows;  // edges x kEdgeRow
  std::vector<double> rank_ns;   // by op: the longest path to the end of the job, itself included
  double critical_path_ns = 1;
};

JobRows rows_of(const Cluster& cluster, const Job& job);

// Logarithms that keep figures of very different size near 1.
float log_of_time(double ns);      // 0 at a microsecond, 1 at a second
float log_of_bytes(double bytes);  // 0 at nothing, 1 at a gigabyte

}  // namespace tutti

#endif  // TUTTI_POLICY_SYMPHONY_JOB_ROWS_H_
