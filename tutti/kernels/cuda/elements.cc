#include <algorithm>

#include "tutti/kernels/cpu/floats.h"
#include "tutti/kernels/cuda/blocks.h"
#include "tutti/kernels/cuda/cuda.h"
#include "tutti/kernels/cuda/error.h"
#include "tutti/kernels/cuda/lane.h"
#include "tutti/kernels/einsum_places.h"

namespace tutti::cuda {
namespace {

Done unary(Unary function, float factor, Operands operands, const Block& output, CudaLane& lane) {
  each(lane.queue(), function, factor, element_of(output.dtype), cpu::product_of(output.shape),
       operands[0].data, output.data);
  return launched();
}

Done alike(Binary function, Operands operands, const Block& output, CudaLane& lane) {
  each_alike(lane.queue(), function, element_of(output.dtype), cpu::product_of(output.shape),
             operands[0].data, operands[1].data, output.data);
  return launched();
}

Done binary(Binary function, const Attributes& attributes, Operands operands, const Block& output,
            CudaLane& lane) {
  const auto text = attributes.text("einsum");
  if (!text) return alike(function, operands, output, lane);
  if (cpu::product_of(output.shape) == 0) return {};
  const Shape shapes[] = {cpu::to_shape(operands[0].shape), cpu::to_shape(operands[1].shape)};
  const Einsum einsum = *parse_einsum(*text, shapes[0], shapes[1]);
  const Shape in_a = strides_by_letter(einsum, einsum.first, shapes[0]);
  const Shape in_b = strides_by_letter(einsum, einsum.second, shapes[1]);
  cpu::Nest<2> nest;  // in the order of the result
  for (size_t i = 0; i < einsum.out.size(); ++i) {
    nest.add_loop(einsum.sizes[i], {in_a[i], in_b[i]});
  }
  each_pair(lane.queue(), function, element_of(output.dtype), loops_of(nest), operands[0].data,
            operands[1].data, output.data);
  return launched();
}

// As many arrays at once as a launch can name; further ones are folded into the result.
Done fold_all(Fold function, Operands operands, const Block& output, CudaLane& lane) {
  Arrays arrays;
  const auto launch = [&] {
    fold(lane.queue(), function, element_of(output.dtype), cpu::product_of(output.shape), arrays,
         output.data);
    arrays.count = 0;
    arrays.data[arrays.count++] = output.data;
  };
  for (const ConstBlock& operand : operands) {
    if (arrays.count == Arrays::kMost) launch();
    arrays.data[arrays.count++] = operand.data;
  }
  launch();
  return launched();
}

}  // namespace

Done add(const Attributes& attributes, Operands operands, const Block& output, CudaLane& lane) {
  return binary(Binary::add, attributes, operands, output, lane);
}

Done subtract(const Attributes& attributes, Operands operands, const Block& output,
              CudaLane& lane) {
  return binary(Binary::subtract, attributes, operands, output, lane);
}

Done multiply(const Attributes& attributes, Operands operands, const Block& output,
              CudaLane& lane) {
  return binary(Binary::multiply, attributes, operands, output, lane);
}

Done scale(const Attributes& attributes, Operands operands, const Block& output, CudaLane& lane) {
  const auto factor = static_cast<float>(*attributes.number("factor", 1));
  return unary(Unary::scale, factor, operands, output, lane);
}

Done relu(const Attributes& /*attributes*/, Operands operands, const Block& output,
          CudaLane& lane) {
  return unary(Unary::relu, 1, operands, output, lane);
}

Done relu_gradient(const Attributes& /*attributes*/, Operands operands, const Block& output,
                   CudaLane& lane) {
  return alike(Binary::relu_gradient, operands, output, lane);
}

Done silu(const Attributes& /*attributes*/, Operands operands, const Block& output,
          CudaLane& lane) {
  return unary(Unary::silu, 1, operands, output, lane);
}

Done sum(const Attributes& /*attributes*/, Operands operands, const Block& output, CudaLane& lane) {
  return fold_all(Fold::sum, operands, output, lane);
}

Done max(const Attributes& /*attributes*/, Operands operands, const Block& output, CudaLane& lane) {
  return fold_all(Fold::max, operands, output, lane);
}

}  // namespace tutti::cuda
