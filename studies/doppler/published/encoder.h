// The encoder of a tower: embeddings of ops by messages between neighbours (an MPNN with a gated
// recurrent unit, after Gilmer et al. 2017), and the gradient by its weights. Written out, because
// a step of one episode spends its time here: rows that stand for several ops are worked out once,
// and the large layer that makes the matrices of messages is passed over in order.
//
// h <- ReLU(embed x); `steps` times h <- GRU(ReLU(sum of h M(e) over the neighbours + b), h).

#ifndef TUTTI_STUDIES_DOPPLER_PUBLISHED_ENCODER_H_
#define TUTTI_STUDIES_DOPPLER_PUBLISHED_ENCODER_H_

#include <vector>

#include "studies/doppler/published/features.h"

namespace tutti {

// A layer's weights, out x in as in files, and its biases.
struct LayerWeights {
  const float* weight = nullptr;
  const float* bias = nullptr;
};

struct EncoderWeights {
  int width = 0;
  int columns = 0;  // of the rows of ops
  int steps = 0;
  LayerWeights embed{};
  LayerWeights message{};         // from a message's value to `width` hidden numbers
  LayerWeights message_matrix{};  // from those to a matrix of width x width
  LayerWeights message_sum{};     // a bias alone
  LayerWeights gates_in{};        // of the unit: reset, update and new state, from what was heard
  LayerWeights gates_state{};     // the same from the state
};

// What forward() keeps for backward().
struct EncoderTape {
  // All by row of the step's round, but `state` and `own`, which are by row of the round before.
  struct Step {
    std::vector<float> state, own, heard, reset, update, fresh;
  };
  std::vector<float> rows;  // of round 0: rows x columns
  std::vector<Step> steps;
  std::vector<float> state;  // after the last step
};

// The gradient by each of the weights, in their shapes. That by message_matrix.weight is the sum
// over kinds of (a row of by_matrices) x (a row of hidden).
struct EncoderGradient {
  std::vector<float> embed_weight, embed_bias, message_weight, message_bias;
  std::vector<float> message_matrix_bias, message_sum_bias;
  std::vector<float> gates_in_weight, gates_in_bias, gates_state_weight, gates_state_bias;
  std::vector<float> by_matrices;  // kinds x (width x width)
  std::vector<float> hidden;       // kinds x width
};

class Encoder {
 public:
  // Refers to the weights. Requires a width that is a multiple of kLaneWidth.
  explicit Encoder(const EncoderWeights& weights);

  // A matrix of width x width for each kind of message.
  std::vector<float> matrices(const PublishedFeatures& features) const;

  // The embeddings, ops x width. `op_rows` are ops x columns; rounds are those of the features that
  // fit them. A tape is filled if there is one.
  std::vector<float> forward(const PublishedFeatures& features,
                             const std::vector<MessageRound>& rounds,
                             const std::vector<float>& matrices, const float* op_rows,
                             EncoderTape* tape) const;

  // From the gradient by the embeddings of that forward().
  EncoderGradient backward(const PublishedFeatures& features,
                           const std::vector<MessageRound>& rounds,
                           const std::vector<float>& matrices, const EncoderTape& tape,
                           const float* by_state) const;

 private:
  std::vector<float> hidden(const PublishedFeatures& features) const;  // kinds x width
  void backward_matrices(const PublishedFeatures& features, EncoderGradient& gradient) const;

  EncoderWeights weights_;
  std::vector<float> gates_in_, gates_state_;  // in x out
};

}  // namespace tutti

#endif  // TUTTI_STUDIES_DOPPLER_PUBLISHED_ENCODER_H_
