// What the nets of the configuration `as-published` are told about a problem before anything is
// placed: Doppler's five numbers for each op, the cost of what an op sends, and the longest ways
// (Yao et al. 2025, as their code has it). See features.h for the features of `default`.
//
// The paper's comp is an op's mean run time, and its comm the mean time, over pairs of different
// devices, to move the most expensive of the op's values; an op that has no reader has a comm of 0.
// An edge is a pair of ops, however many values pass between them.

#ifndef TUTTI_STUDIES_DOPPLER_PUBLISHED_FEATURES_H_
#define TUTTI_STUDIES_DOPPLER_PUBLISHED_FEATURES_H_

#include <cstdint>
#include <span>
#include <vector>

#include "tutti/plan/problem.h"

namespace tutti {

inline constexpr int kPublishedOpFeatures = 5;

// The published graphs have no more than 11 different costs. Where a graph has more than this,
// neighbouring ones share their mean, so that a net's matrices for them stay few.
inline constexpr int kMostMessageKinds = 256;

// Messages between rows that stand for one or more ops each, after some rounds. Ops share a row if
// no net can tell them apart by then: they have the same features, send the same, and hear the same
// from each of their neighbours' rows one round before.
struct MessageRound {
  int rows = 0;
  std::vector<int32_t> row_of;      // by op
  std::vector<int32_t> kind_begin;  // rows are sorted by what they send: where each kind begins
  std::vector<int32_t> parent;      // by row, its row one round before; in round 0 one of its ops
  // By row: the rows that it hears one round before, and how many of its neighbours each is.
  std::vector<int32_t> heard;
  std::vector<float> times;
  std::vector<int32_t> heard_begin;
};

struct PublishedFeatures {
  int ops = 0;
  // Every op, each after its producers.
  std::vector<int32_t> order;
  // ops x kPublishedOpFeatures, each column standardised: comp, b-level, t-level, and the sums of
  // comm over the edges in and out. The t-level is the b-level of the graph turned round, so it
  // holds the op's own costs.
  std::vector<float> op_rows;
  // Messages go both ways along an edge, and each carries the comm of the op that sends it. These
  // are the different ones, standardised over all messages, and by op which of them it sends.
  std::vector<float> message_values;
  std::vector<int32_t> message_kind;
  // By op: its producers and then its readers, each once.
  std::vector<int32_t> neighbours;
  std::vector<int32_t> neighbours_begin;
  std::vector<int32_t> readers_begin;  // where among its neighbours the readers begin
  std::vector<int32_t> next;           // by op: the next on its longest way to an exit, or -1
  std::vector<int32_t> previous;       // the one before it on its longest way from an entry, or -1
  std::vector<double> b_level;         // by op, in mean run times
  // What round 0, 1, 2, ... looks like; all rounds after the last are like it. `apart` has a row
  // for each op, for nets that are told what is placed.
  std::vector<MessageRound> rounds;
  std::vector<MessageRound> apart;
  double longest = 1;           // the largest b-level
  double mean_run_time_ns = 1;  // of an op over its devices, over all ops

  std::span<const int32_t> producers_of(size_t op) const {
    return std::span(neighbours)
        .subspan(static_cast<size_t>(neighbours_begin[op]),
                 static_cast<size_t>(readers_begin[op] - neighbours_begin[op]));
  }
  std::span<const int32_t> readers_of(size_t op) const {
    return std::span(neighbours)
        .subspan(static_cast<size_t>(readers_begin[op]),
                 static_cast<size_t>(neighbours_begin[op + 1] - readers_begin[op]));
  }
};

PublishedFeatures published_features(const Problem& problem);

// What rounds and apart are made by; both need everything above them.
std::vector<MessageRound> message_rounds(const PublishedFeatures& features);
std::vector<MessageRound> message_rounds_apart(const PublishedFeatures& features);

// sum[op] = the sum of x over the op's neighbours, for rows of `width` numbers by op.
void sum_neighbours(const PublishedFeatures& features, const float* x, size_t width, float* sum);

// In place: each op's row becomes the sum of the rows along its longest way, its own included.
enum class Way { to_exit, to_entry };
void sum_along(const PublishedFeatures& features, Way way, size_t width, float* rows);
// From the gradient by those sums to the gradient by the rows, in place.
void sum_along_backward(const PublishedFeatures& features, Way way, size_t width, float* rows);

}  // namespace tutti

#endif  // TUTTI_STUDIES_DOPPLER_PUBLISHED_FEATURES_H_
