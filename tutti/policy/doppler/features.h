// The features of a problem before anything is placed: a row of numbers for each op and each edge,
// all without units, and the longest paths through the graph.
//
// Times are relative to the mean run time of an op and to the length of the longest path, so that a
// model trained on one scale works on another.

#ifndef TUTTI_POLICY_DOPPLER_FEATURES_H_
#define TUTTI_POLICY_DOPPLER_FEATURES_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "tutti/plan/problem.h"

namespace tutti {

inline constexpr int kOpFeatures = 20;
inline constexpr int kEdgeFeatures = 2;

struct ProblemFeatures {
  int ops = 0;
  std::vector<int32_t> order;     // every op, each after its producers
  std::vector<float> op_rows;     // ops x kOpFeatures
  std::vector<float> rank;        // by op: its share of the longest path still lies before it
  std::vector<int32_t> from;      // by edge between two ops: its producer
  std::vector<int32_t> to;        // and its reader
  std::vector<float> edge_rows;   // edges x kEdgeFeatures
  std::vector<int32_t> next;      // by op: the next one on its longest path to an exit, or -1
  std::vector<int32_t> previous;  // the one before it on its longest path from an entry, or -1
  double mean_run_time_ns = 1;    // of an op over its devices, over all ops
};

// The feature for a ratio that may be large.
inline float log_of(double ratio) {
  return static_cast<float>(std::log1p(std::max(0.0, ratio)));
}

ProblemFeatures problem_features(const Problem& problem);

}  // namespace tutti

#endif  // TUTTI_POLICY_DOPPLER_FEATURES_H_
