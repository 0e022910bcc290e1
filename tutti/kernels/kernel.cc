#include "tutti/kernels/kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "tutti/base/check.h"
#include "tutti/kernels/cpu/cpu.h"
#include "tutti/kernels/cuda/cuda.h"
#include "tutti/kernels/reference.h"

namespace tutti {
namespace {

constexpr auto kParts = Kernel::Split::parts;
constexpr auto kNone = Kernel::Split::none;

#ifdef TUTTI_HAVE_CUDA
#define TUTTI_KERNEL(kind, split) \
  { #kind, reference::kind, cpu::kind, split, cuda::kind }
#else
#define TUTTI_KERNEL(kind, split) \
  { #kind, reference::kind, cpu::kind, split, nullptr }
#endif

constexpr auto kKernels = std::to_array<Kernel>({
    TUTTI_KERNEL(add, kParts),           TUTTI_KERNEL(assemble, kParts),
    TUTTI_KERNEL(embedding, kParts),     TUTTI_KERNEL(gemm, kParts),
    TUTTI_KERNEL(last_token, kParts),    TUTTI_KERNEL(matmul, kParts),
    TUTTI_KERNEL(max, kParts),           TUTTI_KERNEL(multiply, kParts),
    TUTTI_KERNEL(potrf, kNone),          TUTTI_KERNEL(reduce_max, kParts),
    TUTTI_KERNEL(reduce_sum, kParts),    TUTTI_KERNEL(relu, kParts),
    TUTTI_KERNEL(relu_gradient, kParts), TUTTI_KERNEL(rms_norm, kParts),
    TUTTI_KERNEL(rope, kParts),          TUTTI_KERNEL(scale, kParts),
    TUTTI_KERNEL(silu, kParts),          TUTTI_KERNEL(slice, kParts),
    TUTTI_KERNEL(softmax, kParts),       TUTTI_KERNEL(subtract, kParts),
    TUTTI_KERNEL(sum, kParts),           TUTTI_KERNEL(syrk, kParts),
    TUTTI_KERNEL(transpose, kParts),     TUTTI_KERNEL(trsm, kParts),
});

// The row of a kind that infer_op knows.
const Kernel& row_of(std::string_view kind) {
  const auto kernel = std::find_if(kKernels.begin(), kKernels.end(),
                                   [&](const Kernel& row) { return row.kind == kind; });
  TUTTI_CHECK(kernel != kKernels.end());  // each kind has a row, by test
  return *kernel;
}

// What a kind of device can compute with.
struct Dtypes {
  std::string_view device;
  std::span<const DType> of_numbers;
  std::string_view text;
};
constexpr DType kOnCpu[] = {DType::f32};
constexpr DType kOnGpu[] = {DType::f32, DType::bf16};
constexpr Dtypes kCpuDtypes = {"a CPU", kOnCpu, "f32"};
constexpr Dtypes kGpuDtypes = {"a GPU", kOnGpu, "f32 or bf16"};

bool contains(std::span<const DType> dtypes, DType dtype) {
  return std::find(dtypes.begin(), dtypes.end(), dtype) != dtypes.end();
}

// The ids of an embedding may be whole numbers; all else is of one dtype.
Result<void> check_dtypes(std::string_view kind, std::span<const ConstBlock> operands,
                          const Block& output, const Dtypes& dtypes) {
  for (size_t i = 0; i < operands.size(); ++i) {
    const DType dtype = operands[i].dtype;
    const bool ids = kind == "embedding" && i == 0;
    if (contains(dtypes.of_numbers, dtype) || (ids && dtype == DType::i32)) continue;
    return invalid_input(fmt::format("{}: operand {} is of dtype {}; on {} it can be {}{}", kind, i,
                                     to_text(dtype), dtypes.device, dtypes.text,
                                     ids ? " or i32" : " alone"));
  }
  if (!contains(dtypes.of_numbers, output.dtype)) {
    return invalid_input(fmt::format("{}: the output is of dtype {}; on {} it can be {} alone",
                                     kind, to_text(output.dtype), dtypes.device, dtypes.text));
  }
  for (size_t i = kind == "embedding" ? 1 : 0; i < operands.size(); ++i) {
    if (operands[i].dtype == output.dtype) continue;
    return invalid_input(
        fmt::format("{}: operand {} is of dtype {} and the output of {}; they "
                    "must be the same",
                    kind, i, to_text(operands[i].dtype), to_text(output.dtype)));
  }
  return {};
}

// That the kind is known, operands and attributes fit, and there is room for what it makes.
Result<void> check_call(std::string_view kind, const Attributes& attributes,
                        std::span<const ConstBlock> operands, const Block& output,
                        const Dtypes& dtypes) {
  std::vector<Shape> shapes;
  for (const ConstBlock& operand : operands) {
    shapes.emplace_back(operand.shape.begin(), operand.shape.end());
  }
  const Result<OpFacts> facts = infer_op(kind, attributes, shapes);
  if (!facts) return facts.error();
  if (auto checked = check_dtypes(kind, operands, output, dtypes); !checked) return checked.error();
  if (std::equal(facts->output.begin(), facts->output.end(), output.shape.begin(),
                 output.shape.end())) {
    return {};
  }
  return invalid_input(fmt::format("{}: there is room for shape {}, but it makes shape {}", kind,
                                   wholes_text(output.shape), wholes_text(facts->output)));
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
  if (auto checked = check_call(kind, attributes, operands, output, kCpuDtypes); !checked) {
    return checked.error();
  }
  return row_of(kind).cpu(attributes, operands, output, part);
}

Result<void> run_cuda(std::string_view kind, const Attributes& attributes,
                      std::span<const ConstBlock> operands, const Block& output, CudaLane& lane) {
  if (auto checked = check_call(kind, attributes, operands, output, kGpuDtypes); !checked) {
    return checked.error();
  }
  const Kernel& kernel = row_of(kind);
  if (kernel.cuda == nullptr) return failed("this program was built without CUDA");
  return kernel.cuda(attributes, operands, output, lane);
}

}  // namespace tutti
