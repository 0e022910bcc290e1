// For tests: ops of every kind, of many shapes. Whatever code a kind has is held to the reference
// on all of them.

#ifndef TUTTI_KERNELS_CASES_TESTING_H_
#define TUTTI_KERNELS_CASES_TESTING_H_

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "tutti/base/random.h"
#include "tutti/kernels/kernel.h"

namespace tutti {

struct OpCase {
  std::string kind;
  std::vector<Tensor> operands;
  std::vector<std::pair<std::string, std::string>> texts{};  // its attributes

  // Views of `texts`.
  Attributes attributes() const { return Attributes({texts.begin(), texts.end()}); }

  std::string text() const {
    std::string text = kind;
    for (const Tensor& operand : operands) {
      text += fmt::format(" ({})", wholes_text(operand.shape));
    }
    for (const auto& [key, value] : texts) text += fmt::format(" {}={}", key, value);
    return text;
  }

  Result<Tensor> reference() const {
    std::vector<const Tensor*> pointers;
    for (const Tensor& operand : operands) pointers.push_back(&operand);
    return run_reference(kind, attributes(), pointers);
  }

  // What errors are measured by: the largest element of the result. What is subtracted from a tile
  // may leave little of it: there, of the tile.
  double scale(const Tensor& result) const;
};

inline double largest_of(const Tensor& tensor) {
  double largest = 0;
  for (const double x : tensor.data) largest = std::max(largest, std::abs(x));
  return largest;
}

inline double OpCase::scale(const Tensor& result) const {
  if (kind != "gemm" && kind != "syrk") return largest_of(result);
  return std::max(largest_of(operands.back()), largest_of(result));
}

inline void expect_close(const Tensor& got, const Tensor& wanted, double tolerance,
                         const std::string& what) {
  ASSERT_EQ(got.shape, wanted.shape) << what;
  for (size_t i = 0; i < wanted.data.size(); ++i) {
    ASSERT_NEAR(got.data[i], wanted.data[i], tolerance) << what << " at " << i;
  }
}

// Numbers from -1 to 1, as floats.
inline Tensor random_tensor(const Shape& shape, Rng& rng) {
  Tensor tensor = Tensor::zeros(shape);
  for (double& x : tensor.data) x = static_cast<float>(2 * rng.uniform() - 1);
  return tensor;
}

inline std::vector<Tensor> random_tensors(const std::vector<Shape>& shapes) {
  Rng rng(7);
  std::vector<Tensor> tensors;
  for (const Shape& shape : shapes) tensors.push_back(random_tensor(shape, rng));
  return tensors;
}

// A list of cases, written down as shapes and attributes.
class OpCases {
 public:
  using Texts = std::vector<std::pair<std::string, std::string>>;

  void add(std::string kind, const std::vector<Shape>& shapes, Texts texts = {}) {
    cases_.push_back({std::move(kind), random_tensors(shapes), std::move(texts)});
  }
  void add_on(std::string kind, std::vector<Tensor> operands, Texts texts = {}) {
    cases_.push_back({std::move(kind), std::move(operands), std::move(texts)});
  }
  std::vector<OpCase> take() { return std::move(cases_); }

 private:
  std::vector<OpCase> cases_;
};

inline std::vector<OpCase> elementwise_cases() {
  OpCases cases;
  for (const Shape& shape :
       std::vector<Shape>{{1}, {17}, {3, 1, 5}, {0}, {4, 0, 3}, {31, 67}, {}}) {
    for (const char* kind : {"add", "subtract", "multiply", "relu_gradient"}) {
      cases.add(kind, {shape, shape});
    }
    for (const char* kind : {"relu", "silu"}) cases.add(kind, {shape});
    cases.add("scale", {shape}, {{"factor", "-0.3"}});
    for (const char* kind : {"sum", "max"}) {
      cases.add(kind, {shape});
      cases.add(kind, {shape, shape, shape, shape});
    }
  }
  cases.add("sum", {{3, 2049}, {3, 2049}, {3, 2049}});  // more than one piece
  return cases.take();
}

// Binary kinds that repeat and turn operands.
inline std::vector<OpCase> repeating_cases() {
  const std::vector<std::pair<std::string, std::vector<Shape>>> einsums = {
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
  OpCases cases;
  for (const auto& [einsum, shapes] : einsums) {
    for (const char* kind : {"add", "subtract", "multiply"}) {
      cases.add(kind, shapes, {{"einsum", einsum}});
    }
  }
  return cases.take();
}

// Kinds that go along any axis, among them softmax of rows that see no later column.
inline std::vector<OpCase> axis_cases() {
  OpCases cases;
  for (const Shape& shape :
       std::vector<Shape>{{1}, {16}, {100}, {5, 37}, {37, 5}, {3, 4, 5}, {2, 1, 300}, {2, 3, 0}}) {
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      const std::string text = std::to_string(axis);
      cases.add("softmax", {shape}, {{"axis", text}});
      if (shape[axis] == 0) continue;
      cases.add("reduce_sum", {shape}, {{"axis", text}});
      cases.add("reduce_max", {shape}, {{"axis", text}});
    }
    cases.add("softmax", {shape});
    cases.add("rms_norm", {shape, {shape.back()}});
    cases.add("rms_norm", {shape, {shape.back()}}, {{"epsilon", "0.25"}});
  }
  cases.add("reduce_sum", {{3, 5000}}, {{"axis", "0"}});
  cases.add("softmax", {{3, 700}}, {{"axis", "0"}});
  for (const char* first : {"0", "2", "7", "-2"}) {
    cases.add("softmax", {{2, 4, 6}}, {{"first_row", first}});
  }
  return cases.take();
}

// Numbers so large that their powers are not numbers any more.
inline std::vector<OpCase> extreme_cases() {
  const double none = -std::numeric_limits<double>::infinity();
  OpCases cases;
  cases.add_on("softmax", {{{2, 3}, {none, 0, 0, 1000, 1000, -1000}}});
  cases.add_on("silu", {{{6}, {-1000, -88, -80, 0, 80, 1000}}});
  return cases.take();
}

inline std::vector<OpCase> rope_cases() {
  OpCases cases;
  for (const Shape& shape :
       std::vector<Shape>{{1, 2}, {5, 4}, {2, 37, 3, 8}, {2, 3, 37, 6}, {2, 5, 0}}) {
    for (size_t axis = 0; axis + 1 < shape.size(); ++axis) {
      cases.add("rope", {shape}, {{"axis", std::to_string(axis)}, {"first_position", "4000"}});
    }
  }
  cases.add("rope", {{3, 4}}, {{"axis", "0"}, {"base", "500"}});
  return cases.take();
}

inline std::vector<OpCase> layout_cases() {
  OpCases cases;
  for (const Shape& shape : std::vector<Shape>{{5, 7}, {70, 45}, {1, 45}, {0, 45}}) {
    cases.add("transpose", {shape}, {{"permutation", "1,0"}});
  }
  for (const char* permutation : {"0,1,2", "0,2,1", "1,0,2", "1,2,0", "2,0,1", "2,1,0"}) {
    for (const Shape& shape :
         std::vector<Shape>{{3, 4, 5}, {33, 2, 40}, {40, 1, 33}, {40, 33, 0}}) {
      cases.add("transpose", {shape}, {{"permutation", permutation}});
    }
  }
  cases.add("transpose", {{2, 3, 4, 5}}, {{"permutation", "0,2,1,3"}});
  cases.add("slice", {{9, 8}}, {{"begin", "2,3"}, {"shape", "5,4"}});
  cases.add("slice", {{9, 8}}, {{"begin", "2,0"}, {"shape", "5,8"}});
  cases.add("slice", {{9, 8}}, {{"begin", "9,8"}, {"shape", "0,0"}});
  cases.add("slice", {{4, 5, 6}}, {{"begin", "1,2,3"}, {"shape", "1,1,1"}});
  cases.add("slice", {{40, 5, 6}}, {{"begin", "0,2,3"}, {"shape", "40,3,1"}});
  cases.add("assemble", {{2, 1}, {2, 2}}, {{"shape", "2,3"}, {"offsets", "0,2;0,0"}});
  cases.add("assemble", {{30, 20}, {30, 13}, {5, 20}, {5, 13}},
            {{"shape", "35,33"}, {"offsets", "0,0;0,20;30,0;30,20"}});
  cases.add("assemble", {{0, 2}, {2, 2}}, {{"shape", "2,2"}, {"offsets", "0,0;0,0"}});
  for (const Shape& shape : std::vector<Shape>{{3, 4, 5}, {1, 1, 1}, {0, 2, 3}}) {
    cases.add("last_token", {shape});
  }
  return cases.take();
}

// The first operands are ids.
inline std::vector<OpCase> embedding_cases() {
  Rng rng(3);
  const Tensor table = random_tensor({5, 9}, rng);
  OpCases cases;
  cases.add_on("embedding", {{{2, 3}, {2, 0, 1, 1, 4, 2}}, table});
  cases.add_on("embedding", {{{3}, {2, 9, 4}}, table}, {{"first_row", "2"}});
  return cases.take();
}

inline std::vector<OpCase> matmul_cases() {
  const std::vector<std::pair<std::string, std::vector<Shape>>> einsums = {
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
      // No matrix has the indices in an order that BLAS can use.
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
  OpCases cases;
  for (const auto& [einsum, shapes] : einsums) cases.add("matmul", shapes, {{"einsum", einsum}});
  return cases.take();
}

// Operands in no order that BLAS can use, and longer than a tile in which the CPU's code packs
// them.
inline std::vector<OpCase> packed_matmul_cases() {
  OpCases cases;
  cases.add("matmul", {{2, 1100, 3}, {1100, 2, 2}}, {{"einsum", "abc,bde->adce"}});
  cases.add("matmul", {{2, 3, 1100}, {3, 2, 2}}, {{"einsum", "abc,bde->adce"}});
  cases.add("matmul", {{2, 2, 3}, {3, 550, 2}}, {{"einsum", "abc,cde->dabe"}});
  return cases.take();
}

// Symmetric, as far as its lower triangle says, with a heavy diagonal: positive definite.
inline Tensor definite(int64_t n) {
  Rng rng(5);
  Tensor tensor = random_tensor({n, n}, rng);
  for (int64_t i = 0; i < n; ++i) {
    tensor.data[static_cast<size_t>(i * n + i)] = static_cast<double>(n) + 1;
  }
  return tensor;
}

inline std::vector<OpCase> tile_cases() {
  Rng rng(9);
  OpCases cases;
  for (const int64_t n : {0, 1, 2, 5, 33, 150}) {
    const OpCase potrf{"potrf", {definite(n)}};
    cases.add_on(potrf.kind, potrf.operands);
    Tensor factor = *potrf.reference();
    for (double& x : factor.data) x = static_cast<float>(x);
    for (const int64_t rows : {0, 1, 6, 40}) {
      cases.add_on("trsm", {factor, random_tensor({rows, n}, rng)});
      cases.add("gemm", {{n, rows}, {7, rows}, {n, 7}});
      cases.add("gemm", {{n, rows}, {n, rows}, {n, n}});
      cases.add("syrk", {{n, rows}, {n, n}});
    }
  }
  cases.add("syrk", {{1200, 3}, {1200, 1200}});  // more than one tile of the triangle
  return cases.take();
}

// Operands that fit and hold numbers that do not.
inline std::vector<OpCase> wrong_number_cases() {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Tensor table = Tensor::zeros({3, 2});
  OpCases cases;
  for (const std::vector<double>& ids :
       std::vector<std::vector<double>>{{0, 3}, {-1, 0}, {0, 0.5}, {0, nan}}) {
    cases.add_on("embedding", {{{2}, ids}, table});
  }
  cases.add_on("potrf", {{{1, 1}, {-1}}});
  cases.add_on("potrf", {{{1, 1}, {nan}}});
  cases.add_on("potrf", {{{2, 2}, {1, 0, 2, 1}}});
  cases.add_on("potrf", {{{2, 2}, {1, 0, nan, 1}}});
  return cases.take();
}

}  // namespace tutti

#endif  // TUTTI_KERNELS_CASES_TESTING_H_
