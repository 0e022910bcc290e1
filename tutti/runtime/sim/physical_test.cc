// Model tests: each states the question, the calculation by hand, and the answer.

#include "tutti/runtime/sim/physical.h"

#include <gtest/gtest.h>

#include "test/support/world.h"
#include "tutti/runtime/sim/sim.h"
#include "tutti/trace/check.h"

namespace tutti {
namespace {

Plan placed(std::vector<int> devices, std::vector<int64_t> priority = {}) {
  Plan plan;
  for (const int device : devices) plan.placement.push_back(DeviceId{device});
  plan.priority = std::move(priority);
  plan.priority.resize(devices.size(), 0);
  return plan;
}

// Two devices; the link between them as told.
Machine pair_of_devices(const std::string& link, const std::string& device = "") {
  return machine_from(R"({"schema_version":1,"name":"pair","device":[{"name":"d0","kind":"d")" +
                      device + R"(},{"name":"d1","kind":"d")" + device +
                      R"(}],"link":[{"name":"l","between":["d0","d1"])" + link + "}]}");
}

Duration makespan(const World& world, const Plan& plan, const SimOptions& options = {}) {
  PhysicalSimulator simulator(*world.problem);
  SimOptions recorded = options;
  recorded.record = true;
  const Result<Duration> result = simulator.run(plan, recorded);
  EXPECT_TRUE(result) << result.error().message;
  EXPECT_EQ(check_trace(*world.problem, simulator.trace(), {.plan = &plan}),
            std::vector<std::string>());
  return *result;
}

// Two producers on d0, each with a value of 1000 bytes read by its own consumer on d1.
const char* const kTwoTransfers = R"("ops":[
  {"name":"a","kind":"k","run_time_ns":0,"outputs":[{"bytes":1000}]},
  {"name":"b","kind":"k","run_time_ns":0,"outputs":[{"bytes":1000}]},
  {"name":"c","kind":"k","run_time_ns":0,"operands":["a"]},
  {"name":"d","kind":"k","run_time_ns":0,"operands":["b"]}])";

TEST(Links, ExclusiveOnesCarryOneTransferAfterAnother) {
  // 1000 bytes at 1 GB/s take 1000 ns, plus 50 ns latency; the second waits for the first.
  const World world(graph_from(kTwoTransfers),
                    pair_of_devices(R"(,"latency_ns":50,"bandwidth_bytes_per_s":1e9)"));
  EXPECT_EQ(makespan(world, placed({0, 0, 1, 1})), Duration(2100));
}

TEST(Links, ExclusiveOnesOfCapacityTwoCarryTwoAtFullSpeed) {
  const World world(graph_from(kTwoTransfers),
                    pair_of_devices(R"(,"bandwidth_bytes_per_s":1e9,"capacity":2)"));
  EXPECT_EQ(makespan(world, placed({0, 0, 1, 1})), Duration(1000));
}

TEST(Links, SharedOnesDivideTheirBandwidth) {
  // Both move at half speed: 2000 ns, and the latency of 50 ns passes before.
  const World world(
      graph_from(kTwoTransfers),
      pair_of_devices(R"(,"latency_ns":50,"bandwidth_bytes_per_s":1e9,"sharing":"shared")"));
  EXPECT_EQ(makespan(world, placed({0, 0, 1, 1})), Duration(2050));
}

TEST(Links, SharedOnesAreRetimedWhenMembershipChanges) {
  // a's 1000 bytes start at 0, b's at 600. Alone until 600: 600 bytes moved. Then both at half
  // speed: a's 400 bytes end at 600 + 800 = 1400, when b has moved 400. b's 600 at full speed:
  // 2000.
  const World world(graph_from(R"("ops":[
      {"name":"a","kind":"k","run_time_ns":0,"outputs":[{"bytes":1000}]},
      {"name":"b","kind":"k","run_time_ns":600,"outputs":[{"bytes":1000}]},
      {"name":"c","kind":"k","run_time_ns":0,"operands":["a"]},
      {"name":"d","kind":"k","run_time_ns":0,"operands":["b"]}])"),
                    pair_of_devices(R"(,"bandwidth_bytes_per_s":1e9,"sharing":"shared")"));
  PhysicalSimulator simulator(*world.problem);
  EXPECT_EQ(must(simulator.run(placed({0, 0, 1, 1}), {.record = true})), Duration(2000));
  EXPECT_EQ(simulator.trace().transfers[0].finish, Duration(1400));
}

TEST(Links, MaxMinSharesGiveWhatOneCannotUseToTheOthers) {
  // Three senders reach one switch of 3 bytes/ns over links of 0.5, 2 and 2 bytes/ns. Fair thirds
  // would be 1 each; the first can use 0.5, so the others get 1.25. 1000 bytes each: the last two
  // end at 800 ns. Then the first, 400 bytes in, goes on at its own 0.5: 2000 ns.
  const World world(
      graph_from(R"("ops":[
      {"name":"a","kind":"k","run_time_ns":0,"outputs":[{"bytes":1000}]},
      {"name":"b","kind":"k","run_time_ns":0,"outputs":[{"bytes":1000}]},
      {"name":"c","kind":"k","run_time_ns":0,"outputs":[{"bytes":1000}]},
      {"name":"x","kind":"k","run_time_ns":0,"operands":["a"]},
      {"name":"y","kind":"k","run_time_ns":0,"operands":["b"]},
      {"name":"z","kind":"k","run_time_ns":0,"operands":["c"]}])"),
      machine_from(R"({"schema_version":1,"name":"m","device":[{"name":"p","kind":"d"},
      {"name":"q","kind":"d"},{"name":"r","kind":"d"},{"name":"t","kind":"d"}],
      "switch":[{"name":"s","bandwidth_bytes_per_s":3e9}],
      "link":[{"name":"lp","between":["p","s"],"bandwidth_bytes_per_s":5e8},
              {"name":"lq","between":["q","s"],"bandwidth_bytes_per_s":2e9},
              {"name":"lr","between":["r","s"],"bandwidth_bytes_per_s":2e9},
              {"name":"lt","between":["t","s"],"sharing":"unlimited"}]})"));
  PhysicalSimulator simulator(*world.problem);
  const Plan plan = placed({0, 1, 2, 3, 3, 3});
  EXPECT_EQ(must(simulator.run(plan, {.record = true})), Duration(2000));
  EXPECT_EQ(simulator.trace().transfers[0].finish, Duration(800));
  EXPECT_EQ(simulator.trace().transfers[1].finish, Duration(800));
}

TEST(Links, HalfDuplexMakesOppositeTransfersWaitAndFullDuplexDoesNot) {
  const char* const ops = R"("ops":[
      {"name":"a","kind":"k","run_time_ns":0,"outputs":[{"bytes":1000}]},
      {"name":"b","kind":"k","run_time_ns":0,"outputs":[{"bytes":1000}]},
      {"name":"c","kind":"k","run_time_ns":0,"operands":["a"]},
      {"name":"d","kind":"k","run_time_ns":0,"operands":["b"]}])";
  const World full(graph_from(ops), pair_of_devices(R"(,"bandwidth_bytes_per_s":1e9)"));
  EXPECT_EQ(makespan(full, placed({0, 1, 1, 0})), Duration(1000));
  const World half(graph_from(ops),
                   pair_of_devices(R"(,"bandwidth_bytes_per_s":1e9,"duplex":"half")"));
  EXPECT_EQ(makespan(half, placed({0, 1, 1, 0})), Duration(2000));
}

TEST(Routes, AreStoreAndForwardAtAHostMemory) {
  // Two hops of 1000 ns through the host; two values overlap like a pipeline: 3000 ns, not 4000.
  const World world(graph_from(kTwoTransfers), machine_from(R"({"schema_version":1,"name":"m",
      "host":[{"name":"h"}],"device":[{"name":"d0","kind":"d"},{"name":"d1","kind":"d"}],
      "link":[{"name":"up","between":["d0","h"],"bandwidth_bytes_per_s":1e9},
              {"name":"down","between":["h","d1"],"bandwidth_bytes_per_s":1e9}]})"));
  EXPECT_EQ(makespan(world, placed({0, 0, 1, 1})), Duration(3000));
}

TEST(Transfers, OfOneValueToOneDeviceHappenOnce) {
  const World world(graph_from(R"("ops":[
      {"name":"a","kind":"k","run_time_ns":0,"outputs":[{"bytes":1000}]},
      {"name":"b","kind":"k","run_time_ns":1,"operands":["a"]},
      {"name":"c","kind":"k","run_time_ns":1,"operands":["a","a"]}])"),
                    pair_of_devices(R"(,"bandwidth_bytes_per_s":1e9)"));
  PhysicalSimulator simulator(*world.problem);
  EXPECT_EQ(must(simulator.run(placed({0, 1, 1}), {.record = true})), Duration(1002));
  EXPECT_EQ(simulator.trace().transfers.size(), 1u);
}

TEST(Transfers, OverlapWithCompute) {
  // d1 computes for 1000 ns while the operand of its second op travels.
  const World world(graph_from(R"("ops":[
      {"name":"a","kind":"k","run_time_ns":0,"outputs":[{"bytes":1000}]},
      {"name":"b","kind":"k","run_time_ns":1000},
      {"name":"c","kind":"k","run_time_ns":5,"operands":["a"]}])"),
                    pair_of_devices(R"(,"bandwidth_bytes_per_s":1e9)"));
  EXPECT_EQ(makespan(world, placed({0, 1, 1})), Duration(1005));
}

TEST(ReadyOrder, FollowsThePlansPriorityOrTheOrderAskedFor) {
  // Three ready ops on one device; which is second shows in when the 7 ns one starts.
  const World world(graph_from(R"("ops":[{"name":"a","kind":"k","run_time_ns":3},
      {"name":"b","kind":"k","run_time_ns":7},{"name":"c","kind":"k","run_time_ns":20}])"),
                    "uniform-1");
  const Plan plan = placed({0, 0, 0}, {3, 2, 1});
  PhysicalSimulator simulator(*world.problem);
  const auto starts = [&](ReadyOrder order) {
    EXPECT_TRUE(simulator.run(plan, {.order = order, .record = true}));
    std::vector<int64_t> start(3);
    for (const OpSpan& span : simulator.trace().ops) start[span.op.index] = span.start.count();
    return start;
  };
  EXPECT_EQ(starts(ReadyOrder::priority), (std::vector<int64_t>{27, 20, 0}));
  EXPECT_EQ(starts(ReadyOrder::fifo), (std::vector<int64_t>{0, 3, 10}));
  EXPECT_EQ(starts(ReadyOrder::lifo), (std::vector<int64_t>{27, 20, 0}));
}

TEST(Slots, RunThatManyOpsAtOnce) {
  const World world(graph_from(R"("ops":[{"name":"a","kind":"k","run_time_ns":3},
      {"name":"b","kind":"k","run_time_ns":3},{"name":"c","kind":"k","run_time_ns":3}])"),
                    machine_from(R"({"schema_version":1,"name":"m",
      "device":[{"name":"d","kind":"d","slots":2}]})"));
  EXPECT_EQ(makespan(world, placed({0, 0, 0})), Duration(6));
}

TEST(StrictOrder, IsObeyedEvenWhereItCostsTime) {
  // d1 must run c, whose operand arrives at 1000, before b, which is ready at 0.
  const World world(graph_from(R"("ops":[
      {"name":"a","kind":"k","run_time_ns":0,"outputs":[{"bytes":1000}]},
      {"name":"b","kind":"k","run_time_ns":10},
      {"name":"c","kind":"k","run_time_ns":10,"operands":["a"]}])"),
                    pair_of_devices(R"(,"bandwidth_bytes_per_s":1e9)"));
  Plan plan = placed({0, 1, 1});
  EXPECT_EQ(makespan(world, plan), Duration(1010));
  plan.strict_order = {{OpId{0}}, {OpId{2}, OpId{1}}};
  EXPECT_EQ(makespan(world, plan), Duration(1020));
}

TEST(StrictOrder, ThatContradictsTheGraphIsSaidToStandStill) {
  const World world(graph_from(R"("ops":[{"name":"a","kind":"k","run_time_ns":1},
      {"name":"b","kind":"k","run_time_ns":1,"operands":["a"]}])"),
                    "uniform-1");
  Plan plan = placed({0, 0});
  plan.strict_order = {{OpId{1}, OpId{0}}};
  const Result<Duration> result = PhysicalSimulator(*world.problem).run(plan, {});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, Error::Kind::infeasible);
  EXPECT_NE(result.error().message.find("strict order contradicts"), std::string::npos);
}

// Each op makes 60 bytes that its reader, 10 ns long, consumes.
const char* const kTwoChains = R"("ops":[
  {"name":"a","kind":"k","run_time_ns":10,"outputs":[{"bytes":60}]},
  {"name":"b","kind":"k","run_time_ns":10,"outputs":[{"bytes":60}]},
  {"name":"c","kind":"k","run_time_ns":10,"operands":["a"],"outputs":[{"bytes":1}]},
  {"name":"d","kind":"k","run_time_ns":10,"operands":["b"],"outputs":[{"bytes":1}]}])";

TEST(Memory, MakesAnOpWaitUntilThereIsRoom) {
  // Two slots but room for one 60-byte value: b waits for c to finish with a's.
  const char* const machine = R"({"schema_version":1,"name":"m",
      "device":[{"name":"d","kind":"d","slots":2,"memory_bytes":100}]})";
  const World world(graph_from(kTwoChains), machine_from(machine));
  EXPECT_EQ(makespan(world, placed({0, 0, 0, 0})), Duration(40));
}

TEST(Memory, TooSmallForAnOpIsInfeasibleAndSaysWhereAndHowMuch) {
  const World world(graph_from(kTwoChains), machine_from(R"({"schema_version":1,"name":"m",
      "device":[{"name":"d","kind":"d","memory_bytes":50}]})"));
  const Result<Duration> result = PhysicalSimulator(*world.problem).run(placed({0, 0, 0, 0}), {});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, Error::Kind::infeasible);
  EXPECT_NE(result.error().message.find("op 'a' needs 60 bytes in memory 'd'"), std::string::npos)
      << result.error().message;
}

TEST(Sampling, RepeatsWithTheSeedAndHasTheStatedMean) {
  CostSpec spec;
  spec.run_time_noise = {.model = NoiseSpec::Model::log_normal, .spread = 0.2};
  const World world(graph_from(R"("ops":[{"name":"a","kind":"k","run_time_ns":1000000}])"),
                    must(make_preset("uniform-1")), spec);
  PhysicalSimulator simulator(*world.problem);
  const Plan plan = placed({0});
  double sum = 0;
  constexpr int kRuns = 20000;
  for (int seed = 0; seed < kRuns; ++seed) {
    sum += static_cast<double>(
        must(simulator.run(plan, {.seed = static_cast<uint64_t>(seed), .sample = true})).count());
  }
  EXPECT_NEAR(sum / kRuns, 1e6, 5e3);
  EXPECT_EQ(must(simulator.run(plan, {.seed = 7, .sample = true})),
            must(simulator.run(plan, {.seed = 7, .sample = true})));
}

// Lets everything wait while something runs, then takes ready ops in order.
class Patient : public Select {
 public:
  std::optional<OpId> select(const State& state) override {
    if (state.now() == Duration(0) && waited_++ == 1) return std::nullopt;
    return state.ready().front();
  }

 private:
  int waited_ = 0;
};

class FirstDevice : public Place {
 public:
  DeviceId place(const State& state, OpId op) override { return state.devices_for(op).front(); }
};

TEST(Online, APauseIsRecordedAndExcused) {
  const World world(graph_from(R"("ops":[{"name":"a","kind":"k","run_time_ns":5},
      {"name":"b","kind":"k","run_time_ns":5}])"),
                    machine_from(R"({"schema_version":1,"name":"m",
      "device":[{"name":"d","kind":"d","slots":2}]})"));
  Policy policy{std::make_unique<Patient>(), std::make_unique<FirstDevice>()};
  const Trace trace = must(SimRuntime().run_online(*world.problem, policy));
  EXPECT_EQ(trace.makespan, Duration(10));  // b could have run beside a, but the policy waited
  ASSERT_EQ(trace.pauses.size(), 1u);
  EXPECT_EQ(trace.pauses[0].finish, Duration(5));
  EXPECT_EQ(check_trace(*world.problem, trace), std::vector<std::string>());
}

class Never : public Select {
 public:
  std::optional<OpId> select(const State&) override { return std::nullopt; }
};

TEST(Online, WaitingForeverIsAnErrorNotAHang) {
  const World world(graph_from(R"("ops":[{"name":"a","kind":"k","run_time_ns":5}])"), "uniform-1");
  Policy policy{std::make_unique<Never>(), std::make_unique<FirstDevice>()};
  const Result<Trace> trace = SimRuntime().run_online(*world.problem, policy);
  ASSERT_FALSE(trace);
  EXPECT_NE(trace.error().message.find("chose to wait"), std::string::npos);
}

}  // namespace
}  // namespace tutti
