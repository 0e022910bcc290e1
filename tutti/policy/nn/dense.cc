#include "tutti/policy/nn/dense.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "tutti/base/random.h"
#include "tutti/policy/nn/processors.h"

namespace tutti {
namespace {

// to[c][r] = from[r][c], a block at a time, so that both sides stay in the nearest cache.
void transpose(const float* from, int rows, int columns, float* to) {
  constexpr int kBlock = 32;
  const auto row_length = static_cast<size_t>(columns);
  const auto column_length = static_cast<size_t>(rows);
  for (int first = 0; first < rows; first += kBlock) {
    for (int c = 0; c < columns; ++c) {
      const int end = std::min(rows, first + kBlock);
      for (int r = first; r < end; ++r) {
        to[static_cast<size_t>(c) * column_length + static_cast<size_t>(r)] =
            from[static_cast<size_t>(r) * row_length + static_cast<size_t>(c)];
      }
    }
  }
}

typedef float Lanes __attribute__((vector_size(4 * kLaneWidth), aligned(4)));
typedef float TwoLanes __attribute__((vector_size(8 * kLaneWidth), aligned(4)));

// Adds x w to as many columns of up to kRows rows as fit a vector. Inlined, so that it is compiled
// for the processor of its caller.
template <class Vector, int kRows>
[[gnu::always_inline]] inline void add_columns(const float* const* x, int rows, int in,
                                               const float* weight, int out, float* y) {
  Vector sums[kRows] = {};
  for (int k = 0; k < in; ++k, weight += out) {
    Vector lanes;
    std::memcpy(&lanes, weight, sizeof lanes);
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i) sums[i] += x[i][k] * lanes;
  }
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i) {
    if (i >= rows) break;
    float* target = y + static_cast<size_t>(i) * static_cast<size_t>(out);
    Vector lanes;
    std::memcpy(&lanes, target, sizeof lanes);
    lanes += sums[i];
    std::memcpy(target, &lanes, sizeof lanes);
  }
}

// The same for all columns of up to kRows rows.
template <int kRows>
[[gnu::always_inline]] inline void add_rows(const float* x, int rows, int in, const float* w,
                                            int out, float* y) {
  const float* xr[kRows];
  for (int i = 0; i < kRows; ++i) {
    xr[i] = x + static_cast<size_t>(std::min(i, rows - 1)) * static_cast<size_t>(in);
  }
  int column = 0;
  for (; column + 2 * kLaneWidth <= out; column += 2 * kLaneWidth) {
    add_columns<TwoLanes, kRows>(xr, rows, in, w + column, out, y + column);
  }
  if (column < out) add_columns<Lanes, kRows>(xr, rows, in, w + column, out, y + column);
}

}  // namespace

TUTTI_FOR_EVERY_PROCESSOR
void multiply_add(const float* x, int rows, int in, const float* w, int out, float* y) {
  constexpr int kMany = 8;
  constexpr int kFew = 4;
  int row = 0;
  const auto x_at = [&] { return x + static_cast<size_t>(row) * static_cast<size_t>(in); };
  const auto y_at = [&] { return y + static_cast<size_t>(row) * static_cast<size_t>(out); };
  for (; row + kFew < rows; row += kMany) {
    add_rows<kMany>(x_at(), std::min(kMany, rows - row), in, w, out, y_at());
  }
  if (row < rows) add_rows<kFew>(x_at(), rows - row, in, w, out, y_at());
}

Result<Dense> Dense::load(const TensorFile& file, const std::string& name, int in, int out,
                          Bias bias, const std::string& path) {
  Dense layer;
  layer.in_ = in;
  layer.out_ = out;
  const auto weight = file.find(name + ".weight", {out, in}, path);
  if (!weight) return weight.error();
  layer.weight_.resize(static_cast<size_t>(in) * static_cast<size_t>(out));
  transpose((*weight)->data.data(), out, in, layer.weight_.data());
  if (bias == Bias::no) return layer;
  const auto shift = file.find(name + ".bias", {out}, path);
  if (!shift) return shift.error();
  layer.bias_ = (*shift)->data;
  return layer;
}

void Dense::ignore_input(int i) {
  std::fill_n(weight_.begin() + static_cast<ptrdiff_t>(i) * out_, out_, 0.0F);
}

void Dense::apply(const float* x, int rows, float* y) const {
  const size_t count = static_cast<size_t>(rows) * static_cast<size_t>(out_);
  std::fill(y, y + count, 0.0F);
  add(x, rows, y);
}

void Dense::add_part(const float* x, int rows, int first, int count, float* y) const {
  const float* weight = weight_.data() + static_cast<size_t>(first) * static_cast<size_t>(out_);
  multiply_add(x, rows, count, weight, out_, y);
}

void Dense::add(const float* x, int rows, float* y) const {
  if (!bias_.empty()) {
    for (int row = 0; row < rows; ++row) {
      float* target = y + static_cast<size_t>(row) * static_cast<size_t>(out_);
      for (int o = 0; o < out_; ++o) target[o] += bias_[static_cast<size_t>(o)];
    }
  }
  if (out_ % kLaneWidth == 0) {
    multiply_add(x, rows, in_, weight_.data(), out_, y);
    return;
  }
  for (int row = 0; row < rows; ++row) {  // heads of one number
    const float* from = x + static_cast<size_t>(row) * static_cast<size_t>(in_);
    float* target = y + static_cast<size_t>(row) * static_cast<size_t>(out_);
    for (int i = 0; i < in_; ++i) {
      for (int o = 0; o < out_; ++o) {
        target[o] +=
            from[i] *
            weight_[static_cast<size_t>(i) * static_cast<size_t>(out_) + static_cast<size_t>(o)];
      }
    }
  }
}

void add_dense_parts(const std::string& name, int64_t out, int64_t in, Dense::Bias bias,
                     std::vector<NetPart>& parts, bool zero) {
  parts.push_back({name + ".weight", {out, in}, zero});
  if (bias == Dense::Bias::yes) parts.push_back({name + ".bias", {out}, true});
}

void add_fresh_tensors(const std::vector<NetPart>& parts, double gain, uint64_t seed,
                       TensorFile& file) {
  uint64_t number = 0;
  for (const NetPart& part : parts) {
    Rng rng = Rng(seed).split(number++);
    StoredTensor tensor{.shape = part.shape, .data = {}};
    int64_t count = 1;
    for (const int64_t extent : part.shape) count *= extent;
    const double spread = std::sqrt(gain / static_cast<double>(part.shape.back()));
    for (int64_t i = 0; i < count; ++i) {
      tensor.data.push_back(part.zero ? 0.0F : static_cast<float>(spread * rng.normal()));
    }
    file.tensors[part.name] = std::move(tensor);
  }
}

}  // namespace tutti
