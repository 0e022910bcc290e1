#include "tutti/graph/import/onnx/onnx.h"

#include <gtest/gtest.h>

#include <string>

#include "test/support/shared_data.h"
#include "tutti/graph/import/onnx/flops.h"
#include "tutti/graph/names.h"

namespace tutti {
namespace {

#define TUTTI_NEEDS_ONNX() \
  if (!can_read_onnx()) GTEST_SKIP() << "this build reads no ONNX"

// Small models of our own: test/make_onnx_corpus.py says what they hold.
Result<Imported> load_small(const std::string& name, const ImportOptions& options = {}) {
  return load_graph(TUTTI_SOURCE_DIR "/test/corpus/onnx/" + name + ".onnx", options);
}

OpId op_called(const Graph& graph, std::string_view name) {
  return NameIndex(graph).find(name).value();
}

TEST(Onnx, IsRefusedWithASentenceWhereItCannotBeRead) {
  if (can_read_onnx()) GTEST_SKIP() << "this build reads ONNX";
  const auto imported = load_small("good_network");
  ASSERT_FALSE(imported);
  EXPECT_EQ(imported.error().kind, Error::Kind::invalid_input);
  EXPECT_NE(imported.error().message.find("built without libonnx"), std::string::npos);
}

TEST(Onnx, CountsFlopsBytesAndWeightsOfASmallNetwork) {
  TUTTI_NEEDS_ONNX();
  const auto imported = load_small("good_network", {.dims = {{"batch", 2}}});
  ASSERT_TRUE(imported) << imported.error().message;
  EXPECT_EQ(imported->format, "onnx");
  EXPECT_TRUE(imported->warnings.empty());
  const Graph& graph = imported->graph;
  // conv, relu, flat, gemm and y; what computes the shape is folded.
  ASSERT_EQ(graph.size(), 5);
  const OpId conv = op_called(graph, "conv");
  // 2 images of 4 x 4 x 4 outputs, each a sum over 3 x 3 x 3, and a bias.
  EXPECT_EQ(graph.flops(conv), 2 * 64 * (2 * 27 + 1));
  EXPECT_EQ(graph.bytes(*graph.outputs(conv).begin()), 2 * 64 * 4);
  ASSERT_EQ(graph.operands(conv).size(), 3u);
  EXPECT_FALSE(graph.is_weight(graph.operands(conv)[0]));
  EXPECT_EQ(graph.residence(graph.operands(conv)[0]).where, Residence::Where::host);
  EXPECT_TRUE(graph.is_weight(graph.operands(conv)[1]));
  EXPECT_EQ(graph.bytes(graph.operands(conv)[1]), 4 * 3 * 3 * 3 * 4);
  // The shape that the model works out from its input: [2, -1], so [2, 64].
  const OpId flat = op_called(graph, "flat");
  const auto shape = graph.shape(*graph.outputs(flat).begin());
  EXPECT_EQ(std::vector<int64_t>(shape.begin(), shape.end()), (std::vector<int64_t>{2, 64}));
  EXPECT_EQ(graph.given_run_time(flat, "gpu"), Duration(0));
  EXPECT_EQ(graph.flops(op_called(graph, "gemm")), 2 * 2 * 5 * 64);
  // A node without a name is called like what it makes.
  EXPECT_EQ(graph.op_kind_name(op_called(graph, "y")), "Softmax");
}

TEST(Onnx, ReadsNodesInAnyOrder) {
  TUTTI_NEEDS_ONNX();
  const auto sorted = load_small("good_network");
  const auto shuffled = load_small("good_shuffled");
  ASSERT_TRUE(sorted && shuffled);
  EXPECT_EQ(shuffled->graph.size(), 5);
  for (const OpId op : sorted->graph.ops()) {
    const OpId other = op_called(shuffled->graph, sorted->graph.op_name(op));
    EXPECT_EQ(shuffled->graph.flops(other), sorted->graph.flops(op));
  }
}

TEST(Onnx, NamesAnOpenDimensionAndTheFlagThatSetsIt) {
  TUTTI_NEEDS_ONNX();
  const auto open = load_small("bad_open_dimension");
  ASSERT_FALSE(open);
  EXPECT_NE(open.error().message.find("dimension seq is open; give it with --dim seq=128"),
            std::string::npos)
      << open.error().message;
  const auto set = load_small("bad_open_dimension", {.dims = {{"seq", 10}}});
  ASSERT_TRUE(set) << set.error().message;
  EXPECT_EQ(set->graph.flops(op_called(set->graph, "scores")), 2 * 10 * 10 * 16);
  const auto strange = load_small("good_network", {.dims = {{"width", 10}}});
  ASSERT_FALSE(strange);
  EXPECT_NE(strange.error().message.find("no dimension called 'width'; it has batch"),
            std::string::npos);
}

TEST(Onnx, ListsUnknownOpTypesInOneWarning) {
  TUTTI_NEEDS_ONNX();
  const auto imported = load_small("good_custom");
  ASSERT_TRUE(imported) << imported.error().message;
  ASSERT_EQ(imported->warnings.size(), 1u);
  EXPECT_NE(imported->warnings[0].find("flops of com.example.Fused are not known"),
            std::string::npos);
  EXPECT_EQ(imported->graph.bytes(*imported->graph.outputs(OpId{0}).begin()), 16);
}

TEST(Onnx, SaysWhereShapesCannotBeInferred) {
  TUTTI_NEEDS_ONNX();
  const auto imported = load_small("good_no_stride");
  ASSERT_TRUE(imported) << imported.error().message;
  ASSERT_EQ(imported->warnings.size(), 2u);
  EXPECT_NE(imported->warnings[0].find("flops of Conv, Gemm, Relu, Softmax are not known"),
            std::string::npos);
  EXPECT_NE(imported->warnings[1].find("shapes of 4 values could not be inferred, the first 'c'"),
            std::string::npos)
      << imported->warnings[1];
  // As large as the input, the largest that the convolution reads.
  const OpId conv = op_called(imported->graph, "conv");
  EXPECT_EQ(imported->graph.bytes(*imported->graph.outputs(conv).begin()), 3 * 8 * 8 * 4);
}

TEST(Onnx, CountsWhatTheBodyOfABranchReads) {
  TUTTI_NEEDS_ONNX();
  const auto imported = load_small("good_branch");
  ASSERT_TRUE(imported) << imported.error().message;
  EXPECT_EQ(imported->graph.operands(OpId{0}).size(), 2u);  // flag, and x by the body
}

TEST(Onnx, RefusesHostileInputWithOneSentence) {
  TUTTI_NEEDS_ONNX();
  const struct {
    const char* name;
    const char* expected;
  } cases[] = {
      {"bad_truncated", "is damaged, or nested too deep"},
      {"bad_deep", "is damaged, or nested too deep"},
      {"bad_no_graph", "is an ONNX model without a graph"},
      {"bad_huge", "value 'k' would have more than 2^60 bytes"},
      {"bad_unknown_value", "node 'only' reads 'nowhere', which nothing makes"},
      {"bad_cycle", "node 'only' reads 'y', which nothing makes that can run before it"},
      {"bad_made_twice", "two nodes or inputs make the value 'y'"},
      {"bad_not_utf8", "a node's name is not UTF-8"},
      {"bad_graph_name", "the graph's name is not UTF-8"},
  };
  for (const auto& [name, expected] : cases) {
    const auto imported = load_small(name);
    ASSERT_FALSE(imported) << name;
    EXPECT_EQ(imported.error().kind, Error::Kind::invalid_input);
    EXPECT_NE(imported.error().message.find(expected), std::string::npos)
        << imported.error().message;
  }
}

TEST(OnnxFlops, CountEinsumAndRecurrence) {
  const auto shaped = [](std::string name, std::vector<int64_t> dims) {
    return OnnxValue{
        .name = std::move(name),
        .type = {.dtype = DType::f32, .element_bytes = 4, .shaped = true, .dims = std::move(dims)}};
  };
  OnnxModel model;
  model.values = {shaped("a", {2, 3, 4}), shaped("b", {2, 4, 5}), shaped("c", {2, 3, 5}),
                  shaped("w", {1, 20, 4}), shaped("r", {1, 20, 5})};
  OnnxNode einsum{.name = "e", .op_type = "Einsum", .reads = {0, 1}, .makes = {2}};
  einsum.attributes.texts["equation"] = "bij,bjk->bik";
  EXPECT_EQ(onnx_flops(model, einsum), 2.0 * 2 * 3 * 4 * 5);
  // Two steps for a batch of 3: each multiplies all of both matrices.
  const OnnxNode lstm{.name = "l", .op_type = "LSTM", .reads = {0, 3, 4}, .makes = {2}};
  EXPECT_EQ(onnx_flops(model, lstm), 2.0 * 2 * 3 * (80 + 100));
  const OnnxNode strange{.name = "s", .op_type = "NoSuchOp", .reads = {0}, .makes = {2}};
  EXPECT_EQ(onnx_flops(model, strange), std::nullopt);
}

// Multiply-adds of one image at 224 x 224, each two flops:
// VGG-19 19.63e9, ResNet-50 4.09e9, SqueezeNet 1.1 0.35e9, GoogLeNet 1.5e9: torchvision's table of
// models (pytorch.org/vision/stable/models.html, column GFLOPS); GoogLeNet also in its paper
// (Szegedy et al. 2015: 1.5 billion). AlexNet with two groups has 724e6 at 227 x 227 (Caffe's
// bvlc_alexnet): 105.4 + 223.9 + 149.5 + 112.1 + 74.8 in its convolutions and 58.6 in its products.
// At 224, without padding, the maps are 54, 26 and 12 wide in place of 55, 27 and 13:
// 105.4 (54/55)^2 + 223.9 (26/27)^2 + 336.4 (12/13)^2 + 58.6 = 654.5e6.
TEST(Onnx, FindsTheKnownFlopsOfLightNetworks) {
  TUTTI_NEEDS_ONNX();
  TUTTI_NEEDS_SHARED_DATA("onnx_light");
  const struct {
    const char* name;
    double multiply_adds;
    double weight_bytes;  // 4 for each of the published parameters
  } known[] = {
      {"light_vgg19", 19.63e9, 4 * 143.67e6},       {"light_resnet50", 4.09e9, 4 * 25.56e6},
      {"light_squeezenet", 0.35e9, 4 * 1.2355e6},   {"light_inception_v1", 1.5e9, 4 * 6.99e6},
      {"light_bvlc_alexnet", 654.5e6, 4 * 60.97e6},
  };
  for (const auto& [name, multiply_adds, weight_bytes] : known) {
    const auto imported = load_graph(shared_data("onnx_light/" + std::string(name) + ".onnx"));
    ASSERT_TRUE(imported) << imported.error().message;
    EXPECT_TRUE(imported->warnings.empty()) << imported->warnings[0];
    const Graph& graph = imported->graph;
    double flops = 0;
    for (const OpId op : graph.ops()) flops += graph.flops(op);
    EXPECT_NEAR(flops, 2 * multiply_adds, 0.05 * 2 * multiply_adds) << name;
    double bytes = 0;
    for (const ValueId value : graph.values()) {
      if (graph.producer(value).valid() || !graph.is_weight(value)) continue;
      bytes += static_cast<double>(graph.bytes(value));
    }
    EXPECT_NEAR(bytes, weight_bytes, 0.01 * weight_bytes) << name;
  }
}

struct Totals {
  double flops = 0;
  int64_t weight_bytes = 0;
  friend bool operator==(const Totals&, const Totals&) = default;
};

Totals totals(const Graph& graph) {
  Totals all;
  for (const OpId op : graph.ops()) all.flops += graph.flops(op);
  for (const ValueId value : graph.values()) {
    if (graph.producer(value).valid() || !graph.is_weight(value)) continue;
    all.weight_bytes += graph.bytes(value);
  }
  return all;
}

TEST(Onnx, SplitsLargeProductsByColumns) {
  TUTTI_NEEDS_ONNX();
  const auto whole = load_small("good_network");
  const auto split = load_small("good_network", {.shards = 2});
  ASSERT_TRUE(whole && split) << split.error().message;
  const Graph& graph = split->graph;
  EXPECT_EQ(graph.size(), whole->graph.size() + 2);  // three for one
  EXPECT_EQ(totals(graph), totals(whole->graph));
  // Five columns are two and three.
  const OpId first = op_called(graph, "gemm[0]");
  const OpId second = op_called(graph, "gemm[1]");
  EXPECT_EQ(graph.flops(first), 2 * 2 * 64);
  EXPECT_EQ(graph.flops(second), 2 * 3 * 64);
  EXPECT_EQ(graph.bytes(graph.operands(second)[1]), 3 * 64 * 4);
  const OpId join = op_called(graph, "gemm.join");
  EXPECT_EQ(graph.operands(join).size(), 2u);
  EXPECT_EQ(graph.value_name(graph.outputs(join).front()), "g");
  // There are not six columns to split.
  EXPECT_EQ(load_small("good_network", {.shards = 6})->graph.size(), whole->graph.size());
}

TEST(Onnx, KeepsFlopsAndWeightsOfRealModelsHoweverTheyAreSplit) {
  TUTTI_NEEDS_ONNX();
  TUTTI_NEEDS_SHARED_DATA("ort_onnx");
  const struct {
    const char* path;
    std::vector<std::pair<std::string, int64_t>> dims;
  } models[] = {
      {"onnx_light/light_vgg19.onnx", {}},
      {"ort_onnx/bert_toy_optimized.onnx", {{"max_seq_len_in_batch", 16}}},
      {"ort_onnx/gpt2_megatron.onnx", {{"seq_len", 32}, {"past_seq_len", 32}}},
  };
  for (const auto& [path, dims] : models) {
    const auto whole = load_graph(shared_data(path), {.dims = dims});
    ASSERT_TRUE(whole) << whole.error().message;
    for (const int shards : {2, 3, 7}) {
      const auto split = load_graph(shared_data(path), {.dims = dims, .shards = shards});
      ASSERT_TRUE(split) << split.error().message;
      EXPECT_GT(split->graph.size(), whole->graph.size()) << path;
      EXPECT_EQ(totals(split->graph), totals(whole->graph)) << path << " in " << shards;
    }
  }
}

// Every shape of the real transformers is known, though they compute many at run time.
TEST(Onnx, InfersAllShapesOfExportedModels) {
  TUTTI_NEEDS_ONNX();
  TUTTI_NEEDS_SHARED_DATA("ort_onnx");
  const struct {
    const char* name;
    ImportOptions options;
    int ops;
  } known[] = {
      {"bart_self_attention_megatron_basic_test", {}, 26},
      {"bert_toy_optimized", {.dims = {{"batch", 8}, {"max_seq_len_in_batch", 16}}}, 302},
      {"gpt2_megatron", {.dims = {{"seq_len", 32}, {"past_seq_len", 32}}}, 92},
      {"mobilenet_v2_opset11", {}, 318},
      {"self_attention_megatron_basic_test", {.dims = {{"seqlen", 8}}}, 22},
  };
  for (const auto& [name, options, ops] : known) {
    const auto imported =
        load_graph(shared_data("ort_onnx/" + std::string(name) + ".onnx"), options);
    ASSERT_TRUE(imported) << imported.error().message;
    EXPECT_TRUE(imported->warnings.empty()) << imported->warnings[0];
    EXPECT_EQ(imported->graph.size(), ops) << name;
  }
}

}  // namespace
}  // namespace tutti
