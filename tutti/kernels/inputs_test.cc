#include "tutti/kernels/inputs.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tutti/graph/make/cholesky.h"
#include "tutti/graph/make/llama.h"
#include "tutti/kernels/evaluate.h"
#include "tutti/kernels/testing.h"

namespace tutti {
namespace {

std::vector<Tensor> inputs_for(const Graph& graph, uint64_t seed) {
  std::vector<Tensor> values(static_cast<size_t>(graph.value_count()));
  for (const ValueId value : graph.values()) {
    if (graph.producer(value).valid()) continue;
    values[static_cast<size_t>(value.index)] = input_tensor(graph, value, seed);
  }
  return values;
}

void expect_finite(const Graph& graph) {
  const auto done = evaluate(graph, inputs_for(graph, 1));
  ASSERT_TRUE(done) << done.error().message;
  for (const Tensor& tensor : *done) {
    for (const double x : tensor.data) ASSERT_TRUE(std::isfinite(x));
  }
}

TEST(Inputs, LetATiledMatrixBeFactored) {
  const auto graph = make_cholesky({.tiles = 4, .tile_size = 5});
  ASSERT_TRUE(graph) << graph.error().message;
  expect_finite(*graph);
}

TEST(Inputs, NameRowsThatTheTableHas) {
  const auto sharded = make_llama(tiny_llama(/*ends=*/true));
  ASSERT_TRUE(sharded) << sharded.error().message;
  expect_finite(sharded->graph);
}

TEST(Inputs, DependOnSeedAndValueAlone) {
  const auto graph = make_cholesky({.tiles = 2, .tile_size = 3});
  const Tensor one = input_tensor(*graph, ValueId{1}, 7);
  EXPECT_EQ(one.data, input_tensor(*graph, ValueId{1}, 7).data);
  EXPECT_NE(one.data, input_tensor(*graph, ValueId{1}, 8).data);
  EXPECT_NE(one.data, input_tensor(*graph, ValueId{2}, 7).data);
}

}  // namespace
}  // namespace tutti
