// For tests: runs the CPU's code of a kind on tensors, in any number of parts, and holds it to the
// reference.

#ifndef TUTTI_KERNELS_CPU_TESTING_H_
#define TUTTI_KERNELS_CPU_TESTING_H_

#include <gtest/gtest.h>

#include <bit>
#include <string>
#include <vector>

#include "tutti/kernels/cases_testing.h"
#include "tutti/kernels/cpu/blas.h"
#include "tutti/kernels/kernel.h"

namespace tutti {

// Products need OpenBLAS, which a host may lack.
#define TUTTI_NEEDS_OPENBLAS() \
  if (const auto opened = cpu::Blas::open(); !opened) GTEST_SKIP() << opened.error().message

// A tensor of f32, or of i32.
struct Floats {
  Shape shape;
  std::vector<float> data;

  static Floats of(const Tensor& tensor) {
    return {tensor.shape, {tensor.data.begin(), tensor.data.end()}};
  }
  Tensor tensor() const { return {shape, {data.begin(), data.end()}}; }
  Block block() { return {shape, DType::f32, data.data()}; }
  ConstBlock block() const { return {shape, DType::f32, data.data()}; }
};

// What no kernel writes: a NaN with a payload of its own.
inline float unwritten() {
  return std::bit_cast<float>(0x7fc0beefU);
}
inline bool is_unwritten(float x) {
  return std::bit_cast<uint32_t>(x) == std::bit_cast<uint32_t>(unwritten());
}

// Runs each part on an output of its own and expects that every element is written by one of them.
inline Result<Floats> run_parts(std::string_view kind, const Attributes& attributes,
                                const std::vector<ConstBlock>& operands, int parts) {
  std::vector<Shape> shapes;
  for (const ConstBlock& operand : operands) {
    shapes.emplace_back(operand.shape.begin(), operand.shape.end());
  }
  const Result<OpFacts> facts = infer_op(kind, attributes, shapes);
  if (!facts) return facts.error();
  Floats whole = Floats::of(Tensor::zeros(facts->output));
  std::vector<int> writers(whole.data.size(), 0);
  for (int part = 0; part < parts; ++part) {
    Floats own{whole.shape, std::vector<float>(whole.data.size(), unwritten())};
    if (auto done = run_cpu(kind, attributes, operands, own.block(), {part, parts}); !done) {
      return done.error();
    }
    for (size_t i = 0; i < own.data.size(); ++i) {
      if (is_unwritten(own.data[i])) continue;
      ++writers[i];
      whole.data[i] = own.data[i];
    }
  }
  for (size_t i = 0; i < writers.size(); ++i) {
    EXPECT_EQ(writers[i], 1) << kind << ", element " << i << " of " << writers.size();
    if (writers[i] != 1) break;
  }
  return whole;
}

}  // namespace tutti

#endif  // TUTTI_KERNELS_CPU_TESTING_H_
