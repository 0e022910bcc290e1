#include "tutti/kernels/inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <numeric>
#include <string>

#include "tutti/base/check.h"
#include "tutti/base/random.h"
#include "tutti/graph/kind/kind.h"

namespace tutti {
namespace {

// Large inputs repeat the same numbers: drawing all of them would take longer than the run.
constexpr int64_t kMostDrawn = 1 << 20;

// What the readers of an input expect of its numbers.
struct Expected {
  int64_t ids = 0;      // above 0: whole numbers below this
  double diagonal = 0;  // added to the diagonal of a square tile, which is made symmetric
  double amplitude = 1;
};

int64_t potrf_count(const Graph& graph) {
  int64_t count = 0;
  for (const OpId op : graph.ops()) count += graph.op_kind_name(op) == "potrf" ? 1 : 0;
  return count;
}

int64_t first_row_of(const Graph& graph, OpId op) {
  for (const auto& [key, text] : graph.attributes(op)) {
    if (key != "first_row") continue;
    int64_t row = 0;  // what is no number, its kernel refuses
    std::from_chars(text.data(), text.data() + text.size(), row);
    return row;
  }
  return 0;
}

Expected expected_of(const Graph& graph, ValueId value) {
  Expected expected;
  const auto shape = graph.shape(value);
  if (graph.is_weight(value) && shape.size() >= 2) {
    expected.amplitude = std::sqrt(3.0 / static_cast<double>(std::max<int64_t>(1, shape[0])));
  }
  for (const EdgeId edge : graph.consumers(value)) {
    const OpId op = graph.edge_to(edge);
    const std::string_view kind = graph.op_kind_name(op);
    const auto operands = graph.operands(op);
    if (kind == "embedding" && operands.size() == 2 && operands[0] == value) {
      const auto table = graph.shape(operands[1]);
      if (!table.empty()) {
        expected.ids = std::max(expected.ids, first_row_of(graph, op) + table[0]);
      }
    }
    // The tiles on the diagonal are those that are factored, now or after updates.
    const bool factored = kind == "potrf" || (kind == "syrk" && operands.back() == value);
    if (factored && shape.size() == 2 && shape[0] == shape[1]) {
      expected.diagonal = 2.0 * static_cast<double>(shape[0] * potrf_count(graph));
    }
  }
  return expected;
}

uint16_t to_bf16(float number) {  // to the nearest, ties to even
  const auto bits = std::bit_cast<uint32_t>(number);
  return static_cast<uint16_t>((bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16);
}

float from_bf16(uint16_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

// The numbers of an input before they are stored, up to kMostDrawn of them.
std::vector<float> draw(const Graph& graph, ValueId value, uint64_t seed, int64_t count) {
  const Expected expected = expected_of(graph, value);
  Rng rng = Rng(seed).split(static_cast<uint64_t>(value.index));
  std::vector<float> numbers(static_cast<size_t>(count));
  for (float& number : numbers) {
    number = expected.ids > 0 ? static_cast<float>(rng.below(static_cast<uint64_t>(expected.ids)))
                              : static_cast<float>(expected.amplitude * (2 * rng.uniform() - 1));
  }
  return numbers;
}

void make_definite(std::vector<float>& tile, int64_t side, double diagonal) {
  for (int64_t i = 0; i < side; ++i) {
    for (int64_t j = 0; j < i; ++j) {
      tile[static_cast<size_t>(j * side + i)] = tile[static_cast<size_t>(i * side + j)];
    }
    tile[static_cast<size_t>(i * side + i)] += static_cast<float>(diagonal);
  }
}

int64_t count_of(std::span<const int64_t> shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
}

std::vector<float> numbers_of(const Graph& graph, ValueId value, uint64_t seed, int64_t count) {
  std::vector<float> numbers = draw(graph, value, seed, std::min(count, kMostDrawn));
  numbers.reserve(static_cast<size_t>(count));
  while (static_cast<int64_t>(numbers.size()) < count) {
    const auto more = std::min(static_cast<size_t>(count) - numbers.size(), numbers.size());
    numbers.insert(numbers.end(), numbers.begin(), numbers.begin() + static_cast<long>(more));
  }
  if (const double diagonal = expected_of(graph, value).diagonal; diagonal > 0) {
    make_definite(numbers, graph.shape(value)[0], diagonal);
  }
  return numbers;
}

}  // namespace

bool can_fill(DType dtype) {
  return dtype == DType::f32 || dtype == DType::bf16 || dtype == DType::i32 ||
         dtype == DType::unknown;
}

Result<void> check_dtypes(const Graph& graph) {
  for (const ValueId value : graph.values()) {
    if (can_fill(graph.dtype(value))) continue;
    return invalid_input(
        fmt::format("value '{}' is of dtype {}; kernels know f32, i32 and, on GPUs, bf16",
                    graph.value_name(value), to_text(graph.dtype(value))));
  }
  return {};
}

void fill_input(const Graph& graph, ValueId value, uint64_t seed, const Block& block) {
  TUTTI_CHECK(can_fill(block.dtype));
  const bool shaped = !graph.shape(value).empty();
  const int64_t count =
      shaped ? count_of(block.shape) : graph.bytes(value) / static_cast<int64_t>(sizeof(float));
  const std::vector<float> numbers = numbers_of(graph, value, seed, count);
  if (block.dtype == DType::i32) {
    auto* to = static_cast<int32_t*>(block.data);
    std::transform(numbers.begin(), numbers.end(), to,
                   [](float x) { return static_cast<int32_t>(x); });
  } else if (block.dtype == DType::bf16) {
    std::transform(numbers.begin(), numbers.end(), static_cast<uint16_t*>(block.data), to_bf16);
  } else if (!numbers.empty()) {
    std::memcpy(block.data, numbers.data(), numbers.size() * sizeof(float));
  }
}

Tensor to_tensor(const ConstBlock& block) {
  Tensor tensor = Tensor::zeros(Shape(block.shape.begin(), block.shape.end()));
  for (size_t i = 0; i < tensor.data.size(); ++i) {
    switch (block.dtype) {
      case DType::i32:
        tensor.data[i] = static_cast<const int32_t*>(block.data)[i];
        break;
      case DType::bf16:
        tensor.data[i] = from_bf16(static_cast<const uint16_t*>(block.data)[i]);
        break;
      default:
        tensor.data[i] = static_cast<const float*>(block.data)[i];
    }
  }
  return tensor;
}

Tensor input_tensor(const Graph& graph, ValueId value, uint64_t seed) {
  const DType dtype = graph.dtype(value);
  const auto shape = graph.shape(value);
  std::vector<std::byte> bytes(
      static_cast<size_t>(count_of(shape)) *
      static_cast<size_t>(dtype == DType::unknown ? 4 : element_bytes(dtype)));
  fill_input(graph, value, seed, {shape, dtype, bytes.data()});
  return to_tensor({shape, dtype, bytes.data()});
}

}  // namespace tutti
