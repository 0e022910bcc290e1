#include "tutti/graph/import/hlo/hlo.h"

#include <gtest/gtest.h>

#include <string>

#include "test/support/shared_data.h"
#include "tutti/graph/names.h"

namespace tutti {
namespace {

// Each instruction for itself; fuse_test.cc has the rest.
Result<Imported> parse(const std::string& text) {
  Source source = Source::from_text("g.hlo", text);
  return read_hlo(source, {.fuse = false});
}

Result<Imported> parse_entry(const std::string& instructions) {
  return parse("HloModule m\nENTRY %main {\n" + instructions + "\n}\n");
}

double flops_of(const Graph& graph, std::string_view name) {
  const auto op = NameIndex(graph).find(name);
  return op ? graph.flops(*op) : -1;
}

const char kLoop[] = R"(HloModule looping, is_scheduled=true

%sum (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %s = f32[] add(%a, %b)
}

cond {
  p = (s32[], f32[8,4]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] constant(5)
  ROOT lt = pred[] compare(i, n), direction=LT
}

body {
  p = (s32[], f32[8,4]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  x = f32[8,4] get-tuple-element(p), index=1
  y = f32[8,4]{1,0} multiply(x, x)
  ROOT t = (s32[], f32[8,4]) tuple(i, y)
} // body

ENTRY %main (x: f32[8,16]) -> f32[8] {
  %x = f32[8,16]{1,0} parameter(0)
  %w = bf16[16,4]{1,0:T(8,128)} constant({...})
  %dot = f32[8,4]{1,0} dot(f32[8,16]{1,0} %x, %w), lhs_contracting_dims={1}, metadata={op_name="a(b"}
  %zero = s32[] constant(0)
  %t = (s32[], /*index=1*/f32[8,4]) tuple(%zero, %dot)
  %loop = (s32[], f32[8,4]{1,0}) while(%t), condition=%cond, body=%body
  %y = f32[8,4] get-tuple-element(%loop), index=1
  %z = f32[32] reshape(%y)
  ROOT %r = f32[]{0} reduce(%z, %zero), dimensions={0}, to_apply=%sum, control-predecessors={%dot}
}
)";

TEST(Hlo, CountsFlopsBytesAndRoundsOfLoops) {
  const auto imported = parse(kLoop);
  ASSERT_TRUE(imported) << imported.error().message;
  EXPECT_TRUE(imported->warnings.empty());
  const Graph& graph = imported->graph;
  EXPECT_EQ(graph.name(), "looping");
  ASSERT_EQ(graph.size(), 4);                         // dot, loop, z, r
  EXPECT_EQ(flops_of(graph, "dot"), 2 * 8 * 4 * 16);  // each output a sum over 16
  EXPECT_EQ(flops_of(graph, "loop"), 5 * (32 + 1));   // five multiplications and comparisons
  EXPECT_EQ(flops_of(graph, "r"), 32);
  EXPECT_EQ(graph.given_run_time(OpId{2}, "gpu"), Duration(0));  // a reshape is a view
  EXPECT_EQ(graph.given_run_time(OpId{0}, "gpu"), std::nullopt);
  const auto dot = graph.operands(OpId{0});
  EXPECT_EQ(graph.value_name(dot[1]), "w");
  EXPECT_TRUE(graph.is_weight(dot[1]));
  EXPECT_EQ(graph.bytes(dot[1]), 16 * 4 * 2);
  EXPECT_EQ(graph.dtype(dot[1]), DType::bf16);
}

TEST(Hlo, LooksThroughTuplesAndKeepsControlEdges) {
  const auto imported = parse(kLoop);
  ASSERT_TRUE(imported) << imported.error().message;
  const Graph& graph = imported->graph;
  const auto loop = graph.operands(OpId{1});
  ASSERT_EQ(loop.size(), 2u);
  EXPECT_EQ(graph.value_name(loop[0]), "zero");
  EXPECT_EQ(graph.producer(loop[1]), OpId{0});
  EXPECT_EQ(graph.operands(OpId{2})[0], ValueId{(*graph.outputs(OpId{1}).begin()).index + 1});
  ASSERT_EQ(graph.operands(OpId{3}).size(), 3u);
  EXPECT_EQ(graph.producer(graph.operands(OpId{3})[2]), OpId{0});
}

// ResNet's first layer: each of 112 x 112 x 64 outputs sums over 7 x 7 x 3.
TEST(Hlo, CountsConvolutionsByTheirLabels) {
  const auto imported = parse_entry(R"(
    x = f32[1,224,224,3]{3,2,1,0} parameter(0)
    k = f32[7,7,3,64]{3,2,1,0} parameter(1)
    c = f32[1,112,112,64] convolution(x, k), window={size=7x7 stride=2x2 pad=3_3x3_3}, dim_labels=b01f_01io->b01f
    d = f32[32,1,3,3] parameter(2)
    y = f32[1,32,8,8] parameter(3)
    e = f32[1,32,8,8] convolution(y, d), window={size=3x3 pad=1_1x1_1}, dim_labels=bf01_oi01->bf01, feature_group_count=32
    ROOT m = f32[1,32,4,4] reduce-window(e, y), window={size=1x1x2x2 stride=1x1x2x2})");
  ASSERT_TRUE(imported) << imported.error().message;
  EXPECT_EQ(flops_of(imported->graph, "c"), 2.0 * 112 * 112 * 64 * 7 * 7 * 3);
  EXPECT_EQ(flops_of(imported->graph, "e"), 2.0 * 32 * 8 * 8 * 3 * 3);
  EXPECT_EQ(flops_of(imported->graph, "m"), 32.0 * 4 * 4 * 4);
}

TEST(Hlo, SaysWhatItCannotCount) {
  const auto imported = parse_entry(R"(
    ROOT c = (f32[2], token[], f8e4m3fn[4]) custom-call(), custom_call_target="fused_attention")");
  ASSERT_TRUE(imported) << imported.error().message;
  ASSERT_EQ(imported->warnings.size(), 1u);
  EXPECT_NE(imported->warnings[0].find("flops of fused_attention are not known"),
            std::string::npos);
}

TEST(Hlo, RefusesHostileInputWithOneSentence) {
  const std::string huge = "a = ((" + std::string(2000, ' ');
  std::string wide = "a = (f32[]";
  for (int i = 0; i < 20000; ++i) wide += ",f32[]";
  wide += ") parameter(0)\nb = f32[] custom-call(a";
  for (int i = 0; i < 20000; ++i) wide += ",a";
  const struct {
    std::string text;
    std::string expected;
  } cases[] = {
      {"a = f32[] negate(b)", "g.hlo:3: 'b' is not defined above in this computation"},
      {"a = f32[] parameter(0)\na = f32[] parameter(1)", "g.hlo:4: 'a' stands twice"},
      {"hello", "g.hlo:3: an instruction is 'name = type"},
      {"a = g32[] parameter(0)", "'g32' is not a type of HLO"},
      {"a = f32[x] parameter(0)", "a dimension must be a whole number"},
      {"a = f32[9999999999,9999999999] parameter(0)", "a value of more than 2^60 bytes"},
      {"a = (f32[]) parameter(0)\nb = f32[] get-tuple-element(a), index=1",
       "the tuple has no element 1"},
      {"a = f32[] parameter(0)\nb = (f32[]) tuple(a, a)",
       "the type has 1 arrays and the operands have 2"},
      {"a = f32[] parameter(0)\nb = f32[] call(a), to_apply=c",
       "there is no computation called 'c' above this one"},
      {"a = " + std::string(70, '(') + std::string(70, ')') + " parameter(0)",
       "tuples are nested deeper than 64"},
      {wide + ")", "more than 2^26 arrays in all"},
      {huge, "the brackets of this statement are not closed"},
  };
  for (const auto& [text, expected] : cases) {
    const auto imported = parse_entry(text);
    ASSERT_FALSE(imported) << text;
    EXPECT_NE(imported.error().message.find(expected), std::string::npos)
        << imported.error().message;
  }
  EXPECT_NE(parse("HloModule m\n").error().message.find("no computation marked ENTRY"),
            std::string::npos);
}

// Ops by a script over the same files: instructions of the entry computation less parameters,
// constants, tuples and get-tuple-elements. Flops: ResNet-50 is known for 3.9e9 multiplications of
// one image at 224 x 224 (He et al. 2016, table 1, gives 3.8e9), and two flops are one of those.
TEST(Hlo, ReadsWholeModels) {
  TUTTI_NEEDS_SHARED_DATA("xla_hlo");
  const struct {
    const char* name;
    int ops;
  } known[] = {
      {"dlrm_keras_jax_f32_test_step", 93}, {"dlrm_keras_jax_f32_train_step", 862},
      {"gemma2_2b_keras_jax", 5105},        {"hlo_llama31_70b_bf16_16x8", 710},
      {"hlo_llama3_8b_cp_bf16_1x4", 647},   {"layer_norm_1x4096x768_bf16", 27},
      {"mha_block_1x12x128x64_bf16", 28},   {"mobilenet_v2", 2384},
      {"resnet50_keras_jax_f32", 1366},
  };
  for (const auto& [name, ops] : known) {
    const auto imported =
        load_graph(shared_data("xla_hlo/" + std::string(name) + ".hlo"), {.fuse = false});
    ASSERT_TRUE(imported) << imported.error().message;
    EXPECT_EQ(imported->format, "hlo");
    EXPECT_EQ(imported->graph.size(), ops) << name;
    double flops = 0;
    for (const OpId op : imported->graph.ops()) flops += imported->graph.flops(op);
    EXPECT_GT(flops, 0) << name;
    if (imported->graph.name() == "jit_predict_step") {
      EXPECT_NEAR(flops, 2 * 3.86e9, 0.05 * 7.7e9);
    }
  }
}

}  // namespace
}  // namespace tutti
