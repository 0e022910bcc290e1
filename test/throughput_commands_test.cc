// --objective throughput, as a user would ask for it.

#include <regex>
#include <string>
#include <vector>

#include "test/support/cli.h"

namespace tutti {
namespace {

class ThroughputCommands : public Cli {
 protected:
  void SetUp() override {
    Cli::SetUp();
    graph_ = write("graph.json", R"({"maxFPGAs": 2, "maxCPUs": 1, "maxSizePerFPGA": 1000, "nodes": [
      {"id": 1, "name": "a", "cpuLatency": 40, "fpgaLatency": 4, "size": 100},
      {"id": 2, "name": "b", "cpuLatency": 50, "fpgaLatency": 5, "size": 100},
      {"id": 3, "name": "c", "cpuLatency": 30, "fpgaLatency": 3, "size": 100}],
      "edges": [{"sourceId": 1, "destId": 2, "cost": 0.5}, {"sourceId": 1, "destId": 3, "cost": 0.5},
                {"sourceId": 2, "destId": 3, "cost": 0.25}]})");
    plan_ = path("plan.json");
  }

  Ran plan(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words = {"plan", graph_, "--objective", "throughput", "--passes",
                                      "4",    "-o",   plan_,         "--json",     "--evaluations",
                                      "400"};
    words.insert(words.end(), more.begin(), more.end());
    return run(words);
  }

  static double number(const std::string& json, const std::string& key) {
    std::smatch found;
    const std::regex pattern("\"" + key + "\": *([0-9.e+-]+)");
    if (!std::regex_search(json, found, pattern)) return -1;
    return std::stod(found[1]);
  }

  std::string graph_;
  std::string plan_;
};

// By hand: search/throughput/throughput_test.cc.
TEST_F(ThroughputCommands, PlanForTheDevicesThatTheFileNames) {
  const Ran ran = plan();
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_EQ(number(ran.out, "time_per_pass_ns"), 7'750'000);
  EXPECT_EQ(number(ran.out, "largest_load_ns"), 7'750'000);
  EXPECT_LE(number(ran.out, "simulated_time_per_pass_ns"), 7'750'000);
  EXPECT_GE(number(ran.out, "lower_bound_ns"), 5'000'000);
  EXPECT_NE(ran.out.find("\"plan_for_one_pass\""), std::string::npos);
  EXPECT_NE(ran.out.find("accelerator1"), std::string::npos);
  const Ran text = run({"plan", graph_, "--objective", "throughput", "--passes", "4"});
  EXPECT_NE(text.out.find("7.75 ms per pass"), std::string::npos) << text.out;
  // Another machine, if it is asked for.
  const Ran other = plan({"-m", "p100-4"});
  ASSERT_EQ(other.exit_code, 0) << other.err;
  EXPECT_EQ(other.out.find("accelerator"), std::string::npos);
}

TEST_F(ThroughputCommands, WritePlansThatTheJudgeSimulatesAgain) {
  ASSERT_EQ(plan().exit_code, 0);
  const Ran good = run({"check", graph_, "--plan", plan_});
  EXPECT_EQ(good.exit_code, 0) << good.out;
  EXPECT_TRUE(good.out.starts_with("good: every rule holds")) << good.out;

  const std::string text = read_text(plan_);
  EXPECT_NE(text.find("\"objective\":\"throughput\""), std::string::npos);
  const auto forged = [&](const std::string& from, const std::string& to) {
    return run({"check", graph_, "--plan",
                write("forged.json", std::regex_replace(text, std::regex(from), to))});
  };
  const Ran faster = forged("\"time_per_pass_ns\":[0-9]+", "\"time_per_pass_ns\":12345");
  EXPECT_EQ(faster.exit_code, 2);
  EXPECT_NE(faster.out.find("steady state: the plan says that a pass takes 12345 ns"),
            std::string::npos)
      << faster.out;
  expect_one_sentence(forged("\"throughput\"", "\"latency\""), "\"objective\" must be");
  expect_one_sentence(forged("\"passes_in_flight\":[0-9]+", "\"passes_in_flight\":0"),
                      "passes_in_flight");
  expect_one_sentence(forged("\"passes_in_flight\":[0-9]+,", ""), "passes_in_flight");
}

TEST_F(ThroughputCommands, SimulateAndComparePlans) {
  const Ran made = plan();
  ASSERT_EQ(made.exit_code, 0);
  const Ran ran = run({"simulate", graph_, "--plan", plan_, "--objective", "throughput", "--passes",
                       "4", "--json"});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  for (const char* key : {"time_per_pass_ns", "simulated_time_per_pass_ns", "makespan_ns"}) {
    EXPECT_EQ(number(ran.out, key), number(made.out, key)) << key;
  }
  // Without the objective it is one pass.
  const Ran one = run({"simulate", graph_, "--plan", plan_, "--json"});
  ASSERT_EQ(one.exit_code, 0) << one.err;
  EXPECT_EQ(number(one.out, "makespan_ns"), number(made.out, "makespan_ns"));

  const Ran compared = run({"compare", graph_, "--objective", "throughput", "--passes", "4",
                            "--policies", "heft,pipeline", "--seeds", "2", "--json"});
  ASSERT_EQ(compared.exit_code, 0) << compared.err;
  const std::string pipeline = compared.out.substr(compared.out.find("\"policy\":\"pipeline\""));
  EXPECT_EQ(number(pipeline, "mean"), 7'750'000) << compared.out;
  EXPECT_GE(number(compared.out, "mean"), 7'750'000);
}

TEST_F(ThroughputCommands, GiveTheSameBytesWithAnyNumberOfThreads) {
  ASSERT_EQ(plan({"--threads", "1"}).exit_code, 0);
  const std::string one = read_text(plan_);
  ASSERT_EQ(plan({"--threads", "3"}).exit_code, 0);
  EXPECT_EQ(one, read_text(plan_));
}

TEST_F(ThroughputCommands, RefuseFlagsThatMeanNothing) {
  const auto refused = [&](std::vector<std::string> words, const std::string& sentence) {
    const Ran ran = run(words);
    EXPECT_EQ(ran.exit_code, 2) << sentence;
    expect_one_sentence(ran, sentence);
  };
  refused({"plan", graph_, "--passes", "4"}, "--passes is for repeated passes");
  refused({"plan", graph_, "--policy", "pipeline"}, "pipeline");
  refused({"plan", graph_, "--objective", "throughput", "--state", path("s")}, "--state is for");
  refused({"plan", graph_, "--objective", "throughput", "--policy", "hefty"}, "did you mean");
  refused({"plan", graph_, "--objective", "throughput", "--policy", "heft", "--budget", "1s"},
          "--budget is for policies that search");
  refused({"simulate", graph_, "--objective", "throughput", "--trace", path("t")},
          "--trace is for one pass");
  refused({"simulate", graph_, "--objective", "throughput", "--policy", "heft", "--online"},
          "--online is for one pass");
  refused({"simulate", graph_, "--objective", "throughput", "--order", "fifo"},
          "--order is for one pass");
  refused({"compare", graph_, "--objective", "throughput", "--runs", "3"}, "--runs is for draws");
  refused({"compare", graph_, "--objective", "throughput", "--runtime", "local"},
          "--objective throughput is for simulated runs");
  EXPECT_EQ(run({"plan", graph_, "--objective", "speed"}).exit_code, 2);
  EXPECT_EQ(run({"plan", graph_, "--objective", "throughput", "--passes", "0"}).exit_code, 2);
}

TEST_F(ThroughputCommands, SayThatNothingFits) {
  const std::string large = write("large.json", R"({"maxFPGAs": 1, "maxCPUs": 0,
    "maxSizePerFPGA": 50, "nodes": [{"id": 1, "cpuLatency": 4, "fpgaLatency": 1, "size": 100}],
    "edges": []})");
  for (const char* policy : {"auto", "pipeline", "heft"}) {
    const Ran ran = run({"plan", large, "--objective", "throughput", "--policy", policy});
    EXPECT_EQ(ran.exit_code, 3) << policy;
    expect_one_sentence(ran, "memory");
  }
}

}  // namespace
}  // namespace tutti
