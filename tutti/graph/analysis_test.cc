#include "tutti/graph/analysis.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <vector>

#include "tutti/graph/builder.h"

namespace tutti {
namespace {

// Ops 0, 1, ... with the operands of each; every op makes one value, numbered like it.
Graph graph_of(const std::vector<std::vector<int>>& operands_of) {
  GraphBuilder builder("g");
  const std::vector<ValueSpec> outputs(1);
  for (size_t op = 0; op < operands_of.size(); ++op) {
    std::vector<ValueId> operands;
    for (const int from : operands_of[op]) operands.push_back(ValueId{from});
    builder.add_op(
        {.name = fmt::format("op{}", op), .kind = "k", .operands = operands, .outputs = outputs});
  }
  Result<Graph> graph = std::move(builder).build();
  EXPECT_TRUE(graph);
  return std::move(*graph);
}

TEST(Levels, CountTheOpsOnTheLongestWay) {
  //  0 -> 1 -> 3,  0 -> 2 -> 3,  2 -> 4,  0 -> 3
  const Levels found = levels(graph_of({{}, {0}, {0}, {1, 2, 0}, {2}}));
  EXPECT_EQ(found.of_op, (std::vector<int32_t>{0, 1, 1, 2, 2}));
  EXPECT_EQ(found.depth, 3);
  EXPECT_EQ(found.width, 2);
}

TEST(Levels, OfAnEmptyGraphAreNone) {
  const Levels found = levels(graph_of({}));
  EXPECT_EQ(found.depth, 0);
  EXPECT_EQ(found.width, 0);
}

TEST(CriticalPath, AddsRunAndTransferTimes) {
  const Graph graph = graph_of({{}, {0}, {0}, {1, 2}});
  // Op 2 is slower than op 1, but the edge out of op 1 (edge 2) is slower still.
  const auto run_time = [](OpId op) { return Duration(op.index == 2 ? 5 : 1); };
  const auto transfer_time = [](EdgeId edge) { return Duration(edge.index == 2 ? 10 : 0); };
  const CriticalPath path = critical_path(graph, run_time, transfer_time);
  EXPECT_EQ(path.length, Duration(1 + 1 + 10 + 1));
  EXPECT_EQ(path.ops, (std::vector<OpId>{OpId{0}, OpId{1}, OpId{3}}));
}

TEST(CriticalPath, TakesTheLowestIdsAmongEqualsAndPassesThroughOpsOfNoTime) {
  const Graph graph = graph_of({{}, {}, {1, 0}, {2}});
  const auto nothing = [](auto) { return Duration(0); };
  const CriticalPath path = critical_path(graph, nothing, nothing);
  EXPECT_EQ(path.length, Duration(0));
  EXPECT_EQ(path.ops, std::vector<OpId>{OpId{0}});
  const CriticalPath ones = critical_path(
      graph, [](OpId) { return Duration(1); }, nothing);
  EXPECT_EQ(ones.ops, (std::vector<OpId>{OpId{0}, OpId{2}, OpId{3}}));
}

TEST(CriticalPath, StopsAtNeverInsteadOfOverflowing) {
  std::vector<std::vector<int>> chain(1000);
  for (int i = 1; i < 1000; ++i) chain[static_cast<size_t>(i)] = {i - 1};
  const Graph graph = graph_of(chain);
  const auto longest = [](auto) { return Duration(kLongestTimeNs); };
  EXPECT_EQ(critical_path(graph, longest, longest).length, kNever);
}

TEST(Components, ArePartsThatExchangeNoValues) {
  const Components found = components(graph_of({{}, {}, {0}, {1}, {2, 0}, {}}));
  EXPECT_EQ(found.count, 3);
  EXPECT_EQ(found.of_op, (std::vector<int32_t>{0, 1, 0, 1, 0, 2}));
}

TEST(Components, AreNotJoinedByAGraphInput) {
  GraphBuilder builder("g");
  const std::vector<ValueId> x = {builder.add_input({.value = {.name = "x"}})};
  const std::vector<ValueSpec> outputs(1);
  builder.add_op({.name = "a", .kind = "k", .operands = x, .outputs = outputs});
  builder.add_op({.name = "b", .kind = "k", .operands = x, .outputs = outputs});
  const Result<Graph> graph = std::move(builder).build();
  ASSERT_TRUE(graph);
  EXPECT_EQ(components(*graph).count, 2);
}

}  // namespace
}  // namespace tutti
