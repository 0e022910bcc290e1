#include "tutti/graph/groups.h"

#include <gtest/gtest.h>

#include "tutti/graph/builder.h"

namespace tutti {
namespace {

using Attributes = std::vector<std::pair<std::string, std::string>>;

Graph graph_of(const std::vector<Attributes>& ops) {
  GraphBuilder builder("grouped");
  const ValueSpec value{.bytes = 1};
  for (size_t i = 0; i < ops.size(); ++i) {
    const std::string name = "op" + std::to_string(i);
    builder.add_op(
        {.name = name, .kind = "k", .outputs = std::span(&value, 1), .attributes = ops[i]});
  }
  return std::move(builder).build().value();
}

TEST(Groups, AreNumberedByFirstAppearance) {
  const Graph graph =
      graph_of({{{"group", "b"}}, {{"other", "x"}}, {{"group", "a"}}, {{"group", "b"}}});
  const Groups groups = groups_of(graph);
  EXPECT_TRUE(groups.named);
  EXPECT_EQ(groups.of_op, (std::vector<int32_t>{0, 1, 2, 0}));
  EXPECT_EQ(groups.names, (std::vector<std::string>{"b", "", "a"}));
  EXPECT_EQ(groups.members[0], (std::vector<OpId>{OpId{0}, OpId{3}}));
}

TEST(Groups, AreSingleOpsWhereNoneIsNamed) {
  const Groups groups = groups_of(graph_of({{}, {}}));
  EXPECT_FALSE(groups.named);
  EXPECT_EQ(groups.members.size(), 2u);
}

TEST(Shards, AreThereOnlyIfEveryOpHasOne) {
  EXPECT_EQ(shards_of(graph_of({{{"shard", "2"}}, {{"shard", "0"}}})),
            (std::vector<int32_t>{2, 0}));
  EXPECT_FALSE(shards_of(graph_of({{{"shard", "2"}}, {}})));
  EXPECT_FALSE(shards_of(graph_of({{{"shard", "2x"}}})));
  EXPECT_FALSE(shards_of(graph_of({{{"shard", "-1"}}})));
}

}  // namespace
}  // namespace tutti
