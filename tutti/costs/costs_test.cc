#include "tutti/costs/costs.h"

#include <gtest/gtest.h>

#include <cmath>

#include "test/support/world.h"
#include "tutti/costs/file.h"
#include "tutti/costs/roofline.h"

namespace tutti {
namespace {

const char* const kCpuAndGpu = R"({"schema_version":1,"name":"m",
  "device":[{"name":"c0","kind":"cpu","flops_per_s":1e9,"bytes_per_s":1e9,"launch_overhead_ns":7},
            {"name":"g0","kind":"gpu","flops_per_s":1e11,"bytes_per_s":1e10},
            {"name":"g1","kind":"gpu","flops_per_s":1e11,"bytes_per_s":1e10}],
  "switch":[{"name":"s"}],
  "link":[{"name":"a","between":["c0","s"],"latency_ns":100,"bandwidth_bytes_per_s":1e9},
          {"name":"b","between":["g0","s"],"latency_ns":100,"bandwidth_bytes_per_s":2e9},
          {"name":"c","between":["g1","s"],"latency_ns":100,"bandwidth_bytes_per_s":2e9}]})";

Costs costs_of(const Graph& graph, const Machine& machine, const CostSpec& spec = {}) {
  return must(Costs::build(graph, machine, spec));
}

TEST(Costs, TakesTheGivenTimeOfTheDevicesKindBeforeTheOneForAll) {
  const Graph graph =
      graph_from(R"("ops":[{"name":"a","kind":"k","run_time_ns":{"gpu":5,"*":9}}])");
  const Machine machine = machine_from(kCpuAndGpu);
  const Costs costs = costs_of(graph, machine);
  EXPECT_EQ(costs.run_time(OpId{0}, DeviceId{0}), Duration(9));
  EXPECT_EQ(costs.run_time(OpId{0}, DeviceId{1}), Duration(5));
  EXPECT_EQ(costs.least_run_time(OpId{0}), Duration(5));
  // (9 + 5 + 5) / 3 devices
  EXPECT_DOUBLE_EQ(costs.mean_run_time_ns(OpId{0}), 19.0 / 3);
}

TEST(Costs, TakesTheTimeMeasuredOfAnOpBeforeAllOthers) {
  const Graph graph = graph_from(R"("ops":[{"name":"a","kind":"k","run_time_ns":{"gpu":5,"*":9}},
                                           {"name":"b","kind":"k","run_time_ns":9}])");
  const Machine machine = machine_from(kCpuAndGpu);
  CostSpec spec;
  spec.op_times = {{.op = "a", .device_kind = "gpu", .time_ns = 30, .spread = 0.25},
                   {.op = "a", .device_kind = "", .time_ns = 40},
                   {.op = "elsewhere", .device_kind = "", .time_ns = 50}};
  spec.run_times.push_back({.kind = "k", .device_kind = "", .time_ns_by_size = {{0, 70}}});
  const Costs costs = costs_of(graph, machine, spec);
  EXPECT_EQ(costs.run_time(OpId{0}, DeviceId{0}), Duration(40));
  EXPECT_EQ(costs.run_time(OpId{0}, DeviceId{1}), Duration(30));  // names the kind, though earlier
  EXPECT_EQ(costs.run_time(OpId{1}, DeviceId{1}), Duration(9));
  EXPECT_DOUBLE_EQ(costs.run_time_noise(OpId{0}, DeviceId{1}).spec().spread, 0.25);
  EXPECT_TRUE(costs.run_time_noise(OpId{0}, DeviceId{0}).none());
  // Given times are passed over; what was measured is not given.
  spec.ignore_given_times = true;
  const Costs ignoring = costs_of(graph, machine, spec);
  EXPECT_EQ(ignoring.run_time(OpId{0}, DeviceId{1}), Duration(30));
  EXPECT_EQ(ignoring.run_time(OpId{1}, DeviceId{1}), Duration(70));
}

TEST(Costs, UsesTheRooflineWhereNoTimeIsGiven) {
  // 1e6 flops at 1e9/s are 1 ms; 4e6 bytes at 1e9/s are 4 ms: bytes decide, plus 7 ns to launch.
  const Graph graph =
      graph_from(R"("ops":[{"name":"a","kind":"k","flops":1e6,"outputs":[{"bytes":4000000}]}])");
  const Machine machine = machine_from(kCpuAndGpu);
  EXPECT_EQ(costs_of(graph, machine).run_time(OpId{0}, DeviceId{0}), Duration(4000007));
  // At half efficiency both parts take twice as long.
  CostSpec spec;
  spec.efficiencies.push_back({.kind = "k", .device_kind = "cpu", .efficiency = 0.5});
  EXPECT_EQ(costs_of(graph, machine, spec).run_time(OpId{0}, DeviceId{0}), Duration(8000007));
}

TEST(Costs, AddUpWhenOpsAreGatheredOnTheDevicesThatCanRunThemAll) {
  // No rates, so that only what is given can run.
  const Machine machine = machine_from(R"({"schema_version":1,"name":"m","device":[
      {"name":"c0","kind":"cpu"},{"name":"g0","kind":"gpu"},{"name":"g1","kind":"gpu"}],
      "link":[{"name":"a","between":["c0","g0"]},{"name":"b","between":["c0","g1"]},
              {"name":"c","between":["g0","g1"]}]})");
  const Graph parts = graph_from(R"("ops":[
      {"name":"a","kind":"k","run_time_ns":{"gpu":5,"cpu":9}},
      {"name":"b","kind":"l","run_time_ns":{"gpu":7}},
      {"name":"c","kind":"k","run_time_ns":{"gpu":1,"cpu":2}}])");
  CostSpec spec;
  spec.kind_noise.push_back(
      {.kind = "l", .noise = {.model = NoiseSpec::Model::log_normal, .spread = 0.3}});
  const Graph whole = graph_from(R"("ops":[
      {"name":"c","kind":"k"},{"name":"a and b","kind":"l"}])");
  const std::vector<int32_t> into = {1, 1, 0};
  const Costs costs = must(costs_of(parts, machine, spec).gathered(whole, into));
  EXPECT_EQ(costs.run_time(OpId{0}, DeviceId{0}), Duration(2));
  EXPECT_EQ(costs.run_time(OpId{1}, DeviceId{1}), Duration(12));
  EXPECT_EQ(costs.run_time(OpId{1}, DeviceId{2}), Duration(12));
  EXPECT_FALSE(costs.can_run(OpId{1}, DeviceId{0}));
  EXPECT_EQ(costs.run_time_noise(OpId{0}, DeviceId{1}).spec().spread, 0);
  EXPECT_EQ(costs.run_time_noise(OpId{1}, DeviceId{1}).spec().spread, 0.3);
}

TEST(Costs, InterpolatesTheTableBetweenSizesAndScalesBeyondThem) {
  const CostSpec::RunTime row{
      .kind = "k", .device_kind = "", .time_ns_by_size = {{10, 100}, {20, 300}}};
  EXPECT_DOUBLE_EQ(interpolate_ns(row, 15), 200);
  EXPECT_DOUBLE_EQ(interpolate_ns(row, 5), 50);
  EXPECT_DOUBLE_EQ(interpolate_ns(row, 40), 600);
}

TEST(Costs, RefusesAnOpThatNoDeviceCanTime) {
  const Graph graph = graph_from(R"("ops":[{"name":"a","kind":"k","flops":10}])");
  const Machine machine =
      machine_from(R"({"schema_version":1,"name":"m","device":[{"name":"d","kind":"x"}]})");
  const Result<Costs> costs = Costs::build(graph, machine);
  ASSERT_FALSE(costs);
  EXPECT_EQ(costs.error().kind, Error::Kind::infeasible);
  EXPECT_NE(costs.error().message.find("ops of kind 'k' have no run time"), std::string::npos);
}

TEST(Costs, ChargesARouteForEachHopAndNothingWithinOneMemory) {
  const Graph graph = graph_from(
      R"("ops":[{"name":"a","kind":"k","run_time_ns":1,"outputs":[{"bytes":1000}]},
                {"name":"b","kind":"k","run_time_ns":1,"operands":["a"]}])");
  const Machine machine = machine_from(kCpuAndGpu);
  const Costs costs = costs_of(graph, machine);
  // Links that meet in a switch are one hop: 200 ns of latency, 1000 bytes at the slower 1 GB/s.
  EXPECT_EQ(costs.transfer_time(EdgeId{0}, DeviceId{0}, DeviceId{1}), Duration(1200));
  EXPECT_EQ(costs.transfer_time(EdgeId{0}, DeviceId{1}, DeviceId{2}), Duration(700));
  EXPECT_EQ(costs.transfer_time(EdgeId{0}, DeviceId{1}, DeviceId{1}), Duration(0));
  EXPECT_EQ(costs.least_transfer_time(EdgeId{0}), Duration(700));
  // Four ordered pairs with the CPU at 1200, two between GPUs at 700, three of a device with
  // itself.
  EXPECT_DOUBLE_EQ(costs.mean_transfer_time_ns(EdgeId{0}), (4 * 1200 + 2 * 700) / 9.0);
}

TEST(Costs, TakesGivenTransfersByKindsOfDevice) {
  const Graph graph = graph_from(
      R"("ops":[{"name":"a","kind":"k","run_time_ns":1,"outputs":[{"bytes":1000}]},
                {"name":"b","kind":"k","run_time_ns":1,"operands":["a"],
                 "transfer_time_ns":[{"cpu>gpu":11,"gpu>cpu":13,"gpu>gpu":17}]}])");
  const Machine machine = machine_from(kCpuAndGpu);
  const Costs costs = costs_of(graph, machine);
  EXPECT_EQ(costs.transfer_time(EdgeId{0}, DeviceId{0}, DeviceId{2}), Duration(11));
  EXPECT_EQ(costs.transfer_time(EdgeId{0}, DeviceId{2}, DeviceId{0}), Duration(13));
  EXPECT_EQ(costs.transfer_time(EdgeId{0}, DeviceId{1}, DeviceId{2}), Duration(17));
  EXPECT_DOUBLE_EQ(costs.mean_transfer_time_ns(EdgeId{0}), (2 * 11 + 2 * 13 + 2 * 17) / 9.0);
}

struct Moments {
  double mean;
  double deviation;
  double least;
};

Moments moments_of(const NoiseSpec& spec) {
  const Noise noise(spec);
  Rng rng(5);
  constexpr int kDraws = 400000;
  double sum = 0;
  double squares = 0;
  double least = 1e9;
  for (int i = 0; i < kDraws; ++i) {
    const double factor = noise.draw(rng);
    sum += factor;
    squares += factor * factor;
    least = std::min(least, factor);
  }
  const double mean = sum / kDraws;
  return {mean, std::sqrt(squares / kDraws - mean * mean), least};
}

TEST(Costs, RefusesValuesThatAddUpToMoreThanAWholeNumberHolds) {
  const char* const kHuge = R"({"name":"w%","bytes":1152921504606846976,"weight":true})";
  std::string inputs;
  for (int i = 0; i < 16; ++i) {  // 2^64 bytes: 0 in 64 bits
    std::string input = kHuge;
    inputs += (i > 0 ? "," : "") + input.replace(input.find('%'), 1, std::to_string(i));
  }
  const Graph graph =
      graph_from("\"inputs\":[" + inputs + R"(],"ops":[{"name":"a","run_time_ns":9}])");
  const auto costs = Costs::build(graph, machine_from(kCpuAndGpu), {});
  ASSERT_FALSE(costs);
  EXPECT_EQ(costs.error().kind, Error::Kind::invalid_input);
  EXPECT_EQ(costs.error().message, "the values add up to more than 2^62 bytes; check the units");
}

TEST(Noise, LogNormalHasMeanOneAndTheStatedSpread) {
  const Moments found = moments_of({.model = NoiseSpec::Model::log_normal, .spread = 0.3});
  EXPECT_NEAR(found.mean, 1, 0.003);
  EXPECT_NEAR(found.deviation, 0.3, 0.005);
}

TEST(Noise, StudentTIsCutAndReCentredToMeanOne) {
  // At this spread the cut at 0.1 moves the mean by several per cent; re-centring undoes that.
  const Moments found =
      moments_of({.model = NoiseSpec::Model::student_t, .spread = 0.6, .freedom = 3});
  EXPECT_NEAR(found.mean, 1, 0.01);
  EXPECT_GT(found.least, 0.08);
  EXPECT_LE(found.least, 0.1);
}

// Of many draws with random models none leaves the range; where the range is a cut (student_t), its
// lower end is reached.
TEST(Noise, StaysWithinItsRangeAndKeepsItsMean) {
  Rng rng(11);
  for (int i = 0; i < 12; ++i) {
    const bool log_normal = i % 2 == 0;
    const Noise noise(
        {.model = log_normal ? NoiseSpec::Model::log_normal : NoiseSpec::Model::student_t,
         .spread = 0.05 + 0.5 * rng.uniform(),
         .freedom = 3 + static_cast<double>(rng.below(5))});
    SCOPED_TRACE(noise.spec().spread);
    constexpr int kDraws = 100000;
    double sum = 0;
    double least = 1e9;
    double most = 0;
    for (int draw = 0; draw < kDraws; ++draw) {
      const double factor = noise.draw(rng);
      sum += factor;
      least = std::min(least, factor);
      most = std::max(most, factor);
    }
    EXPECT_NEAR(sum / kDraws, 1, 0.02);
    EXPECT_GE(least, noise.least_factor());
    EXPECT_LE(most, noise.most_factor());
    EXPECT_GT(noise.least_factor(), 0);
    EXPECT_LT(noise.most_factor(), 1e4);
  }
  EXPECT_EQ(Noise().least_factor(), 1);
  EXPECT_EQ(Noise().most_factor(), 1);
  const Noise wide({.model = NoiseSpec::Model::student_t, .spread = 0.9});
  double least = 1;
  for (int draw = 0; draw < 1000; ++draw) least = std::min(least, wide.draw(rng));
  EXPECT_EQ(least, wide.least_factor());
}

TEST(CostsFile, ReadsEveryPart) {
  Source source = Source::from_text("c", R"({"schema_version":1,
    "run_time":[{"kind":"a","time_ns":5},{"kind":"a","device_kind":"gpu",
                 "time_ns_by_size":[[1,2],[3,4]]}],
    "efficiency":[{"kind":"b","efficiency":0.5,"launch_overhead_ns":9}],
    "run_time_noise":{"model":"log_normal","spread":0.1},
    "kind_noise":[{"kind":"a","noise":{"model":"student_t","spread":0.2,"freedom":4}}]})");
  const CostSpec spec = must(read_costs(source));
  ASSERT_EQ(spec.run_times.size(), 2u);
  EXPECT_EQ(spec.run_times[1].time_ns_by_size.size(), 2u);
  EXPECT_EQ(spec.efficiencies[0].launch_overhead_ns, 9.0);
  EXPECT_EQ(spec.run_time_noise.model, NoiseSpec::Model::log_normal);
  EXPECT_EQ(spec.kind_noise[0].noise.freedom, 4.0);
}

TEST(CostsFile, RefusesWrongValuesWithFileAndLine) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"schema_version":1,"run_time":[{"kind":"a"}]})", "needs either"},
      {R"({"schema_version":1,"run_time":[{"kind":"a","time_ns":-1}]})", "time_ns"},
      {R"({"schema_version":1,"run_time":[{"kind":"a","time_ns_by_size":[[2,1],[1,1]]}]})",
       "ascend"},
      {R"({"schema_version":1,"run_time_noise":{"spread":0.2}})", "no model"},
      {R"({"schema_version":1,"run_time_noise":{"model":"student_t","freedom":2}})", "freedom"},
      {R"({"schema_version":2})", "schema_version"},
      {R"({"schema_version":1,"typo":1})", "no key \"typo\""},
  };
  for (const auto& [text, part] : cases) {
    Source source = Source::from_text("costs.json", text);
    const Result<CostSpec> spec = read_costs(source);
    ASSERT_FALSE(spec) << text;
    EXPECT_EQ(spec.error().kind, Error::Kind::invalid_input);
    EXPECT_NE(spec.error().message.find("costs.json:1: "), std::string::npos)
        << spec.error().message;
    EXPECT_NE(spec.error().message.find(part), std::string::npos) << spec.error().message;
  }
}

}  // namespace
}  // namespace tutti
