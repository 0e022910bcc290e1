#include "tutti/kernels/kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "tutti/base/check.h"
#include "tutti/kernels/cpu/cpu.h"
#include "tutti/kernels/reference.h"

namespace tutti {
namespace {

constexpr auto kParts = Kernel::Split::parts;
constexpr auto kNone = Kernel::Split::none;

constexpr auto kKernels = std::to_array<Kernel>({
    {"add", reference::add, cpu::add, kParts},
    {"assemble", reference::assemble, cpu::assemble, kParts},
    {"embedding", reference::embedding, cpu::embedding, kParts},
    {"gemm", reference::gemm, cpu::gemm, kParts},
    {"last_token", reference::last_token, cpu::last_token, kParts},
    {"matmul", reference::matmul, cpu::matmul, kParts},
    {"max", reference::max, cpu::max, kParts},
    {"multiply", reference::multiply, cpu::multiply, kParts},
    {"potrf", reference::potrf, cpu::potrf, kNone},
    {"reduce_max", reference::reduce_max, cpu::reduce_max, kParts},
    {"reduce_sum", reference::reduce_sum, cpu::reduce_sum, kParts},
    {"relu", reference::relu, cpu::relu, kParts},
    {"relu_gradient", reference::relu_gradient, cpu::relu_gradient, kParts},
    {"rms_norm", reference::rms_norm, cpu::rms_norm, kParts},
    {"rope", reference::rope, cpu::rope, kParts},
    {"scale", reference::scale, cpu::scale, kParts},
    {"silu", reference::silu, cpu::silu, kParts},
    {"slice", reference::slice, cpu::slice, kParts},
    {"softmax", reference::softmax, cpu::softmax, kParts},
    {"subtract", reference::subtract, cpu::subtract, kParts},
    {"sum", reference::sum, cpu::sum, kParts},
    {"syrk", reference::syrk, cpu::syrk, kParts},
    {"transpose", reference::transpose, cpu::transpose, kParts},
    {"trsm", reference::trsm, cpu::trsm, kParts},
});

// The row of a kind that infer_op knows.
const Kernel& row_of(std::string_view kind) {
  const auto kernel = std::find_if(kKernels.begin(), kKernels.end(),
                                   [&](const Kernel& row) { return row.kind == kind; });
  TUTTI_CHECK(kernel != kKernels.end());  // each kind has a row, by test
  return *kernel;
}

// Numbers are f32; the ids of an embedding may be whole numbers.
Result<void> check_dtypes(std::string_view kind, std::span<const ConstBlock> operands,
                          const Block& output) {
  for (size_t i = 0; i < operands.size(); ++i) {
    const DType dtype = operands[i].dtype;
    if (dtype == DType::f32 || (kind == "embedding" && i == 0 && dtype == DType::i32)) continue;
    return invalid_input(fmt::format("{}: operand {} is of dtype {}; on a CPU it can be f32{}",
                                     kind, i, to_text(dtype),
                                     kind == "embedding" && i == 0 ? " or i32" : " alone"));
  }
  if (output.dtype == DType::f32) return {};
  return invalid_input(fmt::format("{}: the output is of dtype {}; on a CPU it can be f32 alone",
                                   kind, to_text(output.dtype)));
}

}  // namespace

std::span<const Kernel> kernels() {
  return kKernels;
}

Result<Tensor> run_reference(std::string_view kind, const Attributes& attributes,
                             std::span<const Tensor* const> operands) {
  std::vector<Shape> shapes;
  for (const Tensor* operand : operands) shapes.push_back(operand->shape);
  const Result<OpFacts> facts = infer_op(kind, attributes, shapes);
  if (!facts) return facts.error();
  Tensor output = Tensor::zeros(facts->output);
  if (auto done = row_of(kind).reference(attributes, operands, output); !done) return done.error();
  return output;
}

Result<void> run_cpu(std::string_view kind, const Attributes& attributes,
                     std::span<const ConstBlock> operands, const Block& output, Part part) {
  TUTTI_CHECK(part.index >= 0 && part.index < part.count);
  std::vector<Shape> shapes;
  for (const ConstBlock& operand : operands) {
    shapes.emplace_back(operand.shape.begin(), operand.shape.end());
  }
  const Result<OpFacts> facts = infer_op(kind, attributes, shapes);
  if (!facts) return facts.error();
  if (auto checked = check_dtypes(kind, operands, output); !checked) return checked.error();
  if (!std::equal(facts->output.begin(), facts->output.end(), output.shape.begin(),
                  output.shape.end())) {
    return invalid_input(fmt::format("{}: there is room for shape {}, but it makes shape {}", kind,
                                     wholes_text(output.shape), wholes_text(facts->output)));
  }
  return row_of(kind).cpu(attributes, operands, output, part);
}

}  // namespace tutti
