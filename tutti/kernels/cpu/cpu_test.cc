// Every kind, of many shapes and in several numbers of parts, is what the reference says.

#include "tutti/kernels/cpu/cpu.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>
#include <thread>

#include "tutti/base/random.h"
#include "tutti/kernels/cpu/testing.h"

namespace tutti {
namespace {

using Pairs = Attributes::Pairs;

constexpr int kPartCounts[] = {1, 2, 3, 7};
// Of the largest element; half a unit in the last place of a float is 6e-8.
constexpr double kTolerance = 4e-6;

// Of the result. What is subtracted from a tile may leave little of it: there, of the tile.
double scale_of(std::string_view kind, const std::vector<Tensor>& operands, const Tensor& result) {
  if (kind != "gemm" && kind != "syrk") return largest_of(result);
  return std::max(largest_of(operands.back()), largest_of(result));
}

std::string text_of(std::string_view kind, const std::vector<Shape>& shapes, const Pairs& pairs) {
  std::string text(kind);
  for (const Shape& shape : shapes) text += fmt::format(" ({})", wholes_text(shape));
  for (const auto& [key, value] : pairs) text += fmt::format(" {}={}", key, value);
  return text;
}

// Numbers from -1 to 1, as floats.
Tensor random_tensor(const Shape& shape, Rng& rng) {
  Tensor tensor = Tensor::zeros(shape);
  for (double& x : tensor.data) x = static_cast<float>(2 * rng.uniform() - 1);
  return tensor;
}

std::vector<Tensor> random_tensors(const std::vector<Shape>& shapes) {
  Rng rng(7);
  std::vector<Tensor> tensors;
  for (const Shape& shape : shapes) tensors.push_back(random_tensor(shape, rng));
  return tensors;
}

Result<Tensor> reference_of(std::string_view kind, const Pairs& pairs,
                            const std::vector<Tensor>& operands) {
  std::vector<const Tensor*> pointers;
  for (const Tensor& operand : operands) pointers.push_back(&operand);
  return run_reference(kind, Attributes(pairs), pointers);
}

Result<Floats> cpu_of(std::string_view kind, const Pairs& pairs,
                      const std::vector<Tensor>& operands, int parts) {
  std::vector<Floats> floats;
  for (const Tensor& operand : operands) floats.push_back(Floats::of(operand));
  std::vector<ConstBlock> blocks;
  for (const Floats& operand : floats) blocks.push_back(std::as_const(operand).block());
  return run_parts(kind, Attributes(pairs), blocks, parts);
}

void check_on(std::string_view kind, const std::vector<Tensor>& operands, const Pairs& pairs = {}) {
  std::vector<Shape> shapes;
  for (const Tensor& operand : operands) shapes.push_back(operand.shape);
  const std::string what = text_of(kind, shapes, pairs);
  const Result<Tensor> wanted = reference_of(kind, pairs, operands);
  ASSERT_TRUE(wanted) << what << ": " << wanted.error().message;
  for (const int parts : kPartCounts) {
    const Result<Floats> got = cpu_of(kind, pairs, operands, parts);
    ASSERT_TRUE(got) << what << ": " << got.error().message;
    expect_close(got->tensor(), *wanted, kTolerance * scale_of(kind, operands, *wanted),
                 fmt::format("{}, {} parts", what, parts));
  }
}

void check(std::string_view kind, const std::vector<Shape>& shapes, const Pairs& pairs = {}) {
  check_on(kind, random_tensors(shapes), pairs);
}

void check_same_bytes(std::string_view kind, const std::vector<Shape>& shapes,
                      const Pairs& pairs = {}) {
  const std::vector<Tensor> operands = random_tensors(shapes);
  const Result<Floats> whole = cpu_of(kind, pairs, operands, 1);
  ASSERT_TRUE(whole) << whole.error().message;
  for (const int parts : kPartCounts) {
    EXPECT_EQ(cpu_of(kind, pairs, operands, parts)->data, whole->data)
        << text_of(kind, shapes, pairs) << ", " << parts << " parts";
  }
}

TEST(CpuKernel, EveryKindHasOne) {
  for (const Kernel& kernel : kernels()) EXPECT_NE(kernel.cpu, nullptr) << kernel.kind;
}

TEST(CpuKernel, ElementwiseKindsAreTheReferenceAndTheSameBytesInAnyNumberOfParts) {
  for (const Shape& shape :
       std::vector<Shape>{{1}, {17}, {3, 1, 5}, {0}, {4, 0, 3}, {31, 67}, {}}) {
    for (const char* kind : {"add", "subtract", "multiply", "relu_gradient"}) {
      check(kind, {shape, shape});
      check_same_bytes(kind, {shape, shape});
    }
    for (const char* kind : {"relu", "silu"}) {
      check(kind, {shape});
      check_same_bytes(kind, {shape});
    }
    check("scale", {shape}, {{"factor", "-0.3"}});
    for (const char* kind : {"sum", "max"}) {
      check(kind, {shape});
      check(kind, {shape, shape, shape, shape});
      check_same_bytes(kind, {shape, shape, shape});
    }
  }
  check("sum", {{3, 2049}, {3, 2049}, {3, 2049}});  // more than one piece
}

TEST(CpuKernel, BinaryKindsRepeatAndTurnOperands) {
  struct Case {
    std::string_view einsum;
    std::vector<Shape> shapes;
  };
  const std::vector<Case> cases = {
      {"ab,b->ab", {{5, 7}, {7}}},
      {"ab,a->ab", {{5, 33}, {5}}},
      {"b,ab->ab", {{7}, {5, 7}}},
      {"ab,ba->ab", {{5, 7}, {7, 5}}},
      {"abc,b->abc", {{3, 4, 5}, {4}}},
      {"abc,ac->abc", {{3, 4, 5}, {3, 5}}},
      {"abc,abc->cab", {{3, 4, 5}, {3, 4, 5}}},
      {"ab,->ab", {{3, 4}, {}}},
      {"a,b->ab", {{6}, {9}}},
      {"ab,b->ab", {{1, 7}, {7}}},
      {"ab,b->ab", {{5, 1}, {1}}},
      {"ab,b->ab", {{0, 7}, {7}}},
      {"ab,b->ab", {{7, 0}, {0}}},
  };
  for (const auto& [einsum, shapes] : cases) {
    for (const char* kind : {"add", "subtract", "multiply"}) {
      check(kind, shapes, {{"einsum", einsum}});
      check_same_bytes(kind, shapes, {{"einsum", einsum}});
    }
  }
}

TEST(CpuKernel, KindsAlongAnAxisTakeAnyAxis) {
  for (const Shape& shape :
       std::vector<Shape>{{1}, {16}, {100}, {5, 37}, {37, 5}, {3, 4, 5}, {2, 1, 300}, {2, 3, 0}}) {
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      const std::string text = std::to_string(axis);
      check("softmax", {shape}, {{"axis", text}});
      if (shape[axis] == 0) continue;
      check("reduce_sum", {shape}, {{"axis", text}});
      check("reduce_max", {shape}, {{"axis", text}});
    }
    check("softmax", {shape});
    check("rms_norm", {shape, {shape.back()}});
    check("rms_norm", {shape, {shape.back()}}, {{"epsilon", "0.25"}});
  }
  check("reduce_sum", {{3, 5000}}, {{"axis", "0"}});
  check("softmax", {{3, 700}}, {{"axis", "0"}});
}

TEST(CpuKernel, CausalSoftmaxSeesNoLaterColumn) {
  for (const char* first : {"0", "2", "7", "-2", "9223372036854775800"}) {
    if (first[0] != '9') check("softmax", {{2, 4, 6}}, {{"first_row", first}});
    const auto got = cpu_of("softmax", {{"first_row", first}}, {Tensor::zeros({3, 40})}, 2);
    ASSERT_TRUE(got) << got.error().message;
  }
}

TEST(CpuKernel, SoftmaxOfMinusInfinityIsNothingAndLargeNumbersDoNotOverflow) {
  const double none = -std::numeric_limits<double>::infinity();
  check_on("softmax", {{{2, 3}, {none, 0, 0, 1000, 1000, -1000}}});
  check_on("silu", {{{6}, {-1000, -88, -80, 0, 80, 1000}}});
}

TEST(CpuKernel, RopeTurnsByPositionAndIsTheSameBytesInAnyNumberOfParts) {
  const std::vector<Shape> shapes = {{1, 2}, {5, 4}, {2, 37, 3, 8}, {2, 3, 37, 6}, {2, 5, 0}};
  for (const Shape& shape : shapes) {
    for (size_t axis = 0; axis + 1 < shape.size(); ++axis) {
      const std::string text = std::to_string(axis);
      const Pairs pairs = {{"axis", text}, {"first_position", "4000"}};
      check("rope", {shape}, pairs);
      check_same_bytes("rope", {shape}, pairs);
    }
  }
  check("rope", {{3, 4}}, {{"axis", "0"}, {"base", "500"}});
}

TEST(CpuKernel, LayoutKindsMoveEveryElement) {
  check("transpose", {{5, 7}}, {{"permutation", "1,0"}});
  check("transpose", {{70, 45}}, {{"permutation", "1,0"}});
  check("transpose", {{1, 45}}, {{"permutation", "1,0"}});
  check("transpose", {{0, 45}}, {{"permutation", "1,0"}});
  for (const char* permutation : {"0,1,2", "0,2,1", "1,0,2", "1,2,0", "2,0,1", "2,1,0"}) {
    check("transpose", {{3, 4, 5}}, {{"permutation", permutation}});
    check("transpose", {{33, 2, 40}}, {{"permutation", permutation}});
    check("transpose", {{40, 1, 33}}, {{"permutation", permutation}});
    check("transpose", {{40, 33, 0}}, {{"permutation", permutation}});
  }
  check("transpose", {{2, 3, 4, 5}}, {{"permutation", "0,2,1,3"}});
  check("slice", {{9, 8}}, {{"begin", "2,3"}, {"shape", "5,4"}});
  check("slice", {{9, 8}}, {{"begin", "2,0"}, {"shape", "5,8"}});
  check("slice", {{9, 8}}, {{"begin", "9,8"}, {"shape", "0,0"}});
  check("slice", {{4, 5, 6}}, {{"begin", "1,2,3"}, {"shape", "1,1,1"}});
  check("slice", {{40, 5, 6}}, {{"begin", "0,2,3"}, {"shape", "40,3,1"}});
  check("assemble", {{2, 1}, {2, 2}}, {{"shape", "2,3"}, {"offsets", "0,2;0,0"}});
  check("assemble", {{30, 20}, {30, 13}, {5, 20}, {5, 13}},
        {{"shape", "35,33"}, {"offsets", "0,0;0,20;30,0;30,20"}});
  check("assemble", {{0, 2}, {2, 2}}, {{"shape", "2,2"}, {"offsets", "0,0;0,0"}});
  check("last_token", {{3, 4, 5}});
  check("last_token", {{1, 1, 1}});
  check("last_token", {{0, 2, 3}});
}

TEST(CpuKernel, EmbeddingTakesIdsOfBothDtypes) {
  const Tensor ids{{2, 3}, {2, 0, 1, 1, 4, 2}};
  Rng rng(3);
  const Tensor table = random_tensor({5, 9}, rng);
  check_on("embedding", {ids, table});
  const std::vector<Tensor> later = {{{3}, {2, 9, 4}}, table};
  check_on("embedding", later, {{"first_row", "2"}});

  const std::vector<int32_t> whole(ids.data.begin(), ids.data.end());
  const Floats rows = Floats::of(table);
  const auto got = run_parts("embedding", Attributes({}),
                             {{ids.shape, DType::i32, whole.data()}, rows.block()}, 3);
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(got->data, cpu_of("embedding", {}, {ids, table}, 1)->data);
}

TEST(CpuKernel, MatmulIsTheReferenceForAnyIndices) {
  TUTTI_NEEDS_OPENBLAS();
  struct Case {
    std::string_view einsum;
    std::vector<Shape> shapes;
  };
  const std::vector<Case> cases = {
      // As graphs have them.
      {"ab,bc->ac", {{17, 33}, {33, 9}}},
      {"ab,ac->bc", {{33, 17}, {33, 9}}},
      {"ab,cb->ac", {{17, 33}, {9, 33}}},
      {"abc,cde->abde", {{2, 5, 7}, {7, 3, 4}}},
      {"abc,cd->abd", {{2, 5, 7}, {7, 3}}},
      {"abcd,aecd->acbe", {{2, 5, 3, 4}, {2, 6, 3, 4}}},
      {"abcd,adbe->acbe", {{2, 3, 5, 6}, {2, 6, 3, 4}}},
      {"abcd,cde->abe", {{2, 5, 3, 4}, {3, 4, 7}}},
      // Sizes of 1 and of 0.
      {"ab,bc->ac", {{1, 33}, {33, 9}}},
      {"ab,bc->ac", {{17, 33}, {33, 1}}},
      {"ab,bc->ac", {{17, 1}, {1, 9}}},
      {"ab,bc->ac", {{1, 1}, {1, 1}}},
      {"ab,bc->ac", {{3, 0}, {0, 4}}},
      {"ab,bc->ac", {{0, 3}, {3, 4}}},
      {"ab,bc->ac", {{4, 3}, {3, 0}}},
      {"abc,acd->abd", {{0, 2, 3}, {0, 3, 4}}},
      {"ab,cb->ac", {{1, 33}, {1, 33}}},
      {"ab,ac->bc", {{33, 1}, {33, 1}}},
      // The result turned round.
      {"ab,bc->ca", {{17, 33}, {33, 9}}},
      {"abc,acd->adb", {{3, 5, 7}, {3, 7, 4}}},
      {"shd,hdm->ms", {{5, 2, 3}, {2, 3, 4}}},
      // No matrix has the indices in an order that OpenBLAS can use.
      {"abc,bde->adce", {{3, 4, 5}, {4, 2, 6}}},
      {"abc,dbe->acde", {{3, 4, 5}, {2, 4, 6}}},
      {"abcd,cbe->aed", {{3, 4, 5, 2}, {5, 4, 6}}},
      {"abc,cde->dabe", {{2, 5, 7}, {7, 3, 4}}},
      {"abc,cde->daeb", {{2, 5, 7}, {7, 3, 4}}},
      // Nothing but a batch, nothing in common, nothing left.
      {"ab,ab->b", {{6, 5}, {6, 5}}},
      {"ab,ab->a", {{6, 5}, {6, 5}}},
      {"ab,ab->ab", {{6, 5}, {6, 5}}},
      {"a,b->ab", {{6}, {5}}},
      {"a,a->", {{40}, {40}}},
      {"ab,->ab", {{6, 5}, {}}},
      // Summed over in one operand alone.
      {"ab,c->bc", {{6, 5}, {4}}},
      {"ab,bc->c", {{6, 5}, {5, 4}}},
      {"ab,bcd->ad", {{6, 5}, {5, 4, 3}}},
  };
  for (const auto& [einsum, shapes] : cases) check("matmul", shapes, {{"einsum", einsum}});
}

TEST(CpuKernel, MatmulPacksInTilesWhatIsLargerThanATile) {
  TUTTI_NEEDS_OPENBLAS();
  check("matmul", {{2, 1100, 3}, {1100, 2, 2}}, {{"einsum", "abc,bde->adce"}});
  check("matmul", {{2, 3, 1100}, {3, 2, 2}}, {{"einsum", "abc,bde->adce"}});
  check("matmul", {{2, 2, 3}, {3, 550, 2}}, {{"einsum", "abc,cde->dabe"}});
}

// Symmetric with a heavy diagonal: positive definite.
Tensor definite(int64_t n) {
  Rng rng(5);
  Tensor tensor = random_tensor({n, n}, rng);
  for (int64_t i = 0; i < n; ++i) {
    tensor.data[static_cast<size_t>(i * n + i)] = static_cast<double>(n) + 1;
  }
  return tensor;
}

TEST(CpuKernel, TilesFactorSolveAndUpdate) {
  TUTTI_NEEDS_OPENBLAS();
  Rng rng(9);
  for (const int64_t n : {0, 1, 2, 5, 33, 150}) {
    check_on("potrf", {definite(n)});
    const Tensor factor = *reference_of("potrf", {}, {definite(n)});
    const Tensor rounded = Floats::of(factor).tensor();
    for (const int64_t rows : {0, 1, 6, 40}) {
      check_on("trsm", {rounded, random_tensor({rows, n}, rng)});
      check("gemm", {{n, rows}, {7, rows}, {n, 7}});
      check("gemm", {{n, rows}, {n, rows}, {n, n}});
      check("syrk", {{n, rows}, {n, n}});
    }
  }
  check("syrk", {{1200, 3}, {1200, 1200}});  // more than one tile of the triangle
}

TEST(CpuKernel, KindsThatAreNotSplitAreDoneByTheFirstPart) {
  TUTTI_NEEDS_OPENBLAS();
  for (const Kernel& kernel : kernels()) {
    EXPECT_EQ(kernel.split == Kernel::Split::none, kernel.kind == "potrf") << kernel.kind;
  }
  const Floats tile = Floats::of(definite(4));
  Floats out{{4, 4}, std::vector<float>(16, unwritten())};
  const std::vector<ConstBlock> operands = {tile.block()};
  ASSERT_TRUE(run_cpu("potrf", Attributes({}), operands, out.block(), {.index = 1, .count = 2}));
  for (const float x : out.data) EXPECT_TRUE(is_unwritten(x));
}

TEST(CpuKernel, PartsRunSideBySideOnOneOutput) {
  TUTTI_NEEDS_OPENBLAS();
  constexpr int kThreads = 4;
  // The second is packed: each thread has scratch of its own.
  for (const char* einsum : {"abc,cde->abde", "abc,cde->dabe"}) {
    const Pairs pairs = {{"einsum", einsum}};
    const std::vector<Tensor> operands = random_tensors({{4, 20, 30}, {30, 4, 20}});
    const Floats first = Floats::of(operands[0]);
    const Floats second = Floats::of(operands[1]);
    const std::vector<ConstBlock> blocks = {first.block(), second.block()};
    const Tensor wanted = *reference_of("matmul", pairs, operands);
    Floats out{wanted.shape, std::vector<float>(wanted.data.size(), unwritten())};
    std::vector<std::thread> threads;
    for (int part = 0; part < kThreads; ++part) {
      threads.emplace_back([&, part] {
        EXPECT_TRUE(run_cpu("matmul", Attributes(pairs), blocks, out.block(), {part, kThreads}));
      });
    }
    for (std::thread& thread : threads) thread.join();
    expect_close(out.tensor(), wanted, kTolerance * largest_of(wanted), einsum);
  }
}

TEST(CpuKernel, WrongNumbersAreTheReferencesSentences) {
  TUTTI_NEEDS_OPENBLAS();
  struct Case {
    std::string_view kind;
    std::vector<Tensor> operands;
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Tensor table = Tensor::zeros({3, 2});
  const std::vector<Case> cases = {
      {"embedding", {{{2}, {0, 3}}, table}},
      {"embedding", {{{2}, {-1, 0}}, table}},
      {"embedding", {{{2}, {0, 0.5}}, table}},
      {"embedding", {{{2}, {0, nan}}, table}},
      {"potrf", {{{1, 1}, {-1}}}},
      {"potrf", {{{1, 1}, {nan}}}},
      {"potrf", {{{2, 2}, {1, 0, 2, 1}}}},
      {"potrf", {{{2, 2}, {1, 0, nan, 1}}}},
  };
  for (const auto& [kind, operands] : cases) {
    for (const int parts : kPartCounts) {
      const auto got = cpu_of(kind, {}, operands, parts);
      const auto wanted = reference_of(kind, {}, operands);
      ASSERT_FALSE(wanted);
      ASSERT_FALSE(got) << kind << " in " << parts;
      EXPECT_EQ(got.error().message, wanted.error().message);
    }
  }
}

TEST(CpuKernel, WrongOperandsAreRefusedInOneSentence) {
  const Floats three{{3}, {1, 2, 3}};
  const std::vector<double> wide = {1, 2, 3};
  Floats out{{3}, {0, 0, 0}};
  Floats four{{4}, {0, 0, 0, 0}};
  const auto sentence = [&](std::string_view kind, const std::vector<ConstBlock>& operands,
                            const Block& output) {
    const auto done = run_cpu(kind, Attributes({}), operands, output);
    return done ? std::string("it fits") : done.error().message;
  };
  const ConstBlock f64{three.shape, DType::f64, wide.data()};
  EXPECT_EQ(sentence("gelu", {three.block()}, out.block()),
            "there is no kernel for ops of kind 'gelu'");
  EXPECT_EQ(sentence("add", {three.block()}, out.block()), "add takes 2 operands, not 1");
  EXPECT_EQ(sentence("add", {three.block(), std::as_const(four).block()}, out.block()),
            "add: operands of shapes 3 and 4 differ");
  EXPECT_EQ(sentence("relu", {three.block()}, four.block()),
            "relu: there is room for shape 4, but it makes shape 3");
  EXPECT_EQ(sentence("relu", {f64}, out.block()),
            "relu: operand 0 is of dtype f64; on a CPU it can be f32 alone");
  const Floats table{{3, 1}, {1, 2, 3}};
  EXPECT_EQ(sentence("embedding", {f64, table.block()}, out.block()),
            "embedding: operand 0 is of dtype f64; on a CPU it can be f32 or i32");
  EXPECT_EQ(sentence("relu", {three.block()}, {out.shape, DType::bf16, out.data.data()}),
            "relu: the output is of dtype bf16; on a CPU it can be f32 alone");
  EXPECT_EQ(sentence("relu", {three.block()}, out.block()), "it fits");
}

}  // namespace
}  // namespace tutti
