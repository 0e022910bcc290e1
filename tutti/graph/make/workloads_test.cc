// What the workloads are made of: how many ops of which kind, how much work, and where an expert
// would put it. That they compute the right thing is tested in tutti/kernels.

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "tutti/graph/analysis.h"
#include "tutti/graph/groups.h"
#include "tutti/graph/make/chainmm.h"
#include "tutti/graph/make/cholesky.h"
#include "tutti/graph/make/ffnn.h"
#include "tutti/graph/make/llama.h"

namespace tutti {
namespace {

Graph must(Result<Sharded> sharded) {
  EXPECT_TRUE(sharded) << sharded.error().message;
  return std::move(sharded->graph);
}

std::map<std::string, int> kinds_of(const Graph& graph) {
  std::map<std::string, int> kinds;
  for (const OpId op : graph.ops()) ++kinds[std::string(graph.op_kind_name(op))];
  return kinds;
}

double flops_of(const Graph& graph, std::string_view kind) {
  double flops = 0;
  for (const OpId op : graph.ops()) {
    if (graph.op_kind_name(op) == kind) flops += graph.flops(op);
  }
  return flops;
}

// How many flops each device would get from the expert.
std::map<int32_t, double> expert_load(const Graph& graph) {
  std::map<int32_t, double> load;
  const auto shards = shards_of(graph);
  EXPECT_TRUE(shards) << "an op has no shard";
  for (const OpId op : graph.ops())
    load[(*shards)[static_cast<size_t>(op.index)]] += graph.flops(op);
  return load;
}

// The paper's graph: 48 products, 20 sums and re-partitions, and two halves that never meet, since
// columns are split in two. (It has 8 additions where ours has one for each of the 4 blocks.)
TEST(Chainmm, HasTheStructureOfThePapersGraph) {
  const Graph graph = must(make_chainmm({}));
  const auto kinds = kinds_of(graph);
  EXPECT_EQ(kinds.at("matmul"), 48);
  EXPECT_EQ(kinds.at("sum") + kinds.at("slice"), 20);
  EXPECT_EQ(kinds.at("add"), 4);
  EXPECT_EQ(graph.size(), 72);
  EXPECT_EQ(components(graph).count, 2);
}

TEST(Chainmm, DoesTheSameWorkHoweverSplit) {
  const double n = 1200;
  for (const ProductSplit& split : {ProductSplit{1, 1, 1}, {2, 2, 4}, {3, 4, 1}, {1, 1, 6}}) {
    const Graph graph = must(make_chainmm({.size = 1200, .split = split}));
    EXPECT_EQ(flops_of(graph, "matmul"), 3 * 2 * n * n * n);
    EXPECT_EQ(flops_of(graph, "add"), n * n);
    EXPECT_EQ(flops_of(graph, "sum"), 3 * static_cast<double>(split.summed - 1) * n * n);
    double inputs = 0;
    for (const ValueId value : graph.values()) {
      if (!graph.producer(value).valid()) inputs += static_cast<double>(graph.bytes(value));
    }
    EXPECT_EQ(inputs, 5 * n * n * 4);
  }
}

TEST(Chainmm, ExpertGivesEveryDeviceTheSameWork) {
  for (const auto& [split, devices] : std::vector<std::pair<ProductSplit, int32_t>>{
           {{2, 2, 4}, 4}, {{2, 2, 8}, 8}, {{4, 4, 4}, 8}, {{4, 1, 1}, 4}, {{1, 1, 4}, 4}}) {
    const Graph graph = must(make_chainmm({.size = 800, .split = split, .devices = devices}));
    const auto load = expert_load(graph);
    ASSERT_EQ(load.size(), static_cast<size_t>(devices));
    for (const auto& [device, flops] : load) {
      EXPECT_NEAR(flops, load.at(0), 0.01 * load.at(0)) << device;
    }
  }
}

TEST(Ffnn, ByDataIsOneComponentForEachPartOfTheBatch) {
  const Graph graph = must(make_ffnn({.batch = 8, .sizes = {4, 8, 4}, .data_shards = 4}));
  EXPECT_EQ(components(graph).count, 4);
  EXPECT_EQ(kinds_of(graph), (std::map<std::string, int>{{"add", 8}, {"matmul", 8}, {"relu", 4}}));
}

// Forward, and for each layer the gradient of the weights and, but for the first, of its input.
TEST(Ffnn, TrainingDoesThreeTimesTheWorkLessOneProduct) {
  const double batch = 16;
  for (const std::optional<ProductSplit>& split :
       {std::optional<ProductSplit>{}, std::optional<ProductSplit>{{2, 2, 4}}}) {
    const Graph graph = must(make_ffnn(
        {.batch = 16, .sizes = {4, 8, 12}, .train = true, .data_shards = 4, .split = split}));
    EXPECT_EQ(flops_of(graph, "matmul"), 2 * batch * (3 * 4 * 8 + 3 * 8 * 12 - 4 * 8));
  }
}

TEST(Llama, DoesTheSameProductsHoweverSplit) {
  const double tokens = 4.0 * 4096;
  const double expected =
      2 * tokens * (4 * 4096.0 * 4096 + 3 * 4096.0 * 11008) + 4 * tokens * 4096 * 4096;
  for (const char* split : {"dp", "tp", "mix"}) {
    const Graph graph = must(make_llama(*with_split({}, split, 4)));
    EXPECT_EQ(flops_of(graph, "matmul"), expected) << split;
    const auto load = expert_load(graph);
    ASSERT_EQ(load.size(), 4u) << split;
    for (const auto& [device, flops] : load) EXPECT_EQ(flops, load.at(0)) << split << device;
  }
}

TEST(Llama, HasTheWeightsOfTheModelHoweverSplit) {
  const double expected = 2 * (4 * 4096.0 * 4096 + 3 * 4096.0 * 11008 + 2 * 4096);
  for (const char* split : {"dp", "tp", "mix"}) {
    const Graph graph = must(make_llama(*with_split({.dtype = DType::bf16}, split, 4)));
    double bytes = 0;
    for (const ValueId value : graph.values()) {
      if (graph.producer(value).valid() || !graph.is_weight(value)) continue;
      bytes += static_cast<double>(graph.bytes(value));
    }
    EXPECT_EQ(bytes, expected) << split;
  }
}

// What each device of a reduce-scatter and all-gather sends: from each of 4 head shards, 3 of 4 row
// blocks go elsewhere; then each row block goes to 3 others. Both twice, for 4 x 4096 x 4096 in
// f32.
TEST(Llama, ExpertMovesNoMoreThanACollectiveWould) {
  const Graph graph = must(make_llama(*with_split({}, "tp", 4)));
  const auto shards = *shards_of(graph);
  std::set<std::pair<ValueId, int32_t>> moved;
  for (const OpId op : graph.ops()) {
    const int32_t to = shards[static_cast<size_t>(op.index)];
    for (const ValueId value : graph.operands(op)) {
      const OpId from = graph.producer(value);
      if (from.valid() && shards[static_cast<size_t>(from.index)] != to) moved.emplace(value, to);
    }
  }
  double bytes = 0;
  for (const auto& [value, to] : moved) bytes += static_cast<double>(graph.bytes(value));
  const double stream = 4.0 * 4096 * 4096 * 4;
  EXPECT_EQ(bytes, 2 * (4 * 0.75 + 3) * stream);
}

// 6 products of 4096^3 and 3 with the feed-forward network for each sequence, as in the paper.
TEST(Llama, ByDataHasTheProductsOfThePapersGraph) {
  const Graph graph = must(make_llama(*with_split({}, "dp", 4)));
  EXPECT_EQ(components(graph).count, 4);
  EXPECT_EQ(kinds_of(graph).at("matmul"), 24 + 12);
}

// Nine products by heads, of all rows; then 4 x 4 slices of partial results, summed by rows, and
// the norm of the rows put together on each of the 4 devices.
TEST(Llama, ByHeadsScattersPartialSumsAndGathersNorms) {
  const Graph graph = must(make_llama(*with_split({}, "tp", 4)));
  EXPECT_EQ(components(graph).count, 1);
  const auto kinds = kinds_of(graph);
  EXPECT_EQ(kinds.at("matmul"), 9 * 4);
  EXPECT_EQ(kinds.at("slice"), 2 * 4 * 4);
  EXPECT_EQ(kinds.at("sum"), 2 * 4);
  EXPECT_EQ(kinds.at("rms_norm"), 2 * 4);
  EXPECT_EQ(kinds.at("assemble"), 2 * 4);
}

TEST(Llama, MixesDataAndHeads) {
  const LlamaSpec four = *with_split({}, "mix", 4);
  EXPECT_EQ(four.data_shards, 2);
  EXPECT_EQ(four.head_shards, 2);
  EXPECT_EQ(four.row_shards, 2);
  const LlamaSpec eight = *with_split({.batch = 8, .devices = 8}, "mix", 8);
  EXPECT_EQ(eight.data_shards, 2);
  EXPECT_EQ(eight.head_shards, 4);
  EXPECT_EQ(components(must(make_llama(eight))).count, 2);
}

TEST(Llama, LayerEndsInTheLogitsOfTheLastToken) {
  LlamaSpec spec = *with_split({}, "tp", 4);
  spec.ends = true;
  const Graph graph = must(make_llama(spec));
  const auto kinds = kinds_of(graph);
  EXPECT_EQ(kinds.at("embedding"), 4);
  EXPECT_EQ(kinds.at("last_token"), 4);
  EXPECT_EQ(kinds.at("matmul"), (9 + 1) * 4);
  const OpId last{graph.size() - 1};
  EXPECT_EQ(graph.shape(graph.outputs(last).front())[1], 32000 / 4);
}

TEST(Cholesky, HasTheKnownNumberOfEachKind) {
  const Result<Graph> graph = make_cholesky({.tiles = 10, .tile_size = 64});
  ASSERT_TRUE(graph) << graph.error().message;
  EXPECT_EQ(kinds_of(*graph),
            (std::map<std::string, int>{{"potrf", 10}, {"trsm", 45}, {"syrk", 45}, {"gemm", 120}}));
  // n^3 / 3 and lower terms.
  const double n = 640;
  double flops = 0;
  for (const OpId op : graph->ops()) flops += graph->flops(op);
  EXPECT_NEAR(flops, n * n * n / 3, 0.02 * n * n * n);
  EXPECT_EQ(expert_load(*graph).size(), 4u);
  EXPECT_EQ(groups_of(*graph).names[2], "update.0");
}

TEST(Workloads, WithoutAssemblingDoNotDependOnTheNumberOfDevices) {
  EXPECT_EQ(must(make_chainmm({.devices = 4})).fingerprint(),
            must(make_chainmm({.devices = 8})).fingerprint());
}

TEST(Workloads, AreMadeForAnyNumberOfDevices) {
  for (int32_t devices = 1; devices <= 17; ++devices) {
    for (const bool train : {false, true}) {
      const Graph graph =
          must(make_ffnn({.train = train, .data_shards = devices, .devices = devices}));
      EXPECT_GE(graph.size(), devices);
    }
    for (const char* split : {"dp", "tp", "mix"}) {
      LlamaSpec spec{.batch = devices, .ends = true, .devices = devices};
      must(make_llama(*with_split(spec, split, devices)));
    }
  }
}

TEST(Workloads, SayWhatTheyCannotMake) {
  EXPECT_EQ(make_chainmm({.split = {10001, 1, 1}}).error().message,
            "index 'i' of 'AB' has size 10000 and does not split into 10001 blocks; ask for 1 to "
            "10000 shards of it, or for a larger size");
  EXPECT_EQ(make_chainmm({.size = -5}).error().message,
            "index 'i' of 'chainmm' has size -5; sizes are from 1 to 2147483647");
  EXPECT_EQ(make_chainmm({.devices = 0}).error().message,
            "a workload is made for 1 to 65536 devices, not 0");
  EXPECT_FALSE(make_ffnn({.sizes = {4}}));
  EXPECT_FALSE(make_ffnn({.batch = 6, .data_shards = 7}));
  EXPECT_EQ(make_llama({.hidden = 100, .heads = 3}).error().message,
            "100 hidden elements do not make 3 heads of an even size");
  EXPECT_EQ(make_llama({.data_shards = 5}).error().message,
            "a batch of 4 does not split into 5 data shards; ask for at most 4, or for a larger "
            "--batch");
  EXPECT_EQ(make_llama({.head_shards = 33}).error().message,
            "index 'h' of 'query' has size 32 and does not split into 33 blocks; ask for 1 to 32 "
            "shards of it, or for a larger size");
  EXPECT_FALSE(make_llama({.row_shards = 0}));
  EXPECT_EQ(with_split({}, "pp", 4).error().message,
            "there is no split 'pp'; there are dp, tp and mix");
  EXPECT_FALSE(with_split({}, "tp", 0));
  EXPECT_FALSE(make_cholesky({.tiles = 0}));
  EXPECT_EQ(make_cholesky({.tiles = 100000}).error().message,
            "the graph would have 6.667e+14 ops and edges; at most 1.678e+07 are made");
}

}  // namespace
}  // namespace tutti
