#include "tutti/graph/joined.h"

#include <gtest/gtest.h>

#include "tutti/graph/file.h"

namespace tutti {
namespace {

Graph parsed(const std::string& rest) {
  Source source = Source::from_text(
      "test", R"({"format":"tutti-graph","schema_version":1,"name":"test",)" + rest + "}");
  Result<Graph> graph = read_graph(source);
  EXPECT_TRUE(graph) << graph.error().message;
  return std::move(*graph);
}

// b reads what a makes, though it stands before it; `w` is everywhere, `x` on the host.
Graph part_of_two() {
  return parsed(R"("inputs":[{"name":"w","bytes":8},{"name":"x","bytes":4,"residence":"host"}],
      "ops":[{"name":"b","kind":"k","operands":["a","w"],"outputs":[{"bytes":2}],"run_time_ns":7},
             {"name":"a","kind":"j","operands":["x"],"outputs":[{"bytes":16}],
              "attributes":{"colocate":"g","only_on":"cpu"},"run_time_ns":{"cpu":5}}])");
}

TEST(Joined, HasEveryOpOfEveryPartAndNoEdgeBetweenParts) {
  const Graph two = part_of_two();
  const Graph one = parsed(R"("ops":[{"name":"c","kind":"k","run_time_ns":3}])");
  const Graph* parts[] = {&two, &one, &two};
  const Result<Joined> joined = join_graphs("all", parts);
  ASSERT_TRUE(joined) << joined.error().message;
  const Graph& graph = joined->graph;
  EXPECT_EQ(graph.size(), 5);
  EXPECT_EQ(joined->first_op, (std::vector<int32_t>{0, 2, 3}));
  EXPECT_EQ(graph.op_name(joined->op(2, OpId{1})), "2.a");
  EXPECT_EQ(graph.op_kind_name(OpId{4}), "j");
  for (const OpId op : graph.ops()) {
    const int32_t part = joined->op_places[static_cast<size_t>(op.index)].part;
    for (const EdgeId edge : graph.edges(op)) {
      const OpId from = graph.edge_from(edge);
      if (!from.valid()) continue;
      EXPECT_EQ(joined->op_places[static_cast<size_t>(from.index)].part, part);
    }
  }
  // The operands are those of the part, in order.
  const auto operands = graph.operands(joined->op(2, OpId{0}));
  ASSERT_EQ(operands.size(), 2U);
  EXPECT_EQ(graph.producer(operands[0]), joined->op(2, OpId{1}));
  EXPECT_EQ(graph.bytes(operands[0]), 16);
  EXPECT_EQ(graph.bytes(operands[1]), 8);
}

TEST(Joined, APartThatIsAloneKeepsItsNames) {
  const Graph two = part_of_two();
  const Graph* parts[] = {&two};
  const Result<Joined> joined = join_graphs("all", parts);
  ASSERT_TRUE(joined) << joined.error().message;
  EXPECT_EQ(joined->graph.op_name(joined->op(0, OpId{1})), "a");
  EXPECT_EQ(joined->graph.value_name(joined->value(0, ValueId{0})), "w");
}

TEST(Joined, InputsThatAreEverywhereStandOnce) {
  const Graph two = part_of_two();
  const Graph* parts[] = {&two, &two};
  const Result<Joined> joined = join_graphs("all", parts);
  ASSERT_TRUE(joined) << joined.error().message;
  EXPECT_EQ(joined->value(0, ValueId{0}), joined->value(1, ValueId{0}));  // w
  EXPECT_NE(joined->value(0, ValueId{1}), joined->value(1, ValueId{1}));  // x
  EXPECT_EQ(joined->graph.residence(joined->value(1, ValueId{1})).where, Residence::Where::host);
  EXPECT_EQ(joined->graph.value_count(), 3 + 4);
}

TEST(Joined, KeepsGivenTimesAndRules) {
  const Graph two = part_of_two();
  const Graph* parts[] = {&two, &two};
  const Result<Joined> joined = join_graphs("all", parts);
  ASSERT_TRUE(joined) << joined.error().message;
  EXPECT_EQ(joined->graph.given_run_time(joined->op(1, OpId{0}), "cpu"), Duration(7));
  EXPECT_EQ(joined->graph.given_run_time(joined->op(1, OpId{1}), "cpu"), Duration(5));
  EXPECT_EQ(joined->graph.given_run_time(joined->op(1, OpId{1}), "gpu"), std::nullopt);
  const auto attributes = joined->graph.attributes(joined->op(1, OpId{1}));
  ASSERT_EQ(attributes.size(), 2U);
  EXPECT_EQ(attributes[0].second, "1.g");
  EXPECT_EQ(attributes[1].second, "cpu");
}

}  // namespace
}  // namespace tutti
