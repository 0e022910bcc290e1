#include "tutti/trace/critical_path.h"

#include <gtest/gtest.h>

#include "tutti/runtime/sim/testing.h"
#include "tutti/search/evaluate/scenario_simulator.h"
#include "tutti/trace/presence.h"

namespace tutti {
namespace {

using namespace testing;

// True if `before` explains, by the trace alone, why the op began when it did.
bool explains(const Problem& problem, const Presence& presence, OpId op, OpId before) {
  const OpSpan& span = *presence.span(op);
  if (!before.valid()) return span.start == presence.ready(op);
  const OpSpan& other = *presence.span(before);
  if (other.device == span.device && other.finish == span.start) return true;
  for (const EdgeId edge : problem.graph.edges(op)) {
    if (problem.graph.edge_from(edge) != before) continue;
    if (presence.arrival(edge) == span.start) return true;
  }
  return false;
}

TEST(CriticalPath, EveryOpStartsWhenWhatDecidedItIsFelt) {
  for (const SimModel model : sim_models()) {
    for (uint64_t seed = 0; seed < 300; ++seed) {
      Rng rng(seed);
      const World world = random_world({.limits = false, .noise = true}, rng);
      Plan plan = random_plan(*world.problem, rng);
      plan.strict_order.clear();  // an op may then wait for its turn beside an idle slot
      ScenarioSimulator simulator(*world.problem, model);
      must(simulator.makespan(plan, seed));
      SimRuntime runtime(model, {.seed = seed, .sample = true});
      const Trace trace = must(runtime.run(*world.problem, plan));
      const Presence presence(*world.problem, trace, {.released = is_released(trace)});
      for (const OpId op : world.graph.ops()) {
        ASSERT_TRUE(explains(*world.problem, presence, op, simulator.decided_by(op)))
            << "seed " << seed << ", op " << op.index;
      }
    }
  }
}

// p ends at 10 and its value travels for 100; q ends at 50 beside the join. The join waits for p.
TEST(CriticalPath, GoesToTheValueThatArrivedLastNotToTheProducerThatEndedLast) {
  const World world(graph_from(R"("ops":[
      {"name":"p","kind":"k","operands":[],"outputs":[{"name":"v","bytes":100}],"run_time_ns":10},
      {"name":"q","kind":"k","operands":[],"outputs":[{"name":"w","bytes":100}],"run_time_ns":50},
      {"name":"join","kind":"k","operands":["v","w"],"run_time_ns":1}])"),
                    machine_from(R"({"schema_version":1,"name":"two",
      "host":[{"name":"host"}],
      "device":[{"name":"d0","kind":"d"},{"name":"d1","kind":"d"}],
      "link":[{"name":"l","between":["d0","d1"],"latency_ns":0,"bandwidth_bytes_per_s":1e9}]})"));
  const Plan plan{.placement = {DeviceId{0}, DeviceId{1}, DeviceId{1}}, .priority = {0, 0, 0}};
  for (const SimModel model : sim_models()) {
    ScenarioSimulator simulator(*world.problem, model);
    EXPECT_EQ(must(simulator.makespan(plan, 1)), Duration(111));
    std::vector<OpId> path;
    simulator.critical_path(path);
    EXPECT_EQ(path, (std::vector<OpId>{OpId{2}, OpId{0}}));
    // The same as the trace tells.
    SimRuntime runtime(model);
    const Trace trace = must(runtime.run(*world.problem, plan));
    std::vector<OpId> told;
    for (const PathStep& step : critical_path_of_run(*world.problem, trace).steps) {
      if (step.is_op) told.push_back(trace.ops[static_cast<size_t>(step.span)].op);
    }
    EXPECT_EQ(told, (std::vector<OpId>{OpId{0}, OpId{2}}));
  }
}

}  // namespace
}  // namespace tutti
