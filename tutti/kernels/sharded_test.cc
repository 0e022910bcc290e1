// However a program is split, its graph computes the same: every tensor, the inner ones too, is
// compared with the one of the program in single blocks.

#include <gtest/gtest.h>

#include <numeric>

#include "tutti/graph/make/chainmm.h"
#include "tutti/graph/make/cholesky.h"
#include "tutti/graph/make/ffnn.h"
#include "tutti/graph/make/llama.h"
#include "tutti/kernels/testing.h"

namespace tutti {
namespace {

Sharded must(Result<Sharded> sharded) {
  EXPECT_TRUE(sharded) << sharded.error().message;
  return std::move(*sharded);
}

void expect_same(const Sharded& split, const Sharded& whole) {
  const NamedTensors inputs = inputs_of(whole, /*ids=*/12);
  expect_equal(run_sharded(split, inputs), run_sharded(whole, inputs));
}

const std::vector<ProductSplit> kSplits = {{2, 2, 1}, {2, 2, 4}, {1, 4, 2}, {4, 1, 1}, {1, 1, 4},
                                           {3, 2, 1}, {4, 3, 6}, {5, 2, 1}, {7, 5, 3}, {2, 3, 5}};

TEST(ShardedProgram, ChainmmIsTheSameHoweverSplit) {
  const Sharded whole = must(make_chainmm({.size = 12, .split = {1, 1, 1}}));
  EXPECT_EQ(whole.graph.size(), 4);
  for (const ProductSplit& split : kSplits) {
    expect_same(must(make_chainmm({.size = 12, .split = split})), whole);
  }
}

TEST(ShardedProgram, ChainmmIsTheSumOfTheProducts) {
  // All matrices of ones: AB = n, DE = n, C(DE) = n^2.
  const Sharded sharded = must(make_chainmm({.size = 4, .split = {2, 2, 2}}));
  NamedTensors inputs = inputs_of(sharded);
  for (auto& [name, tensor] : inputs) tensor.data.assign(tensor.data.size(), 1);
  const Tensor result = run_sharded(sharded, inputs).at("result");
  for (const double x : result.data) EXPECT_EQ(x, 4 + 16);
}

FfnnSpec tiny_ffnn(bool train) {
  return {.batch = 12, .sizes = {12, 24, 12}, .train = train, .learning_rate = 0.5};
}

TEST(ShardedProgram, FfnnIsTheSameHoweverSplit) {
  for (const bool train : {false, true}) {
    FfnnSpec spec = tiny_ffnn(train);
    spec.data_shards = 1;
    const Sharded whole = must(make_ffnn(spec));
    for (const int64_t shards : {2, 3, 4, 5, 7}) {
      spec.data_shards = shards;
      expect_same(must(make_ffnn(spec)), whole);
    }
    for (const ProductSplit& split : kSplits) {
      spec.split = split;
      expect_same(must(make_ffnn(spec)), whole);
    }
  }
}

// Half the mean squared error.
double loss(const Sharded& network, const NamedTensors& inputs) {
  const Tensor output = run_sharded(network, inputs).at("sum2");
  double squares = 0;
  for (size_t i = 0; i < output.data.size(); ++i) {
    const double error = output.data[i] - inputs.at("target").data[i];
    squares += error * error;
  }
  return squares / 2 / static_cast<double>(output.shape[0]);
}

TEST(ShardedProgram, FfnnTrainingFollowsTheGradientOfItsLoss) {
  const Sharded network = must(make_ffnn(
      {.batch = 4, .sizes = {3, 4, 2}, .train = true, .learning_rate = 0.5, .data_shards = 2}));
  const NamedTensors inputs = inputs_of(network);
  const NamedTensors after = run_sharded(network, inputs);
  constexpr double kStep = 1e-5;
  for (const std::string name : {"W1", "W2", "bias1", "bias2"}) {
    for (size_t i = 0; i < inputs.at(name).data.size(); ++i) {
      NamedTensors more = inputs;
      NamedTensors less = inputs;
      more.at(name).data[i] += kStep;
      less.at(name).data[i] -= kStep;
      const double slope = (loss(network, more) - loss(network, less)) / (2 * kStep);
      const double moved = inputs.at(name).data[i] - after.at(name + "_next").data[i];
      EXPECT_NEAR(moved / 0.5, slope, 1e-7) << name << " at " << i;
    }
  }
}

TEST(ShardedProgram, LlamaIsTheSameHoweverSplit) {
  for (const bool ends : {false, true}) {
    const Sharded whole = must(make_llama(tiny_llama(ends)));
    for (const char* split : {"dp", "tp", "mix"}) {
      for (const int64_t shards : {2, 3, 4}) {
        expect_same(must(make_llama(*with_split(tiny_llama(ends), split, shards))), whole);
      }
    }
    // Rows split by position as well: keys are put together for every query.
    LlamaSpec spec = tiny_llama(ends);
    spec.data_shards = 2;
    spec.head_shards = 2;
    spec.row_shards = 8;
    expect_same(must(make_llama(spec)), whole);
    // Nothing divides anything: 4 sequences by 3, 4 heads by 3, 4 positions by 3.
    spec.data_shards = 3;
    spec.head_shards = 3;
    spec.row_shards = 3;
    expect_same(must(make_llama(spec)), whole);
  }
}

TEST(ShardedProgram, LlamaWithSeveralBlocksIsTheSameHoweverSplit) {
  LlamaSpec spec = tiny_llama(/*ends=*/true);
  spec.blocks = 2;
  const Sharded whole = must(make_llama(spec));
  expect_same(must(make_llama(*with_split(spec, "mix", 4))), whole);
}

TEST(ShardedProgram, LlamaTokensDoNotSeeLaterOnes) {
  const Sharded sharded = must(make_llama(*with_split(tiny_llama(/*ends=*/false), "tp", 2)));
  NamedTensors inputs = inputs_of(sharded);
  const Tensor before = run_sharded(sharded, inputs).at("output");
  inputs.at("x").data.back() += 1;  // of the last position of the last sequence
  const Tensor after = run_sharded(sharded, inputs).at("output");
  const size_t position = 16;
  const size_t all = before.data.size();
  for (size_t i = 0; i + position < all; ++i) EXPECT_EQ(before.data[i], after.data[i]);
  EXPECT_NE(before.data[all - position], after.data[all - position]);
}

TEST(ShardedProgram, OtherStatementsAreTheSameHoweverSplit) {
  const OtherStatements other;
  const auto& [program, i, j, v] = other;
  const Sharded whole = must(shard(program, {}));
  expect_same(must(shard(program, {.splits = {{i, 2}, {j, 3}, {v, 4}}})), whole);
  expect_same(must(shard(program, {.splits = {{i, 4}, {j, 2}},
                                   .statement_splits = {{{"turned", j}, 6}, {{"rows", i}, 1}}})),
              whole);
}

TEST(ShardedProgram, TiledCholeskyIsThePlainOne) {
  constexpr int64_t kTile = 3;
  for (const int64_t tiles : {1, 2, 4}) {
    const Result<Graph> graph = make_cholesky({.tiles = tiles, .tile_size = kTile});
    ASSERT_TRUE(graph) << graph.error().message;
    // A symmetric matrix with a heavy diagonal is positive definite.
    const int64_t n = tiles * kTile;
    Tensor matrix = fill("matrix", {n, n}, 1);
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j < i; ++j) {
        matrix.data[static_cast<size_t>(j * n + i)] = matrix.data[static_cast<size_t>(i * n + j)];
      }
      matrix.data[static_cast<size_t>(i * n + i)] += 2 * static_cast<double>(n);
    }
    const auto tile = [&](const Tensor& from, int64_t i, int64_t j) {
      const std::string begin = wholes_text(Shape{i * kTile, j * kTile});
      const Tensor* operand = &from;
      return *run_reference("slice", Attributes({{"begin", begin}, {"shape", "3,3"}}),
                            {&operand, 1});
    };
    std::vector<Tensor> values(static_cast<size_t>(graph->value_count()));
    size_t next = 0;  // inputs come first, row by row
    for (int64_t i = 0; i < tiles; ++i) {
      for (int64_t j = 0; j <= i; ++j) values[next++] = tile(matrix, i, j);
    }
    const auto done = evaluate(*graph, std::move(values));
    ASSERT_TRUE(done) << done.error().message;
    const Tensor* whole = &matrix;
    const Tensor factor = *run_reference("potrf", Attributes({}), {&whole, 1});
    for (const OpId op : graph->ops()) {
      const std::string name(graph->op_name(op));
      int i = 0;
      int j = 0;
      if (graph->op_kind_name(op) == "potrf") {
        i = j = std::stoi(name.substr(6));
      } else if (graph->op_kind_name(op) != "trsm" ||
                 std::sscanf(name.c_str(), "trsm.%d.%d", &i, &j) != 2) {
        continue;
      }
      const ValueId value = graph->outputs(op).front();
      expect_equal({{name, (*done)[static_cast<size_t>(value.index)]}},
                   {{name, tile(factor, i, j)}});
    }
  }
}

}  // namespace
}  // namespace tutti
