#include "tutti/policy/schedule/keeping.h"

#include <gtest/gtest.h>

#include "tutti/plan/testing.h"

namespace tutti {
namespace {

using namespace testing;

// Four weights of 100 bytes; two of the five ops read v.
Graph v_is_read_twice() {
  GraphBuilder builder("values");
  const std::vector<GivenTime> times = {{"gpu", ns(20)}};
  const std::vector<ValueSpec> output = {{.bytes = 1}};
  std::vector<ValueId> weights;
  for (const char* name : {"u", "v", "w", "t"}) {
    weights.push_back(builder.add_input({.value = {.name = name, .bytes = 100},
                                         .residence = {.where = Residence::Where::host},
                                         .weight = true}));
  }
  for (const size_t read : {0U, 1U, 2U, 3U, 1U}) {
    const std::vector<ValueId> operands = {weights[read]};
    const std::string name = "op" + std::to_string(builder.op_count());
    builder.add_op({.name = name,
                    .kind = "work",
                    .operands = operands,
                    .outputs = output,
                    .run_times = times});
  }
  return std::move(builder).build().value();
}

Plan all_on_gpu() {
  Plan plan;
  plan.placement.assign(5, kGpu);
  plan.priority = {0, 1, 2, 3, 4};
  return plan;
}

TEST(Keeping, KeepsWhatSavesTheMostStreamTimePerByte) {
  // An op makes 1 byte; two buffers take 200; 101 are left.
  const World world(v_is_read_twice(), layer_machine({.gpu_memory = 302}));
  Plan plan = all_on_gpu();
  const Result<void> chosen = choose_keeping(world.problem(), plan);
  ASSERT_TRUE(chosen) << chosen.error().message;
  EXPECT_EQ(plan.weights.stream_buffer_bytes[1], 200);
  ASSERT_EQ(plan.weights.kept[1].size(), 1u);
  EXPECT_EQ(world.problem().graph.value_name(plan.weights.kept[1][0]), "v");
}

TEST(Keeping, TakesOneBufferIfThereIsNoRoomForTwo) {
  const World world(v_is_read_twice(), layer_machine({.gpu_memory = 200}));
  Plan plan = all_on_gpu();
  ASSERT_TRUE(choose_keeping(world.problem(), plan));
  EXPECT_EQ(plan.weights.stream_buffer_bytes[1], 100);
  EXPECT_TRUE(plan.weights.kept[1].empty());
}

TEST(Keeping, NeedsNoBufferIfAllFit) {
  const World world(v_is_read_twice(), layer_machine({.gpu_memory = 401}));
  Plan plan = all_on_gpu();
  ASSERT_TRUE(choose_keeping(world.problem(), plan));
  EXPECT_EQ(plan.weights.stream_buffer_bytes[1], 0);
  EXPECT_EQ(plan.weights.kept[1].size(), 4u);
}

TEST(Keeping, KeepsWeightsOfNoBytesWhereThereIsNoRoomAtAll) {
  GraphBuilder builder("empty");
  const ValueId weight = builder.add_input({.value = {.name = "w", .bytes = 0},
                                            .residence = {.where = Residence::Where::host},
                                            .weight = true});
  const std::vector<ValueId> operands = {weight};
  const std::vector<ValueSpec> output = {{.bytes = 500}};
  const std::vector<GivenTime> times = {{"gpu", ns(20)}};
  builder.add_op(
      {.name = "op", .kind = "work", .operands = operands, .outputs = output, .run_times = times});
  const World world(std::move(builder).build().value(), layer_machine({.gpu_memory = 100}));
  Plan plan;
  plan.placement = {kGpu};
  plan.priority = {0};
  const Result<void> chosen = choose_keeping(world.problem(), plan);
  ASSERT_TRUE(chosen) << chosen.error().message;
  EXPECT_EQ(plan.weights.kept[1].size(), 1u);
}

TEST(Keeping, SaysWhatIsMissing) {
  const World world(v_is_read_twice(), layer_machine({.gpu_memory = 100}));
  Plan plan = all_on_gpu();
  const Result<void> chosen = choose_keeping(world.problem(), plan);
  ASSERT_FALSE(chosen);
  EXPECT_EQ(chosen.error().kind, Error::Kind::infeasible);
  EXPECT_EQ(chosen.error().message,
            "even with all weights streamed, op 'op0' on 'gpu' has no room for its 100 B of "
            "weights: 1 bytes are missing; allow more memory or devices");
}

}  // namespace
}  // namespace tutti
