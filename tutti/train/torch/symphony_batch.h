// Passages of several episodes side by side, as flat lists of numbers, which is what libtorch
// reads. Does not include libtorch itself.
//
// Decisions are numbered through, passage after passage, the longest first. All lists that speak of
// "rows" are row-major.

#ifndef TUTTI_TRAIN_TORCH_SYMPHONY_BATCH_H_
#define TUTTI_TRAIN_TORCH_SYMPHONY_BATCH_H_

#include <cstdint>
#include <span>
#include <vector>

#include "tutti/train/symphony/learner.h"

namespace tutti {

struct SymphonyBatch {
  std::vector<const KeptDecision*> decisions;
  // Passages, by falling length, and where each begins among the decisions.
  std::vector<int32_t> first;
  std::vector<int32_t> length;
  std::vector<float> hidden;  // passages x kMemory, before the first decision
  std::vector<float> cell;

  // All jobs that are seen, one graph after the other.
  std::vector<float> op_rows;
  std::vector<int32_t> from;
  std::vector<int32_t> to;
  std::vector<float> edge_rows;
  std::vector<int32_t> job_of_op;
  std::vector<int32_t> job_of_edge;
  int32_t jobs = 0;

  // A row for each job of each decision.
  std::vector<int32_t> seen_job;
  std::vector<int32_t> seen_by;  // the decision
  // Ready ops: their rows among op_rows.
  std::vector<int32_t> op;
  std::vector<int32_t> first_option;  // of each, and one more
  // Options.
  std::vector<int32_t> option_op;  // among the ready ops
  std::vector<int32_t> option_by;  // the decision
  std::vector<int32_t> option_device;
  std::vector<float> crowd_own, before, run;
  std::vector<float> option_rows;
  int32_t widest_draw = 1;
  std::vector<int32_t> first_draw;  // of each option, and one more
  std::vector<int32_t> draw_vertex;
  std::vector<float> draw_share, draw_own, draw_flows;

  std::vector<int32_t> execution;  // the option of each
  std::vector<int32_t> change_by, change_device;
  std::vector<float> change_rows;
  std::vector<int32_t> rest_by;
  // Where each execution, change and rest stands in a matrix of decisions x most_actions.
  std::vector<int32_t> cell_of_action;
  int32_t most_actions = 1;
  std::vector<int32_t> chosen;  // by decision

  size_t count() const { return decisions.size(); }
};

SymphonyBatch batch_of(std::span<const Passage> passages);

}  // namespace tutti

#endif  // TUTTI_TRAIN_TORCH_SYMPHONY_BATCH_H_
