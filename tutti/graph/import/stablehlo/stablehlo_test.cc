#include "tutti/graph/import/stablehlo/stablehlo.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "tutti/graph/import/hlo/hlo.h"
#include "tutti/graph/names.h"

namespace tutti {
namespace {

Result<Imported> read(const std::string& text, const ImportOptions& options = {}) {
  Source source = Source::from_text("m.mlir", text);
  return read_stablehlo(source, options);
}

std::string in_main(const std::string& ops) {
  return "module @m {\n  func.func public @main(%x: tensor<8x16xf32>) -> tensor<8x16xf32> {\n" +
         ops + "\n  }\n}\n";
}

// What must be equal of a program in both languages: each op's kind, flops and bytes, and what all
// launches move.
struct Summary {
  std::vector<std::string> ops{};
  double launches = 0;
  double bytes = 0;
};

Summary summary_of(const Result<Imported>& imported) {
  Summary summary;
  if (!imported) {
    ADD_FAILURE() << imported.error().message;
    return summary;
  }
  const Graph& graph = imported->graph;
  for (const OpId op : graph.ops()) {
    int64_t read = 0;
    int64_t made = 0;
    for (const ValueId value : graph.operands(op)) read += graph.bytes(value);
    for (const ValueId value : graph.outputs(op)) made += graph.bytes(value);
    summary.ops.push_back(std::string(graph.op_kind_name(op)) + ", " +
                          std::to_string(graph.flops(op)) + " flops, reads " +
                          std::to_string(read) + ", makes " + std::to_string(made));
  }
  std::sort(summary.ops.begin(), summary.ops.end());
  summary.launches = imported->launches->instructions;
  summary.bytes = imported->launches->bytes;
  return summary;
}

double all_flops(const Result<Imported>& imported) {
  double flops = 0;
  for (const OpId op : imported->graph.ops()) flops += imported->graph.flops(op);
  return flops;
}

void expect_equal(const std::string& hlo, const std::string& stablehlo) {
  Source fused = Source::from_text("m.hlo", hlo);
  const Summary expected = summary_of(read_hlo(fused, {}));
  const Summary actual = summary_of(read(stablehlo));
  EXPECT_FALSE(expected.ops.empty());
  EXPECT_EQ(actual.ops, expected.ops);
  EXPECT_EQ(actual.launches, expected.launches);
  EXPECT_EQ(actual.bytes, expected.bytes);
  // Without fusing, texts differ in how often they reshape, and in nothing that computes.
  Source separate = Source::from_text("m.hlo", hlo);
  const Result<Imported> apart = read_hlo(separate, {.fuse = false});
  const Result<Imported> ours = read(stablehlo, {.fuse = false});
  ASSERT_TRUE(apart && ours);
  EXPECT_EQ(all_flops(ours), all_flops(apart));
}

TEST(StableHlo, MakesOfAnMlpWhatItsHloTextMakes) {
  expect_equal(R"(HloModule mlp
relu {
  x = f32[8,64]{1,0} parameter(0)
  zero = f32[] constant(0)
  zeros = f32[8,64]{1,0} broadcast(zero), dimensions={}
  ROOT y = f32[8,64]{1,0} maximum(x, zeros)
}
ENTRY main {
  x = f32[8,32]{1,0} parameter(0)
  w = f32[32,64]{1,0} parameter(1)
  b = f32[64]{0} parameter(2)
  v = f32[64,4]{1,0} parameter(3)
  p = f32[8,64]{1,0} dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  row = f32[1,64]{1,0} reshape(b)
  flat = f32[64]{0} reshape(row)
  bs = f32[8,64]{1,0} broadcast(flat), dimensions={1}
  s = f32[8,64]{1,0} add(p, bs)
  r = f32[8,64]{1,0} call(s), to_apply=relu
  ROOT y = f32[8,4]{1,0} dot(r, v), lhs_contracting_dims={1}, rhs_contracting_dims={0}
})",
               R"(#loc = loc(unknown)
module @mlp attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<8x32xf32> loc("x"), %arg1: tensor<32x64xf32> {mhlo.sharding = "{replicated}"}, %arg2: tensor<64xf32>, %arg3: tensor<64x4xf32>) -> (tensor<8x4xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x32xf32>, tensor<32x64xf32>) -> tensor<8x64xf32> loc(#loc1)
    %1 = stablehlo.broadcast_in_dim %arg2, dims = [1] : (tensor<64xf32>) -> tensor<1x64xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<1x64xf32>) -> tensor<8x64xf32> loc("f"(#loc1))
    %3 = stablehlo.add %0, %2 : tensor<8x64xf32>
    %4 = call @relu(%3) : (tensor<8x64xf32>) -> tensor<8x64xf32>
    %5 = stablehlo.dot_general %4, %arg3, contracting_dims = [1] x [0] : (tensor<8x64xf32>, tensor<64x4xf32>) -> tensor<8x4xf32>
    return %5 : tensor<8x4xf32>
  } loc(#loc)
  func.func private @relu(%arg0: tensor<8x64xf32>) -> tensor<8x64xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x64xf32>
    %1 = stablehlo.maximum %arg0, %0 : tensor<8x64xf32>
    return %1 : tensor<8x64xf32>
  }
} loc(#loc)
#loc1 = loc("f.py":3:8)
)");
}

const char kAttentionInHlo[] = R"(HloModule attention
largest {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT m = f32[] maximum(a, b)
}
sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}
ENTRY main {
  q = f32[2,64,32]{2,1,0} parameter(0)
  k = f32[2,128,32]{2,1,0} parameter(1)
  v = f32[2,128,32]{2,1,0} parameter(2)
  x = f32[2,64,128]{2,1,0} dot(q, k), lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={0}, rhs_contracting_dims={2}
  low = f32[] constant(-inf)
  m = f32[2,64]{1,0} reduce(x, low), dimensions={2}, to_apply=largest
  ms = f32[2,64,128]{2,1,0} broadcast(m), dimensions={0,1}
  d = f32[2,64,128]{2,1,0} subtract(x, ms)
  e = f32[2,64,128]{2,1,0} exponential(d)
  zero = f32[] constant(0)
  s = f32[2,64]{1,0} reduce(e, zero), dimensions={2}, to_apply=sum
  ss = f32[2,64,128]{2,1,0} broadcast(s), dimensions={0,1}
  p = f32[2,64,128]{2,1,0} divide(e, ss)
  ROOT y = f32[2,64,32]{2,1,0} dot(p, v), lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={0}, rhs_contracting_dims={1}
})";

TEST(StableHlo, MakesOfAttentionWhatItsHloTextMakes) {
  expect_equal(kAttentionInHlo, R"(module @attention {
  func.func public @main(%arg0: tensor<2x64x32xf32>, %arg1: tensor<2x128x32xf32>, %arg2: tensor<2x128x32xf32>) -> tensor<2x64x32xf32> {
    %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<2x64x32xf32>, tensor<2x128x32xf32>) -> tensor<2x64x128xf32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.maximum across dimensions = [2] : (tensor<2x64x128xf32>, tensor<f32>) -> tensor<2x64xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<2x64xf32>) -> tensor<2x64x1xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0, 1, 2] : (tensor<2x64x1xf32>) -> tensor<2x64x128xf32>
    %4 = stablehlo.subtract %0, %3 : tensor<2x64x128xf32>
    %5 = stablehlo.exponential %4 : tensor<2x64x128xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %6 = stablehlo.reduce(%5 init: %cst_0) across dimensions = [2] : (tensor<2x64x128xf32>, tensor<f32>) -> tensor<2x64xf32>
     reducer(%arg3: tensor<f32>, %arg4: tensor<f32>)  {
      %10 = stablehlo.add %arg3, %arg4 : tensor<f32>
      stablehlo.return %10 : tensor<f32>
    }
    %7 = stablehlo.broadcast_in_dim %6, dims = [0, 1] : (tensor<2x64xf32>) -> tensor<2x64x128xf32>
    %8 = stablehlo.divide %5, %7 : tensor<2x64x128xf32>
    %9 = stablehlo.dot_general %8, %arg2, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x64x128xf32>, tensor<2x128x32xf32>) -> tensor<2x64x32xf32>
    return %9 : tensor<2x64x32xf32>
  }
})");
}

TEST(StableHlo, ReadsTheGenericFormAsThePrettyOne) {
  expect_equal(kAttentionInHlo, R"("builtin.module"() <{sym_name = "attention"}> ({
  "func.func"() <{function_type = (tensor<2x64x32xf32>, tensor<2x128x32xf32>, tensor<2x128x32xf32>) -> tensor<2x64x32xf32>, sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg0: tensor<2x64x32xf32>, %arg1: tensor<2x128x32xf32>, %arg2: tensor<2x128x32xf32>):
    %0 = "stablehlo.dot_general"(%arg0, %arg1) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2]>, precision_config = [#stablehlo<precision DEFAULT>]}> : (tensor<2x64x32xf32>, tensor<2x128x32xf32>) -> tensor<2x64x128xf32>
    %1 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %2 = "stablehlo.reduce"(%0, %1) <{dimensions = array<i64: 2>}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      %20 = "stablehlo.maximum"(%arg3, %arg4) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%20) : (tensor<f32>) -> ()
    }) : (tensor<2x64x128xf32>, tensor<f32>) -> tensor<2x64xf32>
    %3 = "stablehlo.broadcast_in_dim"(%2) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<2x64xf32>) -> tensor<2x64x128xf32>
    %4 = "stablehlo.subtract"(%0, %3) : (tensor<2x64x128xf32>, tensor<2x64x128xf32>) -> tensor<2x64x128xf32>
    %5 = "stablehlo.exponential"(%4) : (tensor<2x64x128xf32>) -> tensor<2x64x128xf32>
    %6 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f32>} : () -> tensor<f32>
    %7 = "stablehlo.reduce"(%5, %6) ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      %20 = "stablehlo.add"(%arg3, %arg4) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%20) : (tensor<f32>) -> ()
    }) {dimensions = dense<2> : tensor<1xi64>} : (tensor<2x64x128xf32>, tensor<f32>) -> tensor<2x64xf32>
    %8 = "stablehlo.broadcast_in_dim"(%7) {broadcast_dimensions = dense<[0, 1]> : tensor<2xi64>} : (tensor<2x64xf32>) -> tensor<2x64x128xf32>
    %9 = "stablehlo.divide"(%5, %8) : (tensor<2x64x128xf32>, tensor<2x64x128xf32>) -> tensor<2x64x128xf32>
    %10 = "stablehlo.dot_general"(%9, %arg2) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>}> : (tensor<2x64x128xf32>, tensor<2x128x32xf32>) -> tensor<2x64x32xf32>
    "func.return"(%10) : (tensor<2x64x32xf32>) -> ()
  }) : () -> ()
}) : () -> ())");
}

// Two convolutions, of which one has groups, a bias with ReLU, and a pool; constants of the whole
// shape, as other exporters write them.
TEST(StableHlo, MakesOfConvolutionsWhatTheirHloTextMakes) {
  expect_equal(R"(HloModule conv
largest {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT m = f32[] maximum(a, b)
}
ENTRY main {
  x = f32[1,32,32,8]{3,2,1,0} parameter(0)
  k = f32[3,3,8,16]{3,2,1,0} parameter(1)
  b = f32[16]{0} parameter(2)
  d = f32[16,4,3,3]{3,2,1,0} parameter(3)
  c = f32[1,32,32,16]{3,2,1,0} convolution(x, k), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f
  bs = f32[1,32,32,16]{3,2,1,0} broadcast(b), dimensions={3}
  s = f32[1,32,32,16]{3,2,1,0} add(c, bs)
  zero = f32[] constant(0)
  zeros = f32[1,32,32,16]{3,2,1,0} broadcast(zero), dimensions={}
  r = f32[1,32,32,16]{3,2,1,0} maximum(s, zeros)
  t = f32[1,16,32,32]{3,2,1,0} transpose(r), dimensions={0,3,1,2}
  g = f32[1,16,32,32]{3,2,1,0} convolution(t, d), window={size=3x3 pad=1_1x1_1}, dim_labels=bf01_oi01->bf01, feature_group_count=4
  low = f32[] constant(-inf)
  ROOT m = f32[1,16,16,16]{3,2,1,0} reduce-window(g, low), window={size=1x1x2x2 stride=1x1x2x2}, to_apply=largest
})",
               R"(module @conv {
  func.func @main(%x: tensor<1x32x32x8xf32>, %k: tensor<3x3x8x16xf32>, %b: tensor<16xf32>, %d: tensor<16x4x3x3xf32>) -> tensor<1x16x16x16xf32> {
    // The first layer.
    %c = stablehlo.convolution(%x, %k)
      dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
      window = {stride = [1, 1], pad = [[1, 1], [1, 1]]}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
      : (tensor<1x32x32x8xf32>, tensor<3x3x8x16xf32>) -> tensor<1x32x32x16xf32>
    %bs = stablehlo.broadcast_in_dim %b, dims = [3] : (tensor<16xf32>) -> tensor<1x32x32x16xf32>
    %s = stablehlo.add %c, %bs : tensor<1x32x32x16xf32>
    %zeros = stablehlo.constant dense<0.0> : tensor<1x32x32x16xf32>
    %r = stablehlo.maximum %s, %zeros : tensor<1x32x32x16xf32>
    %t = stablehlo.transpose %r, dims = [0, 3, 1, 2] : (tensor<1x32x32x16xf32>) -> tensor<1x16x32x32xf32>
    %g = "stablehlo.convolution"(%t, %d) <{dimension_numbers = #stablehlo.conv<[b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1]>, padding = dense<1> : tensor<2x2xi64>, feature_group_count = 4 : i64, batch_group_count = 1 : i64}> : (tensor<1x16x32x32xf32>, tensor<16x4x3x3xf32>) -> tensor<1x16x32x32xf32>
    %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %m = "stablehlo.reduce_window"(%g, %low) <{window_dimensions = array<i64: 1, 1, 2, 2>, window_strides = array<i64: 1, 1, 2, 2>}> ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %1 = stablehlo.maximum %p, %q : tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }) : (tensor<1x16x32x32xf32>, tensor<f32>) -> tensor<1x16x16x16xf32>
    return %m : tensor<1x16x16x16xf32>
  }
})");
}

double flops_of(const Result<Imported>& imported, std::string_view kind) {
  double flops = 0;
  if (!imported) {
    ADD_FAILURE() << imported.error().message;
    return flops;
  }
  for (const OpId op : imported->graph.ops()) {
    if (imported->graph.op_kind_name(op) == kind) flops += imported->graph.flops(op);
  }
  return flops;
}

// Five rounds of a product, an addition to the counter and a comparison; the bound stands in the
// condition, outside it, or is handed from round to round.
TEST(StableHlo, CountsTheRoundsOfLoops) {
  const std::string product =
      "%p = stablehlo.dot_general %b, %w, contracting_dims = [1] x [0] : (tensor<16x16xf32>, "
      "tensor<16x16xf32>) -> tensor<16x16xf32>\n";
  const auto loop = [&](const std::string& outside, const std::string& carried,
                        const std::string& type, const std::string& inside,
                        const std::string& bound, const std::string& back) {
    return read(
        "func.func @f(%x: tensor<16x16xf32>, %w: tensor<16x16xf32>) -> tensor<16x16xf32> {\n"
        "%zero = stablehlo.constant dense<0> : tensor<i32>\n" +
        outside + "%r:" + (back.empty() ? "2" : "3") + " = stablehlo.while(%a = %zero, %b = %x" +
        carried + ") : tensor<i32>, tensor<16x16xf32>" + type + " cond {\n" + inside +
        "%0 = stablehlo.compare LT, %a, " + bound +
        ", SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
        "stablehlo.return %0 : tensor<i1>\n} do {\n" +
        product +
        "%one = stablehlo.constant dense<1> : tensor<i32>\n"
        "%n = stablehlo.add %a, %one : tensor<i32>\n"
        "stablehlo.return %n, %p" +
        back + " : tensor<i32>, tensor<16x16xf32>" + type +
        "\n}\nreturn %r#1 : tensor<16x16xf32>\n}\n");
  };
  const std::string five = "%five = stablehlo.constant dense<5> : tensor<i32>\n";
  const double expected = 5 * (2.0 * 16 * 16 * 16 + 1 + 1);
  EXPECT_EQ(flops_of(loop("", "", "", five, "%five", ""), "while"), expected);
  const auto outside = loop(five, "", "", "", "%five", "");
  EXPECT_EQ(flops_of(outside, "while"), expected);
  EXPECT_TRUE(outside->warnings.empty());
  // The weights are read from around the loop, as x is.
  const Graph& graph = outside->graph;
  ASSERT_EQ(graph.size(), 1);
  EXPECT_EQ(graph.operands(OpId{0}).size(), 2u);
  EXPECT_EQ(flops_of(loop(five, ", %c = %five", ", tensor<i32>", "", "%c", ", %c"), "while"),
            expected);
  const auto unknown = loop("%n0 = stablehlo.iota dim = 0 : tensor<i32>\n", ", %c = %n0",
                            ", tensor<i32>", "", "%c", ", %c");
  ASSERT_TRUE(unknown) << unknown.error().message;
  EXPECT_EQ(unknown->warnings.size(), 1u);
}

TEST(StableHlo, CountsTheMostExpensiveBranch) {
  const auto imported = read(R"(module {
  func.func public @main(%p: tensor<i1>, %x: tensor<8x8xf32>) -> tensor<8x8xf32> {
    %0 = "stablehlo.if"(%p) ({
      %1 = stablehlo.dot %x, %x : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
      stablehlo.return %1 : tensor<8x8xf32>
    }, {
      %1 = stablehlo.sine %x : tensor<8x8xf32>
      stablehlo.return %1 : tensor<8x8xf32>
    }) : (tensor<i1>) -> tensor<8x8xf32>
    return %0 : tensor<8x8xf32>
  }
})");
  EXPECT_EQ(flops_of(imported, "conditional"), 2.0 * 8 * 8 * 8);
}

TEST(StableHlo, FollowsResultsOfFunctionsTuplesAndBarriers) {
  const auto imported = read(R"(module @jit_f {
  func.func public @main(%arg0: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
    %0:2 = call @pair(%arg0) : (tensor<8xf32>) -> (tensor<8xf32>, tensor<4x8xf32>)
    %1, %2 = "stablehlo.optimization_barrier"(%0#0, %0#1) : (tensor<8xf32>, tensor<4x8xf32>) -> (tensor<8xf32>, tensor<4x8xf32>)
    %3 = stablehlo.tuple %1, %2 : tuple<tensor<8xf32>, tensor<4x8xf32>>
    %4 = stablehlo.get_tuple_element %3[1] : (tuple<tensor<8xf32>, tensor<4x8xf32>>) -> tensor<4x8xf32>
    %5 = stablehlo.custom_call @attend(%4) {api_version = 2 : i32, backend_config = "{\"a\": [}", mhlo.frontend_attributes = {kernel = "x"}} : (tensor<4x8xf32>) -> tensor<8xf32>
    %6 = stablehlo.custom_call @Sharding(%5) {mhlo.sharding = "{devices=[2]0,1}"} : (tensor<8xf32>) -> tensor<8xf32>
    %7 = sdy.sharding_constraint %6 <@mesh, [{"a"}]> : tensor<8xf32>
    return %1, %7 : tensor<8xf32>, tensor<8xf32>
  }
  func.func private @pair(%arg0: tensor<8xf32>) -> (tensor<8xf32>, tensor<4x8xf32>) {
    %0 = chlo.erf_inv %arg0 : tensor<8xf32> -> tensor<8xf32>
    %1 = stablehlo.sort %arg0 : tensor<8xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [1] : (tensor<8xf32>) -> tensor<4x8xf32>
    return %0, %2 : tensor<8xf32>, tensor<4x8xf32>
  }
})");
  ASSERT_TRUE(imported) << imported.error().message;
  ASSERT_EQ(imported->warnings.size(), 1u);
  EXPECT_NE(imported->warnings[0].find("flops of attend are not known"), std::string::npos);
  const Graph& graph = imported->graph;
  const NameIndex names(graph);
  const auto attend = names.find("custom_call.5");
  ASSERT_TRUE(attend);
  const OpId read = graph.producer(graph.operands(*attend)[0]);
  ASSERT_TRUE(read.valid());
  EXPECT_EQ(graph.op_name(read), "pair.0/broadcast_in_dim.2");
  EXPECT_TRUE(names.find("pair.0/erf_inv.0"));
}

TEST(StableHlo, KeepsConstantsOfManyNumbersAsWeights) {
  std::string blob = "\"0x";
  for (int i = 0; i < 8 * 16 * 8; ++i) blob += static_cast<char>('0' + i % 10);
  const auto imported =
      read(in_main("%c = stablehlo.constant dense<" + blob + "\"> : tensor<8x16xf32>\n" +
                   "%s = stablehlo.constant dense<2.5> : tensor<8x16xf32>\n"
                   "%0 = stablehlo.multiply %x, %s : tensor<8x16xf32>\n"
                   "%1 = stablehlo.add %0, %c : tensor<8x16xf32>\nreturn %1 : tensor<8x16xf32>"));
  ASSERT_TRUE(imported) << imported.error().message;
  const Graph& graph = imported->graph;
  ASSERT_EQ(graph.size(), 1);
  ASSERT_EQ(graph.operands(OpId{0}).size(), 2u);  // x and the blob; 2.5 is part of the kernel
  EXPECT_EQ(graph.value_name(graph.operands(OpId{0})[1]), "c");
}

// Each result of a call that is picked makes one value, not as many as the call has.
TEST(StableHlo, PicksManyResultsOfOneOp) {
  constexpr int kResults = 9000;  // 9000 * 9000 is more than 2^26
  std::string types;
  std::string picked;
  for (int i = 0; i < kResults; ++i) {
    types += i == 0 ? "tensor<f32>" : ", tensor<f32>";
    picked += (i == 0 ? "%r#" : ", %r#") + std::to_string(i);
  }
  std::string inner;
  for (int i = 0; i < kResults; ++i) inner += i == 0 ? "%y" : ", %y";
  const auto imported =
      read("func.func @main(%x: tensor<f32>) -> (" + types + ") {\n%r:" + std::to_string(kResults) +
           " = call @g(%x) : (tensor<f32>) -> (" + types + ")\nreturn " + picked + " : " + types +
           "\n}\nfunc.func private @g(%x: tensor<f32>) -> (" + types +
           ") {\n%y = stablehlo.sine %x : tensor<f32>\nreturn " + inner + " : " + types + "\n}\n");
  ASSERT_TRUE(imported) << imported.error().message;
  EXPECT_EQ(imported->graph.op_name(OpId{0}).find("call"), std::string::npos);  // it is inlined
}

// A call of a function of one value.
std::string calls_g(const std::string& call) {
  return "func.func @main(%x: tensor<f32>) -> tensor<f32> {\n" + call +
         "\nreturn %x : tensor<f32>\n}\nfunc.func private @g(%y: tensor<f32>) -> tensor<f32> {\n" +
         "return %y : tensor<f32>\n}\n";
}

TEST(StableHlo, CallsFunctionsWhoseNamesAreQuoted) {
  for (
      const char* call :
      {R"(call @"<lambda>"(%x) : (tensor<4xf32>) -> tensor<4xf32>)",
       R"("func.call"(%x) <{callee = @"<lambda>"}> : (tensor<4xf32>) -> tensor<4xf32>)",
       R"(stablehlo.composite "a.b" %x {decomposition = @"<lambda>"} : (tensor<4xf32>) -> tensor<4xf32>)"}) {
    const auto imported =
        read(std::string("func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n") +
             "%r = " + call + R"(
  return %r : tensor<4xf32>
}
func.func private @"<lambda>"(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.dot %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
)");
    ASSERT_TRUE(imported) << imported.error().message << " for " << call;
    EXPECT_EQ(imported->graph.size(), 1) << call;
  }
}

TEST(StableHlo, RefusesWhatItCannotPlanWithOneSentence) {
  std::string deep;
  for (int i = 0; i < 80; ++i) deep += "\"a.b\"() ({\n";
  const struct {
    std::string text;
    std::string expected;
  } cases[] = {
      {in_main("%0 = stablehlo.negate %y : tensor<8x16xf32>\nreturn %0 : tensor<8x16xf32>"),
       "m.mlir:3: '%y' is not defined above in this function"},
      {in_main("%0 = stablehlo.negate %x : tensor<?x16xf32>"), "m.mlir:3: a type has an open"},
      {in_main("%0 = stablehlo.negate %x : tensor<*xf32>"), "open dimension; export the model"},
      {in_main("%0 = stablehlo.abs %x : tensor<8x!quant.uniform<i8:f32, 0.1:-1>>"),
       "m.mlir:3: types of quantised numbers are not read"},
      {in_main("%0 = stablehlo.abs %x : !tf.resource"), "'!tf.resource' is not a type that tutti"},
      {in_main("%0 = stablehlo.abs %x : tensor<9999999999x9999999999xf32>"),
       "a value of more than 2^60 bytes"},
      {in_main("%0 = stablehlo.abs %x"), "does not state the type of its result"},
      {in_main("%x = stablehlo.abs %x : tensor<8x16xf32>"), "'%x' stands twice"},
      {"func.func @main(%x: tensor<f32>, %x: tensor<f32>) -> tensor<f32> {\nreturn %x\n}",
       "'%x' stands twice"},
      {in_main("%0:2 = stablehlo.abs(%x, %x) : (tensor<f32>) -> (tensor<f32>, tensor<f32>, "
               "tensor<f32>)"),
       "has 2 results and 3 types"},
      {in_main("%0 = call @g(%x) : (tensor<8x16xf32>) -> tensor<8x16xf32>"),
       "there is no function called 'g'"},
      {in_main("%0 = call @main(%x) : (tensor<8x16xf32>) -> tensor<8x16xf32>"),
       "the function 'main' calls itself"},
      {in_main("%0 = stablehlo.constant dense<[1, 2> : tensor<2xi32>"),
       "stands where ']' is expected"},
      {in_main("^bb1(%y: tensor<f32>):\n^bb2:"), "a function of several blocks is not read"},
      {in_main(deep), "ops are nested deeper than 64"},
      {"module @m {", "m.mlir:1: a module is not closed"},
      {"module @m {\n}\n", "there is no public function with a body"},
      {"module {\nfunc.func @a() {\nreturn\n}\nfunc.func @b() {\nreturn\n}\n}",
       "there are several public functions"},
      {"module {\nfunc.func @a() {\nreturn\n}\nfunc.func @a() {\nreturn\n}\n}",
       "m.mlir:5: there are two functions called 'a'"},
      {in_main("%0 = stablehlo.abs %x : tensor<8x16xf32>"),
       "m.mlir:2: the function 'main' does not end with a return; the file may be cut"},
      {"func.func @main(%x: tensor<f32>) {\n}",
       "m.mlir:1: the function 'main' does not end with a return"},
      {calls_g("%0 = call @g(%x, %x) : (tensor<f32>, tensor<f32>) -> tensor<f32>"),
       "m.mlir:2: the function 'g' takes 1 and returns 1 values, and this call has 2 and 1"},
      {calls_g("%0:2 = call @g(%x) : (tensor<f32>) -> (tensor<f32>, tensor<f32>)"),
       "m.mlir:2: the function 'g' takes 1 and returns 1 values, and this call has 1 and 2"},
      {in_main("%0 = stablehlo.sine %x\n\n// a comment\n\n%1 = stablehlo.abs %x : tensor<f32>"),
       "m.mlir:3: the op 'stablehlo.sine' does not state the type of its result"},
      {in_main("%p:100 = \"x.y\"(%x) : tensor<4xf32>\nreturn %x : tensor<8x16xf32>"),
       "m.mlir:3: the op 'x.y' has 100 results and 1 type"},
      {"ML\xefR\x01\x02", "this is MLIR bytecode"},
  };
  for (const auto& [text, expected] : cases) {
    const auto imported = read(text);
    ASSERT_FALSE(imported) << text;
    EXPECT_NE(imported.error().message.find(expected), std::string::npos)
        << imported.error().message << "\nfor\n"
        << text.substr(0, 300);
  }
}

// Texts for which reading each part in the light of all others would take minutes.
TEST(StableHlo, TakesTimeInProportionToTheLengthOfAText) {
  std::string references = "%0 = stablehlo.abs %x : tensor<8x16xf32> ";
  for (int i = 0; i < 200'000; ++i) references += "%x, ";
  std::string nameless;
  for (int i = 0; i < 20'000; ++i) nameless += "\"stablehlo.send\"() : () -> ()\n";
  std::string numbers = "%c = stablehlo.constant dense<[";
  for (int i = 0; i < 200'000; ++i) numbers += "1.0, ";
  numbers += "1.0]> : tensor<200001xf32>\n%p = stablehlo.constant dense<true> : tensor<i1>\n";
  for (int i = 0; i < 10'000; ++i) {
    const std::string number = std::to_string(i);
    numbers += "%r" + number + " = \"stablehlo.if\"(%p) ({\n%n = stablehlo.negate %c : " +
               "tensor<200001xf32>\nstablehlo.return %n : tensor<200001xf32>\n}, {\n" +
               "stablehlo.return %c : tensor<200001xf32>\n}) : (tensor<i1>) -> " +
               "tensor<200001xf32>\n";
  }
  for (const std::string* ops : {&references, &nameless, &numbers}) {
    const auto begin = std::chrono::steady_clock::now();
    const auto imported = read(in_main(*ops + "\nreturn %x : tensor<8x16xf32>"));
    EXPECT_TRUE(imported) << imported.error().message;
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
  }
}

// Every beginning of a text, and every text with one character less, is read or refused.
TEST(StableHlo, SurvivesTextsThatAreCutOrDamaged) {
  const std::string text = R"(module @m {
  func.func public @main(%x: tensor<4x2xf32> {a.b = "c"}) -> (tensor<4xf32>) attributes {d = 1} {
    %c = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %r:2 = stablehlo.while(%i = %z, %y = %x) : tensor<f32>, tensor<4x2xf32> cond {
      %0 = stablehlo.compare LT, %i, %z : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %0 : tensor<i1>
    } do {
      stablehlo.return %i, %y : tensor<f32>, tensor<4x2xf32>
    }
    %s = stablehlo.reduce(%r#1 init: %z) applies stablehlo.add across dimensions = [1] : (tensor<4x2xf32>, tensor<f32>) -> tensor<4xf32>
    return %s : tensor<4xf32> loc("f.py":1:2)
  }
})";
  ASSERT_TRUE(read(text)) << read(text).error().message;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto cut = read(text.substr(0, i));
    EXPECT_FALSE(cut) << i;
    std::string damaged = text;
    damaged.erase(i, 1);
    const auto other = read(damaged);
    if (!other) {
      EXPECT_FALSE(other.error().message.empty());
    }
    damaged = text;
    damaged[i] = "(){}<>%\"=:"[i % 10];
    static_cast<void>(read(damaged));
  }
}

}  // namespace
}  // namespace tutti
