#include "tutti/graph/make/layered.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "tutti/graph/analysis.h"

namespace tutti {
namespace {

TEST(Layered, MakesLayersOfTheGivenWidth) {
  const Result<Graph> graph = make_layered({.ops = 100, .width = 10, .operands = 3});
  ASSERT_TRUE(graph) << graph.error().message;
  EXPECT_EQ(graph->size(), 100);
  EXPECT_EQ(graph->edge_count(), 90 * 3);
  const Levels found = levels(*graph);
  EXPECT_EQ(found.depth, 10);
  EXPECT_EQ(found.width, 10);
}

TEST(Layered, ReadsNoValueTwice) {
  for (const int32_t operands : {1, 3, 9, 10, 1000}) {
    const Result<Graph> graph = make_layered({.ops = 200, .width = 10, .operands = operands});
    ASSERT_TRUE(graph) << graph.error().message;
    for (const OpId op : graph->ops()) {
      const auto span = graph->operands(op);
      std::vector<ValueId> read(span.begin(), span.end());
      std::sort(read.begin(), read.end());
      EXPECT_EQ(std::unique(read.begin(), read.end()), read.end());
      const int32_t expected = op.index < 10 ? 0 : std::min(operands, 10);
      EXPECT_EQ(read.size(), static_cast<size_t>(expected));
    }
  }
}

TEST(Layered, IsTheSameForTheSameSeedAndDiffersForAnother) {
  const uint64_t print = make_layered({.ops = 500, .seed = 3})->fingerprint();
  EXPECT_EQ(make_layered({.ops = 500, .seed = 3})->fingerprint(), print);
  EXPECT_NE(make_layered({.ops = 500, .seed = 4})->fingerprint(), print);
}

TEST(Layered, DrawsFlopsAndBytesAroundTheGivenOnes) {
  const Result<Graph> graph = make_layered({.ops = 2000, .bytes = 1000, .flops = 100});
  ASSERT_TRUE(graph) << graph.error().message;
  double flops = 0;
  for (const OpId op : graph->ops()) {
    EXPECT_TRUE(graph->flops(op) >= 50 && graph->flops(op) <= 150);
    flops += graph->flops(op);
    const int64_t bytes = graph->bytes(graph->outputs(op).front());
    EXPECT_TRUE(bytes >= 500 && bytes <= 1500);
  }
  EXPECT_NEAR(flops / 2000, 100, 3);
}

TEST(Layered, RefusesImpossibleSpecs) {
  EXPECT_FALSE(make_layered({.ops = 0}));
  EXPECT_FALSE(make_layered({.width = -1}));
  EXPECT_FALSE(make_layered({.operands = -1}));
  EXPECT_FALSE(make_layered({.bytes = -1}));
  EXPECT_FALSE(make_layered({.bytes = std::numeric_limits<int64_t>::max()}));
  EXPECT_FALSE(make_layered({.flops = -1}));
  EXPECT_FALSE(make_layered({.flops = std::numeric_limits<double>::quiet_NaN()}));
}

}  // namespace
}  // namespace tutti
