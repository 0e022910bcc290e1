// What commands that run something for real promise: run as a user would.

#include <string>

#include "test/support/cli.h"
#include "tutti/kernels/cpu/blas.h"

namespace tutti {
namespace {

class RunCommands : public Cli {
 protected:
  void SetUp() override {
    Cli::SetUp();
    if (const auto opened = cpu::Blas::open(); !opened) GTEST_SKIP() << opened.error().message;
    graph_ = path("graph.json");
    const Ran made = run({"graph", "make", "chainmm", "--size", "48", "--split", "2,2,2",
                          "--devices", "2", "-o", graph_});
    ASSERT_EQ(made.exit_code, 0) << made.err;
  }

  // Of one core, which every host has.
  static constexpr const char* kHere = "this-host:1x1";
  std::string graph_;
};

TEST_F(RunCommands, RunComparesItsNumbersWithTheReference) {
  const Ran ran = run({"run", graph_, "-m", kHere, "--policy", "heft", "--verify"});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_NE(ran.out.find("verified: "), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("measured makespan"), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("predicted by the simulator"), std::string::npos) << ran.out;
}

TEST_F(RunCommands, RunSaysEverythingAsJsonToo) {
  const Ran ran = run({"run", graph_, "-m", kHere, "--policy", "heft", "--repeats", "3", "--json"});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  for (const char* key : {"\"predicted_ns\"", "\"median_ns\"", "\"makespans_ns\"", "\"devices\""}) {
    EXPECT_NE(ran.out.find(key), std::string::npos) << key << " in " << ran.out;
  }
}

TEST_F(RunCommands, ATraceOfARealRunPassesTheJudge) {
  const std::string plan = path("plan.json");
  const std::string trace = path("trace.json");
  ASSERT_EQ(run({"plan", graph_, "-m", kHere, "--policy", "heft", "-o", plan}).exit_code, 0);
  const Ran ran = run({"run", graph_, "-m", kHere, "--plan", plan, "--trace", trace});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  const Ran judged = run({"check", graph_, "-m", kHere, "--plan", plan, "--trace", trace});
  EXPECT_EQ(judged.exit_code, 0) << judged.out << judged.err;
}

TEST_F(RunCommands, BarriersAndOnlinePoliciesRunToo) {
  EXPECT_EQ(run({"run", graph_, "-m", kHere, "--policy", "heft", "--bulk-synchronous"}).exit_code,
            0);
  EXPECT_EQ(run({"run", graph_, "-m", kHere, "--policy", "critical_path", "--online"}).exit_code,
            0);
}

TEST_F(RunCommands, CompareRunsPlansForReal) {
  const Ran ran = run({"compare", graph_, "-m", kHere, "--runtime", "local", "--policies",
                       "heft,single_device", "--repeats", "3", "--bulk-synchronous"});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_NE(ran.out.find("heft, bulk-synchronous"), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("best"), std::string::npos) << ran.out;
}

TEST_F(RunCommands, WhatCannotBeRunIsRefusedInOneSentence) {
  const std::string layered = path("layered.json");
  ASSERT_EQ(run({"graph", "make", "layered", "--ops", "9", "-o", layered}).exit_code, 0);
  const Ran alien = run({"run", graph_, "-m", "mixed-5", "--policy", "heft"});
  EXPECT_NE(alien.exit_code, 0);
  EXPECT_TRUE(alien.err.starts_with("tutti: ")) << alien.err;
  const Ran both = run({"run", graph_, "-m", kHere, "--policy", "heft", "--plan", "x.json"});
  EXPECT_EQ(both.exit_code, 2);
  expect_one_sentence(both, "not both");
  const Ran simulated = run({"compare", graph_, "-m", kHere, "--plans", "x.json"});
  EXPECT_EQ(simulated.exit_code, 2);
  expect_one_sentence(simulated, "--runtime local");
}

}  // namespace
}  // namespace tutti
