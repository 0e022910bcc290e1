#include "tutti/serve/runner.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <string>
#include <thread>

#include "tutti/graph/file.h"
#include "tutti/graph/make/cholesky.h"
#include "tutti/graph/make/family/family.h"
#include "tutti/graph/make/layered.h"
#include "tutti/machine/discover.h"
#include "tutti/machine/preset.h"
#include "tutti/serve/meter.h"

namespace tutti {
namespace {

TEST(Runner, SimulatesAJobAndSaysHowBusyDevicesWere) {
  const Machine machine = *make_preset("p100-4");
  auto runner = make_sim_runner(machine, {}, 2);
  ASSERT_TRUE(runner);
  EXPECT_EQ((*runner)->places(), 2);
  const Graph graph = *make_layered({.ops = 200, .bytes = 1000});
  EXPECT_TRUE((*runner)->check(graph));
  DecisionLog log;
  const auto report = (*runner)->run(graph, "j", 0, Stop(), log);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_GT(report->makespan, Duration(0));
  ASSERT_EQ(report->busy_share.size(), 4U);
  for (const double share : report->busy_share) {
    EXPECT_GT(share, 0);
    EXPECT_LE(share, 1);
  }
  EXPECT_EQ(log.op_count(), 200);
}

TEST(Runner, GivesReasonsForItsDecisions) {
  const Machine machine = *make_preset("p100-4");
  auto runner = make_sim_runner(machine, {}, 1);
  const Graph graph = *make_layered({.ops = 50});
  DecisionLog log;
  ASSERT_TRUE((*runner)->run(graph, "j", 0, Stop(), log));
  const auto decisions = log.latest(10, 10);
  ASSERT_FALSE(decisions.empty());
  EXPECT_EQ(decisions[0].job, "j");
  EXPECT_TRUE(decisions[0].op.starts_with("op")) << decisions[0].op;
  EXPECT_TRUE(decisions[0].device.starts_with("gpu")) << decisions[0].device;
  EXPECT_NE(decisions[0].reason.find("ready"), std::string::npos) << decisions[0].reason;
}

TEST(Runner, RunsAJobForRealAndStopsWhenTold) {
  const Result<Machine> machine = discover_groups(1, 1);
  ASSERT_TRUE(machine);
  auto runner = make_local_runner(*machine, {});
  ASSERT_TRUE(runner) << runner.error().message;
  const Graph graph = *make_cholesky({.tiles = 4, .tile_size = 32, .devices = 1});
  ASSERT_TRUE((*runner)->check(graph));
  DecisionLog log;
  const auto report = (*runner)->run(graph, "j", 0, Stop(), log);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_GT(report->busy_share.at(0), 0);
  const std::atomic<bool> stopped{true};
  EXPECT_FALSE((*runner)->run(graph, "j", 0, Stop(&stopped), log));
  EXPECT_TRUE((*runner)->run(graph, "j", 0, Stop(), log));  // it can go on afterwards
}

TEST(Runner, RunsCommandsOnlyWhereItHasAFolderForThem) {
  const std::string folder = ::testing::TempDir() + "tutti_runner_" + std::to_string(::getpid());
  std::filesystem::remove_all(folder);
  const Result<Machine> machine = discover_groups(1, 1);
  ASSERT_TRUE(machine);
  Source source = Source::from_text("g", R"({"format": "tutti-graph", "schema_version": 2,
      "ops": [{"name": "a", "kind": "add", "command": {"argv": ["/bin/sh", "-c", "echo ran"]}}]})");
  const Graph graph = *read_graph(source);
  auto without = make_local_runner(*machine, {});
  ASSERT_TRUE(without);
  EXPECT_FALSE((*without)->check(graph));
  DecisionLog log;
  EXPECT_FALSE((*without)->run(graph, "j", 0, Stop(), log));
  auto with = make_local_runner(*machine, {.command_folder = folder});
  ASSERT_TRUE(with);
  EXPECT_TRUE((*with)->check(graph));
  for (int i = 0; i < 2; ++i) {  // the second time there is nothing left to do
    const auto report = (*with)->run(graph, "j", 0, Stop(), log);
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_EQ(log.op_count(), i + 1);
  }
  EXPECT_TRUE(std::filesystem::exists(folder + "/j.run/logs/0-a.1.log"));
  EXPECT_FALSE(std::filesystem::exists(folder + "/j.run/logs/0-a.2.log"));
  std::filesystem::remove_all(folder);
}

TEST(Runner, RefusesWhatItHasNoCodeFor) {
  const Result<Machine> machine = discover_groups(1, 1);
  ASSERT_TRUE(machine);
  auto runner = make_local_runner(*machine, {});
  const auto checked = (*runner)->check(*make_fft({.points = 4}));
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().message,
            "op 'point.0' is of kind 'point', which no device here has code for");
  auto other = make_sim_runner(*machine, {.policy = "heft"}, 1);
  ASSERT_FALSE(other);
  EXPECT_NE(other.error().message.find("plans ahead"), std::string::npos);
  EXPECT_FALSE(make_sim_runner(*machine, {.policy = "nobody"}, 1));
}

TEST(Meter, BelievesSomethingOfThisHostWithinItsBounds) {
  const auto made = make_host_meter();
  ASSERT_TRUE(made);
  const std::unique_ptr<Meter>& meter = *made;
  std::vector<Utilisation> all;
  for (int i = 0; i < 600 && all.empty(); ++i) {
    all = meter->now();
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  if (all.empty()) GTEST_SKIP() << "this host counts nothing";
  for (const Utilisation& one : all) {
    EXPECT_GE(one.low, 0) << one.resource;
    EXPECT_LE(one.low, one.high) << one.resource;
    EXPECT_LE(one.high, 1) << one.resource;
    EXPECT_FALSE(one.resource.empty());
  }
}

TEST(Meter, TakesRunsTogether) {
  const Machine machine = *make_preset("uniform-2");
  const auto meter = make_run_meter(machine);
  EXPECT_TRUE(meter->now().empty());
  for (int i = 0; i <= 100; ++i) meter->note({Duration(1), {0.01 * i, 1}});  // the first is gone
  const auto all = meter->now();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_NEAR(all[0].mean, 0.505, 1e-9);
  EXPECT_NEAR(all[0].low, 0.03, 0.011);
  EXPECT_NEAR(all[0].high, 0.98, 0.011);
  EXPECT_EQ(all[1].mean, 1);
}

}  // namespace
}  // namespace tutti
