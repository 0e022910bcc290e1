// The arithmetic of small networks: products of row-major matrices of floats, and what goes between
// them. Inference needs no more; training has a library of its own.

#ifndef TUTTI_POLICY_NN_DENSE_H_
#define TUTTI_POLICY_NN_DENSE_H_

#include <cmath>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "tutti/base/file/tensor_file.h"

namespace tutti {

// Widths of layers are multiples of this, so that vectors fill.
inline constexpr int kLaneWidth = 8;

// y += x w, for x of rows x in, w of in x out, y of rows x out. Requires that out is a multiple of
// kLaneWidth. Sums go over `in` in ascending order whatever the number of rows.
void multiply_add(const float* x, int rows, int in, const float* w, int out, float* y);

float dot(const float* a, const float* b, int count);

inline float leaky_relu(float x, float slope) {
  return x > 0 ? x : slope * x;
}

inline float sigmoid(float x) {
  return 1.0F / (1.0F + std::exp(-x));
}

// A layer x -> W x + b.
class Dense {
 public:
  Dense() = default;
  // Reads `name`.weight of out x in (as libtorch keeps it) and, unless it has none, `name`.bias.
  enum class Bias { yes, no };
  static Result<Dense> load(const TensorFile& file, const std::string& name, int in, int out,
                            Bias bias, const std::string& path);

  // From now on input i counts for nothing.
  void ignore_input(int i);

  int in() const { return in_; }
  int out() const { return out_; }
  // y = W x + b for each row. `add` keeps what is in y.
  void apply(const float* x, int rows, float* y) const;
  void add(const float* x, int rows, float* y) const;
  // y += what the inputs [first, first + count) add, x being rows of just those. Requires that out
  // is a multiple of kLaneWidth.
  void add_part(const float* x, int rows, int first, int count, float* y) const;
  const std::vector<float>& bias() const { return bias_; }

 private:
  int in_ = 0;
  int out_ = 0;
  std::vector<float> weight_;  // in x out
  std::vector<float> bias_;    // empty: none
};

}  // namespace tutti

#endif  // TUTTI_POLICY_NN_DENSE_H_
