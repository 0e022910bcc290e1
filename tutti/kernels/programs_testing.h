// For tests: whole programs, split in many ways, run op by op with any code beside the reference.

#ifndef TUTTI_KERNELS_PROGRAMS_TESTING_H_
#define TUTTI_KERNELS_PROGRAMS_TESTING_H_

#include <bit>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tutti/graph/make/chainmm.h"
#include "tutti/graph/make/cholesky.h"
#include "tutti/graph/make/ffnn.h"
#include "tutti/kernels/cases_testing.h"
#include "tutti/kernels/testing.h"

namespace tutti {

// The nearest number that a dtype holds, of those that kernels know.
inline double rounded(double x, DType dtype) {
  if (dtype == DType::i32 || std::isnan(x)) return x;
  const auto single = static_cast<float>(x);
  if (dtype == DType::f32 || std::isinf(single)) return single;
  // A bf16 is the upper half of a float; halfway cases go to the even one.
  auto bits = std::bit_cast<uint32_t>(single);
  bits += 0x7fffU + ((bits >> 16) & 1U);
  return std::bit_cast<float>(bits & 0xffff0000U);
}

inline Tensor rounded(Tensor tensor, DType dtype) {
  for (double& x : tensor.data) x = rounded(x, dtype);
  return tensor;
}

struct TestProgram {
  Graph graph;
  std::vector<Tensor> values;  // of inputs
};

inline void add_program(std::vector<TestProgram>& programs, Result<Sharded> sharded) {
  ASSERT_TRUE(sharded) << sharded.error().message;
  std::vector<Tensor> values = blocks_of(*sharded, inputs_of(*sharded, /*ids=*/12));
  programs.push_back({std::move(sharded->graph), std::move(values)});
}

inline std::vector<ProductSplit> product_splits() {
  return {{1, 1, 1}, {2, 2, 4}, {7, 5, 3}};
}

inline std::vector<TestProgram> chainmm_programs(DType dtype) {
  std::vector<TestProgram> programs;
  for (const ProductSplit& split : product_splits()) {
    add_program(programs, make_chainmm({.size = 12, .split = split, .dtype = dtype}));
  }
  return programs;
}

inline std::vector<TestProgram> ffnn_programs(DType dtype) {
  std::vector<TestProgram> programs;
  FfnnSpec spec{.batch = 12, .sizes = {12, 24, 12}, .train = true, .learning_rate = 0.5};
  spec.dtype = dtype;
  for (const int64_t shards : {1, 3, 5}) {
    spec.data_shards = shards;
    add_program(programs, make_ffnn(spec));
  }
  for (const ProductSplit& split : product_splits()) {
    spec.split = split;
    add_program(programs, make_ffnn(spec));
  }
  return programs;
}

inline std::vector<TestProgram> llama_programs(DType dtype) {
  std::vector<TestProgram> programs;
  for (const bool ends : {false, true}) {  // llama-block and llama-layer
    LlamaSpec spec = tiny_llama(ends);
    spec.dtype = dtype;
    add_program(programs, make_llama(spec));
    for (const char* split : {"dp", "tp", "mix"}) {
      for (const int64_t shards : {2, 3}) {
        add_program(programs, make_llama(*with_split(spec, split, shards)));
      }
    }
    spec.data_shards = 2;
    spec.head_shards = 2;
    spec.row_shards = 8;
    add_program(programs, make_llama(spec));
  }
  return programs;
}

inline std::vector<TestProgram> other_programs(DType dtype) {
  std::vector<TestProgram> programs;
  const OtherStatements other;
  add_program(programs, shard(other.program, {.splits = {{other.i, 2}, {other.j, 3}, {other.v, 4}},
                                              .dtype = dtype}));
  return programs;
}

inline std::vector<TestProgram> cholesky_programs(DType dtype) {
  constexpr int64_t kTiles = 4;
  constexpr int64_t kTile = 5;
  Result<Graph> graph = make_cholesky({.tiles = kTiles, .tile_size = kTile, .dtype = dtype});
  EXPECT_TRUE(graph) << graph.error().message;
  std::vector<Tensor> values(static_cast<size_t>(graph->value_count()));
  size_t next = 0;  // inputs come first, row by row; a heavy diagonal makes them positive definite
  for (int64_t i = 0; i < kTiles; ++i) {
    for (int64_t j = 0; j <= i; ++j) {
      Tensor tile = fill("tile" + std::to_string(next), Shape{kTile, kTile}, 1);
      for (int64_t k = 0; i == j && k < kTile; ++k) {
        tile.data[static_cast<size_t>(k * kTile + k)] += 2 * kTiles * kTile;
      }
      values[next++] = std::move(tile);
    }
  }
  std::vector<TestProgram> programs;
  programs.push_back({std::move(*graph), std::move(values)});
  return programs;
}

// Runs one op; dtypes are those of the operands, and last that of the result.
using RunOp = std::function<Result<Tensor>(const OpCase& op, const std::vector<DType>& dtypes)>;

enum class Beside : uint8_t {
  program,  // the reference starts from the program's inputs
  op,       // and anew for each op, from what the code made of the ops before
};

inline void expect_reference(const TestProgram& program, Beside beside, double tolerance,
                             const RunOp& run) {
  const Graph& graph = program.graph;
  std::vector<Tensor> values = program.values;
  for (const ValueId value : graph.values()) {
    if (graph.producer(value).valid()) continue;
    const auto i = static_cast<size_t>(value.index);
    values[i] = rounded(std::move(values[i]), graph.dtype(value));
  }
  std::vector<Tensor> references = values;  // of ops: as they come
  for (const OpId op : graph.topological_order()) {
    OpCase code{std::string(graph.op_kind_name(op)), {}};
    OpCase plain = code;
    for (const auto& [key, text] : graph.attributes(op)) code.texts.emplace_back(key, text);
    plain.texts = code.texts;
    std::vector<DType> dtypes;
    for (const ValueId value : graph.operands(op)) {
      const auto i = static_cast<size_t>(value.index);
      code.operands.push_back(values[i]);
      plain.operands.push_back(beside == Beside::op ? values[i] : references[i]);
      dtypes.push_back(graph.dtype(value));
    }
    const ValueId output = graph.outputs(op).front();
    dtypes.push_back(graph.dtype(output));
    Result<Tensor> wanted = plain.reference();
    ASSERT_TRUE(wanted) << graph.op_name(op) << ": " << wanted.error().message;
    Result<Tensor> got = run(code, dtypes);
    ASSERT_TRUE(got) << graph.op_name(op) << ": " << got.error().message;
    expect_close(*got, *wanted, tolerance * plain.scale(*wanted), std::string(graph.op_name(op)));
    if (::testing::Test::HasFatalFailure()) return;
    values[static_cast<size_t>(output.index)] = std::move(*got);
    references[static_cast<size_t>(output.index)] = std::move(*wanted);
  }
}

}  // namespace tutti

#endif  // TUTTI_KERNELS_PROGRAMS_TESTING_H_
