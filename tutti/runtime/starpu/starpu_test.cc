// The StarPU engine on one rank: what every runtime must do, and what is its own.

#include "tutti/runtime/starpu/starpu.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>

#include "tutti/runtime/conformance_testing.h"
#include "tutti/runtime/sim/testing.h"
#include "tutti/runtime/starpu/testing.h"
#include "tutti/trace/check.h"

namespace tutti {
namespace {

using Sentences = std::vector<std::string>;
using testing::AloneOnStarpu;

AloneOnStarpu digesting(const World& world) {
  return {world.machine, testing::table_of(world.graph, testing::digest_code(world.graph))};
}

// Where memory is tight a run may go over a limit, as this engine does not wait for room; the judge
// sees it.
bool is_about_memory(const Sentences& faults) {
  return std::all_of(faults.begin(), faults.end(), [](const std::string& fault) {
    return fault.find("memory") != std::string::npos;
  });
}

TEST(StarpuConformance, PlansAndOnlinePoliciesRunAsTheRulesSay) {
  for (const auto& c : conformance_cases({.device_kind = "cpu", .unit_bytes = 1 << 10})) {
    const AloneOnStarpu starpu(
        c.problem.machine,
        testing::table_of(c.problem.graph, testing::digest_code(c.problem.graph)));
    Rng rng(3);
    Policy policy = testing::random_policy(rng, /*pauses=*/false);
    const Result<Trace> online = starpu.runtime->run_online(c.problem, policy);
    ASSERT_TRUE(online) << c.name << ": " << online.error().message;
    const Sentences faults = check_trace(c.problem, *online, rules_for(*online, nullptr));
    EXPECT_TRUE(faults.empty() || (c.tight_memory && is_about_memory(faults)))
        << c.name << ": " << faults[0];
    testing::expect_digests(c.problem.graph, *starpu.runtime);
    // What the policy did is a plan that obeys the problem.
    Plan plan = testing::in_turn(c.problem);
    for (const OpSpan& span : online->ops) {
      plan.placement[static_cast<size_t>(span.op.index)] = span.device;
      plan.priority[static_cast<size_t>(span.op.index)] = span.start.count();
    }
    const Sentences planned =
        conformance_faults(*starpu.runtime, c.problem, plan, /*repeatable=*/false);
    EXPECT_TRUE(planned.empty() || (c.tight_memory && is_about_memory(planned)))
        << c.name << ": " << planned[0];
    testing::expect_digests(c.problem.graph, *starpu.runtime);
  }
}

// Random graphs and plans on devices of one slot and of several, with memories of their own, some
// with strict orders.
TEST(StarpuRuntime, RandomPlansPassTheJudgeAndComeToTheRightNumbers) {
  for (int i = 0; i < 12; ++i) {
    Rng rng = Rng(29).split(static_cast<uint64_t>(i));
    const World world = testing::random_world({.limits = false, .device_kind = "cpu"}, rng);
    const Plan plan = testing::random_plan(*world.problem, rng);
    const AloneOnStarpu starpu = digesting(world);
    Sentences faults;
    // Workers take ops in the strict order, but one that loses its core before it has noted the
    // start may note it after the next: three runs in a row are no accident.
    for (int attempt = 0; attempt < 3; ++attempt) {
      const Result<Trace> trace = starpu.runtime->run(*world.problem, plan);
      ASSERT_TRUE(trace) << trace.error().message;
      testing::expect_digests(world.graph, *starpu.runtime);
      faults = check_trace(*world.problem, *trace, rules_for(*trace, &plan));
      const bool late_note = std::all_of(faults.begin(), faults.end(), [](const auto& sentence) {
        return sentence.find("which the strict order puts first") != std::string::npos;
      });
      if (faults.empty() || !late_note) break;
    }
    EXPECT_EQ(faults, Sentences()) << "run " << i;
  }
}

World chain_of_three() {
  return {graph_from(R"("ops":[
      {"name":"a","kind":"k","run_time_ns":5,"outputs":[{"bytes":100}]},
      {"name":"b","kind":"k","run_time_ns":5,"operands":["a"],"outputs":[{"bytes":100}]},
      {"name":"c","kind":"k","run_time_ns":5,"operands":["b"],"outputs":[{"bytes":100}]}])"),
          testing::cpus(2, 1)};
}

TEST(StarpuRuntime, ItsOwnSchedulersRunTheSameOps) {
  const World world = chain_of_three();
  const Plan plan = testing::in_turn(*world.problem);
  const AloneOnStarpu starpu = digesting(world);
  for (const char* scheduler : {"eager", "lws", "dmda", "dmdas", "heteroprio"}) {
    starpu.runtime->set_options({.scheduler = scheduler});
    const Result<Trace> trace = starpu.runtime->run(*world.problem, plan);
    ASSERT_TRUE(trace) << scheduler << ": " << trace.error().message;
    EXPECT_EQ(to_text(trace->runtime), std::string("starpu/") + scheduler);
    EXPECT_EQ(check_trace(*world.problem, *trace, rules_for(*trace, nullptr)), Sentences());
    testing::expect_digests(world.graph, *starpu.runtime);
  }
  starpu.runtime->set_options({.scheduler = "none-such"});
  const Result<Trace> refused = starpu.runtime->run(*world.problem, plan);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, Error::Kind::invalid_input);
  starpu.runtime->set_options({});
  EXPECT_TRUE(starpu.runtime->run(*world.problem, plan));
}

TEST(StarpuRuntime, AnOpThatFailsEndsTheRunWithItsName) {
  const World world = chain_of_three();
  OpTable table;
  std::atomic<int> runs{0};
  table.add("k", "cpu", [&](const OpCall& call) -> Result<void> {
    ++runs;
    if (call.op == "b") return failed("it is broken");
    return {};
  });
  const AloneOnStarpu starpu(world.machine, std::move(table));
  const Result<Trace> trace = starpu.runtime->run(*world.problem, testing::in_turn(*world.problem));
  ASSERT_FALSE(trace);
  EXPECT_EQ(trace.error().message, "op 'b' on device 'cpu1': it is broken");
  EXPECT_EQ(runs, 2);  // c did not run
}

TEST(StarpuRuntime, ACancelledRunSaysSo) {
  const World world = chain_of_three();
  const AloneOnStarpu starpu = digesting(world);
  const std::atomic<bool> raised{true};
  starpu.runtime->set_options({.stop = Stop(&raised)});
  const Result<Trace> trace = starpu.runtime->run(*world.problem, testing::in_turn(*world.problem));
  ASSERT_FALSE(trace);
  EXPECT_EQ(trace.error().message, "cancelled after 0 of 3 ops");
}

TEST(StarpuRuntime, AStrictOrderThatContradictsTheGraphIsRefused) {
  const World world = chain_of_three();
  const AloneOnStarpu starpu = digesting(world);
  Plan plan = testing::in_turn(*world.problem);
  plan.placement.assign(3, DeviceId{0});
  plan.strict_order = {{OpId{1}, OpId{0}, OpId{2}}, {}};
  const Result<Trace> trace = starpu.runtime->run(*world.problem, plan);
  ASSERT_FALSE(trace);
  EXPECT_EQ(trace.error().kind, Error::Kind::infeasible);
  plan.strict_order = {{OpId{0}, OpId{1}}, {}};
  EXPECT_FALSE(starpu.runtime->run(*world.problem, plan));  // one is left out
}

class Never : public Select {
 public:
  std::optional<OpId> select(const State&) override { return std::nullopt; }
};

TEST(StarpuRuntime, APolicyThatWaitsForeverIsAnErrorNotAHang) {
  const World world = chain_of_three();
  const AloneOnStarpu starpu = digesting(world);
  Rng rng(1);
  Policy policy{std::make_unique<Never>(), std::make_unique<testing::RandomPlace>(rng)};
  const Result<Trace> trace = starpu.runtime->run_online(*world.problem, policy);
  ASSERT_FALSE(trace);
  EXPECT_NE(trace.error().message.find("chose to wait"), std::string::npos);
}

TEST(StarpuRuntime, SlotsBeyondStarpusWorkersShareThem) {
  const World world(graph_from(R"("ops":[{"name":"a","kind":"k","run_time_ns":5}])"),
                    testing::cpus(12, 1));
  const AloneOnStarpu starpu = digesting(world);
  EXPECT_NE(starpu.runtime->note().find("share"), std::string::npos) << starpu.runtime->note();
}

}  // namespace
}  // namespace tutti
