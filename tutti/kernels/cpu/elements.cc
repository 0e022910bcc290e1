#include <algorithm>

#include "tutti/kernels/cpu/cpu.h"
#include "tutti/kernels/cpu/exp.h"
#include "tutti/kernels/cpu/floats.h"
#include "tutti/kernels/cpu/nest.h"
#include "tutti/kernels/einsum_places.h"

namespace tutti::cpu {
namespace {

template <class Function>
Done each(Operands operands, const Block& output, Part part, Function function) {
  const Range range = share(product_of(output.shape), part, kLine);
  const float* x = floats(operands[0]);
  float* out = floats(output);
  for (int64_t i = range.begin; i < range.end; ++i) out[i] = function(x[i]);
  return {};
}

template <class Function>
Done each_alike(Operands operands, const Block& output, Part part, Function function) {
  const Range range = share(product_of(output.shape), part, kLine);
  const float* a = floats(operands[0]);
  const float* b = floats(operands[1]);
  float* out = floats(output);
  for (int64_t i = range.begin; i < range.end; ++i) out[i] = function(a[i], b[i]);
  return {};
}

// One line of the result. Steps of 0 and 1, by far the most frequent, get loops of their own: only
// with steps that it knows does the compiler use vector instructions.
struct LinePair {
  const float* a;
  const float* b;
  float* out;
  int64_t a_step;
  int64_t b_step;
  int64_t count;

  template <class Function>
  void apply(Function function) const {
    if (a_step == 1 && b_step == 1) {
      for (int64_t i = 0; i < count; ++i) out[i] = function(a[i], b[i]);
    } else if (a_step == 1 && b_step == 0) {
      const float same = *b;
      for (int64_t i = 0; i < count; ++i) out[i] = function(a[i], same);
    } else {
      for (int64_t i = 0; i < count; ++i) out[i] = function(a[i * a_step], b[i * b_step]);
    }
  }
};

// A nest in the order of the result, in which operands lack some loops or have them elsewhere.
Nest<2> nest_of(const Einsum& einsum, Operands operands) {
  const Shape in_a = strides_by_letter(einsum, einsum.first, to_shape(operands[0].shape));
  const Shape in_b = strides_by_letter(einsum, einsum.second, to_shape(operands[1].shape));
  Nest<2> nest;
  for (size_t i = 0; i < einsum.out.size(); ++i) {
    nest.add_loop(einsum.sizes[i], {in_a[i], in_b[i]});
  }
  return nest;
}

template <class Function>
Done each_pair(const Attributes& attributes, Operands operands, const Block& output, Part part,
               Function function) {
  const auto text = attributes.text("einsum");
  if (!text) return each_alike(operands, output, part, function);
  const Einsum einsum =
      *parse_einsum(*text, to_shape(operands[0].shape), to_shape(operands[1].shape));
  const Nest<2> nest = nest_of(einsum, operands);
  const auto [a_step, b_step] = nest.steps();
  const Range range = share(nest.count(), part, kLine);
  LinePair line{nullptr, nullptr, floats(output) + range.begin, a_step, b_step, 0};
  nest.for_each_run(range, [&](const Nest<2>::Offsets& offsets, int64_t count) {
    line.a = floats(operands[0]) + offsets[0];
    line.b = floats(operands[1]) + offsets[1];
    line.count = count;
    line.apply(function);
    line.out += count;
  });
  return {};
}

// Piece by piece: the result of a piece stays in the first cache while operand after operand is
// added to it, so that each byte of memory is touched once.
template <class Function>
Done fold(Operands operands, const Block& output, Part part, Function function) {
  constexpr int64_t kPiece = 2048;
  const Range range = share(product_of(output.shape), part, kLine);
  for (int64_t begin = range.begin; begin < range.end; begin += kPiece) {
    const int64_t count = std::min(kPiece, range.end - begin);
    float* out = floats(output) + begin;
    std::copy_n(floats(operands[0]) + begin, count, out);
    for (const ConstBlock& operand : operands.subspan(1)) {
      const float* next = floats(operand) + begin;
      for (int64_t i = 0; i < count; ++i) out[i] = function(out[i], next[i]);
    }
  }
  return {};
}

}  // namespace

Done add(const Attributes& attributes, Operands operands, const Block& output, Part part) {
  return each_pair(attributes, operands, output, part, [](float a, float b) { return a + b; });
}

Done subtract(const Attributes& attributes, Operands operands, const Block& output, Part part) {
  return each_pair(attributes, operands, output, part, [](float a, float b) { return a - b; });
}

Done multiply(const Attributes& attributes, Operands operands, const Block& output, Part part) {
  return each_pair(attributes, operands, output, part, [](float a, float b) { return a * b; });
}

Done scale(const Attributes& attributes, Operands operands, const Block& output, Part part) {
  const auto factor = static_cast<float>(*attributes.number("factor", 1));
  return each(operands, output, part, [factor](float x) { return factor * x; });
}

Done relu(const Attributes& /*attributes*/, Operands operands, const Block& output, Part part) {
  return each(operands, output, part, [](float x) { return x < 0 ? 0.0F : x; });
}

Done relu_gradient(const Attributes& /*attributes*/, Operands operands, const Block& output,
                   Part part) {
  return each_alike(operands, output, part, [](float x, float dy) { return x > 0 ? dy : 0.0F; });
}

Done silu(const Attributes& /*attributes*/, Operands operands, const Block& output, Part part) {
  return each(operands, output, part, [](float x) { return x / (1 + exp_of(-x)); });
}

Done sum(const Attributes& /*attributes*/, Operands operands, const Block& output, Part part) {
  return fold(operands, output, part, [](float a, float b) { return a + b; });
}

Done max(const Attributes& /*attributes*/, Operands operands, const Block& output, Part part) {
  return fold(operands, output, part, [](float a, float b) { return a < b ? b : a; });
}

}  // namespace tutti::cpu
