// The arithmetic of small nets: products of row-major matrices of floats, and what goes between
// them. This is enough for inference; training uses libtorch.

#ifndef TUTTI_POLICY_NN_DENSE_H_
#define TUTTI_POLICY_NN_DENSE_H_

#include <cmath>
#include <cstddef>
#include <cstdint>
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

// One tensor of a net before training.
struct NetPart {
  std::string name;
  std::vector<int64_t> shape;
  bool zero = false;
};

// The weight of a layer and, unless it has none, its bias, which is zero.
void add_dense_parts(const std::string& name, int64_t out, int64_t in, Dense::Bias bias,
                     std::vector<NetPart>& parts, bool zero = false);

// Adds the parts to the file: normal numbers of variance gain / (length of the last dimension).
void add_fresh_tensors(const std::vector<NetPart>& parts, double gain, uint64_t seed,
                       TensorFile& file);

}  // namespace tutti

#endif  // TUTTI_POLICY_NN_DENSE_H_
