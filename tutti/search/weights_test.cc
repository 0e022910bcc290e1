// `auto` and the policies on a model that is larger than the memory of its GPU.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tutti/plan/bound.h"
#include "tutti/plan/check/check.h"
#include "tutti/plan/testing.h"
#include "tutti/policy/registry.h"
#include "tutti/runtime/sim/sim.h"
#include "tutti/search/auto.h"
#include "tutti/trace/check.h"

namespace tutti {
namespace {

using namespace testing;

constexpr double kGiB = 1024.0 * 1024 * 1024;

// One token through 16 layers of LLaMA-7B widths in bf16. The GPU may hold 2.5 GiB.
LayerChain llama() {
  return {.layers = 16,
          .weight_bytes = static_cast<int64_t>(0.377 * kGiB),
          .value_bytes = 8192,
          .gpu_time = Duration(300'000),
          .core_time = Duration(6'300'000),
          .gpu_memory = static_cast<int64_t>(2.5 * kGiB),
          .link_bytes_per_s = 55e9,
          .link_latency = Duration(5'000)};
}

double ms(const Problem& problem, const Plan& plan) {
  EXPECT_EQ(check_plan(problem, plan), std::vector<std::string>{});
  SimRuntime runtime;
  const Result<Trace> trace = runtime.run(problem, plan);
  if (!trace) {
    ADD_FAILURE() << trace.error().message;
    return 0;
  }
  EXPECT_EQ(check_trace(problem, *trace, rules_for(*trace, &plan)), std::vector<std::string>{});
  return static_cast<double>(trace->makespan.count()) / 1e6;
}

TEST(Weights, AutoMixesStreamsAndCores) {
  const World world(layer_chain(llama()), layer_machine(llama()));
  const Problem& problem = world.problem();
  // Hand rules: every weight streamed; four kept, the rest streamed; six layers on the GPU and the
  // rest on the cores, as llama.cpp does.
  const double streamed = ms(problem, layer_plan(problem, 0, 2));
  const double some_kept = ms(problem, layer_plan(problem, 4, 2));
  Plan split = layer_plan(problem, 6, 0);
  std::fill(split.placement.begin() + 6, split.placement.end(), kCores);
  const double first_layers = ms(problem, split);

  const Result<AutoResult> found = plan_auto(problem, {.budget = {.evaluations = 6000}});
  ASSERT_TRUE(found) << found.error().message;
  const double mixed = ms(problem, found->plan);
  // With n layers that are not kept, x of them on the cores: at least max((n - x) s, x c + (L - x)
  // g) if link and cores never wait. Five can be kept next to one buffer.
  const double send = llama().weight_bytes / 55e6 + 0.005;
  double ideal = 1e9;
  for (int x = 0; x <= 11; ++x) {
    ideal = std::min(ideal, std::max((11 - x) * send, x * 6.3 + (16 - x) * 0.3));
  }
  EXPECT_LT(mixed, 0.75 * first_layers);
  EXPECT_LT(mixed, 0.6 * some_kept);
  EXPECT_LT(mixed, 0.5 * streamed);
  EXPECT_LT(mixed, 1.15 * ideal);
  EXPECT_GE(mixed, static_cast<double>(lower_bounds(problem).streams.count()) / 1e6);
}

TEST(Weights, EveryPolicyPlansAModelThatDoesNotFit) {
  // The GPU alone: no plan without streams.
  LayerChain options = llama();
  options.core_time = Duration(600'000'000);
  const World world(layer_chain(options), layer_machine(options));
  int planned = 0;
  for (const PolicyEntry& entry : planning_policies()) {
    if (entry.name == "expert") continue;  // needs an attribute of the graph
    const Result<Plan> plan = make_plan(entry, world.problem(), {}, 1);
    if (!plan) {
      ADD_FAILURE() << entry.name << ": " << plan.error().message;
      continue;
    }
    ++planned;
    EXPECT_TRUE(plan->weights.stated()) << entry.name;
    ms(world.problem(), *plan);
    ASSERT_FALSE(::testing::Test::HasFailure()) << entry.name;
  }
  EXPECT_GT(planned, 10);
}

TEST(Weights, KeepsAllThatFits) {
  LayerChain options = llama();
  options.gpu_memory = static_cast<int64_t>(7 * kGiB);
  const World world(layer_chain(options), layer_machine(options));
  const Result<AutoResult> found = plan_auto(world.problem(), {.budget = {.evaluations = 500}});
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_NEAR(ms(world.problem(), found->plan), 16 * 0.3, 0.01);
  EXPECT_EQ(found->plan.weights.kept[1].size(), 16u);
}

TEST(Weights, FailsOnlyIfEvenStreamingCannotWork) {
  LayerChain options = llama();
  options.gpu_memory = options.weight_bytes + 2 * options.value_bytes;
  MachineSpec alone = layer_machine(options);
  alone.devices.pop_back();  // no cores
  const World just(layer_chain(options), alone);
  const Result<AutoResult> found = plan_auto(just.problem(), {.budget = {.evaluations = 200}});
  ASSERT_TRUE(found) << found.error().message;
  ms(just.problem(), found->plan);

  alone.devices[0].memory_bytes -= 7;
  const World too_small(layer_chain(options), alone);
  const Result<AutoResult> none = plan_auto(too_small.problem(), {.budget = {.evaluations = 200}});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().kind, Error::Kind::infeasible);
  EXPECT_EQ(none.error().message,
            "op 'layer0' works on 386.1 MiB and fits on no device it may use, even if all weights "
            "are streamed: on 'gpu', which holds 386.1 MiB, 7 bytes are missing; allow more memory "
            "or devices");
}

}  // namespace
}  // namespace tutti
