#include "tutti/runtime/local/verify.h"

#include <algorithm>
#include <cmath>

#include "tutti/kernels/evaluate.h"
#include "tutti/kernels/inputs.h"

namespace tutti {
namespace {

// Rounding piles up over a graph; these leave room for a hundred steps, and none for a wrong index.
constexpr double kAllowedF32 = 1e-4;
constexpr double kAllowedBf16 = 5e-2;

double difference(const Tensor& got, const Tensor& wanted) {
  double largest = 1e-30;
  double worst = 0;
  for (size_t i = 0; i < wanted.data.size(); ++i) {
    if (!std::isfinite(got.data[i]) || !std::isfinite(wanted.data[i]))
      return std::numeric_limits<double>::infinity();
    largest = std::max(largest, std::abs(wanted.data[i]));
    worst = std::max(worst, std::abs(got.data[i] - wanted.data[i]));
  }
  return worst / largest;
}

}  // namespace

Result<std::vector<Tensor>> reference_values(const Graph& graph, uint64_t seed, const Stop& stop) {
  std::vector<Tensor> values(static_cast<size_t>(graph.value_count()));
  for (const ValueId value : graph.values()) {
    if (graph.producer(value).valid()) continue;
    if (!can_fill(graph.dtype(value))) {
      return invalid_input("input '" + graph.value_name(value) + "' is " +
                           to_text(graph.dtype(value)) + ", and only f32, bf16 and i32 are run");
    }
    values[static_cast<size_t>(value.index)] = input_tensor(graph, value, seed);
  }
  return evaluate(graph, std::move(values), stop);
}

Result<Verified> verify(const Graph& graph, uint64_t seed,
                        const std::function<Result<std::vector<std::byte>>(ValueId value)>& result,
                        const Stop& stop) {
  const Result<std::vector<Tensor>> reference = reference_values(graph, seed, stop);
  if (!reference) return reference.error();
  return verify_against(graph, *reference, result);
}

Result<Verified> verify_against(
    const Graph& graph, const std::vector<Tensor>& reference,
    const std::function<Result<std::vector<std::byte>>(ValueId value)>& result) {
  Verified verified;
  double worst_share = -1;  // of what is allowed
  for (const ValueId value : graph.values()) {
    if (!graph.producer(value).valid() || !graph.consumers(value).empty()) continue;
    const Result<std::vector<std::byte>> bytes = result(value);
    if (!bytes) return bytes.error();
    const Tensor& wanted = reference[static_cast<size_t>(value.index)];
    const auto needed =
        wanted.data.size() *
        static_cast<size_t>(std::max(
            1, graph.dtype(value) == DType::unknown ? 4 : element_bytes(graph.dtype(value))));
    if (bytes->size() != needed) {
      return failed("value '" + graph.value_name(value) + "' came to " +
                    std::to_string(bytes->size()) + " bytes instead of " + std::to_string(needed));
    }
    const Tensor got = to_tensor({wanted.shape, graph.dtype(value), bytes->data()});
    const double apart = difference(got, wanted);
    const double allowed = graph.dtype(value) == DType::bf16 ? kAllowedBf16 : kAllowedF32;
    ++verified.values;
    verified.good = verified.good && apart <= allowed;
    if (apart / allowed <= worst_share) continue;
    worst_share = apart / allowed;
    verified.worst = apart;
    verified.allowed = allowed;
    verified.worst_value = graph.value_name(value);
  }
  return verified;
}

}  // namespace tutti
