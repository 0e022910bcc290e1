#include "tutti/kernels/kernel.h"

#include <algorithm>
#include <array>

#include "tutti/base/check.h"
#include "tutti/kernels/reference.h"

namespace tutti {
namespace {

constexpr auto kKernels = std::to_array<Kernel>({
    {"add", reference::add},
    {"assemble", reference::assemble},
    {"embedding", reference::embedding},
    {"gemm", reference::gemm},
    {"last_token", reference::last_token},
    {"matmul", reference::matmul},
    {"max", reference::max},
    {"multiply", reference::multiply},
    {"potrf", reference::potrf},
    {"reduce_max", reference::reduce_max},
    {"reduce_sum", reference::reduce_sum},
    {"relu", reference::relu},
    {"relu_gradient", reference::relu_gradient},
    {"rms_norm", reference::rms_norm},
    {"rope", reference::rope},
    {"scale", reference::scale},
    {"silu", reference::silu},
    {"slice", reference::slice},
    {"softmax", reference::softmax},
    {"subtract", reference::subtract},
    {"sum", reference::sum},
    {"syrk", reference::syrk},
    {"transpose", reference::transpose},
    {"trsm", reference::trsm},
});

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
  const auto kernel = std::find_if(kKernels.begin(), kKernels.end(),
                                   [&](const Kernel& row) { return row.kind == kind; });
  TUTTI_CHECK(kernel != kKernels.end());  // each kind has a row, by test
  Tensor output = Tensor::zeros(facts->output);
  if (auto done = kernel->reference(attributes, operands, output); !done) return done.error();
  return output;
}

}  // namespace tutti
