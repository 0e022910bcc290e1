// Figures that others have published, reproduced: HEFT and CPOP on the example of their paper and
// on measured Cholesky graphs, PEFT on the example of its own, the simulator and baselines released
// with Doppler, and the optima of the Standard Task Graph Set.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "studies/doppler/released/simulator.h"
#include "test/support/shared_data.h"
#include "test/support/world.h"
#include "tutti/base/file/document.h"
#include "tutti/graph/import/import.h"
#include "tutti/plan/bound.h"
#include "tutti/plan/check/check.h"
#include "tutti/policy/heuristic/heuristics.h"
#include "tutti/policy/registry.h"
#include "tutti/runtime/sim/sim.h"
#include "tutti/trace/check.h"

namespace tutti {
namespace {

Plan plan_with(const char* policy, const Problem& problem, uint64_t seed = 1) {
  return must(make_plan(**find_policy(policy), problem, {}, seed));
}

TEST(Published, HeftAndCpopOnTheExampleOfTheirPaper) {
  if (!can_read_toml()) GTEST_SKIP() << "this build reads no TOML";
  const std::string folder = TUTTI_SOURCE_DIR "/examples/02_topcuoglu/";
  const World world(must(load_graph(folder + "graph.json")).graph,
                    must(load_machine(folder + "machine.toml")));
  EXPECT_EQ(plan_with("heft", *world.problem).planned_makespan, Duration(80));
  EXPECT_EQ(plan_with("cpop", *world.problem).planned_makespan, Duration(86));
}

// The example of Arabnejad and Barbosa (TPDS 2014): ten tasks on three processors.
World arabnejad_barbosa() {
  constexpr int kRunTimes[10][3] = {{22, 21, 36}, {22, 18, 18}, {32, 27, 43}, {7, 10, 4},
                                    {29, 27, 35}, {26, 17, 24}, {14, 25, 30}, {29, 23, 36},
                                    {15, 21, 8},  {13, 16, 33}};
  constexpr int kEdges[15][3] = {{1, 2, 17}, {1, 3, 31}, {1, 4, 29}, {1, 5, 13},  {1, 6, 7},
                                 {2, 8, 3},  {2, 9, 30}, {3, 7, 16}, {4, 8, 11},  {4, 9, 7},
                                 {5, 9, 57}, {6, 8, 5},  {7, 10, 9}, {8, 10, 42}, {9, 10, 7}};
  std::vector<std::string> ops;
  for (int i = 1; i <= 10; ++i) {
    std::vector<std::string> outputs;
    std::vector<std::string> operands;
    std::vector<int> transfers;
    for (const auto& [from, to, time] : kEdges) {
      if (from == i) outputs.push_back(fmt::format(R"({{"name":"{}>{}"}})", from, to));
      if (to != i) continue;
      operands.push_back(fmt::format(R"("{}>{}")", from, to));
      transfers.push_back(time);
    }
    const auto& time = kRunTimes[i - 1];
    ops.push_back(
        fmt::format(R"({{"name":"t{}","kind":"task","run_time_ns":{{"p1":{},"p2":{},"p3":{}}},)"
                    R"("operands":[{}],"transfer_time_ns":[{}],"outputs":[{}]}})",
                    i, time[0], time[1], time[2], fmt::join(operands, ","),
                    fmt::join(transfers, ","), fmt::join(outputs, ",")));
  }
  return World(graph_from(fmt::format(R"("ops":[{}])", fmt::join(ops, ","))),
               machine_from(R"({"schema_version":1,"name":"three","device":[
      {"name":"p1","kind":"p1"},{"name":"p2","kind":"p2"},{"name":"p3","kind":"p3"}],
      "link":[{"name":"a","between":["p1","p2"]},{"name":"b","between":["p2","p3"]},
              {"name":"c","between":["p1","p3"]}]})"));
}

TEST(Published, PeftOnTheExampleOfItsPaper) {
  const World world = arabnejad_barbosa();
  EXPECT_EQ(optimistic_costs(*world.problem),
            (std::vector<double>{64, 68, 86, 42, 39, 42, 27, 41, 43, 42, 39, 50, 28, 37, 28,
                                 42, 39, 44, 13, 16, 22, 13, 16, 33, 13, 16, 20, 0,  0,  0}));
  EXPECT_EQ(plan_with("heft", *world.problem).planned_makespan, Duration(133));
  EXPECT_EQ(plan_with("peft", *world.problem).planned_makespan, Duration(122));
}

// So many CPU cores and GPUs, every transfer concurrent.
Machine cores_and_gpus(int cpus, int gpus) {
  MachineSpec spec;
  spec.name = "cores-and-gpus";
  spec.switches.push_back({.name = "net"});
  for (int i = 0; i < cpus + gpus; ++i) {
    MachineSpec::DeviceSpec device;
    device.device.kind = i < cpus ? "cpu" : "gpu";
    device.device.name = device.device.kind + std::to_string(i);
    MachineSpec::LinkSpec link;
    link.name = device.device.name + "-net";
    link.ends[0] = device.device.name;
    link.ends[1] = "net";
    link.sharing = Sharing::unlimited;
    spec.devices.push_back(device);
    spec.links.push_back(link);
  }
  return must(Machine::build(spec));
}

TEST(Published, HeftOnMeasuredCholeskyGraphs) {
  TUTTI_NEEDS_SHARED_DATA("hoft_cholesky/dags_json");
  struct Case {
    const char* file;
    int cpus;
    int gpus;
    double makespan_us;
  };
  // PUBLISHED_makespans: author-published makespans in microseconds.
  const Case cases[] = {{"nb128_35", 7, 1, 1012.456},   {"nb128_220", 7, 1, 2823.541},
                        {"nb128_680", 7, 1, 6016.194},  {"nb128_35", 28, 4, 1073.249},
                        {"nb128_220", 28, 4, 2345.070}, {"nb128_680", 28, 4, 3527.269}};
  for (const Case& c : cases) {
    const World world(
        must(load_graph(shared_data(std::string("hoft_cholesky/dags_json/") + c.file + ".json")))
            .graph,
        cores_and_gpus(c.cpus, c.gpus));
    const Plan plan = plan_with("heft", *world.problem);
    EXPECT_NEAR(static_cast<double>(plan.planned_makespan->count()) / 1000, c.makespan_us, 0.05)
        << c.file << " on " << c.cpus << " + " << c.gpus;
  }
}

struct DopplerRow {
  const char* file;
  const char* machine;
  double load_or_path;
  double floor;  // of the strongest bound
  double random;
  double critical_path_released;
  double critical_path;
};

// Means of a probe on the released graphs and simulator; units of ns / 1e10.
const DopplerRow kDoppler[] = {
    {"gdp_chain_mm_112nodes", "uniform-4", 1200.07, 1200.07, 1982, 1578, 1720},
    {"ffnn_192nodes", "uniform-4", 56.70, 56.70, 114.3, 84.3, 84.3},
    {"transformer_block_215nodes", "uniform-4", 97.17, 141.0, 389.9, 246.8, 246.6},
    {"full_transformer_layer_261nodes", "uniform-4", 97.24, 97.24, 384.7, 229.6, 235.5},
    {"8gpu_transformer_block", "uniform-8", 97.15, 159.5, 434.9, 328.8, 335.5},
    {"8gpu_full_transformer", "uniform-8", 97.23, 141.1, 433.0, 272.3, 274.7},
};

double mean_of_50(const char* policy, const World& world) {
  ReleasedSimulator simulator(*world.problem);
  double sum = 0;
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    const Plan plan = plan_with(policy, *world.problem, seed);
    sum += static_cast<double>(simulator.evaluate(plan.placement).count()) / 1e10;
  }
  return sum / 50;
}

TEST(Published, DopplerBoundsAndBaselines) {
  TUTTI_NEEDS_SHARED_DATA("doppler");
  for (const DopplerRow& row : kDoppler) {
    const World world(
        must(load_graph(shared_data(std::string("doppler/") + row.file + ".txt"))).graph,
        row.machine);
    const Bounds bounds = lower_bounds(*world.problem);
    const double basic = static_cast<double>(std::max(bounds.load, bounds.path).count()) / 1e10;
    EXPECT_NEAR(basic, row.load_or_path, 0.005) << row.file;
    EXPECT_GE(static_cast<double>(bounds.strongest().count()) / 1e10 + 0.005, row.floor)
        << row.file;
    EXPECT_NEAR(mean_of_50("random", world) / row.random, 1, 0.03) << row.file;
    EXPECT_NEAR(mean_of_50("critical_path", world) / row.critical_path, 1, 0.03) << row.file;
    EXPECT_NEAR(mean_of_50("critical_path_released", world) / row.critical_path_released, 1, 0.03)
        << row.file;
  }
}

// Every plan of every policy on every graph of the set: between bound and nothing, and by the
// rules.
TEST(Published, StandardTaskGraphsAreNeverPlannedBelowTheirOptimum) {
  TUTTI_NEEDS_SHARED_DATA("stg/opt_share");
  int rows = 0;
  for (const char* size : {"50", "100"}) {
    for (const char* devices : {"2", "4", "8", "16"}) {
      std::ifstream table(
          shared_data(std::string("stg/opt_share/Case") + size + "_" + devices + "_OPT.csv"));
      for (std::string line; std::getline(table, line); ++rows) {
        std::istringstream fields(line);
        std::string file;
        std::string count;
        std::string optimum;  // or, in rows of four fields, a lower bound on it
        std::getline(fields, file, ',');
        std::getline(fields, count, ',');
        std::getline(fields, optimum, ',');
        const World world(must(load_graph(shared_data("stg/" + file))).graph,
                          ("uniform-" + count).c_str());
        const Duration least(std::stoll(optimum));
        for (const char* policy : {"heft", "critical_path"}) {
          const Plan plan = plan_with(policy, *world.problem);
          EXPECT_GE(plan.planned_makespan, least) << line;
          ASSERT_EQ(check_plan(*world.problem, plan), std::vector<std::string>()) << line;
          const Trace trace = must(SimRuntime().run(*world.problem, plan));
          EXPECT_GE(trace.makespan, least) << line;
          ASSERT_EQ(check_trace(*world.problem, trace, {.plan = &plan}), std::vector<std::string>())
              << line;
        }
      }
    }
  }
  EXPECT_EQ(rows, 720);
}

}  // namespace
}  // namespace tutti
