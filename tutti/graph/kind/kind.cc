#include "tutti/graph/kind/kind.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "tutti/graph/kind/infer.h"

namespace tutti {
namespace {

constexpr int kMany = OpKind::kOneOrMore;

constexpr auto kKinds = std::to_array<OpKind>({
    {"add", 2, "a + b; einsum: how a smaller b is repeated", infer::binary},
    {"assemble", kMany, "blocks put together; shape, offsets: where each begins", infer::assemble},
    {"embedding", 2, "rows of a table by ids; first_row: the table's first id", infer::embedding},
    {"gemm", 3, "C - A B^T, of tiles A, B, C", infer::gemm},
    {"last_token", 1, "(b, s, d) to (b, d): the last position", infer::last_token},
    {"matmul", 2, "a product; einsum: of which indices, by default ik,kj->ij", infer::matmul},
    {"max", kMany, "the largest of several blocks, element by element", infer::alike},
    {"multiply", 2, "a * b; einsum: how a smaller b is repeated", infer::binary},
    {"potrf", 1, "the lower Cholesky factor of a tile", infer::potrf},
    {"reduce_max", 1, "the largest along axis", infer::reduce},
    {"reduce_sum", 1, "the sum along axis", infer::reduce},
    {"relu", 1, "max(x, 0)", infer::unary},
    {"relu_gradient", 2, "dy where x > 0, of x and dy", infer::alike},
    {"rms_norm", 2, "x / rms(x) * weight along the last axis; epsilon", infer::rms_norm},
    {"rope", 1, "pairs turned by their position; axis, first_position, base", infer::rope},
    {"scale", 1, "factor * x", infer::scale},
    {"silu", 1, "x / (1 + exp(-x))", infer::silu},
    {"slice", 1, "the block of that shape at begin", infer::slice},
    {"softmax", 1, "along axis; first_row: causal, with the first row's position", infer::softmax},
    {"subtract", 2, "a - b; einsum: how a smaller b is repeated", infer::binary},
    {"sum", kMany, "the sum of several blocks, element by element", infer::alike},
    {"syrk", 2, "C - A A^T, of tiles A, C", infer::syrk},
    {"transpose", 1, "axes in another order; permutation", infer::transpose},
    {"trsm", 2, "A L^-T, of tiles L, A", infer::trsm},
});

const OpKind* find_kind(std::string_view name) {
  const auto found = std::find_if(kKinds.begin(), kKinds.end(),
                                  [&](const OpKind& kind) { return kind.name == name; });
  return found == kKinds.end() ? nullptr : &*found;
}

}  // namespace

std::span<const OpKind> known_kinds() {
  return kKinds;
}

Result<OpFacts> infer_op(std::string_view name, const Attributes& attributes,
                         std::span<const Shape> operands) {
  const OpKind* kind = find_kind(name);
  if (kind == nullptr) {
    return invalid_input(fmt::format("there is no kernel for ops of kind '{}'", name));
  }
  const auto count = static_cast<int>(operands.size());
  if (kind->operands == kMany ? count < 1 : count != kind->operands) {
    return invalid_input(
        fmt::format("{} takes {} operand{}, not {}", name,
                    kind->operands == kMany ? "at least 1" : std::to_string(kind->operands),
                    kind->operands == kMany || kind->operands == 1 ? "" : "s", count));
  }
  double read = 0;
  for (const Shape& shape : operands) {
    if (std::any_of(shape.begin(), shape.end(), [](int64_t size) { return size < 0; })) {
      return invalid_input(
          fmt::format("{}: shape {} has a negative size", name, wholes_text(shape)));
    }
    read += element_count(shape);
  }
  Result<OpFacts> facts = kind->infer(attributes, operands);
  if (!facts) return invalid_input(fmt::format("{}: {}", name, facts.error().message));
  if (facts->elements_moved == 0) facts->elements_moved = read + element_count(facts->output);
  return facts;
}

double element_count(const Shape& shape) {
  double count = 1;
  for (const int64_t size : shape) count *= static_cast<double>(size);
  return count;
}

}  // namespace tutti
