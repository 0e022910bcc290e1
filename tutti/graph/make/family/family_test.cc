#include "tutti/graph/make/family/family.h"

#include <gtest/gtest.h>

#include <limits>

#include "tutti/graph/analysis.h"

namespace tutti {
namespace {

struct Size {
  int32_t ops;
  int32_t edges;
  int32_t depth;
};

void expect_size(const Result<Graph>& graph, const Size& size) {
  ASSERT_TRUE(graph) << graph.error().message;
  EXPECT_EQ(graph->size(), size.ops);
  EXPECT_EQ(graph->edge_count(), size.edges);
  EXPECT_EQ(levels(*graph).depth, size.depth);
  EXPECT_EQ(components(*graph).count, 1);
}

// (Mean bytes of an edge / bandwidth) / (mean flops of an op / rate).
double ratio(const Graph& graph, const Weights& weights) {
  double bytes = 0;
  double flops = 0;
  for (const OpId op : graph.ops()) {
    flops += graph.flops(op);
    for (const ValueId value : graph.operands(op)) bytes += static_cast<double>(graph.bytes(value));
  }
  return (bytes / graph.edge_count() / weights.bandwidth) / (flops / graph.size() / weights.rate);
}

TEST(Family, ForkJoinForksAndJoins) {
  // Three times: a fork, five works, a join; and two edges from join to fork.
  expect_size(make_fork_join({.stages = 3, .width = 5}), {3 * 7, 3 * 10 + 2, 9});
}

TEST(Family, TreeIsFullInBothDirections) {
  // 1 + 3 + 9 + 27 ops, of which all but the root have one edge.
  expect_size(make_tree({.levels = 4, .arity = 3}), {40, 39, 4});
  const auto out = make_tree({.levels = 4, .arity = 3, .direction = TreeSpec::Direction::out});
  expect_size(out, {40, 39, 4});
  EXPECT_EQ(out->edges(OpId{0}).size(), 0);
  EXPECT_EQ(out->consumers(out->outputs(OpId{0}).front()).size(), 3u);
}

TEST(Family, StencilReadsNeighbours) {
  // Two rows of 5 cells read 3 each, but for the two at the ends.
  expect_size(make_stencil({.width = 5, .steps = 3, .radius = 1}), {15, 2 * (5 * 3 - 2), 3});
  expect_size(make_stencil({.width = 3, .steps = 2, .radius = 100}), {6, 9, 2});
}

TEST(Family, FftReadsItsPartner) {
  const auto graph = make_fft({.points = 8});
  expect_size(graph, {8 * 4, 3 * 8 * 2, 4});
  // Butterfly 1 of the last level reads 1 and 5 of the level before.
  const auto operands = graph->operands(OpId{8 * 3 + 1});
  EXPECT_EQ(graph->producer(operands[0]), OpId{8 * 2 + 1});
  EXPECT_EQ(graph->producer(operands[1]), OpId{8 * 2 + 5});
}

TEST(Family, AllToAllReadsThePhaseBefore) {
  expect_size(make_all_to_all({.width = 4, .phases = 3}), {12, 2 * 16, 3});
}

TEST(Family, RandomReadsAsManyAsToldFromTheWindow) {
  const auto graph = make_random({.ops = 2000, .degree = 2.5, .window = 10});
  ASSERT_TRUE(graph) << graph.error().message;
  EXPECT_NEAR(static_cast<double>(graph->edge_count()) / 2000, 2.5, 0.05);
  EXPECT_EQ(components(*graph).count, 1);
  for (const OpId op : graph->ops()) {
    ValueId before{-1};
    for (const ValueId value : graph->operands(op)) {
      EXPECT_LT(before, value) << "an op reads a value twice";
      EXPECT_GE(graph->producer(value).index, op.index - 10);
      before = value;
    }
  }
}

TEST(Family, BytesAreScaledToTheRatio) {
  for (const double ccr : {0.1, 1.0, 10.0}) {
    const Weights weights{.ccr = ccr, .seed = 5};
    EXPECT_NEAR(ratio(*make_random({.weights = weights}), weights), ccr, 1e-3 * ccr);
    EXPECT_NEAR(ratio(*make_fft({.weights = weights}), weights), ccr, 1e-3 * ccr);
  }
}

TEST(Family, FlopsAndBytesStayWithinTheSpread) {
  const auto graph = make_stencil({.weights = {.flops = 100, .bytes = 1000, .spread = 0.1}});
  for (const OpId op : graph->ops()) {
    EXPECT_NEAR(graph->flops(op), 100, 10);
    EXPECT_NEAR(static_cast<double>(graph->bytes(graph->outputs(op).front())), 1000, 101);
  }
}

TEST(Family, IsTheSameForTheSameSeedAndDiffersForAnother) {
  const auto print = [](uint64_t seed) {
    return make_random({.ops = 100, .weights = {.seed = seed}})->fingerprint();
  };
  EXPECT_EQ(print(3), print(3));
  EXPECT_NE(print(3), print(4));
}

TEST(Family, RefusesImpossibleSpecs) {
  constexpr int64_t kHuge = std::numeric_limits<int64_t>::max();
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(make_fork_join({.stages = 0}));
  EXPECT_FALSE(make_fork_join({.width = kHuge}));
  EXPECT_FALSE(make_tree({.levels = 0}));
  EXPECT_FALSE(make_tree({.levels = 40}));
  EXPECT_FALSE(make_tree({.levels = kHuge, .arity = 1}));
  EXPECT_FALSE(make_tree({.levels = kHuge, .arity = kHuge}));
  EXPECT_FALSE(make_stencil({.radius = -1}));
  EXPECT_FALSE(make_stencil({.width = kHuge, .steps = kHuge}));
  EXPECT_EQ(make_fft({.points = 12}).error().message,
            "an FFT has a power of two of points, not 12");
  EXPECT_FALSE(make_fft({.points = -8}));
  EXPECT_FALSE(make_fft({.points = int64_t{1} << 40}));
  EXPECT_FALSE(make_all_to_all({.width = 1 << 20}));
  EXPECT_FALSE(make_random({.ops = 0}));
  EXPECT_FALSE(make_random({.degree = 0.5}));
  EXPECT_FALSE(make_random({.degree = kNan}));
  EXPECT_FALSE(make_random({.window = -1}));
  EXPECT_FALSE(make_random({.weights = {.flops = kNan}}));
  EXPECT_FALSE(make_random({.weights = {.bytes = -1}}));
  EXPECT_FALSE(make_random({.weights = {.spread = 2}}));
  EXPECT_FALSE(make_random({.weights = {.ccr = -1}}));
  EXPECT_FALSE(make_random({.weights = {.ccr = 1, .bandwidth = 0}}));
  EXPECT_FALSE(make_random({.weights = {.flops = 1e290, .ccr = 1}}));
}

}  // namespace
}  // namespace tutti
