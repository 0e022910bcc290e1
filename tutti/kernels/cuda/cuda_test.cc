// Every kind, in f32 and in bf16, of many shapes, is on a GPU what the reference says.

#include "tutti/kernels/cuda/cuda.h"

#include <gtest/gtest.h>

#include <limits>
#include <thread>

#include "tutti/kernels/cuda/cublas.h"
#include "tutti/kernels/cuda/testing.h"

namespace tutti {
namespace {

// Products need cuBLAS, which a host may lack.
#define TUTTI_NEEDS_CUBLAS() \
  TUTTI_NEEDS_GPU();         \
  if (const auto opened = cuda::Cublas::open(); !opened) GTEST_SKIP() << opened.error().message

constexpr DType kDtypes[] = {DType::f32, DType::bf16};

// Of the largest element. Half a unit in the last place of a float is 6e-8; of a bf16, 2e-3.
double tolerance_of(DType dtype) {
  return dtype == DType::f32 ? 4e-6 : 1e-2;
}

std::vector<DType> all_of(const OpCase& op, DType dtype) {
  return std::vector<DType>(op.operands.size() + 1, dtype);
}

OpCase rounded(OpCase op, DType dtype) {
  for (Tensor& operand : op.operands) operand = tutti::rounded(std::move(operand), dtype);
  return op;
}

void check(const std::vector<OpCase>& cases, size_t skip = 0, int multiprocessors = 0) {
  const auto lane = open_lane(multiprocessors);
  for (const DType dtype : kDtypes) {
    for (const OpCase& exact : cases) {
      const OpCase op = rounded(exact, dtype);
      const std::string what = op.text() + " in " + to_text(dtype);
      const Result<Tensor> wanted = op.reference();
      ASSERT_TRUE(wanted) << what << ": " << wanted.error().message;
      const Result<Tensor> got = run_on(*lane, op, all_of(op, dtype), skip);
      ASSERT_TRUE(got) << what << ": " << got.error().message;
      expect_close(*got, *wanted, tolerance_of(dtype) * op.scale(*wanted), what);
      if (::testing::Test::HasFailure()) return;
    }
  }
}

TEST(CudaKernel, EveryKindHasOne) {
  for (const Kernel& kernel : kernels()) EXPECT_NE(kernel.cuda, nullptr) << kernel.kind;
}

TEST(CudaKernel, ElementwiseKindsAreTheReference) {
  TUTTI_NEEDS_GPU();
  check(elementwise_cases());
}

TEST(CudaKernel, ElementsNeedNotBeginAtAlignedAddresses) {
  TUTTI_NEEDS_GPU();
  for (const size_t skip : {1, 3}) {
    check(elementwise_cases(), skip);
    check(rope_cases(), skip);
    check(layout_cases(), skip);
  }
}

TEST(CudaKernel, BlocksMayBeLargerThanAGrid) {
  TUTTI_NEEDS_GPU();
  // Grids are sized by what the lane says it has: for one multiprocessor they have 32 blocks.
  const Shape large = {523, 257};
  OpCases cases;
  cases.add("add", {large, large});
  cases.add("silu", {large});
  cases.add("sum", {large, large, large});
  cases.add("multiply", {large, {large[1]}}, {{"einsum", "ab,b->ab"}});
  cases.add("transpose", {large}, {{"permutation", "1,0"}});
  cases.add("softmax", {large});
  cases.add("softmax", {large}, {{"axis", "0"}});
  cases.add("reduce_sum", {large}, {{"axis", "0"}});
  cases.add("reduce_max", {large}, {{"axis", "1"}});
  cases.add("rms_norm", {large, {large[1]}});
  cases.add("rope", {{131, 3, 512}}, {{"axis", "0"}});
  cases.add("slice", {large}, {{"begin", "7,3"}, {"shape", "501,251"}});
  Tensor ids = Tensor::zeros({300});
  for (size_t i = 0; i < ids.data.size(); ++i) ids.data[i] = static_cast<double>(i % 60) - 30;
  cases.add_on("embedding", {ids, random_tensors({{40, 300}})[0]}, {{"first_row", "-20"}});
  check(cases.take(), /*skip=*/0, /*multiprocessors=*/1);
}

TEST(CudaKernel, FoldsMoreOperandsThanALaunchNames) {
  TUTTI_NEEDS_GPU();
  OpCases cases;
  cases.add("sum", std::vector<Shape>(700, Shape{33}));
  cases.add("max", std::vector<Shape>(700, Shape{33}));
  check(cases.take());
}

TEST(CudaKernel, BinaryKindsRepeatAndTurnOperands) {
  TUTTI_NEEDS_GPU();
  check(repeating_cases());
}

TEST(CudaKernel, KindsAlongAnAxisTakeAnyAxis) {
  TUTTI_NEEDS_GPU();
  check(axis_cases());
}

TEST(CudaKernel, CausalSoftmaxOfLateRowsSeesAll) {
  TUTTI_NEEDS_GPU();
  const auto lane = open_lane();
  const OpCase op{"softmax", {Tensor::zeros({3, 40})}, {{"first_row", "9223372036854775800"}}};
  const Result<Tensor> got = run_on(*lane, op, all_of(op, DType::f32));
  ASSERT_TRUE(got) << got.error().message;
  for (const double x : got->data) EXPECT_NEAR(x, 1.0 / 40, 1e-7);
}

TEST(CudaKernel, SoftmaxOfMinusInfinityIsNothingAndLargeNumbersDoNotOverflow) {
  TUTTI_NEEDS_GPU();
  check(extreme_cases());
}

TEST(CudaKernel, RopeTurnsByPosition) {
  TUTTI_NEEDS_GPU();
  check(rope_cases());
}

TEST(CudaKernel, LayoutKindsMoveEveryElement) {
  TUTTI_NEEDS_GPU();
  check(layout_cases());
}

TEST(CudaKernel, EmbeddingTakesIdsOfEveryDtype) {
  TUTTI_NEEDS_GPU();
  check(embedding_cases());
  const auto lane = open_lane();
  for (const DType dtype : kDtypes) {
    for (const OpCase& exact : embedding_cases()) {
      const OpCase op = rounded(exact, dtype);
      const Result<Tensor> got = run_on(*lane, op, {DType::i32, dtype, dtype});
      ASSERT_TRUE(got) << got.error().message;
      expect_close(*got, *op.reference(), 0, op.text());
    }
  }
}

TEST(CudaKernel, MatmulIsTheReferenceForAnyIndices) {
  TUTTI_NEEDS_CUBLAS();
  check(matmul_cases());
  check(packed_matmul_cases());
}

TEST(CudaKernel, ProductsOfF32AreInTrueF32) {
  TUTTI_NEEDS_CUBLAS();
  // Large enough for tensor cores: in TF32 it would be wrong by 1e-4 of the largest element.
  OpCases cases;
  cases.add("matmul", {{128, 512}, {512, 128}});
  cases.add("matmul", {{8, 64, 64}, {8, 64, 64}}, {{"einsum", "abc,acd->abd"}});
  check(cases.take());
}

TEST(CudaKernel, MoreMatricesThanAGridHasRoomForGoInSeveralCalls) {
  TUTTI_NEEDS_CUBLAS();
  OpCases cases;
  cases.add("matmul", {{70000, 2, 3}, {70000, 3, 2}}, {{"einsum", "abc,acd->abd"}});
  check(cases.take());
}

TEST(CudaKernel, TilesFactorSolveAndUpdate) {
  TUTTI_NEEDS_CUBLAS();
  check(tile_cases());
  OpCases cases;  // of several blocks on the diagonal, the last one smaller
  for (const int64_t n : {64, 65, 128, 500}) cases.add_on("potrf", {definite(n)});
  check(cases.take());
}

TEST(CudaKernel, WrongNumbersAreTheReferencesSentencesAndTheLaneGoesOn) {
  TUTTI_NEEDS_CUBLAS();
  const auto lane = open_lane();
  std::vector<OpCase> cases = wrong_number_cases();
  // The wrong number is found wherever it is: in another block, or among many ids.
  Tensor late = definite(200);
  late.data[199 * 200 + 199] = -1;
  cases.push_back({"potrf", {late}});
  Tensor ids = Tensor::zeros({5000});
  ids.data[4001] = 7;
  ids.data[4999] = 9;
  cases.push_back({"embedding", {ids, Tensor::zeros({3, 2})}});
  for (const DType dtype : kDtypes) {
    for (const OpCase& op : cases) {
      const auto got = run_on(*lane, op, all_of(op, dtype));
      const auto wanted = op.reference();
      ASSERT_FALSE(wanted);
      ASSERT_FALSE(got) << op.text();
      EXPECT_EQ(got.error().message, wanted.error().message);
    }
  }
  const OpCase good{"potrf", {definite(70)}};
  const auto got = run_on(*lane, good, all_of(good, DType::f32));
  ASSERT_TRUE(got) << got.error().message;
}

TEST(CudaKernel, WrongOperandsAreRefusedInOneSentence) {
  TUTTI_NEEDS_GPU();
  const auto lane = open_lane();
  const Tensor three = Tensor::zeros({3});
  const auto sentence = [&](const OpCase& op, const std::vector<DType>& dtypes) {
    const auto got = run_on(*lane, op, dtypes);
    return got ? std::string("it fits") : got.error().message;
  };
  constexpr DType kF32 = DType::f32;
  constexpr DType kBf16 = DType::bf16;
  EXPECT_EQ(sentence({"gelu", {three}}, {kF32, kF32}), "there is no kernel for ops of kind 'gelu'");
  EXPECT_EQ(sentence({"relu", {three}}, {DType::f16, kF32}),
            "relu: operand 0 is of dtype f16; on a GPU it can be f32 or bf16 alone");
  EXPECT_EQ(sentence({"relu", {three}}, {kF32, DType::i16}),
            "relu: the output is of dtype i16; on a GPU it can be f32 or bf16 alone");
  EXPECT_EQ(sentence({"add", {three, three}}, {kF32, kBf16, kF32}),
            "add: operand 1 is of dtype bf16 and the output of f32; they must be the same");
  EXPECT_EQ(sentence({"relu", {three}}, {kBf16, kBf16}), "it fits");
}

TEST(CudaKernel, LanesRunSideBySide) {
  TUTTI_NEEDS_CUBLAS();
  constexpr int kThreads = 4;
  OpCases cases;
  // The second is packed: each lane has scratch of its own.
  for (const char* einsum : {"abc,cde->abde", "abc,cde->dabe"}) {
    cases.add("matmul", {{4, 20, 30}, {30, 4, 20}}, {{"einsum", einsum}});
  }
  const std::vector<OpCase> ops = cases.take();
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      const auto lane = open_lane();
      for (int round = 0; round < 10; ++round) {
        for (const OpCase& op : ops) {
          const Result<Tensor> got = run_on(*lane, op, all_of(op, DType::f32));
          ASSERT_TRUE(got) << got.error().message;
          const Tensor wanted = *op.reference();
          expect_close(*got, wanted, tolerance_of(DType::f32) * largest_of(wanted), op.text());
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// Of a program's f32 the error may add up over twenty ops; in bf16 each op is looked at by itself.
void check(std::vector<TestProgram> (*programs)(DType)) {
  const auto lane = open_lane();
  const RunOp run = [&](const OpCase& op, const std::vector<DType>& dtypes) {
    return run_on(*lane, op, dtypes);
  };
  for (const TestProgram& program : programs(DType::f32)) {
    expect_reference(program, Beside::program, 2e-5, run);
  }
  for (const TestProgram& program : programs(DType::bf16)) {
    expect_reference(program, Beside::op, tolerance_of(DType::bf16), run);
  }
}

TEST(CudaProgram, ChainmmIsTheReference) {
  TUTTI_NEEDS_CUBLAS();
  check(chainmm_programs);
}

TEST(CudaProgram, TrainingAnFfnnIsTheReference) {
  TUTTI_NEEDS_CUBLAS();
  check(ffnn_programs);
}

TEST(CudaProgram, LlamaIsTheReference) {
  TUTTI_NEEDS_CUBLAS();
  check(llama_programs);
}

TEST(CudaProgram, OtherStatementsAreTheReference) {
  TUTTI_NEEDS_GPU();
  check(other_programs);
}

TEST(CudaProgram, CholeskyIsTheReference) {
  TUTTI_NEEDS_CUBLAS();
  check(cholesky_programs);
}

}  // namespace
}  // namespace tutti
