#include "tutti/graph/make/shard/shard.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tutti/graph/groups.h"
#include "tutti/graph/make/shard/blocks.h"

namespace tutti {
namespace {

// y = a b, of 8 x 4 and 4 x 6; then z = relu(y).
struct Small {
  Program program{"small"};
  IndexId i = program.index("i", 8);
  IndexId k = program.index("k", 4);
  IndexId j = program.index("j", 6);
  TensorId y = program.matmul("y", program.input("a", {i, k}), program.weight("b", {k, j}), {i, j});
  TensorId z = program.elementwise("z", "relu", {y});
};

std::vector<std::string> names_of(const Graph& graph) {
  std::vector<std::string> names;
  for (const OpId op : graph.ops()) names.emplace_back(graph.op_name(op));
  return names;
}

TEST(Shard, OneBlockIsOneOpForEachStatement) {
  const Small small;
  const Result<Sharded> sharded = shard(small.program, {});
  ASSERT_TRUE(sharded) << sharded.error().message;
  const Graph& graph = sharded->graph;
  EXPECT_EQ(names_of(graph), (std::vector<std::string>{"y", "z"}));
  EXPECT_EQ(graph.flops(OpId{0}), 2 * 8 * 4 * 6);
  EXPECT_EQ(graph.flops(OpId{1}), 8 * 6);
  const ValueId a = graph.operands(OpId{0})[0];
  const ValueId b = graph.operands(OpId{0})[1];
  EXPECT_EQ(graph.bytes(a), 8 * 4 * 4);
  EXPECT_FALSE(graph.is_weight(a));
  EXPECT_TRUE(graph.is_weight(b));
  EXPECT_EQ(graph.dtype(b), DType::f32);
}

TEST(Shard, SplitsMakeBlocksPartialBlocksAndSums) {
  const Small small;
  const Result<Sharded> sharded = shard(small.program, {.splits = {{small.i, 2}, {small.k, 2}}});
  ASSERT_TRUE(sharded) << sharded.error().message;
  EXPECT_EQ(names_of(sharded->graph),
            (std::vector<std::string>{"y.i0.k0", "y.i0.k1", "y.i0.sum", "y.i1.k0", "y.i1.k1",
                                      "y.i1.sum", "z.i0", "z.i1"}));
  const Groups groups = groups_of(sharded->graph);
  EXPECT_EQ(groups.names, (std::vector<std::string>{"y", "z"}));
  EXPECT_EQ(groups.members[0].size(), 6u);
}

TEST(Shard, JoinsPartialBlocksInSmallerOnes) {
  const Small small;
  const Result<Sharded> sharded = shard(small.program, {.splits = {{small.k, 2}},
                                                        .statement_splits = {{{"z", small.i}, 2}},
                                                        .join_splits = {{{"y", small.i}, 2}}});
  ASSERT_TRUE(sharded) << sharded.error().message;
  EXPECT_EQ(names_of(sharded->graph),
            (std::vector<std::string>{"y.k0", "y.k1", "y.slice0", "y.slice1", "y.i0.sum",
                                      "y.slice2", "y.slice3", "y.i1.sum", "z.i0", "z.i1"}));
  EXPECT_EQ(shard(small.program,
                  {.splits = {{small.i, 2}, {small.k, 2}}, .join_splits = {{{"y", small.i}, 1}}})
                .error()
                .message,
            "index 'i' of 'y' has size 8 and 2 blocks, which cannot be joined in 1; ask for a "
            "multiple of 2 up to 8");
}

TEST(Shard, CutsAndAssemblesWhereReadersWantOtherBlocks) {
  const Small small;
  // y in 2 x 1 blocks of 4 x 6; z in 1 x 3 blocks of 8 x 2, each of two slices of 4 x 2.
  const Result<Sharded> sharded =
      shard(small.program, {.splits = {{small.i, 2}},
                            .statement_splits = {{{"z", small.i}, 1}, {{"z", small.j}, 3}},
                            .expert = [](const BlockPlace& place) {
                              int64_t shard = 0;
                              for (const IndexId index : place.indices) shard += place.at(index);
                              return static_cast<int32_t>(shard);
                            }});
  ASSERT_TRUE(sharded) << sharded.error().message;
  const Graph& graph = sharded->graph;
  EXPECT_EQ(names_of(graph),
            (std::vector<std::string>{"y.i0", "y.i1", "y.slice0", "y.slice1", "y.assemble0", "z.j0",
                                      "y.slice2", "y.slice3", "y.assemble1", "z.j1", "y.slice4",
                                      "y.slice5", "y.assemble2", "z.j2"}));
  EXPECT_EQ(groups_of(graph).names, (std::vector<std::string>{"y", "y.repartition", "z"}));
  // Slices are cut where their block is, and assembled where they are read.
  EXPECT_EQ(*shards_of(graph), (std::vector<int32_t>{0, 1, 0, 1, 0, 0, 0, 1, 1, 1, 0, 1, 2, 2}));
  EXPECT_EQ(graph.bytes(graph.outputs(OpId{2}).front()), 4 * 2 * 4);
  EXPECT_EQ(graph.flops(OpId{4}), 0);
}

TEST(Shard, CutsWithoutAssemblingWhereBlocksAreParts) {
  const Small small;
  const Result<Sharded> sharded = shard(small.program, {.statement_splits = {{{"z", small.i}, 2}}});
  ASSERT_TRUE(sharded) << sharded.error().message;
  EXPECT_EQ(names_of(sharded->graph),
            (std::vector<std::string>{"y", "y.slice0", "z.i0", "y.slice1", "z.i1"}));
}

TEST(Shard, TakesTheDtypeItIsTold) {
  const Small small;
  const Result<Sharded> sharded = shard(small.program, {.dtype = DType::bf16});
  ASSERT_TRUE(sharded) << sharded.error().message;
  for (const ValueId value : sharded->graph.values()) {
    EXPECT_EQ(sharded->graph.dtype(value), DType::bf16);
  }
  EXPECT_EQ(sharded->graph.bytes(sharded->graph.outputs(OpId{0}).front()), 8 * 6 * 2);
}

TEST(Shard, IsTheSameEveryTime) {
  const Small small;
  const Sharding sharding{.splits = {{small.i, 4}, {small.k, 2}, {small.j, 3}}};
  EXPECT_EQ(shard(small.program, sharding)->graph.fingerprint(),
            shard(small.program, sharding)->graph.fingerprint());
}

TEST(Shard, SaysWhatCannotBeSplitOrMade) {
  const Small small;
  EXPECT_EQ(
      shard(small.program, {.splits = {{small.j, 7}}}).error().message,
      "index 'j' of 'y' has size 6 and does not split into 7 blocks; ask for 1 to 6 shards of "
      "it, or for a larger size");
  EXPECT_EQ(
      shard(small.program, {.splits = {{small.j, -1}}}).error().message,
      "index 'j' of 'y' has size 6 and does not split into -1 blocks; ask for 1 to 6 shards of "
      "it, or for a larger size");
  Program huge("huge");
  const IndexId i = huge.index("i", 1 << 30);
  const IndexId j = huge.index("j", 1 << 30);
  huge.elementwise("y", "relu", {huge.input("x", {i, j})});
  EXPECT_EQ(shard(huge, {}).error().message,
            "'x' would have 4.612e+18 bytes; a value has at most 2^60");
  EXPECT_EQ(shard(huge, {.splits = {{i, 1 << 30}, {j, 1 << 30}}}).error().message,
            "the graph would have 2.306e+18 ops and edges; at most 1.678e+07 are made");
  Program empty("empty");
  const IndexId none = empty.index("n", 0);
  empty.elementwise("y", "relu", {empty.input("x", {none})});
  EXPECT_EQ(shard(empty, {}).error().message,
            "index 'n' of 'empty' has size 0; sizes are from 1 to 2147483647");
}

// 6 columns in 4 blocks: 1, 2, 1, 2. Nothing is lost and nothing is made twice.
TEST(Shard, BlocksAreAsEqualAsTheyCanBe) {
  const Small small;
  const Result<Sharded> sharded = shard(small.program, {.splits = {{small.j, 4}}});
  ASSERT_TRUE(sharded) << sharded.error().message;
  const Graph& graph = sharded->graph;
  std::vector<double> flops;
  double bytes = 0;
  for (const OpId op : graph.ops()) {
    if (graph.op_kind_name(op) != "matmul") continue;
    flops.push_back(graph.flops(op));
    bytes += static_cast<double>(graph.bytes(graph.outputs(op).front()));
  }
  EXPECT_EQ(flops,
            (std::vector<double>{2 * 8 * 4 * 1, 2 * 8 * 4 * 2, 2 * 8 * 4 * 1, 2 * 8 * 4 * 2}));
  EXPECT_EQ(bytes, 8 * 6 * 4);
}

// A million blocks of each of ten tensors: each would do, all together would not.
TEST(Shard, RefusesWhatIsTooLargeBeforeItIsMade) {
  Program chain("chain");
  const IndexId i = chain.index("i", 1'000'000);
  TensorId x = chain.input("x0", {i});
  for (int k = 1; k <= 10; ++k) x = chain.elementwise("x" + std::to_string(k), "relu", {x});
  EXPECT_EQ(shard(chain, {.splits = {{i, 1'000'000}}}).error().message,
            "the graph would have 2e+07 ops and edges; at most 1.678e+07 are made");
}

TEST(Blocks, OfAMultipleLieWithinThoseOfTheCount) {
  for (int64_t size = 1; size < 30; ++size) {
    for (int64_t count = 1; count <= size; ++count) {
      for (int64_t finer = count; finer <= size; finer += count) {
        for (int64_t block = 0; block < finer; ++block) {
          const Region fine = block_region({size}, {finer}, {block});
          EXPECT_GE(fine.shape[0], size / finer);
          EXPECT_LE(fine.shape[0], (size + finer - 1) / finer);
          const std::vector<Axes> around = blocks_meeting({size}, {count}, fine);
          EXPECT_EQ(around, (std::vector<Axes>{{block / (finer / count)}})) << size << ' ' << finer;
        }
      }
    }
  }
}

TEST(Blocks, MeetingARegionAreThoseThatShareElements) {
  // 12 elements in 3 blocks of 4; a region of 3 to 5 meets the first two.
  EXPECT_EQ(blocks_meeting({12}, {3}, {{3}, {3}}), (std::vector<Axes>{{0}, {1}}));
  EXPECT_EQ(intersection({{4}, {4}}, {{3}, {3}}), (Region{{4}, {2}}));
  EXPECT_EQ(block_region({12, 4}, {3, 2}, {2, 1}), (Region{{8, 2}, {4, 2}}));
  EXPECT_EQ(all_blocks({2, 2}), (std::vector<Axes>{{0, 0}, {0, 1}, {1, 0}, {1, 1}}));
  EXPECT_EQ(all_blocks({}), (std::vector<Axes>{{}}));
}

}  // namespace
}  // namespace tutti
