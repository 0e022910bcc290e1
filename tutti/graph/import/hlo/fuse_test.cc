#include "tutti/graph/import/hlo/fuse.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>

#include "test/support/shared_data.h"
#include "tutti/graph/import/hlo/hlo.h"
#include "tutti/graph/names.h"

namespace tutti {
namespace {

const char kSums[] = R"(
sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}
)";

Imported import_hlo(const std::string& text, const ImportOptions& options = {}) {
  Source source = Source::from_text("g.hlo", text);
  Result<Imported> imported = read_hlo(source, options);
  if (!imported) ADD_FAILURE() << imported.error().message;
  return std::move(*imported);
}

Graph fused(const std::string& instructions, const std::string& computations = "") {
  return import_hlo("HloModule m\n" + std::string(kSums) + computations + "ENTRY main {\n" +
                    instructions + "\n}\n")
      .graph;
}

std::vector<std::string> ops_of(const Graph& graph) {
  std::vector<std::string> names;
  for (const OpId op : graph.ops()) {
    names.push_back(std::string(graph.op_kind_name(op)) + " " + std::string(graph.op_name(op)));
  }
  return names;
}

using Names = std::vector<std::string>;

std::set<std::string> reads_of(const Graph& graph, std::string_view name) {
  std::set<std::string> names;
  for (const ValueId value : graph.operands(*NameIndex(graph).find(name))) {
    names.insert(std::string(graph.value_name(value)));
  }
  return names;
}

// y = max(x * 2 + b, 0), b repeated over the rows: x and b are read once, y is written.
TEST(HloFuse, MakesOneKernelOfAnElementwiseChain) {
  const Graph graph = fused(R"(
    x = f32[8,16]{1,0} parameter(0)
    b = f32[16]{0} parameter(1)
    two = f32[] constant(2)
    twos = f32[8,16]{1,0} broadcast(two), dimensions={}
    row = f32[1,16]{1,0} reshape(b)
    flat = f32[16]{0} reshape(row)
    bs = f32[8,16]{1,0} broadcast(flat), dimensions={1}
    p = f32[8,16]{1,0} multiply(x, twos)
    s = f32[8,16]{1,0} add(p, bs)
    zero = f32[] constant(0)
    zeros = f32[8,16]{1,0} broadcast(zero), dimensions={}
    ROOT y = f32[8,16]{1,0} maximum(s, zeros))");
  EXPECT_EQ(ops_of(graph), (Names{"fusion y"}));
  EXPECT_EQ(reads_of(graph, "y"), (std::set<std::string>{"x", "b"}));
  EXPECT_EQ(graph.flops(OpId{0}), 3 * 8 * 16);
  EXPECT_EQ(graph.bytes(*graph.outputs(OpId{0}).begin()), 8 * 16 * 4);
  EXPECT_EQ(graph.given_run_time(OpId{0}, "gpu"), std::nullopt);
}

TEST(HloFuse, LeavesOptimisedModulesAndThoseWithoutItAlone) {
  const std::string body = R"(
    x = f32[8]{0} parameter(0)
    a = f32[8]{0} negate(x)
    r = f32[2,4]{1,0} reshape(a)
    ROOT b = f32[2,4]{1,0} exponential(r))";
  const std::string plain = "HloModule m\nENTRY main {" + body + "\n}\n";
  EXPECT_EQ(ops_of(import_hlo(plain).graph), (Names{"fusion b"}));
  const Names apart = {"negate a", "reshape r", "exponential b"};
  EXPECT_EQ(ops_of(import_hlo(plain, {.fuse = false}).graph), apart);
  EXPECT_EQ(
      ops_of(import_hlo("HloModule m, is_scheduled=true\nENTRY main {" + body + "\n}\n").graph),
      apart);
  const std::string compiled =
      "HloModule m\nf {\n p = f32[8] parameter(0)\n ROOT n = f32[8] negate(p)\n}\nENTRY main {" +
      body + "\n c = f32[8]{0} fusion(a), kind=kLoop, calls=f\n}\n";
  EXPECT_EQ(import_hlo(compiled).graph.size(), 4);
}

// Softmax of each row, the scores of a dot: the maximum and the sum stay in the kernel.
TEST(HloFuse, KeepsTheReductionsOfASoftmaxInItsKernel) {
  const std::string text = R"(
    q = f32[64,32]{1,0} parameter(0)
    k = f32[32,128]{1,0} parameter(1)
    v = f32[128,32]{1,0} parameter(2)
    x = f32[64,128]{1,0} dot(q, k), lhs_contracting_dims={1}, rhs_contracting_dims={0}
    low = f32[] constant(-inf)
    m = f32[64]{0} reduce(x, low), dimensions={1}, to_apply=sum
    column = f32[64,1]{1,0} reshape(m)
    again = f32[64]{0} reshape(column)
    ms = f32[64,128]{1,0} broadcast(again), dimensions={0}
    d = f32[64,128]{1,0} subtract(x, ms)
    e = f32[64,128]{1,0} exponential(d)
    zero = f32[] constant(0)
    s = f32[64]{0} reduce(e, zero), dimensions={1}, to_apply=sum
    ss = f32[64,128]{1,0} broadcast(s), dimensions={0}
    p = f32[64,128]{1,0} divide(e, ss)
    ROOT y = f32[64,32]{1,0} dot(p, v), lhs_contracting_dims={1}, rhs_contracting_dims={0})";
  EXPECT_EQ(ops_of(fused(text)), (Names{"dot x", "fusion p", "dot y"}));
}

// The sum of row i is added to column i: no kernel that works row by row can do that.
TEST(HloFuse, SeparatesAReductionThatOtherRowsRead) {
  EXPECT_EQ(ops_of(fused(R"(
    x = f32[64,64]{1,0} parameter(0)
    zero = f32[] constant(0)
    s = f32[64]{0} reduce(x, zero), dimensions={1}, to_apply=sum
    ss = f32[64,64]{1,0} broadcast(s), dimensions={1}
    ROOT y = f32[64,64]{1,0} add(x, ss))")),
            (Names{"reduce s", "fusion y"}));
}

TEST(HloFuse, GivesAReductionWhatItReadsAndItsEpilogue) {
  // mean(x * x) of columns, for a dot, which takes the division.
  const std::string mean = R"(
    x = f32[64,32]{1,0} parameter(0)
    w = f32[32,4]{1,0} parameter(1)
    xx = f32[64,32]{1,0} multiply(x, x)
    zero = f32[] constant(0)
    s = f32[32]{0} reduce(xx, zero), dimensions={0}, to_apply=sum
    n = f32[] constant(64)
    ns = f32[32]{0} broadcast(n), dimensions={}
)";
  EXPECT_EQ(ops_of(fused(mean + R"(
    mean = f32[32]{0} divide(s, ns)
    row = f32[1,32]{1,0} reshape(mean)
    ROOT y = f32[1,4]{1,0} dot(row, w), lhs_contracting_dims={1}, rhs_contracting_dims={0})")),
            (Names{"fusion s", "dot y"}));
  EXPECT_EQ(ops_of(fused(mean + "ROOT mean = f32[32]{0} divide(s, ns)")), (Names{"fusion mean"}));
}

// XLA measures that a root is not worth a launch less if millions of elements each take it.
TEST(HloFuse, ComputesSlowVectorsOnceForManyElements) {
  const auto norm = [](const std::string& rows) {
    const std::string type = "f32[" + rows + ",64]{1,0} ";
    return ops_of(fused("x = " + type + "parameter(0)\n" + R"(
    v = f32[64]{0} parameter(1)
    g = f32[64]{0} parameter(2)
    r = f32[64]{0} rsqrt(v)
    m = f32[64]{0} multiply(r, g)
)" + "ms = " + type +
                        "broadcast(m), dimensions={1}\nROOT y = " + type + "multiply(x, ms)"));
  };
  EXPECT_EQ(norm("50176"), (Names{"fusion y"}));
  EXPECT_EQ(norm("100352"), (Names{"fusion m", "fusion y"}));
}

TEST(HloFuse, MergesSmallProductsThatShareAFactor) {
  const auto both = [](const std::string& rows) {
    return ops_of(
        fused("x = f32[" + rows + R"(,512]{1,0} parameter(0)
    v = f32[512,512]{1,0} parameter(1)
    w = f32[512,512]{1,0} parameter(2)
)" + "a = f32[" +
              rows + ",512]{1,0} dot(x, v), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n" +
              "b = f32[" + rows +
              ",512]{1,0} dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n" +
              "ROOT y = (f32[" + rows + ",512], f32[" + rows + ",512]) tuple(a, b)"));
  };
  EXPECT_EQ(both("1024"), (Names{"dot b"}));
  EXPECT_EQ(both("16384"), (Names{"dot a", "dot b"}));
}

// Heads between the rows and what is summed: no library reads that as matrices one after another.
TEST(HloFuse, WritesFactorsThatAreNoMatricesAnew) {
  EXPECT_EQ(ops_of(fused(R"(
    q = f32[4,256,8,64]{3,2,1,0} parameter(0)
    k = f32[4,8,64,256]{3,2,1,0} parameter(1)
    ROOT y = f32[4,8,256,256]{3,2,1,0} dot(q, k), lhs_batch_dims={0,2}, lhs_contracting_dims={3}, rhs_batch_dims={0,1}, rhs_contracting_dims={2})")),
            (Names{"transpose y/lhs", "dot y"}));
}

// Neither the room that cuBLAS asks for nor the operand that a start hands on is moved.
TEST(HloFuse, CountsWhatACompiledModuleMoves) {
  const Imported imported = import_hlo(R"(HloModule m, is_scheduled=true
ENTRY main {
  x = f32[64,64]{1,0} parameter(0)
  s = ((f32[64,64]{1,0}), f32[128,64]{1,0}) all-gather-start(x), dimensions={0}
  g = f32[128,64]{1,0} all-gather-done(s)
  c = (f32[128,64]{1,0}, s8[4194304]{0}) custom-call(g, x), custom_call_target="__cublas$gemm"
  ROOT y = f32[128,64]{1,0} get-tuple-element(c), index=0
}
)");
  ASSERT_TRUE(imported.launches);
  EXPECT_EQ(imported.launches->instructions, 2);
  EXPECT_EQ(imported.launches->bytes, (64 + 128 + 128 + 64 + 128) * 64 * 4);
}

// e is cheap to compute twice: neither kernel needs it in memory. Of two reductions that read x,
// one kernel makes both.
TEST(HloFuse, ComputesAProducerInEveryReaderAndMergesSiblings) {
  const Graph twice = fused(R"(
    x = f32[64,32]{1,0} parameter(0)
    a = f32[32,8]{1,0} parameter(1)
    e = f32[64,32]{1,0} exponential(x)
    zero = f32[] constant(0)
    s = f32[32]{0} reduce(e, zero), dimensions={0}, to_apply=sum
    ss = f32[64,32]{1,0} broadcast(s), dimensions={1}
    p = f32[64,32]{1,0} divide(e, ss)
    ROOT y = f32[64,8]{1,0} dot(p, a), lhs_contracting_dims={1}, rhs_contracting_dims={0})");
  EXPECT_EQ(ops_of(twice), (Names{"fusion s", "fusion p", "dot y"}));
  EXPECT_EQ(reads_of(twice, "p").size(), 2u);  // x and s
  EXPECT_EQ(twice.flops(OpId{0}), 2 * 64 * 32);
  EXPECT_EQ(twice.flops(OpId{1}), 2 * 64 * 32);
  const Graph both = fused(R"(
    x = f32[64,32]{1,0} parameter(0)
    xx = f32[64,32]{1,0} multiply(x, x)
    zero = f32[] constant(0)
    s = f32[32]{0} reduce(x, zero), dimensions={0}, to_apply=sum
    t = f32[32]{0} reduce(xx, zero), dimensions={0}, to_apply=sum
    ROOT y = (f32[32], f32[32]) tuple(s, t))");
  EXPECT_EQ(ops_of(both), (Names{"fusion t"}));
  EXPECT_EQ(both.outputs(OpId{0}).size(), 2u);
  EXPECT_EQ(both.bytes(both.operands(OpId{0})[0]), 64 * 32 * 4);
  EXPECT_EQ(both.operands(OpId{0}).size(), 1u);
}

// m is a result and read by p: one kernel with two results, as an optimiser's update is.
TEST(HloFuse, MakesSeveralResultsInOneKernelButNoCycle) {
  EXPECT_EQ(ops_of(fused(R"(
    g = f32[1024]{0} parameter(0)
    m0 = f32[1024]{0} parameter(1)
    p0 = f32[1024]{0} parameter(2)
    m = f32[1024]{0} add(m0, g)
    p = f32[1024]{0} subtract(p0, m)
    ROOT y = (f32[1024], f32[1024]) tuple(m, p))")),
            (Names{"fusion p"}));
  // a is also read by the dot, whose product p reads: a and p in one kernel would wait for itself.
  const Graph apart = fused(R"(
    x = f32[64,64]{1,0} parameter(0)
    z = f32[64,64]{1,0} parameter(1)
    a = f32[64,64]{1,0} multiply(x, z)
    d = f32[64,64]{1,0} dot(a, z), lhs_contracting_dims={1}, rhs_contracting_dims={0}
    ROOT p = f32[64,64]{1,0} multiply(a, d))");
  EXPECT_EQ(ops_of(apart), (Names{"multiply a", "dot d", "multiply p"}));
}

TEST(HloFuse, GivesProductsWhatSurroundsThem) {
  const std::string dense = R"(
    x = f32[64,32]{1,0} parameter(0)
    w = f32[16,32]{1,0} parameter(1)
    b = f32[16]{0} parameter(2)
    t = f32[32,16]{1,0} transpose(w), dimensions={1,0}
    d = f32[64,16]{1,0} dot(x, t), lhs_contracting_dims={1}, rhs_contracting_dims={0}
    bs = f32[64,16]{1,0} broadcast(b), dimensions={1}
    s = f32[64,16]{1,0} add(d, bs)
    zero = f32[] constant(0)
    zeros = f32[64,16]{1,0} broadcast(zero), dimensions={}
)";
  const Graph relu = fused(dense + "ROOT y = f32[64,16]{1,0} maximum(s, zeros)");
  // The sum of a product with a bias can not be made in parts.
  EXPECT_EQ(ops_of(relu), (Names{"dot d", "fusion y"}));
  EXPECT_EQ(reads_of(relu, "d"), (std::set<std::string>{"x", "w"}));
  // Bias and ReLU are part of the next product.
  EXPECT_EQ(ops_of(fused(dense + R"(
    r = f32[64,16]{1,0} maximum(s, zeros)
    v = f32[16,8]{1,0} parameter(3)
    ROOT y = f32[64,8]{1,0} dot(r, v), lhs_contracting_dims={1}, rhs_contracting_dims={0})")),
            (Names{"dot d", "dot y"}));
  // What a scale and a conversion make of it can be.
  EXPECT_EQ(ops_of(fused(R"(
    x = s8[64,32]{1,0} parameter(0)
    w = bf16[32,16]{1,0} parameter(1)
    c = bf16[64,32]{1,0} convert(x)
    d = f32[64,16]{1,0} dot(c, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
    half = f32[] constant(0.5)
    halves = f32[64,16]{1,0} broadcast(half), dimensions={}
    m = f32[64,16]{1,0} multiply(d, halves)
    ROOT y = bf16[64,16]{1,0} convert(m))")),
            (Names{"dot y"}));
  // Not what is behind a transpose.
  EXPECT_EQ(ops_of(fused(R"(
    x = f32[64,32]{1,0} parameter(0)
    z = f32[64,32]{1,0} parameter(1)
    w = f32[64,16]{1,0} parameter(2)
    p = f32[64,32]{1,0} multiply(x, z)
    e = f32[64,32]{1,0} multiply(p, z)
    t = f32[32,64]{1,0} transpose(e), dimensions={1,0}
    ROOT y = f32[32,16]{1,0} dot(t, w), lhs_contracting_dims={1}, rhs_contracting_dims={0})")),
            (Names{"fusion e", "dot y"}));
  EXPECT_EQ(ops_of(fused(R"(
    x = f32[1,8,8,3]{3,2,1,0} parameter(0)
    k = f32[3,3,3,16]{3,2,1,0} parameter(1)
    b = f32[16]{0} parameter(2)
    c = f32[1,8,8,16]{3,2,1,0} convolution(x, k), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f
    bs = f32[1,8,8,16]{3,2,1,0} broadcast(b), dimensions={3}
    ROOT y = f32[1,8,8,16]{3,2,1,0} add(c, bs))")),
            (Names{"convolution y"}));
}

// Statistics and the mapping are two kernels; the vectors of the first are results too.
TEST(HloFuse, ExpandsBatchNorms) {
  const Graph graph = fused(R"(
    x = f32[8,16,4]{2,1,0} parameter(0)
    w = f32[4]{0} parameter(1)
    b = f32[4]{0} parameter(2)
    n = (f32[8,16,4]{2,1,0}, f32[4]{0}, f32[4]{0}) batch-norm-training(x, w, b), epsilon=0.001, feature_index=2
    y = f32[8,16,4]{2,1,0} get-tuple-element(n), index=0
    m = f32[4]{0} get-tuple-element(n), index=1
    r = f32[8,16,4]{2,1,0} tanh(y)
    ROOT t = (f32[8,16,4], f32[4]) tuple(r, m))");
  EXPECT_EQ(ops_of(graph), (Names{"batch-norm-training n/reduce", "fusion r"}));
  EXPECT_EQ(graph.flops(OpId{0}) + graph.flops(OpId{1}), (9 + 1) * 8 * 16 * 4);
}

TEST(HloFuse, InlinesCallsFoldsConstantsAndDropsWhatNothingNeeds) {
  const Graph graph = fused(R"(
    x = f32[8]{0} parameter(0)
    unused = f32[8]{0} parameter(1)
    one = f32[] constant(1)
    three = f32[] add(one, one)
    dead = f32[8]{0} tanh(unused)
    c = f32[8]{0} call(x, three), to_apply=outer
    ROOT y = f32[8]{0} negate(c))",
                            R"(
inner {
  p = f32[8]{0} parameter(0)
  ROOT e = f32[8]{0} exponential(p)
}
outer {
  q = f32[8]{0} parameter(0)
  f = f32[] parameter(1)
  fs = f32[8]{0} broadcast(f), dimensions={}
  i = f32[8]{0} call(q), to_apply=inner
  s = f32[8]{0} sort(i), dimensions={0}
  ROOT m = f32[8]{0} multiply(s, fs)
}
)");
  EXPECT_EQ(ops_of(graph), (Names{"exponential c/i/e", "sort c/s", "fusion y"}));
  EXPECT_EQ(graph.operands(OpId{2}).size(), 1u);  // the factor is part of the code
}

// Both halves of a layer norm subtract the mean, each by an instruction of its own.
TEST(HloFuse, MergesEqualExpressionsAndLayerNorms) {
  EXPECT_EQ(ops_of(fused(R"(
    x = f32[64,128]{1,0} parameter(0)
    zero = f32[] constant(0)
    n = f32[] constant(128)
    ns = f32[64]{0} broadcast(n), dimensions={}
    s = f32[64]{0} reduce(x, zero), dimensions={1}, to_apply=sum
    m = f32[64]{0} divide(s, ns)
    m1 = f32[64,128]{1,0} broadcast(m), dimensions={0}
    d1 = f32[64,128]{1,0} subtract(x, m1), metadata={op_name="one"}
    m2 = f32[64,128]{1,0} broadcast(m), dimensions={0}
    d2 = f32[64,128]{1,0} subtract(x, m2), metadata={op_name="two"}
    dd = f32[64,128]{1,0} multiply(d2, d2)
    t = f32[64]{0} reduce(dd, zero), dimensions={1}, to_apply=sum
    r = f32[64]{0} rsqrt(t)
    rs = f32[64,128]{1,0} broadcast(r), dimensions={0}
    ROOT y = f32[64,128]{1,0} multiply(d1, rs))")),
            (Names{"fusion y"}));
  // Constants whose text was left out are not known to be equal.
  EXPECT_EQ(fused(R"(
    x = f32[2]{0} parameter(0)
    a = f32[2]{0} constant({...})
    b = f32[2]{0} constant({...})
    c = f32[2]{0} add(x, a)
    ROOT d = f32[2]{0} multiply(c, b))")
                .operands(OpId{0})
                .size(),
            3u);
}

// One kernel before the loop; in it the scaled sum (two results) and the comparison.
TEST(HloFuse, CountsLaunchesInLoopsOnce) {
  const std::string text = "HloModule m\n" + std::string(kSums) + R"(
condition {
  p = (s32[], f32[1024]{0}) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] constant(10)
  ROOT lt = pred[] compare(i, n), direction=LT
}
body {
  p = (s32[], f32[1024]{0}) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  one = s32[] constant(1)
  next = s32[] add(i, one)
  x = f32[1024]{0} get-tuple-element(p), index=1
  y = f32[1024]{0} multiply(x, x)
  z = f32[1024]{0} add(y, x)
  ROOT t = (s32[], f32[1024]{0}) tuple(next, z)
}
ENTRY main {
  x = f32[1024]{0} parameter(0)
  e = f32[1024]{0} exponential(x)
  zero = s32[] constant(0)
  t = (s32[], f32[1024]{0}) tuple(zero, e)
  ROOT w = (s32[], f32[1024]{0}) while(t), condition=condition, body=body
}
)";
  const Imported imported = import_hlo(text);
  EXPECT_EQ(ops_of(imported.graph), (Names{"exponential e", "while w"}));
  EXPECT_EQ(imported.graph.flops(OpId{1}), 10 * (1 + 2 * 1024 + 1));
  ASSERT_TRUE(imported.launches);
  EXPECT_EQ(imported.launches->instructions, 1 + 2 + 1);
  // e: in and out; next: in and out; z: in and out; lt: in and out.
  EXPECT_EQ(imported.launches->bytes, 2 * 4096 + 2 * 4 + 2 * 4096 + 4 + 1);
  EXPECT_EQ(import_hlo(text, {.fuse = false}).launches->instructions, 1 + 3 + 1);
}

TEST(HloFuse, IsNotBlownUpByCallsWithinCalls) {
  std::string computations = "c0 {\n p = f32[8] parameter(0)\n ROOT n = f32[8] negate(p)\n}\n";
  for (int i = 1; i <= 200; ++i) {
    const std::string called = ", to_apply=c" + std::to_string(i - 1) + "\n";
    computations += "c" + std::to_string(i) + " {\n p = f32[8] parameter(0)\n a = f32[8] call(p)" +
                    called + " ROOT b = f32[8] call(a)" + called + "}\n";
  }
  const Graph deep =
      fused("x = f32[8] parameter(0)\nROOT y = f32[8] call(x), to_apply=c200", computations);
  EXPECT_EQ(ops_of(deep), (Names{"call y"}));
  const Graph flat =
      fused("x = f32[8] parameter(0)\nROOT y = f32[8] call(x), to_apply=c10", computations);
  EXPECT_EQ(flat.size(), 1);
  EXPECT_EQ(flat.flops(OpId{0}), 1024 * 8);
}

// Random modules of all that is treated differently: whatever is fused, every op finds all that its
// instructions read, all results are made once, and nothing waits for itself.
TEST(HloFuse, ComputesWhatTheModuleSaysWhateverItIs) {
  for (uint32_t seed = 0; seed < 400; ++seed) {
    std::mt19937 random(seed);
    const auto draw = [&](int count) { return static_cast<int>(random() % count); };
    std::string text = "HloModule m\n" + std::string(kSums) + "ENTRY main {\n";
    struct Made {
      std::string name;
      int rank;  // 2: f32[32,32]; 1: f32[32]
    };
    std::vector<Made> made;
    const auto pick = [&](int rank) {
      for (;;) {
        const Made& one = made[draw(static_cast<int>(made.size()))];
        if (one.rank == rank) return one.name;
      }
    };
    const auto add = [&](int rank, const std::string& right) {
      made.push_back({"v" + std::to_string(made.size()), rank});
      text +=
          made.back().name + " = f32" + (rank == 2 ? "[32,32]{1,0} " : "[32]{0} ") + right + "\n";
    };
    add(2, "parameter(0)");
    add(1, "parameter(1)");
    text += "zero = f32[] constant(0)\n";
    const int count = 5 + draw(60);
    for (int i = 0; i < count; ++i) {
      const std::string which = std::to_string(draw(2));
      switch (draw(9)) {
        case 0:
          add(2, "dot(" + pick(2) + ", " + pick(2) +
                     "), lhs_contracting_dims={1}, rhs_contracting_dims={0}");
          break;
        case 1:
          add(2, "transpose(" + pick(2) + "), dimensions={1,0}");
          break;
        case 2:
          add(1, "reduce(" + pick(2) + ", zero), dimensions={" + which + "}, to_apply=sum");
          break;
        case 3:
          add(2, "broadcast(" + pick(1) + "), dimensions={" + which + "}");
          break;
        case 4:
          add(1, "multiply(" + pick(1) + ", " + pick(1) + ")");
          break;
        case 5:
          add(2, "broadcast(zero), dimensions={}");
          break;
        case 6:
          add(2, "maximum(" + pick(2) + ", " + pick(2) + ")");
          break;
        case 7:
          add(2, "add(" + pick(2) + ", " + pick(2) + ")");
          break;
        default:
          add(2, "sort(" + pick(2) + "), dimensions={1}");
          break;
      }
    }
    text += "ROOT r = (f32[32,32], f32[32,32], f32[32]) tuple(" + pick(2) + ", " +
            made.back().name + ", " + pick(1) + ")\n}\n";
    if (made.back().rank == 1) continue;
    Source source = Source::from_text("g.hlo", text);
    const auto module = read_hlo_module(source);
    ASSERT_TRUE(module) << module.error().message;
    const HloFlat flat = simplify_hlo(*module, module->entry, /*inline_calls=*/true);
    std::set<int32_t> there;
    std::set<int32_t> covered;
    for (size_t value = 0; value < flat.values.size(); ++value) {
      const HloNode& node = flat.nodes[flat.values[value].node];
      if (node.parameter || node.constant) there.insert(static_cast<int32_t>(value));
    }
    for (const HloGroup& group : fuse_hlo(flat)) {
      std::set<int32_t> inside;
      for (const int32_t value : group.reads) {
        EXPECT_TRUE(there.contains(value)) << "seed " << seed << "\n" << text;
        inside.insert(value);
      }
      for (const int32_t number : group.nodes) {
        const HloNode& node = flat.nodes[number];
        covered.insert(number);
        for (const int32_t value : node.operands) {
          const bool code = flat.nodes[flat.values[value].node].constant;
          EXPECT_TRUE(inside.contains(value) || code) << "seed " << seed << "\n" << text;
        }
        for (int32_t i = 0; i < node.value_count; ++i) inside.insert(node.first_value + i);
      }
      for (const int32_t value : group.makes) {
        EXPECT_TRUE(inside.contains(value));
        EXPECT_TRUE(there.insert(value).second) << "made twice; seed " << seed << "\n" << text;
      }
    }
    for (const int32_t value : flat.results) EXPECT_TRUE(there.contains(value)) << "seed " << seed;
    for (size_t i = 0; i < flat.nodes.size(); ++i) {
      if (flat.nodes[i].parameter || flat.nodes[i].constant) continue;
      EXPECT_TRUE(covered.contains(static_cast<int32_t>(i))) << "seed " << seed;
    }
  }
}

// Launches that are plausible for these programs; what XLA itself makes of such programs is for
// scripts/hlo-pairs to measure.
TEST(HloFuse, ReadsWholeModels) {
  TUTTI_NEEDS_SHARED_DATA("xla_hlo");
  const struct {
    const char* name;
    int most;
  } known[] = {
      // 53 convolutions with a bias, 49 of them followed by scale, shift and ReLU; 2 paddings, a
      // pool, an average, a dot, a softmax, and 16 additions that read two branches.
      {"resnet50_keras_jax_f32", 130},
      {"layer_norm_1x4096x768_bf16", 1},
      {"mha_block_1x12x128x64_bf16", 3},
  };
  for (const auto& [name, most] : known) {
    const auto imported = load_graph(shared_data("xla_hlo/" + std::string(name) + ".hlo"));
    ASSERT_TRUE(imported) << imported.error().message;
    EXPECT_LE(imported->graph.size(), most) << name;
    const auto apart =
        load_graph(shared_data("xla_hlo/" + std::string(name) + ".hlo"), {.fuse = false});
    ASSERT_TRUE(apart);
    EXPECT_LT(imported->launches->instructions, apart->launches->instructions / 3) << name;
    EXPECT_LT(imported->launches->bytes, apart->launches->bytes) << name;
  }
}

}  // namespace
}  // namespace tutti
