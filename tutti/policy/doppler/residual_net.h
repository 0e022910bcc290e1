// The net of the configuration `default`: what SELECT and PLACE add to list scheduling. SELECT is a
// weight times the op's rank plus a learned term; PLACE is a weight times the op's lateness on a
// device plus a learned term. With learned terms of 0 the pair is contention-aware earliest finish,
// so that learning starts from there (hence residual).
//
// A message-passing encoder runs once for a problem. Everything a step needs is linear in its
// output, so that a step costs a few small products, whatever the number of ready ops.

#ifndef TUTTI_POLICY_DOPPLER_RESIDUAL_NET_H_
#define TUTTI_POLICY_DOPPLER_RESIDUAL_NET_H_

#include <string>
#include <vector>

#include "tutti/base/random.h"
#include "tutti/policy/doppler/draft_features.h"
#include "tutti/policy/doppler/features.h"
#include "tutti/policy/doppler/net.h"
#include "tutti/policy/nn/dense.h"

namespace tutti {

struct ResidualShape {
  int width = 64;   // of embeddings and of the heads' first layers
  int second = 32;  // of PLACE's second layer
  int rounds = 4;   // of message passing
  // One pass: PLACE's learned term sees nothing that changes while the plan is made, so that it is
  // computed once for all steps.
  bool one_pass = false;
  // False: PLACE does not see speeds, links and memory; for the ablation.
  bool device_columns = true;
  Estimate estimate = Estimate::with_contention;
  // Random numbers for each op, the same in every run, which distinguish ops that are otherwise
  // equal. For learning a single graph: on another they mean nothing.
  int marks = 0;
};

// ops x marks.
std::vector<float> op_marks(int ops, int marks);

inline constexpr float kLeak = 0.1F;

// Whether PLACE's learned term of that shape sees a column of the rows.
bool sees_column(const ResidualShape& shape, int column);

// The output of the encoder for a problem.
struct ResidualEncoding {
  std::vector<float> score;      // by op: SELECT's logit
  std::vector<float> place_op;   // ops x width: what the op adds to PLACE's first layer
  std::vector<float> place_sum;  // ops x width: what it adds there once it is on the device
};

struct ResidualFeatures : NetFeatures {
  explicit ResidualFeatures(const Problem& problem)
      : rows(problem_features(problem)), facts(problem) {}

  ProblemFeatures rows;
  DraftFacts facts;
};

class ResidualNet final : public DopplerNet {
 public:
  // Fails (invalid_input) unless the file holds all tensors of the shape its metadata tells.
  static Result<ResidualNet> load(const TensorFile& file, const std::string& path);
  // Before any training: seeded, with last layers of zeros.
  static TensorFile fresh(const ResidualShape& shape, uint64_t seed);
  static Result<ResidualShape> shape_of(const TensorFile& file, const std::string& path);

  std::unique_ptr<const NetFeatures> features(const Problem& problem) const override {
    return std::make_unique<ResidualFeatures>(problem);
  }
  std::unique_ptr<Actor> actor(const Problem& problem, const NetFeatures& features) const override;
  Estimate estimate() const override { return shape_.estimate; }

  const ResidualShape& shape() const { return shape_; }
  float slack_weight() const { return slack_weight_; }
  ResidualEncoding encode(const ProblemFeatures& features) const;

  // PLACE's logits of the devices whose rows are given; `sums` are width numbers for each of them,
  // the means of place_sum over what is on the device.
  void place(const float* place_op, const float* rows, const float* sums, int devices,
             std::vector<float>& workspace, float* logits) const;

 private:
  struct Round {
    Dense self, in, out, in_gate, out_gate;
  };
  void pass_messages(const Round& round, const ProblemFeatures& features,
                     std::vector<float>& state) const;
  std::vector<float> along(const std::vector<int32_t>& next, bool backwards,
                           const ProblemFeatures& features, const std::vector<float>& state) const;

  ResidualShape shape_;
  Dense op_;
  Dense mark_;
  std::vector<Round> rounds_;
  Dense select_op_, select_state_, select_exit_, select_entry_, select_last_;
  float rank_weight_ = 0;
  Dense place_op_, place_row_, place_sum_, place_second_, place_last_;
  float slack_weight_ = 0;
};

}  // namespace tutti

#endif  // TUTTI_POLICY_DOPPLER_RESIDUAL_NET_H_
