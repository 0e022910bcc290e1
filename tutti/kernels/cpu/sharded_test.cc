// Whole programs, op by op with the CPU's code, are what the reference says.

#include <gtest/gtest.h>

#include "tutti/graph/make/chainmm.h"
#include "tutti/graph/make/cholesky.h"
#include "tutti/graph/make/ffnn.h"
#include "tutti/graph/make/llama.h"
#include "tutti/kernels/cpu/testing.h"
#include "tutti/kernels/testing.h"

namespace tutti {
namespace {

// Of the largest element of each value. A program's ops follow each other twenty deep.
constexpr double kTolerance = 2e-5;

// A value in the dtype that the graph gives it.
struct Stored {
  Shape shape;
  DType dtype = DType::f32;
  std::vector<float> floats;
  std::vector<int32_t> wholes;

  Stored() = default;
  Stored(const Tensor& tensor, DType its_dtype) : shape(tensor.shape), dtype(its_dtype) {
    if (dtype == DType::i32) {
      wholes.assign(tensor.data.begin(), tensor.data.end());
    } else {
      floats.assign(tensor.data.begin(), tensor.data.end());
    }
  }
  ConstBlock block() const {
    if (dtype == DType::i32) return {shape, dtype, wholes.data()};
    return {shape, dtype, floats.data()};
  }
};

// Runs every op in so many parts on inputs rounded to the graph's dtypes, with the reference
// beside.
void expect_reference(const Graph& graph, std::vector<Tensor> inputs, int parts) {
  std::vector<Stored> values(inputs.size());
  for (const ValueId value : graph.values()) {
    if (graph.producer(value).valid()) continue;
    const auto i = static_cast<size_t>(value.index);
    values[i] = Stored(inputs[i], graph.dtype(value));
  }
  const auto wanted = evaluate(graph, std::move(inputs));
  ASSERT_TRUE(wanted) << wanted.error().message;
  for (const OpId op : graph.topological_order()) {
    std::vector<ConstBlock> operands;
    for (const ValueId value : graph.operands(op)) {
      operands.push_back(values[static_cast<size_t>(value.index)].block());
    }
    const Result<Floats> got =
        run_parts(graph.op_kind_name(op), Attributes(graph.attributes(op)), operands, parts);
    ASSERT_TRUE(got) << graph.op_name(op) << ": " << got.error().message;
    const ValueId value = graph.outputs(op).front();
    const auto i = static_cast<size_t>(value.index);
    ASSERT_EQ(graph.dtype(value), DType::f32);
    expect_close(got->tensor(), (*wanted)[i], kTolerance * largest_of((*wanted)[i]),
                 std::string(graph.op_name(op)));
    if (::testing::Test::HasFatalFailure()) return;
    values[i] = Stored(got->tensor(), DType::f32);
  }
}

void expect_reference(const Result<Sharded>& sharded) {
  ASSERT_TRUE(sharded) << sharded.error().message;
  const NamedTensors inputs = inputs_of(*sharded, /*ids=*/12);
  for (const int parts : {1, 3}) {
    expect_reference(sharded->graph, blocks_of(*sharded, inputs), parts);
  }
}

const std::vector<ProductSplit> kSplits = {{1, 1, 1}, {2, 2, 4}, {7, 5, 3}};

TEST(CpuProgram, ChainmmIsTheReference) {
  TUTTI_NEEDS_OPENBLAS();
  for (const ProductSplit& split : kSplits) {
    expect_reference(make_chainmm({.size = 12, .split = split}));
  }
}

TEST(CpuProgram, TrainingAnFfnnIsTheReference) {
  TUTTI_NEEDS_OPENBLAS();
  FfnnSpec spec{.batch = 12, .sizes = {12, 24, 12}, .train = true, .learning_rate = 0.5};
  for (const int64_t shards : {1, 3, 5}) {
    spec.data_shards = shards;
    expect_reference(make_ffnn(spec));
  }
  for (const ProductSplit& split : kSplits) {
    spec.split = split;
    expect_reference(make_ffnn(spec));
  }
}

TEST(CpuProgram, LlamaIsTheReference) {
  TUTTI_NEEDS_OPENBLAS();
  for (const bool ends : {false, true}) {  // llama-block and llama-layer
    LlamaSpec spec = tiny_llama(ends);
    expect_reference(make_llama(spec));
    for (const char* split : {"dp", "tp", "mix"}) {
      for (const int64_t shards : {2, 3}) {
        expect_reference(make_llama(*with_split(spec, split, shards)));
      }
    }
    spec.data_shards = 2;
    spec.head_shards = 2;
    spec.row_shards = 8;
    expect_reference(make_llama(spec));
  }
}

TEST(CpuProgram, OtherStatementsAreTheReference) {
  const OtherStatements other;
  expect_reference(shard(other.program, {.splits = {{other.i, 2}, {other.j, 3}, {other.v, 4}}}));
}

TEST(CpuProgram, CholeskyIsTheReference) {
  TUTTI_NEEDS_OPENBLAS();
  constexpr int64_t kTiles = 4;
  constexpr int64_t kTile = 5;
  const Result<Graph> graph = make_cholesky({.tiles = kTiles, .tile_size = kTile});
  ASSERT_TRUE(graph) << graph.error().message;
  std::vector<Tensor> values(static_cast<size_t>(graph->value_count()));
  size_t next = 0;  // inputs come first, row by row; a heavy diagonal makes them positive definite
  for (int64_t i = 0; i < kTiles; ++i) {
    for (int64_t j = 0; j <= i; ++j) {
      Tensor tile = tutti::fill("tile" + std::to_string(next), Shape{kTile, kTile}, 1);
      for (int64_t k = 0; i == j && k < kTile; ++k) {
        tile.data[static_cast<size_t>(k * kTile + k)] += 2 * kTiles * kTile;
      }
      values[next++] = std::move(tile);
    }
  }
  for (const int parts : {1, 3}) expect_reference(*graph, values, parts);
}

}  // namespace
}  // namespace tutti
