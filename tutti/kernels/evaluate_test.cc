#include "tutti/kernels/evaluate.h"

#include <gtest/gtest.h>

#include "tutti/graph/builder.h"

namespace tutti {
namespace {

struct Made {
  std::string kind;
  std::vector<int64_t> shape;
};

// One op over two inputs of two elements.
Graph one_op(const Made& made) {
  GraphBuilder builder("one");
  const std::vector<ValueId> operands = {
      builder.add_input({.value = {.name = "a", .bytes = 8, .shape = {2}}}),
      builder.add_input({.value = {.name = "b", .bytes = 8, .shape = {2}}})};
  const std::vector<ValueSpec> outputs = {{.bytes = 8, .shape = made.shape}};
  builder.add_op({.name = "op", .kind = made.kind, .operands = operands, .outputs = outputs});
  return *std::move(builder).build();
}

const std::vector<Tensor> kInputs = {{{2}, {1, 2}}, {{2}, {10, 20}}, {}};

TEST(Evaluate, RunsEachOpOnItsOperands) {
  const auto values = evaluate(one_op({"add", {2}}), kInputs);
  ASSERT_TRUE(values) << values.error().message;
  EXPECT_EQ((*values)[2].data, (std::vector<double>{11, 22}));
}

TEST(Evaluate, NamesTheOpThatCannotRun) {
  EXPECT_EQ(evaluate(one_op({"gelu", {2}}), kInputs).error().message,
            "op 'op': there is no kernel for ops of kind 'gelu'");
  EXPECT_EQ(evaluate(one_op({"add", {3}}), kInputs).error().message,
            "value 'op' is of shape 2, but the graph says 3");
  EXPECT_EQ(evaluate(one_op({"add", {2}}), {{{3}, {1, 2, 3}}, {}, {}}).error().message,
            "value 'a' is of shape 3, but the graph says 2");
  EXPECT_EQ(evaluate(one_op({"add", {2}}), {}).error().message,
            "0 tensors are given for 3 values of the graph");
}

}  // namespace
}  // namespace tutti
