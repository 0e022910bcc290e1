#include "tutti/graph/builder.h"

#include <gtest/gtest.h>

#include <vector>

#include "tutti/graph/names.h"

namespace tutti {
namespace {

const std::vector<ValueSpec> kOneOutput(1);

TEST(Graph, OrdersEveryOpAfterItsInputs) {
  // a -> b -> c, given back to front.
  GraphBuilder builder("g");
  const std::vector<ValueId> b = {ValueId{1}};
  const std::vector<ValueId> a = {ValueId{2}};
  builder.add_op({.name = "c", .kind = "k", .operands = b, .outputs = kOneOutput});
  builder.add_op({.name = "b", .kind = "k", .operands = a, .outputs = kOneOutput});
  builder.add_op({.name = "a", .kind = "k", .outputs = kOneOutput});
  const Result<Graph> graph = std::move(builder).build();
  ASSERT_TRUE(graph) << graph.error().message;
  const auto order = graph->topological_order();
  EXPECT_EQ((std::vector<OpId>(order.begin(), order.end())),
            (std::vector<OpId>{OpId{2}, OpId{1}, OpId{0}}));
}

TEST(Graph, ListsOneEdgeForEachOperand) {
  GraphBuilder builder("g");
  const ValueId x = builder.add_input({.value = {.name = "x", .bytes = 8}});
  const std::vector<ValueId> twice = {x, x};
  const OpId square =
      builder.add_op({.name = "mul", .kind = "k", .operands = twice, .outputs = kOneOutput});
  const Result<Graph> graph = std::move(builder).build();
  ASSERT_TRUE(graph) << graph.error().message;
  EXPECT_EQ(graph->edge_count(), 2);
  EXPECT_EQ(graph->consumers(x).size(), 2U);
  EXPECT_EQ(graph->edge_to(EdgeId{1}), square);
  EXPECT_FALSE(graph->edge_from(EdgeId{1}).valid());
}

TEST(Graph, RefusesACycleAndAnOperandThatNobodyMakes) {
  GraphBuilder cyclic("g");
  const std::vector<ValueId> itself = {ValueId{0}};
  cyclic.add_op({.name = "a", .kind = "k", .operands = itself, .outputs = kOneOutput});
  const Result<Graph> cycle = std::move(cyclic).build();
  ASSERT_FALSE(cycle);
  EXPECT_NE(cycle.error().message.find("op 'a' is on or behind a cycle"), std::string::npos);

  GraphBuilder loose("g");
  const std::vector<ValueId> later = {ValueId{}};
  loose.add_op({.name = "a", .kind = "k", .operands = later, .outputs = kOneOutput});
  EXPECT_FALSE(std::move(loose).build());
}

TEST(Graph, NamesValuesAfterTheirOps) {
  GraphBuilder builder("g");
  const std::vector<ValueSpec> two = {{}, {.name = "own"}};
  const ValueId input = builder.add_input({});
  const OpId one = builder.add_op({.name = "a", .kind = "k", .outputs = kOneOutput});
  const OpId several = builder.add_op({.name = "b", .kind = "k", .outputs = two});
  const Result<Graph> graph = std::move(builder).build();
  ASSERT_TRUE(graph) << graph.error().message;
  EXPECT_EQ(graph->value_name(input), "input0");
  EXPECT_EQ(graph->value_name(graph->outputs(one).front()), "a");
  EXPECT_EQ(graph->value_name(graph->outputs(several).front()), "b:0");
  EXPECT_EQ(graph->value_name(ValueId{graph->outputs(several).front().index + 1}), "own");
}

TEST(Graph, PrefersATimeGivenForTheKindToOneGivenForAll) {
  GraphBuilder builder("g");
  const std::vector<GivenTime> times = {{"", Duration(10)}, {"gpu", Duration(1)}};
  const OpId op =
      builder.add_op({.name = "a", .kind = "k", .outputs = kOneOutput, .run_times = times});
  const OpId other = builder.add_op({.name = "b", .kind = "k", .outputs = kOneOutput});
  const Result<Graph> graph = std::move(builder).build();
  ASSERT_TRUE(graph) << graph.error().message;
  EXPECT_EQ(graph->given_run_time(op, "gpu"), Duration(1));
  EXPECT_EQ(graph->given_run_time(op, "cpu"), Duration(10));
  EXPECT_EQ(graph->given_run_time(other, "gpu"), std::nullopt);
}

TEST(GraphFingerprint, DoesNotDependOnTheOrderOfInputsAmongOpsNorOfDeviceKinds) {
  // x and a, in either order; times for cpu and gpu, in either order.
  const auto build = [](bool input_first, int64_t bytes) {
    GraphBuilder builder("g");
    const auto add_input = [&] {
      return builder.add_input({.value = {.name = "x", .bytes = bytes}});
    };
    ValueId x;
    if (input_first) x = add_input();
    std::vector<GivenTime> times = {{"cpu", Duration(5)}, {"gpu", Duration(1)}};
    if (!input_first) std::swap(times[0], times[1]);
    const OpId a =
        builder.add_op({.name = "a", .kind = "k", .outputs = kOneOutput, .run_times = times});
    if (!input_first) x = add_input();
    const std::vector<ValueId> operands = {x, builder.outputs(a).front()};
    builder.add_op({.name = "b", .kind = "k", .operands = operands, .outputs = kOneOutput});
    return std::move(builder).build()->fingerprint();
  };
  EXPECT_EQ(build(true, 8), build(false, 8));
  EXPECT_NE(build(true, 8), build(true, 9));
}

TEST(NameIndex, FindsOpsAndTellsOfANameThatStandsTwice) {
  GraphBuilder builder("g");
  builder.add_op({.name = "a", .kind = "k", .outputs = kOneOutput});
  builder.add_op({.name = "b", .kind = "k", .outputs = kOneOutput});
  builder.add_op({.name = "a", .kind = "k", .outputs = kOneOutput});
  const Result<Graph> graph = std::move(builder).build();
  ASSERT_TRUE(graph) << graph.error().message;
  const NameIndex names(*graph);
  EXPECT_EQ(names.find("b"), OpId{1});
  EXPECT_EQ(names.find("c"), std::nullopt);
  EXPECT_EQ(names.duplicate(), OpId{2});
}

}  // namespace
}  // namespace tutti
