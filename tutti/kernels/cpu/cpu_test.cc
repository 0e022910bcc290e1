// Every kind, of many shapes and in several numbers of parts, is what the reference says.

#include "tutti/kernels/cpu/cpu.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <thread>

#include "tutti/kernels/cpu/testing.h"

namespace tutti {
namespace {

constexpr int kPartCounts[] = {1, 2, 3, 7};
// Of the largest element; half a unit in the last place of a float is 6e-8.
constexpr double kTolerance = 4e-6;

Result<Floats> cpu_of(const OpCase& op, int parts) {
  std::vector<Floats> floats;
  for (const Tensor& operand : op.operands) floats.push_back(Floats::of(operand));
  std::vector<ConstBlock> blocks;
  for (const Floats& operand : floats) blocks.push_back(std::as_const(operand).block());
  return run_parts(op.kind, op.attributes(), blocks, parts);
}

void check(const std::vector<OpCase>& cases) {
  for (const OpCase& op : cases) {
    const Result<Tensor> wanted = op.reference();
    ASSERT_TRUE(wanted) << op.text() << ": " << wanted.error().message;
    for (const int parts : kPartCounts) {
      const Result<Floats> got = cpu_of(op, parts);
      ASSERT_TRUE(got) << op.text() << ": " << got.error().message;
      expect_close(got->tensor(), *wanted, kTolerance * op.scale(*wanted),
                   fmt::format("{}, {} parts", op.text(), parts));
    }
  }
}

void check_same_bytes(const std::vector<OpCase>& cases) {
  for (const OpCase& op : cases) {
    const Result<Floats> whole = cpu_of(op, 1);
    ASSERT_TRUE(whole) << whole.error().message;
    for (const int parts : kPartCounts) {
      EXPECT_EQ(cpu_of(op, parts)->data, whole->data) << op.text() << ", " << parts << " parts";
    }
  }
}

TEST(CpuKernel, EveryKindHasOne) {
  for (const Kernel& kernel : kernels()) EXPECT_NE(kernel.cpu, nullptr) << kernel.kind;
}

TEST(CpuKernel, ElementwiseKindsAreTheReferenceAndTheSameBytesInAnyNumberOfParts) {
  check(elementwise_cases());
  check_same_bytes(elementwise_cases());
}

TEST(CpuKernel, BinaryKindsRepeatAndTurnOperands) {
  check(repeating_cases());
  check_same_bytes(repeating_cases());
}

TEST(CpuKernel, KindsAlongAnAxisTakeAnyAxis) {
  check(axis_cases());
}

TEST(CpuKernel, CausalSoftmaxSeesNoLaterColumn) {
  for (const char* first : {"0", "2", "7", "-2", "9223372036854775800"}) {
    const OpCase op{"softmax", {Tensor::zeros({3, 40})}, {{"first_row", first}}};
    const auto got = cpu_of(op, 2);
    ASSERT_TRUE(got) << got.error().message;
  }
}

TEST(CpuKernel, SoftmaxOfMinusInfinityIsNothingAndLargeNumbersDoNotOverflow) {
  check(extreme_cases());
}

TEST(CpuKernel, RopeTurnsByPositionAndIsTheSameBytesInAnyNumberOfParts) {
  check(rope_cases());
  check_same_bytes(rope_cases());
}

TEST(CpuKernel, LayoutKindsMoveEveryElement) {
  check(layout_cases());
}

TEST(CpuKernel, EmbeddingTakesIdsOfBothDtypes) {
  check(embedding_cases());
  for (const OpCase& op : embedding_cases()) {
    const Tensor& ids = op.operands[0];
    const std::vector<int32_t> whole(ids.data.begin(), ids.data.end());
    const Floats rows = Floats::of(op.operands[1]);
    const auto got = run_parts(op.kind, op.attributes(),
                               {{ids.shape, DType::i32, whole.data()}, rows.block()}, 3);
    ASSERT_TRUE(got) << got.error().message;
    EXPECT_EQ(got->data, cpu_of(op, 1)->data);
  }
}

TEST(CpuKernel, MatmulIsTheReferenceForAnyIndices) {
  TUTTI_NEEDS_OPENBLAS();
  check(matmul_cases());
}

TEST(CpuKernel, MatmulPacksInTilesWhatIsLargerThanATile) {
  TUTTI_NEEDS_OPENBLAS();
  check(packed_matmul_cases());
}

TEST(CpuKernel, TilesFactorSolveAndUpdate) {
  TUTTI_NEEDS_OPENBLAS();
  check(tile_cases());
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
    const OpCase op{"matmul", random_tensors({{4, 20, 30}, {30, 4, 20}}), {{"einsum", einsum}}};
    const Floats first = Floats::of(op.operands[0]);
    const Floats second = Floats::of(op.operands[1]);
    const std::vector<ConstBlock> blocks = {first.block(), second.block()};
    const Tensor wanted = *op.reference();
    Floats out{wanted.shape, std::vector<float>(wanted.data.size(), unwritten())};
    std::vector<std::thread> threads;
    for (int part = 0; part < kThreads; ++part) {
      threads.emplace_back([&, part] {
        EXPECT_TRUE(run_cpu(op.kind, op.attributes(), blocks, out.block(), {part, kThreads}));
      });
    }
    for (std::thread& thread : threads) thread.join();
    expect_close(out.tensor(), wanted, kTolerance * largest_of(wanted), einsum);
  }
}

TEST(CpuKernel, WrongNumbersAreTheReferencesSentences) {
  TUTTI_NEEDS_OPENBLAS();
  for (const OpCase& op : wrong_number_cases()) {
    for (const int parts : kPartCounts) {
      const auto got = cpu_of(op, parts);
      const auto wanted = op.reference();
      ASSERT_FALSE(wanted);
      ASSERT_FALSE(got) << op.text() << " in " << parts;
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
