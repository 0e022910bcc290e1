// Whole programs on partitions of a GPU, by the local engine.

#include <gtest/gtest.h>

#include <algorithm>

#include "test/support/world.h"
#include "tutti/kernels/cuda/cublas.h"
#include "tutti/kernels/cuda/lane.h"
#include "tutti/kernels/programs_testing.h"
#include "tutti/runtime/conformance_testing.h"
#include "tutti/runtime/local/cuda/testing.h"
#include "tutti/runtime/local/events_testing.h"
#include "tutti/runtime/local/local.h"
#include "tutti/runtime/local/testing.h"
#include "tutti/runtime/sim/testing.h"
#include "tutti/trace/check.h"

namespace tutti {
namespace {

#define TUTTI_NEEDS_PARTITIONS_AND_CUBLAS(count) \
  TUTTI_NEEDS_MULTIPROCESSORS(count);            \
  if (const auto cublas = cuda::Cublas::open(); !cublas) GTEST_SKIP() << cublas.error().message

float float_at(const std::vector<std::byte>& bytes, size_t i, DType dtype) {
  uint32_t bits = 0;
  const auto width = static_cast<size_t>(element_bytes(dtype));
  std::memcpy(&bits, bytes.data() + i * width, width);
  return std::bit_cast<float>(dtype == DType::f32 ? bits : bits << 16);
}

void put(const Tensor& tensor, const Block& block) {
  const auto width = static_cast<size_t>(element_bytes(block.dtype));
  for (size_t i = 0; i < tensor.data.size(); ++i) {
    const auto single = static_cast<float>(tensor.data[i]);
    const auto whole = static_cast<int32_t>(tensor.data[i]);
    const auto upper = static_cast<uint16_t>(std::bit_cast<uint32_t>(single) >> 16);
    const void* from = block.dtype == DType::i32   ? static_cast<const void*>(&whole)
                       : block.dtype == DType::f32 ? static_cast<const void*>(&single)
                                                   : static_cast<const void*>(&upper);
    std::memcpy(static_cast<std::byte*>(block.data) + i * width, from, width);
  }
}

// Runs the program, its ops on the devices in turn, and expects what the reference says;
// `tolerance` is of the largest element of all results: a block of small ones is a difference of
// large ones.
void expect_reference(const TestProgram& program, const Machine& machine, bool staged,
                      double tolerance) {
  const World world(Graph(program.graph), Machine(machine));
  std::vector<Tensor> inputs = program.values;
  for (const ValueId value : world.graph.values()) {
    if (world.graph.producer(value).valid()) continue;
    Tensor& input = inputs[static_cast<size_t>(value.index)];
    input = rounded(std::move(input), world.graph.dtype(value));
  }
  const std::vector<Tensor> wanted = must(evaluate(world.graph, inputs));
  double largest = 0;
  for (const ValueId value : world.graph.values()) {
    if (!world.graph.consumers(value).empty()) continue;
    largest = std::max(largest, largest_of(wanted[static_cast<size_t>(value.index)]));
  }
  const auto runtime = testing::open_local(world.machine, OpTable::standard());
  runtime->set_options({.staged = staged, .input = [&](ValueId value, const Block& block) {
                          put(inputs[static_cast<size_t>(value.index)], block);
                        }});
  const Plan plan = testing::in_turn(*world.problem);
  for (int round = 0; round < 2; ++round) {  // the second finds pools and handles warm
    const Trace trace = must(runtime->run(*world.problem, plan));
    EXPECT_EQ(check_trace(*world.problem, trace, rules_for(trace, &plan)),
              std::vector<std::string>());
    EXPECT_EQ(is_direct(trace), !staged);
    const bool two_hops = std::any_of(trace.transfers.begin(), trace.transfers.end(),
                                      [](const TransferSpan& span) { return span.hop == 1; });
    EXPECT_EQ(two_hops, staged);
    for (const ValueId value : world.graph.values()) {
      if (!world.graph.consumers(value).empty()) continue;
      const std::vector<std::byte> bytes = must(runtime->result(value));
      const Tensor& tensor = wanted[static_cast<size_t>(value.index)];
      for (size_t i = 0; i < tensor.data.size(); ++i) {
        ASSERT_NEAR(float_at(bytes, i, world.graph.dtype(value)), tensor.data[i],
                    tolerance * largest)
            << world.graph.value_name(value) << " at " << i;
      }
    }
  }
}

TEST(CudaLocal, ProgramsOnUnevenPartitionsAreTheReferenceStagedAndDirect) {
  TUTTI_NEEDS_PARTITIONS_AND_CUBLAS(128);
  const Machine machine = must(partitioned_machine({64, 32, 16, 16}, /*slots=*/2));
  for (const bool staged : {true, false}) {
    for (auto programs : {chainmm_programs, ffnn_programs, llama_programs, cholesky_programs}) {
      expect_reference(programs(DType::f32).back(), machine, staged, 5e-5);
    }
    // What is rounded at each of twenty ops in a row.
    expect_reference(chainmm_programs(DType::bf16).back(), machine, staged, 3e-2);
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(CudaLocal, CoresAndPartitionsWorkOnOneProgram) {
  TUTTI_NEEDS_PARTITIONS_AND_CUBLAS(32);
  MachineSpec spec;
  spec.devices.push_back(
      {.device = {.name = "cpu", .kind = "cpu", .flops_per_s = 1e10}, .uses_host_memory = true});
  const Machine machine = must(partitioned_machine({16, 16}, 1, kUnlimitedBytes, std::move(spec)));
  expect_reference(llama_programs(DType::f32).back(), machine, /*staged=*/true, 5e-5);
}

TEST(CudaLocal, RandomPlansConserveWorkAndObeyTheRules) {
  TUTTI_NEEDS_PARTITIONS_AND_CUBLAS(128);
  const World worlds[] = {
      World(must(make_chainmm({.size = 256, .split = {2, 2, 2}})).graph,
            must(partitioned_machine({64, 32, 16, 16}, /*slots=*/2))),
      World(must(make_chainmm({.size = 256, .split = {4, 4, 4}})).graph,
            must(partitioned_machine(std::vector<int>(8, 16)))),
  };
  for (const World& world : worlds) {
    const auto runtime = testing::open_local(world.machine, OpTable::standard());
    must(runtime->run(*world.problem, testing::in_turn(*world.problem)));  // opens cuBLAS
    for (int i = 0; i < 60; ++i) {
      Rng rng = Rng(29).split(static_cast<uint64_t>(i));
      const Plan plan = testing::random_plan(*world.problem, rng);
      runtime->set_options({.steps = true, .staged = i % 2 == 0});
      const EventRules rules{.plan = &plan, .patience = std::chrono::seconds(1)};
      std::vector<std::string> faults;
      // A busy host may let threads wait for long now and then; a lazy slot is late each time.
      for (int tries = 0; tries < 5 && (tries == 0 || !faults.empty()); ++tries) {
        const Trace trace = must(runtime->run(*world.problem, plan));
        EXPECT_EQ(check_trace(*world.problem, trace, rules_for(trace, &plan)),
                  std::vector<std::string>())
            << "run " << i;
        const std::vector<OpEvents> events = runtime->events();
        EXPECT_EQ(step_faults(*world.problem, events, runtime->sleeps(), rules),
                  std::vector<std::string>())
            << "run " << i;
        faults = events_faults(*world.problem, events, rules);
      }
      EXPECT_EQ(faults, std::vector<std::string>()) << "run " << i;
    }
  }
}

// As testing::digest_code, of values in the GPU's memory.
OpCode digest_on_gpu(const Graph& graph) {
  return [&graph](const OpCall& call) -> Result<void> {
    OpId op{};
    for (const OpId each : graph.ops()) {
      if (graph.op_name(each) == call.op) op = each;
    }
    cudaStream_t stream = static_cast<CudaLane*>(call.lane)->stream().get();
    std::vector<uint8_t> operands;
    for (size_t i = 0; i < call.operands.size(); ++i) {
      const auto bytes = static_cast<size_t>(graph.bytes(graph.operands(op)[i]));
      if (bytes == 0) {
        operands.push_back(0);
        continue;
      }
      std::vector<uint8_t> seen(bytes);
      if (cudaMemcpyAsync(seen.data(), call.operands[i].data, bytes, cudaMemcpyDeviceToHost,
                          stream) != cudaSuccess ||
          cudaStreamSynchronize(stream) != cudaSuccess) {
        return failed("an operand cannot be read");
      }
      if (std::count(seen.begin(), seen.end(), seen[0]) != static_cast<int64_t>(bytes)) {
        return failed("an operand is not whole");
      }
      operands.push_back(seen[0]);
    }
    size_t output = 0;
    for (const ValueId value : graph.outputs(op)) {
      const auto bytes = static_cast<size_t>(graph.bytes(value));
      const int sum = testing::digest(call.op, output, operands);
      if (bytes > 0 &&
          cudaMemsetAsync(call.outputs[output].data, sum, bytes, stream) != cudaSuccess) {
        return failed("an output cannot be written");
      }
      ++output;
    }
    return {};
  };
}

// The kit that every runtime passes, on the machines of it that can be made of one GPU: one host,
// no device in the host's memory.
TEST(CudaConformance, PlansAndOnlinePoliciesRunAsTheRulesSay) {
  TUTTI_NEEDS_MULTIPROCESSORS(128);
  int passed = 0;
  for (const auto& c :
       conformance_cases({.device_kind = "gpu-16", .units = 16, .unit_bytes = 1 << 10})) {
    OpTable table;
    for (const std::string& kind : c.problem.graph.op_kinds()) {
      table.add(kind, "gpu", digest_on_gpu(c.problem.graph));
    }
    const auto runtime = LocalRuntime::open(c.problem.machine, std::move(table));
    if (!runtime) continue;
    Rng rng(3);
    Policy policy = testing::random_policy(rng, /*pauses=*/false);
    const Result<Trace> online = (*runtime)->run_online(c.problem, policy);
    if (c.tight_memory && !online) continue;
    ASSERT_TRUE(online) << c.name << ": " << online.error().message;
    EXPECT_EQ(check_trace(c.problem, *online, rules_for(*online, nullptr)),
              std::vector<std::string>())
        << c.name;
    testing::expect_digests(c.problem.graph, **runtime);
    Plan plan = testing::in_turn(c.problem);
    for (const OpSpan& span : online->ops) {
      plan.placement[static_cast<size_t>(span.op.index)] = span.device;
      plan.priority[static_cast<size_t>(span.op.index)] = span.start.count();
    }
    EXPECT_EQ(conformance_faults(**runtime, c.problem, plan, /*repeatable=*/false),
              std::vector<std::string>())
        << c.name;
    testing::expect_digests(c.problem.graph, **runtime);
    ++passed;
  }
  EXPECT_GE(passed, 8);
}

TEST(CudaLocal, AWrongNumberNamesOpAndDevice) {
  TUTTI_NEEDS_PARTITIONS_AND_CUBLAS(16);
  // All zeros: not positive definite.
  const World world(must(make_cholesky({.tiles = 2, .tile_size = 8})),
                    must(partitioned_machine({16})));
  const auto runtime = testing::open_local(world.machine, OpTable::standard());
  const auto trace = runtime->run(*world.problem, testing::in_turn(*world.problem));
  ASSERT_FALSE(trace);
  EXPECT_NE(
      trace.error().message.find("on device 'gpu0': potrf: the tile is not positive definite"),
      std::string::npos)
      << trace.error().message;
}

}  // namespace
}  // namespace tutti
