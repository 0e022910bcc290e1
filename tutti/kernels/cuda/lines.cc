#include "tutti/kernels/cpu/lines.h"

#include "tutti/kernels/cuda/blocks.h"
#include "tutti/kernels/cuda/cuda.h"
#include "tutti/kernels/cuda/error.h"
#include "tutti/kernels/cuda/lane.h"

namespace tutti::cuda {
namespace {

Lines lines_along(std::span<const int64_t> shape, size_t axis) {
  const cpu::Axis along(shape, axis);
  return {along.outer, along.count, along.inner};
}

Done reduce_by(Fold function, const Attributes& attributes, Operands operands, const Block& output,
               CudaLane& lane) {
  const std::span<const int64_t> shape = operands[0].shape;
  reduce(lane.queue(), function, element_of(output.dtype),
         lines_along(shape, cpu::axis_of(attributes, shape)), operands[0].data, output.data);
  return launched();
}

}  // namespace

Done softmax(const Attributes& attributes, Operands operands, const Block& output, CudaLane& lane) {
  const std::span<const int64_t> shape = operands[0].shape;
  const bool causal = attributes.text("first_row").has_value();
  softmax(lane.queue(), element_of(output.dtype),
          lines_along(shape, cpu::axis_of(attributes, shape)),
          {.on = causal,
           .first_row = *attributes.whole("first_row", 0),
           .rows = causal ? shape[shape.size() - 2] : 1},
          operands[0].data, output.data);
  return launched();
}

Done rms_norm(const Attributes& attributes, Operands operands, const Block& output,
              CudaLane& lane) {
  const cpu::Axis axis(operands[0].shape, operands[0].shape.size() - 1);
  rms_norm(lane.queue(), element_of(output.dtype), axis.outer, axis.count,
           static_cast<float>(*attributes.number("epsilon", 0)), operands[0].data, operands[1].data,
           output.data);
  return launched();
}

// How far each pair turns at each position is worked out once, for all lines.
Done rope(const Attributes& attributes, Operands operands, const Block& output, CudaLane& lane) {
  const std::span<const int64_t> shape = operands[0].shape;
  if (cpu::product_of(shape) == 0) return {};
  Lines lines = lines_along(shape, cpu::axis_of(attributes, shape));
  const int64_t pairs = shape.back() / 2;
  lines.inner /= 2;
  const Result<std::byte*> scratch =
      lane.scratch(2 * lines.count * pairs * static_cast<int64_t>(sizeof(float)));
  if (!scratch) return scratch.error();
  auto* turns = reinterpret_cast<float*>(*scratch);
  rope_turns(lane.queue(), lines.count, pairs,
             static_cast<double>(*attributes.whole("first_position", 0)),
             *attributes.number("base", 10000), turns);
  rope(lane.queue(), element_of(output.dtype), lines, pairs, turns, operands[0].data, output.data);
  return launched();
}

Done reduce_sum(const Attributes& attributes, Operands operands, const Block& output,
                CudaLane& lane) {
  return reduce_by(Fold::sum, attributes, operands, output, lane);
}

Done reduce_max(const Attributes& attributes, Operands operands, const Block& output,
                CudaLane& lane) {
  return reduce_by(Fold::max, attributes, operands, output, lane);
}

}  // namespace tutti::cuda
