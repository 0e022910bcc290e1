#include <cmath>

#include "tutti/kernels/cpu/cpu.h"
#include "tutti/kernels/cpu/lines.h"

namespace tutti::cpu {
namespace {

// In lanes, as fold_line.
float sum_of_squares(const float* x, int64_t count) {
  constexpr int64_t kLanes = 16;
  std::array<float, kLanes> lanes{};
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (int64_t lane = 0; lane < kLanes; ++lane) lanes[lane] += x[i + lane] * x[i + lane];
  }
  float sum = 0;
  for (const float lane : lanes) sum += lane;
  for (; i < count; ++i) sum += x[i] * x[i];
  return sum;
}

}  // namespace

Done rms_norm(const Attributes& attributes, Operands operands, const Block& output, Part part) {
  const Axis axis(operands[0].shape, operands[0].shape.size() - 1);
  const float* weight = floats(operands[1]);
  const double epsilon = *attributes.number("epsilon", 0);
  const Range lines = share(axis.outer, part);
  for (int64_t line = lines.begin; line < lines.end; ++line) {
    const float* x = floats(operands[0]) + line * axis.count;
    float* out = floats(output) + line * axis.count;
    const double mean = sum_of_squares(x, axis.count) / static_cast<double>(axis.count);
    const auto inverse = static_cast<float>(1 / std::sqrt(mean + epsilon));
    for (int64_t i = 0; i < axis.count; ++i) out[i] = x[i] * inverse * weight[i];
  }
  return {};
}

}  // namespace tutti::cpu
