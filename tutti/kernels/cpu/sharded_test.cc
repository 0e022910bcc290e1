// Whole programs, op by op with the CPU's code, are what the reference says.

#include <gtest/gtest.h>

#include "tutti/kernels/cpu/testing.h"
#include "tutti/kernels/programs_testing.h"

namespace tutti {
namespace {

// Of the largest element of each value. A program's ops follow each other twenty deep.
constexpr double kTolerance = 2e-5;

// A value in the dtype that the graph gives it.
struct Stored {
  Shape shape;
  DType dtype = DType::f32;
  std::vector<float> floats;
  std::vector<int32_t> wholes;

  Stored(const Tensor& tensor, DType its_dtype) : shape(tensor.shape), dtype(its_dtype) {
    if (dtype == DType::i32) {
      wholes.assign(tensor.data.begin(), tensor.data.end());
    } else {
      floats.assign(tensor.data.begin(), tensor.data.end());
    }
  }
  ConstBlock block() const {
    if (dtype == DType::i32) return {shape, dtype, wholes.data()};
    return {shape, dtype, floats.data()};
  }
};

Result<Tensor> run_in(int parts, const OpCase& op, const std::vector<DType>& dtypes) {
  EXPECT_EQ(dtypes.back(), DType::f32);
  std::vector<Stored> stored;
  for (size_t i = 0; i < op.operands.size(); ++i) stored.emplace_back(op.operands[i], dtypes[i]);
  std::vector<ConstBlock> operands;
  for (const Stored& operand : stored) operands.push_back(operand.block());
  const Result<Floats> got = run_parts(op.kind, op.attributes(), operands, parts);
  if (!got) return got.error();
  return got->tensor();
}

void expect_reference(const std::vector<TestProgram>& programs) {
  for (const TestProgram& program : programs) {
    for (const int parts : {1, 3}) {
      expect_reference(program, Beside::program, kTolerance,
                       [&](const OpCase& op, const std::vector<DType>& dtypes) {
                         return run_in(parts, op, dtypes);
                       });
    }
  }
}

TEST(CpuProgram, ChainmmIsTheReference) {
  TUTTI_NEEDS_OPENBLAS();
  expect_reference(chainmm_programs(DType::f32));
}

TEST(CpuProgram, TrainingAnFfnnIsTheReference) {
  TUTTI_NEEDS_OPENBLAS();
  expect_reference(ffnn_programs(DType::f32));
}

TEST(CpuProgram, LlamaIsTheReference) {
  TUTTI_NEEDS_OPENBLAS();
  expect_reference(llama_programs(DType::f32));
}

TEST(CpuProgram, OtherStatementsAreTheReference) {
  expect_reference(other_programs(DType::f32));
}

TEST(CpuProgram, CholeskyIsTheReference) {
  TUTTI_NEEDS_OPENBLAS();
  expect_reference(cholesky_programs(DType::f32));
}

}  // namespace
}  // namespace tutti
