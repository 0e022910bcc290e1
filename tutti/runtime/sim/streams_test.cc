// Simulated runs of plans that say which weights are kept, held to the judge.

#include "tutti/runtime/streams.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "tutti/plan/bound.h"
#include "tutti/plan/check/check.h"
#include "tutti/plan/testing.h"
#include "tutti/runtime/sim/replay.h"
#include "tutti/runtime/sim/sim.h"
#include "tutti/trace/check.h"

namespace tutti {
namespace {

using namespace testing;
using Sentences = std::vector<std::string>;

Result<Trace> run(const Problem& problem, const Plan& plan) {
  SimRuntime runtime;
  return runtime.run(problem, plan);
}

// The makespan of a run that the judge finds good.
Duration judged_makespan(const Problem& problem, const Plan& plan) {
  EXPECT_EQ(check_plan(problem, plan), Sentences{});
  const Result<Trace> trace = run(problem, plan);
  if (!trace) {
    ADD_FAILURE() << trace.error().message;
    return kNever;
  }
  EXPECT_EQ(check_trace(problem, *trace, rules_for(*trace, &plan)), Sentences{});
  return trace->makespan;
}

// At 10 ns an op reads w, another v, and a third w again, all without time, over a link that takes
// none: w is sent twice at the same instant.
TEST(Streams, OfNoTimeAreReadByOpsOfNoTime) {
  GraphBuilder builder("instant");
  const auto weight = [&](const char* name) {
    return builder.add_input({.value = {.name = name, .bytes = 60},
                              .residence = {.where = Residence::Where::host},
                              .weight = true});
  };
  const ValueId w = weight("w");
  const ValueId v = weight("v");
  const std::vector<ValueSpec> output = {{.bytes = 0}};
  const auto add = [&](const char* name, std::vector<ValueId> operands, Duration time) {
    const std::vector<GivenTime> times = {{"gpu", time}};
    return builder
        .outputs(builder.add_op({.name = name,
                                 .kind = "op",
                                 .operands = operands,
                                 .outputs = output,
                                 .run_times = times}))
        .front();
  };
  const ValueId s = add("s", {}, ns(10));
  const ValueId a = add("a", {w, s}, ns(0));
  const ValueId b = add("b", {v, a}, ns(0));
  add("c", {w, b}, ns(0));
  MachineSpec spec;
  spec.name = "m";
  spec.hosts = {{.name = "host"}};
  spec.devices.push_back({.device = {.name = "gpu", .kind = "gpu"}, .memory_bytes = 100});
  MachineSpec::LinkSpec link;
  link.name = "pcie";
  link.ends[0] = "host";
  link.ends[1] = "gpu";
  spec.links.push_back(link);
  const World world(std::move(builder).build().value(), spec);
  Plan plan;
  plan.placement.assign(4, DeviceId{0});
  plan.priority = {0, 1, 2, 3};
  plan.weights.kept.resize(2);
  plan.weights.stream_buffer_bytes = {0, 60};
  EXPECT_EQ(judged_makespan(world.problem(), plan), ns(10));
}

// A weight takes 100 ns to send, a layer 20 ns on the GPU and 90 ns on the cores.
TEST(Streams, BringEachWeightBeforeItsReader) {
  const World world(layer_chain(), layer_machine());
  // One buffer: send w0, run layer0, send w1, ...
  EXPECT_EQ(judged_makespan(world.problem(), layer_plan(world.problem(), 0, 1)), ns(4 * 120));
  // Two: the next weight is sent while a layer runs; the link is always busy.
  EXPECT_EQ(judged_makespan(world.problem(), layer_plan(world.problem(), 0, 2)), ns(4 * 100 + 20));
}

TEST(Streams, AreNotNeededForKeptWeights) {
  const World world(layer_chain(), layer_machine({.gpu_memory = 1000}));
  EXPECT_EQ(judged_makespan(world.problem(), layer_plan(world.problem(), 4, 0)), ns(4 * 20));
  // w1, w2, w3 follow one another while layer0 runs.
  EXPECT_EQ(judged_makespan(world.problem(), layer_plan(world.problem(), 1, 2)), ns(3 * 100 + 20));
}

TEST(Streams, LoadKeptWeightsInAColdRun) {
  Constraints constraints;
  constraints.cold = true;
  const World world(layer_chain(), layer_machine({.gpu_memory = 1000}), constraints);
  EXPECT_EQ(judged_makespan(world.problem(), layer_plan(world.problem(), 4, 0)), ns(4 * 100 + 20));
  // Loads do not wait for room in the buffer, which holds one weight: w0, w1 (kept) and w2 are sent
  // at once, w3 when layer2 has run.
  EXPECT_EQ(judged_makespan(world.problem(), layer_plan(world.problem(), 2, 1)),
            ns(300 + 20 + 100 + 20));
}

// x is at the host. Its 10 ns on the link come before the 100 ns of w1, for which no op waits yet.
TEST(Streams, LetInputsGoFirst) {
  GraphBuilder builder("input first");
  const Residence host{.where = Residence::Where::host};
  const ValueId x = builder.add_input({.value = {.name = "x", .bytes = 10}, .residence = host});
  ValueId before = x;
  const std::vector<ValueSpec> output = {{.bytes = 10}};
  const std::vector<GivenTime> times = {{"gpu", ns(20)}};
  for (const char* name : {"w0", "w1"}) {
    const ValueId weight = builder.add_input(
        {.value = {.name = name, .bytes = 100}, .residence = host, .weight = true});
    const std::vector<ValueId> operands = {before, weight};
    const OpId op = builder.add_op({.name = std::string("reads ") + name,
                                    .kind = "layer",
                                    .operands = operands,
                                    .outputs = output,
                                    .run_times = times});
    before = builder.outputs(op).front();
  }
  const World world(std::move(builder).build().value(), layer_machine({.gpu_memory = 250}));
  EXPECT_EQ(judged_makespan(world.problem(), layer_plan(world.problem(), 1, 1)), ns(110 + 20));
}

TEST(Streams, LeaveCoresToReadInPlace) {
  const World world(layer_chain(), layer_machine());
  Plan plan = layer_plan(world.problem(), 0, 2);
  // layer1 and layer2 on the cores: w0 and w3 are both there when layer3 begins. Values of 10 bytes
  // go over the link twice.
  plan.placement[1] = plan.placement[2] = kCores;
  EXPECT_EQ(judged_makespan(world.problem(), plan), ns(100 + 20 + 10 + 90 + 90 + 10 + 20));
}

// layer0 and layer1 read the same weight.
TEST(Streams, ShareACopyThatIsStillThere) {
  GraphBuilder builder("shared weight");
  const std::vector<GivenTime> times = {{"gpu", ns(20)}};
  const ValueId w = builder.add_input({.value = {.name = "w", .bytes = 100},
                                       .residence = {.where = Residence::Where::host},
                                       .weight = true});
  const std::vector<ValueSpec> output = {{.bytes = 10}};
  const std::vector<ValueId> first = {w};
  const OpId a = builder.add_op(
      {.name = "a", .kind = "layer", .operands = first, .outputs = output, .run_times = times});
  const std::vector<ValueId> second = {builder.outputs(a).front(), w, w};
  builder.add_op(
      {.name = "b", .kind = "layer", .operands = second, .outputs = output, .run_times = times});
  const World world(std::move(builder).build().value(), layer_machine());
  Plan plan;
  plan.placement = {kGpu, kGpu};
  plan.priority = {0, 1};
  plan.weights = {.kept = {{}, {}}, .stream_buffer_bytes = {0, 100}};
  EXPECT_EQ(judged_makespan(world.problem(), plan), ns(100 + 20 + 20));
  const Result<Trace> trace = run(world.problem(), plan);
  ASSERT_TRUE(trace);
  EXPECT_EQ(trace->transfers.size(), 1u);
}

TEST(Streams, FollowTheStrictOrder) {
  const World world(layer_chain(), layer_machine());
  Plan plan = layer_plan(world.problem(), 0, 1);
  for (int32_t i = 0; i < 4; ++i) plan.priority[static_cast<size_t>(i)] = -i;
  plan.strict_order = {{OpId{0}, OpId{1}, OpId{2}, OpId{3}}, {}};
  EXPECT_EQ(judged_makespan(world.problem(), plan), ns(4 * 120));
}

// To the byte: kept weights, buffer, and the values that are read and made.
TEST(Streams, ObeyMemoryLimitsToTheByte) {
  for (const int64_t memory : {220, 219}) {
    const World world(layer_chain(), layer_machine({.gpu_memory = memory}));
    const Result<Trace> trace = run(world.problem(), layer_plan(world.problem(), 1, 1));
    EXPECT_EQ(trace.has_value(), memory == 220);
    if (!trace) {
      EXPECT_NE(trace.error().message.find("needs 10 bytes in memory 'gpu', of which 9 are left"),
                std::string::npos)
          << trace.error().message;
    }
  }
}

TEST(Streams, SayThatTheBufferIsTooSmall) {
  const World world(layer_chain(), layer_machine());
  Plan plan = layer_plan(world.problem(), 0, 1);
  plan.weights.stream_buffer_bytes[1] = 99;
  const Result<Trace> trace = run(world.problem(), plan);
  ASSERT_FALSE(trace);
  EXPECT_EQ(trace.error().message,
            "the run stands still at 0 ns: the streamed weights of op 'layer0' do not fit the "
            "stream buffer of memory 'gpu', which has 99 bytes; make the buffer larger or keep the "
            "weights");
}

TEST(Streams, LeavePlansThatSayNothingAsTheyWere) {
  // Each weight is sent at the beginning and stays.
  const World world(layer_chain(), layer_machine({.gpu_memory = 1000}));
  Plan plan = layer_plan(world.problem(), 0, 0);
  plan.weights = {};
  EXPECT_EQ(judged_makespan(world.problem(), plan), ns(4 * 100 + 20));
  const World tight(layer_chain(), layer_machine());
  EXPECT_FALSE(run(tight.problem(), plan));
}

// Random placements, priorities, keepings and buffers: every run ends, and the judge agrees.
TEST(Streams, NeverDeadlockInRandomPlans) {
  Rng rng(7);
  for (int i = 0; i < 400; ++i) {
    const LayerChain options{.layers = 12, .gpu_memory = 1100};
    const World world(layer_chain(options), layer_machine(options));
    const Problem& problem = world.problem();
    Plan plan = layer_plan(problem, 0, static_cast<int>(1 + rng.below(4)));
    for (size_t op = 0; op < 12; ++op) {
      plan.placement[op] = rng.below(3) == 0 ? kCores : kGpu;
      plan.priority[op] = static_cast<int64_t>(rng.below(20));
      const ValueId weight = problem.homed_weights()[op];
      if (rng.below(3) == 0 && plan.weights.kept[1].size() < 6) {
        plan.weights.kept[1].push_back(weight);
      }
    }
    judged_makespan(problem, plan);
    if (HasFailure()) FAIL() << "plan " << i;
  }
}

// Every placement, keeping and buffer of small chains, some with several slots or a cold start.
TEST(Streams, AreBoundedFromBelow) {
  Rng rng(3);
  int tight = 0;
  for (int i = 0; i < 40; ++i) {
    LayerChain options{.layers = 4};
    options.gpu_time = ns(static_cast<int64_t>(5 + rng.below(40)));
    options.core_time = ns(static_cast<int64_t>(20 + rng.below(200)));
    options.gpu_memory = 130 + 100 * static_cast<int64_t>(rng.below(4));
    Constraints constraints;
    constraints.cold = rng.below(4) == 0;
    const World world(layer_chain(options), layer_machine(options), constraints);
    const Problem& problem = world.problem();
    Duration best = kNever;
    for (int placed = 0; placed < 16; ++placed) {
      for (int kept = 0; kept < 16; ++kept) {
        for (int buffer = 0; buffer < 4; ++buffer) {
          Plan plan = layer_plan(problem, 0, buffer);
          for (size_t layer = 0; layer < 4; ++layer) {
            plan.placement[layer] = (placed >> layer & 1) != 0 ? kGpu : kCores;
            const ValueId weight = problem.homed_weights()[layer];
            if ((kept >> layer & 1) != 0) plan.weights.kept[1].push_back(weight);
          }
          if (!check_plan(problem, plan, 1).empty()) continue;
          const Result<Trace> trace = run(problem, plan);
          if (trace) best = std::min(best, trace->makespan);
        }
      }
    }
    const Bounds bounds = lower_bounds(problem);
    EXPECT_LE(bounds.strongest(), best) << "chain " << i;
    tight += 10 * bounds.streams >= 8 * best;
  }
  EXPECT_GT(tight, 5);  // of 40 bounds within a fifth of the optimum
}

TEST(Streams, AreJudged) {
  const World world(layer_chain(), layer_machine());
  const Problem& problem = world.problem();
  const Plan plan = layer_plan(problem, 0, 2);
  const Result<Trace> good = run(problem, plan);
  ASSERT_TRUE(good);
  const auto faults = [&](const std::function<void(Trace&)>& forge) {
    Trace trace = *good;
    forge(trace);
    Sentences all = check_trace(problem, trace, rules_for(trace, &plan));
    std::string text;
    for (const std::string& one : all) text += one + "\n";
    return text;
  };
  const auto contains = [](const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
  };
  // The second copy (w1) came after its reader began.
  EXPECT_PRED2(contains, faults([](Trace& trace) {
                 trace.transfers[1].start += ns(100);
                 trace.transfers[1].finish += ns(100);
               }),
               "op 'layer1' started at 200 ns, but its operand 'w1' was in 'gpu' only at 300 ns");
  EXPECT_PRED2(contains,
               faults([](Trace& trace) { trace.transfers.erase(trace.transfers.begin()); }),
               "op 'layer0' read 'w0', which was never transferred to 'gpu'");
  // A third copy before the first is read.
  EXPECT_PRED2(contains, faults([](Trace& trace) {
                 for (TransferSpan& span : trace.transfers) {
                   span.start = ns(0);
                   span.finish = ns(100);
                 }
               }),
               "streamed weights took 300 bytes in memory 'gpu' at 0 ns, but its stream buffer has "
               "200");
  EXPECT_PRED2(contains, faults([](Trace& trace) {
                 TransferSpan again = trace.transfers[0];
                 again.start = ns(400);
                 again.finish = ns(500);
                 trace.transfers.push_back(again);
               }),
               "'w0' was streamed to 'gpu' from 400 ns on, but no op read that copy");
  EXPECT_PRED2(contains,
               faults([&](Trace& trace) { trace.weights.kept[1] = {problem.homed_weights()[0]}; }),
               "the trace is not of this plan: they keep other weights");
  Plan keeps = plan;
  keeps.weights = {.kept = {{}, {problem.homed_weights()[0]}}, .stream_buffer_bytes = {0, 100}};
  Trace trace = *good;
  trace.weights = keeps.weights;
  const Sentences sent = check_trace(problem, trace, rules_for(trace, &keeps));
  EXPECT_NE(std::find(sent.begin(), sent.end(), "'w0' was sent to 'gpu', which keeps it"),
            sent.end())
      << ::testing::PrintToString(sent);
}

}  // namespace
}  // namespace tutti
