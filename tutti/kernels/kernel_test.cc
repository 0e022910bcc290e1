#include "tutti/kernels/kernel.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace tutti {
namespace {

using Pairs = Attributes::Pairs;

Result<Tensor> run(std::string_view kind, const std::vector<Tensor>& operands,
                   const Pairs& attributes = {}) {
  std::vector<const Tensor*> pointers;
  pointers.reserve(operands.size());
  for (const Tensor& operand : operands) pointers.push_back(&operand);
  return run_reference(kind, Attributes(attributes), pointers);
}

void expect(const Result<Tensor>& got, const Tensor& wanted) {
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(got->shape, wanted.shape);
  ASSERT_EQ(got->data.size(), wanted.data.size());
  for (size_t i = 0; i < wanted.data.size(); ++i) EXPECT_NEAR(got->data[i], wanted.data[i], 1e-12);
}

OpFacts facts(std::string_view kind, const std::vector<Shape>& shapes, const Pairs& pairs = {}) {
  const Result<OpFacts> found = infer_op(kind, Attributes(pairs), shapes);
  EXPECT_TRUE(found) << found.error().message;
  return *found;
}

const Tensor kTwoByTwo{{2, 2}, {1, 2, 3, 4}};

TEST(Kernel, EveryKnownKindHasOneAndTheyAreInOrder) {
  ASSERT_EQ(kernels().size(), known_kinds().size());
  for (size_t i = 0; i < kernels().size(); ++i) {
    EXPECT_EQ(kernels()[i].kind, known_kinds()[i].name);
    if (i == 0) continue;
    EXPECT_LT(kernels()[i - 1].kind, kernels()[i].kind);
  }
}

TEST(Kernel, MatmulMultipliesMatrices) {
  expect(run("matmul", {kTwoByTwo, {{2, 1}, {5, 6}}}), {{2, 1}, {17, 39}});
  EXPECT_EQ(facts("matmul", {{2, 3}, {3, 4}}).flops, 2 * 2 * 3 * 4);
  EXPECT_EQ(facts("matmul", {{2, 3}, {3, 4}}).elements_moved, 6 + 12 + 8);
}

TEST(Kernel, MatmulTransposesAndBatchesByItsIndices) {
  // The transpose of (1 2; 3 4) is (1 3; 2 4).
  expect(run("matmul", {kTwoByTwo, {{2, 1}, {5, 6}}}, {{"einsum", "ki,kj->ij"}}),
         {{2, 1}, {23, 34}});
  // Row by row, (1 2)(5 6) and (3 4)(7 8).
  expect(run("matmul", {kTwoByTwo, {{2, 2}, {5, 6, 7, 8}}}, {{"einsum", "bk,bk->b"}}),
         {{2}, {17, 53}});
  // Two indices summed over at once, the result's order turned round.
  expect(run("matmul", {{{1, 2, 2}, {1, 2, 3, 4}}, {{2, 2, 1}, {1, 1, 1, 1}}},
             {{"einsum", "shd,hdm->ms"}}),
         {{1, 1}, {10}});
}

TEST(Kernel, ElementwiseKindsGoElementByElement) {
  const Tensor other{{2, 2}, {10, 20, 30, 40}};
  expect(run("add", {kTwoByTwo, other}), {{2, 2}, {11, 22, 33, 44}});
  expect(run("subtract", {other, kTwoByTwo}), {{2, 2}, {9, 18, 27, 36}});
  expect(run("multiply", {kTwoByTwo, other}), {{2, 2}, {10, 40, 90, 160}});
  expect(run("scale", {kTwoByTwo}, {{"factor", "-0.5"}}), {{2, 2}, {-0.5, -1, -1.5, -2}});
  expect(run("relu", {{{3}, {-1, 0, 2}}}), {{3}, {0, 0, 2}});
  expect(run("relu_gradient", {{{3}, {-1, 0, 2}}, {{3}, {5, 6, 7}}}), {{3}, {0, 0, 7}});
  expect(run("silu", {{{2}, {0, 1}}}), {{2}, {0, 1 / (1 + std::exp(-1.0))}});
  expect(run("sum", {kTwoByTwo, other, other}), {{2, 2}, {21, 42, 63, 84}});
  expect(run("max", {kTwoByTwo, {{2, 2}, {0, 9, 0, 9}}}), {{2, 2}, {1, 9, 3, 9}});
  EXPECT_EQ(facts("sum", {{2, 2}, {2, 2}, {2, 2}}).flops, 8);
  EXPECT_EQ(facts("silu", {{2, 2}}).flops, 16);
}

TEST(Kernel, BinaryKindsRepeatASmallerOperand) {
  expect(run("add", {kTwoByTwo, {{2}, {10, 20}}}, {{"einsum", "ij,j->ij"}}),
         {{2, 2}, {11, 22, 13, 24}});
  expect(run("multiply", {kTwoByTwo, {{2}, {10, 20}}}, {{"einsum", "ij,i->ij"}}),
         {{2, 2}, {10, 20, 60, 80}});
}

TEST(Kernel, SoftmaxAddsUpToOneAlongItsAxis) {
  const double e = std::exp(1.0);
  expect(run("softmax", {{{1, 2}, {3, 4}}}), {{1, 2}, {1 / (1 + e), e / (1 + e)}});
  expect(run("softmax", {{{2, 1}, {3, 4}}}, {{"axis", "0"}}), {{2, 1}, {1 / (1 + e), e / (1 + e)}});
  EXPECT_EQ(facts("softmax", {{3, 7}}).flops, 5 * 21);
}

TEST(Kernel, CausalSoftmaxSeesNoLaterColumn) {
  // Rows 1 and 2 of a sequence of 4, all scores equal: shares of 1/2, then of 1/3.
  expect(run("softmax", {Tensor::zeros({2, 4})}, {{"first_row", "1"}}),
         {{2, 4}, {0.5, 0.5, 0, 0, 1.0 / 3, 1.0 / 3, 1.0 / 3, 0}});
}

TEST(Kernel, RmsNormDividesByTheRootOfTheMeanSquare) {
  // The mean square of (1, 7) is 25.
  expect(run("rms_norm", {{{1, 2}, {1, 7}}, {{2}, {10, 100}}}), {{1, 2}, {2, 140}});
  expect(run("rms_norm", {{{1, 2}, {1, 7}}, {{2}, {10, 100}}}, {{"epsilon", "75"}}),
         {{1, 2}, {1, 70}});
  EXPECT_EQ(facts("rms_norm", {{2, 8}, {8}}).flops, 64);
}

TEST(Kernel, RopeTurnsPairsByTheirPosition) {
  // Position 3; the second pair turns 100 times as slowly with base 10^4 and four elements.
  expect(run("rope", {{{1, 4}, {1, 0, 0, 1}}}, {{"axis", "0"}, {"first_position", "3"}}),
         {{1, 4}, {std::cos(3.0), std::sin(3.0), -std::sin(0.03), std::cos(0.03)}});
  EXPECT_EQ(facts("rope", {{5, 4}}, {{"axis", "0"}}).flops, 60);
}

TEST(Kernel, ReductionsGoAlongTheirAxis) {
  expect(run("reduce_sum", {kTwoByTwo}, {{"axis", "0"}}), {{2}, {4, 6}});
  expect(run("reduce_sum", {kTwoByTwo}), {{2}, {3, 7}});
  expect(run("reduce_max", {kTwoByTwo}, {{"axis", "0"}}), {{2}, {3, 4}});
  EXPECT_EQ(facts("reduce_sum", {{5, 3}}, {{"axis", "0"}}).flops, 12);
}

TEST(Kernel, LayoutKindsOnlyMove) {
  const Tensor wide{{2, 3}, {1, 2, 3, 4, 5, 6}};
  expect(run("transpose", {wide}, {{"permutation", "1,0"}}), {{3, 2}, {1, 4, 2, 5, 3, 6}});
  expect(run("slice", {wide}, {{"begin", "0,1"}, {"shape", "2,2"}}), {{2, 2}, {2, 3, 5, 6}});
  expect(run("assemble", {{{2, 1}, {3, 6}}, {{2, 2}, {1, 2, 4, 5}}},
             {{"shape", "2,3"}, {"offsets", "0,2;0,0"}}),
         wide);
  expect(run("last_token", {{{1, 3, 2}, {1, 2, 3, 4, 5, 6}}}), {{1, 2}, {5, 6}});
  EXPECT_EQ(facts("transpose", {{2, 3}}, {{"permutation", "1,0"}}).flops, 0);
  EXPECT_EQ(facts("slice", {{9, 9}}, {{"begin", "0,0"}, {"shape", "2,2"}}).elements_moved, 8);
}

TEST(Kernel, EmbeddingPicksRowsAndPartsOfATableAddUp) {
  const Tensor ids{{1, 3}, {2, 0, 1}};
  expect(run("embedding", {ids, {{3, 2}, {1, 2, 3, 4, 5, 6}}}), {{1, 3, 2}, {5, 6, 1, 2, 3, 4}});
  expect(run("embedding", {ids, {{2, 2}, {3, 4, 5, 6}}}, {{"first_row", "1"}}),
         {{1, 3, 2}, {5, 6, 0, 0, 3, 4}});
  EXPECT_FALSE(run("embedding", {{{1}, {3}}, {{3, 2}, {1, 2, 3, 4, 5, 6}}}));
  EXPECT_EQ(facts("embedding", {{1, 3}, {1000, 2}}).elements_moved, 3 + 2 * 6);
}

TEST(Kernel, CholeskyTilesFactorSolveAndUpdate) {
  // (4 2; 2 10) = L L^T with L = (2 0; 1 3); its upper triangle is not read.
  const Tensor factor{{2, 2}, {2, 0, 1, 3}};
  expect(run("potrf", {{{2, 2}, {4, 99, 2, 10}}}), factor);
  // X L^T = (4 8): x0 = 2, then 2 * 1 + 3 x1 = 8.
  expect(run("trsm", {factor, {{1, 2}, {4, 8}}}), {{1, 2}, {2, 2}});
  expect(run("syrk", {{{2, 1}, {1, 2}}, {{2, 2}, {5, 5, 5, 5}}}), {{2, 2}, {4, 3, 3, 1}});
  expect(run("gemm", {{{1, 2}, {1, 2}}, {{1, 2}, {3, 4}}, {{1, 1}, {20}}}), {{1, 1}, {9}});
  EXPECT_EQ(facts("potrf", {{6, 6}}).flops, 72);
  EXPECT_EQ(facts("trsm", {{6, 6}, {2, 6}}).flops, 72);
  EXPECT_EQ(facts("syrk", {{6, 2}, {6, 6}}).flops, 72);
  EXPECT_EQ(facts("gemm", {{6, 2}, {3, 2}, {6, 3}}).flops, 72);
}

TEST(Kernel, SaysInOneSentenceWhatDoesNotFit) {
  const auto sentence = [](std::string_view kind, const std::vector<Tensor>& operands,
                           const Pairs& attributes = {}) {
    const Result<Tensor> output = run(kind, operands, attributes);
    return output ? std::string("it fits") : output.error().message;
  };
  const Tensor three = Tensor::zeros({3});
  EXPECT_EQ(sentence("gelu", {three}), "there is no kernel for ops of kind 'gelu'");
  EXPECT_EQ(sentence("add", {three}), "add takes 2 operands, not 1");
  EXPECT_EQ(sentence("sum", {}), "sum takes at least 1 operand, not 0");
  EXPECT_EQ(sentence("add", {three, kTwoByTwo}), "add: operands of shapes 3 and 2,2 differ");
  EXPECT_EQ(sentence("matmul", {kTwoByTwo, Tensor::zeros({3, 2})}),
            "matmul: index 'k' is 2 in one operand and 3 in the other");
  EXPECT_EQ(sentence("matmul", {kTwoByTwo, three}),
            "matmul: einsum names 2 indices 'kj' of an operand with 1 dimensions");
  EXPECT_EQ(sentence("matmul", {kTwoByTwo, kTwoByTwo}, {{"einsum", "ij"}}),
            "matmul: einsum 'ij' is not of the form 'ik,kj->ij'");
  EXPECT_EQ(sentence("scale", {three}, {{"factor", "much"}}),
            "scale: attribute 'factor' is 'much', not a finite number");
  EXPECT_EQ(sentence("reduce_sum", {three}, {{"axis", "1"}}),
            "reduce_sum: axis 1 is none of 1 dimensions");
  EXPECT_EQ(sentence("slice", {three}, {{"begin", "2"}, {"shape", "2"}}),
            "slice: a slice of shape 2 at 2 does not lie within shape 3");
  EXPECT_EQ(sentence("assemble", {three}, {{"shape", "4"}, {"offsets", "0"}}),
            "assemble: the blocks do not fill the shape 4");
  EXPECT_EQ(
      sentence("assemble", {kTwoByTwo, kTwoByTwo}, {{"shape", "2,4"}, {"offsets", "0,1;0,2"}}),
      "assemble: blocks 0 and 1 overlap");
  EXPECT_EQ(sentence("potrf", {{{1, 1}, {-1}}}), "potrf: the tile is not positive definite");
}

TEST(Kernel, AssembleTellsBlocksThatTouchFromBlocksThatOverlap) {
  const std::vector<Tensor> four(4, kTwoByTwo);
  const auto fits = [&](std::string_view offsets) {
    return run("assemble", four, {{"shape", "4,4"}, {"offsets", offsets}}).has_value();
  };
  EXPECT_TRUE(fits("2,2;0,0;2,0;0,2"));
  EXPECT_FALSE(fits("2,2;0,0;2,0;0,0"));
  EXPECT_FALSE(fits("2,2;0,0;2,1;0,2"));
}

TEST(Kernel, AttributesThatAKindDoesNotHaveAreNotRead) {
  expect(run("relu_gradient", {{{2}, {1, -1}}, {{2}, {5, 6}}}, {{"einsum", "nonsense"}}),
         {{2}, {5, 0}});
}

TEST(Kernel, NothingFitsOperandsWithoutDimensions) {
  const Tensor scalar{{}, {1}};
  for (const OpKind& kind : known_kinds()) {
    const size_t count =
        kind.operands == OpKind::kOneOrMore ? 1 : static_cast<size_t>(kind.operands);
    const auto output = run(kind.name, std::vector<Tensor>(count, scalar));  // must not crash
    EXPECT_TRUE(!output || output->shape.empty()) << kind.name;
  }
}

}  // namespace
}  // namespace tutti
