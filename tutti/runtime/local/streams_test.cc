// Weights that are kept and streamed for real, between memories of one host.

#include <gtest/gtest.h>

#include <cstring>

#include "tutti/plan/check/check.h"
#include "tutti/plan/testing.h"
#include "tutti/runtime/local/testing.h"
#include "tutti/trace/check.h"

namespace tutti {
namespace {

using testing::kCores;
using testing::kGpu;
using testing::LayerChain;

constexpr int kLayers = 24;
constexpr int64_t kWeight = 200'000;
constexpr int64_t kValue = 64;

// The machine of layer_machine, its GPU a core with memory of its own.
Machine machine(int64_t memory) {
  MachineSpec spec = testing::layer_machine({.gpu_memory = memory});
  spec.devices[0].device.kind = "cpu";
  return must(Machine::build(std::move(spec)));
}

// Each layer fails unless all bytes of its weight are its own, and adds them to what it reads.
Result<void> run_layer(const OpCall& call) {
  const int number = std::stoi(std::string(call.op.substr(5))) + 1;
  const auto* weight = static_cast<const uint8_t*>(call.operands[1].data);
  for (int64_t i = 0; i < kWeight; ++i) {
    if (weight[i] != number) return failed("the weight is not there");
  }
  const auto* before = static_cast<const uint8_t*>(call.operands[0].data);
  auto* after = static_cast<uint8_t*>(call.outputs[0].data);
  for (int64_t i = 0; i < kValue; ++i) after[i] = static_cast<uint8_t>(before[i] + weight[i]);
  return {};
}

class LocalStreams : public ::testing::Test {
 protected:
  LocalStreams()
      : world_(testing::layer_chain(
                   {.layers = kLayers, .weight_bytes = kWeight, .value_bytes = kValue}),
               machine(5 * kWeight + 4 * kValue).spec()) {}

  // Runs it again and again, and holds each run to the judge and the result to what it should be.
  void run(const Plan& plan, bool staged) {
    const Problem& problem = world_.problem();
    ASSERT_EQ(check_plan(problem, plan), std::vector<std::string>());
    OpTable table;
    table.add("layer", "cpu", run_layer);
    const auto runtime = testing::open_local(problem.machine, std::move(table));
    runtime->set_options({.staged = staged, .input = [&](ValueId value, const Block& block) {
                            const std::string name = problem.graph.value_name(value);
                            const int number = name == "x" ? 7 : std::stoi(name.substr(1)) + 1;
                            std::memset(block.data, number,
                                        static_cast<size_t>(problem.graph.bytes(value)));
                          }});
    for (int i = 0; i < 20; ++i) {
      const Result<Trace> trace = runtime->run(problem, plan);
      ASSERT_TRUE(trace) << trace.error().message;
      ASSERT_EQ(check_trace(problem, *trace, rules_for(*trace, &plan)), std::vector<std::string>());
      const ValueId last = *problem.graph.outputs(OpId{kLayers - 1}).begin();
      const std::vector<std::byte> result = must(runtime->result(last));
      for (const std::byte byte : result) {
        ASSERT_EQ(static_cast<uint8_t>(byte),
                  static_cast<uint8_t>(7 + kLayers * (kLayers + 1) / 2));
      }
      ASSERT_LE(runtime->high_water(testing::kGpuMemory),
                problem.memory_limit(testing::kGpuMemory));
    }
  }

  testing::World world_;
};

TEST_F(LocalStreams, BringEveryWeightThroughTwoBuffers) {
  run(testing::layer_plan(world_.problem(), 0, 2), /*staged=*/false);
  run(testing::layer_plan(world_.problem(), 0, 1), /*staged=*/true);
}

TEST_F(LocalStreams, LeaveKeptWeightsWhereTheyAre) {
  run(testing::layer_plan(world_.problem(), 3, 2), /*staged=*/false);
}

TEST_F(LocalStreams, GoOnWhileTheCoresReadInPlace) {
  Plan plan = testing::layer_plan(world_.problem(), 2, 3);
  for (size_t layer = 2; layer < kLayers; layer += 3) plan.placement[layer] = kCores;
  run(plan, /*staged=*/false);
}

// `home` is at home on the GPU and read by the cores, or by no op; `spare` is kept there though no
// op there reads it. x and y arrive where only one of them has room.
TEST(LocalStreamsBesides, WeightsThatNoOpThereReadsTakeTheirRoom) {
  GraphBuilder builder("turns");
  const auto input = [&](const char* name, Residence residence, bool weight) {
    return builder.add_input({.value = {.name = name, .bytes = 1000},
                              .residence = std::move(residence),
                              .weight = weight});
  };
  const Residence host{.where = Residence::Where::host};
  const ValueId x = input("x", host, false);
  const ValueId y = input("y", host, false);
  const ValueId streamed = input("streamed", host, true);
  input("home", {.where = Residence::Where::device, .device = "gpu"}, true);
  const ValueId spare = input("spare", host, true);
  const std::vector<ValueSpec> nothing = {{.bytes = 0}};
  const std::vector<GivenTime> times = {{"cpu", testing::ns(20)}};
  const auto op = [&](const char* name, const std::vector<ValueId>& operands) {
    const OpId made = builder.add_op({.name = name,
                                      .kind = "work",
                                      .operands = operands,
                                      .outputs = nothing,
                                      .run_times = times});
    return builder.outputs(made).front();
  };
  const ValueId first = op("first", {x, streamed});
  op("second", {first, y});
  const testing::World world(std::move(builder).build().value(), machine(4000).spec());
  const Problem& problem = world.problem();
  Plan plan;
  plan.placement = {kGpu, kGpu};
  plan.priority = {0, 1};
  plan.weights = {.kept = {{}, {spare}}, .stream_buffer_bytes = {0, 1000}};
  note_origin(problem, 1, plan.provenance);
  ASSERT_EQ(check_plan(problem, plan), std::vector<std::string>());
  OpTable table;
  table.add("work", "cpu", [](const OpCall&) -> Result<void> { return {}; });
  const auto runtime = testing::open_local(problem.machine, std::move(table));
  for (int i = 0; i < 20; ++i) {
    const Result<Trace> trace = runtime->run(problem, plan);
    ASSERT_TRUE(trace) << trace.error().message;
    ASSERT_EQ(check_trace(problem, *trace, rules_for(*trace, &plan)), std::vector<std::string>());
  }
}

TEST_F(LocalStreams, AreInTheTrace) {
  const Problem& problem = world_.problem();
  OpTable table;
  table.add("layer", "cpu", run_layer);
  const auto runtime = testing::open_local(problem.machine, std::move(table));
  runtime->set_options({.input = [&](ValueId value, const Block& block) {
    const std::string name = problem.graph.value_name(value);
    std::memset(block.data, name == "x" ? 7 : std::stoi(name.substr(1)) + 1,
                static_cast<size_t>(problem.graph.bytes(value)));
  }});
  const Plan plan = testing::layer_plan(problem, 3, 2);
  const Trace trace = must(runtime->run(problem, plan));
  EXPECT_EQ(trace.weights, plan.weights);
  EXPECT_EQ(trace.transfers.size(), static_cast<size_t>(kLayers - 3));  // each streamed weight once
}

}  // namespace
}  // namespace tutti
