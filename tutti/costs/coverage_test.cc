#include "tutti/costs/coverage.h"

#include <gtest/gtest.h>

#include "test/support/world.h"

namespace tutti {
namespace {

// A CPU and two kinds of GPU that all state their rates.
const char* const kThreeKinds = R"({"schema_version":1,"name":"m",
  "device":[{"name":"c","kind":"cpu","flops_per_s":1e9,"bytes_per_s":1e9,"launch_overhead_ns":7},
            {"name":"g","kind":"gpu","flops_per_s":1e11,"bytes_per_s":1e10,"launch_overhead_ns":7},
            {"name":"s","kind":"slow-gpu","flops_per_s":1e10,"bytes_per_s":1e9,
             "launch_overhead_ns":7}],
  "switch":[{"name":"x"}],
  "link":[{"name":"1","between":["c","x"]},{"name":"2","between":["g","x"]},
          {"name":"3","between":["s","x"]}]})";

CostSpec rows(const std::vector<std::pair<std::string, std::string>>& pairs) {
  CostSpec spec;
  for (const auto& [kind, device_kind] : pairs) {
    spec.run_times.push_back(
        {.kind = kind, .device_kind = device_kind, .time_ns_by_size = {{0, 900}}, .line = 3});
  }
  return spec;
}

TEST(Coverage, ADeviceWithoutARowDropsOutForOpsThatStateNoWork) {
  // Bytes alone are no work in a graph that states no flops: they would be moved in 1 ns.
  const Graph graph = graph_from(R"("ops":[{"name":"a","kind":"lu","outputs":[{"bytes":10}]},
                                           {"name":"b","kind":"fwd","operands":["a"]}])");
  const Machine machine = machine_from(kThreeKinds);
  const CostSpec spec =
      rows({{"lu", "cpu"}, {"lu", "gpu"}, {"fwd", "cpu"}, {"fwd", "gpu"}, {"fwd", "slow-gpu"}});
  const Costs costs = must(Costs::build(graph, machine, spec));
  EXPECT_TRUE(costs.can_run(OpId{0}, DeviceId{1}));
  EXPECT_FALSE(costs.can_run(OpId{0}, DeviceId{2}));
  EXPECT_TRUE(costs.can_run(OpId{1}, DeviceId{2}));
  EXPECT_EQ(to_text(coverage_gaps(costs)), "kind 'lu' on 'slow-gpu'");
}

TEST(Coverage, OpsThatStateTheirWorkKeepTheRoofline) {
  const Graph graph = graph_from(R"("ops":[
      {"name":"a","kind":"matmul","flops":1e6,"outputs":[{"bytes":10}]},
      {"name":"b","kind":"copy","operands":["a"],"outputs":[{"bytes":2000}]}])");
  const Machine machine = machine_from(kThreeKinds);
  const Costs costs =
      must(Costs::build(graph, machine, rows({{"matmul", "cpu"}, {"copy", "gpu"}})));
  EXPECT_EQ(costs.run_time(OpId{0}, DeviceId{2}), Duration(100'007));  // 1e6 flops at 1e10/s
  EXPECT_EQ(costs.run_time(OpId{1}, DeviceId{2}), Duration(2'017));    // 2010 bytes at 1e9/s
  EXPECT_TRUE(coverage_gaps(costs).empty());
}

TEST(Coverage, OpsOfWhichNothingIsKnownTakeTheOverheadEverywhere) {
  const Graph graph = graph_from(R"("ops":[{"name":"a","kind":"start"},
                                           {"name":"b","kind":"lu"}])");
  const Machine machine = machine_from(kThreeKinds);
  const Costs costs = must(Costs::build(graph, machine, rows({{"lu", "cpu"}})));
  for (const DeviceId device : machine.devices()) {
    EXPECT_EQ(costs.run_time(OpId{0}, device), Duration(7));
  }
  EXPECT_EQ(to_text(coverage_gaps(costs)), "kind 'lu' on 'gpu', 'slow-gpu'");
}

TEST(Coverage, GivenAndMeasuredTimesOfSomeKindsExcludeTheOthers) {
  const Graph graph = graph_from(R"("ops":[{"name":"a","kind":"k","run_time_ns":{"gpu":5}},
                                           {"name":"b","kind":"l"}])");
  const Machine machine = machine_from(kThreeKinds);
  CostSpec spec;
  spec.op_times = {{.op = "b", .device_kind = "cpu", .time_ns = 30}};
  const Costs costs = must(Costs::build(graph, machine, spec));
  EXPECT_EQ(to_text(coverage_gaps(costs)),
            "kind 'k' on 'cpu', 'slow-gpu'; kind 'l' on 'gpu', 'slow-gpu'");
  // Given times that are passed over say nothing.
  spec.ignore_given_times = true;
  EXPECT_TRUE(must(Costs::build(graph, machine, spec)).can_run(OpId{0}, DeviceId{0}));
}

TEST(Coverage, RefusesAnOpThatNoDeviceOfTheMachineHasATimeFor) {
  const Graph graph = graph_from(R"("ops":[{"name":"a","kind":"lu"}])");
  const Machine machine = machine_from(kThreeKinds);
  const Result<Costs> costs = Costs::build(graph, machine, rows({{"lu", "fpga"}}));
  ASSERT_FALSE(costs);
  EXPECT_EQ(costs.error().kind, Error::Kind::infeasible);
  EXPECT_NE(costs.error().message.find("ops of kind 'lu' have no run time"), std::string::npos);
  EXPECT_NE(costs.error().message.find("'cpu', 'gpu', 'slow-gpu'"), std::string::npos);
}

std::string slip_of(const CostSpec& spec, const char* ops = R"("ops":[{"name":"a","kind":"relu"},
                                                                   {"name":"b","kind":"conv1"}])") {
  const Graph graph = graph_from(ops);
  const Result<void> good = check_names(graph, machine_from(kThreeKinds), spec, "costs.toml");
  return good ? "" : good.error().message;
}

TEST(Coverage, FindsNamesThatWereMistyped) {
  EXPECT_EQ(slip_of(rows({{"relu", "slowgpu"}})),
            "costs.toml:3: run_time says device_kind = \"slowgpu\", but the machine has no device "
            "of that "
            "kind; did you mean \"slow-gpu\"?");
  EXPECT_EQ(
      slip_of(rows({{"rellu", "cpu"}})),
      "costs.toml:3: run_time says kind = \"rellu\", but the graph has no op of that kind; did you "
      "mean \"relu\"?");
  for (const char* written : {"gpu2", "GPU"}) {  // a digit too many, another case
    EXPECT_NE(slip_of(rows({{"relu", written}})).find("did you mean \"gpu\""), std::string::npos)
        << written;
  }
  CostSpec efficiency;
  efficiency.efficiencies = {{.kind = "relu", .device_kind = "gpuu", .efficiency = 0.5}};
  EXPECT_NE(slip_of(efficiency).find("did you mean \"gpu\""), std::string::npos);
  CostSpec single;
  single.op_times = {{.op = "a", .device_kind = "slow-gpo", .time_ns = 1}};
  EXPECT_NE(slip_of(single).find("did you mean \"slow-gpu\""), std::string::npos);
}

TEST(Coverage, TakesOtherNamesForWhatTheyAre) {
  EXPECT_EQ(slip_of(rows({{"softmax", "cpu"}, {"relu", "fpga"}})), "");  // simply not here
  EXPECT_EQ(slip_of(rows({{"conv2", "cpu"}})), "");                      // other digits
  EXPECT_EQ(slip_of(rows({{"relu", ""}, {"rellu", "cpu"}})), "");        // each pair has its row
  // Two kinds that tutti knows are two kinds.
  EXPECT_EQ(slip_of(rows({{"silu", "cpu"}})), "");
  // Times that the graph gives need no row.
  EXPECT_EQ(slip_of(rows({{"kk", "cpu"}}), R"("ops":[{"name":"a","kind":"kkk","run_time_ns":1}])"),
            "");
}

}  // namespace
}  // namespace tutti
