// What a command leaves that is interrupted, and how it does with little memory: run as a user
// would.

#include <string>

#include "test/support/cli.h"

namespace tutti {
namespace {

class Interrupted : public Cli {
 protected:
  void SetUp() override {
    Cli::SetUp();
    if (::access("/usr/bin/timeout", X_OK) != 0) GTEST_SKIP() << "needs /usr/bin/timeout";
  }
  // Ctrl-C after that time. The exit code is tutti's own; where the signal kills it that is 130
  // too, so tests also look at what it says.
  static Wish after(const char* seconds, const char* signal = "INT") {
    return {.launcher = {"/usr/bin/timeout", "--preserve-status", "--foreground", "-s", signal,
                         seconds}};
  }
};

TEST_F(Interrupted, PlanWritesTheBestSoFarAndExitsWith130) {
  const std::string graph = path("graph.json");
  const std::string plan = path("plan.json");
  ASSERT_EQ(run({"graph", "make", "layered", "--ops", "300", "-o", graph}).exit_code, 0);
  const std::vector<std::string> words = {"plan", graph,      "-m",  "p100-4", "--policy",
                                          "auto", "--budget", "60s", "-o",     plan};
  const Ran ran = run(words, after("3"));
  EXPECT_EQ(ran.exit_code, 130) << ran.err;
  EXPECT_NE(ran.err.find("interrupted: the plan is the best that was found until then"),
            std::string::npos)
      << ran.err;
  EXPECT_EQ(run({"check", graph, "-m", "p100-4", "--plan", plan}).exit_code, 0);
}

TEST_F(Interrupted, CompareSaysWhatItHasAndExitsWith130) {
  const std::string graph = path("graph.json");
  ASSERT_EQ(run({"graph", "make", "layered", "--ops", "300", "-o", graph}).exit_code, 0);
  const Ran ran =
      run({"compare", graph, "-m", "p100-4", "--policies", "heft,annealing", "--budget", "60s"},
          after("3"));
  EXPECT_EQ(ran.exit_code, 130) << ran.err;
  EXPECT_NE(ran.out.find("heft"), std::string::npos) << ran.out;
}

TEST_F(Interrupted, SimulateShowsTheBestPlanSoFarAndExitsWith130) {
  const std::string graph = path("graph.json");
  ASSERT_EQ(run({"graph", "make", "layered", "--ops", "300", "-o", graph}).exit_code, 0);
  const Ran ran =
      run({"simulate", graph, "-m", "p100-4", "--policy", "auto", "--budget", "60s"}, after("3"));
  EXPECT_EQ(ran.exit_code, 130) << ran.err;
  EXPECT_NE(ran.err.find("interrupted: the plan is the best"), std::string::npos) << ran.err;
  EXPECT_NE(ran.out.find("makespan"), std::string::npos) << ran.out;
}

TEST_F(Interrupted, ClusterSaysWhatItHasAndExitsWith130) {
  const Ran ran = run(
      {"cluster", "--jobs", "100000", "--load", "0.3", "--saturation", "190", "--policy", "fifo"},
      after("1"));
  EXPECT_EQ(ran.exit_code, 130) << ran.err;
  EXPECT_NE(ran.err.find("stopped before all jobs had ended"), std::string::npos) << ran.err;
  const Ran sooner = run({"cluster", "--jobs", "1000", "--policy", "fifo"}, after("1"));
  EXPECT_EQ(sooner.exit_code, 130) << sooner.err;
  EXPECT_NE(sooner.err.find("stopped while the saturation was being found"), std::string::npos)
      << sooner.err;
}

TEST_F(Interrupted, RunOfCommandsSaysHowToGoOnAndExitsWith130) {
  const std::string graph = write("graph.json", R"({"format": "tutti-graph", "schema_version": 2,
    "name": "c", "ops": [{"name": "a", "run_time_ns": 1000, "command": {"argv": ["sleep", "1000"]}}]})");
  for (const char* signal : {"INT", "TERM"}) {
    const std::string folder = path(std::string("run.") + signal);
    const Ran ran = run({"run", graph, "-m", "this-host:1x1", "--policy", "heft",
                         "--allow-commands", "--run-folder", folder},
                        after("2", signal));
    EXPECT_EQ(ran.exit_code, 130) << ran.err;
    EXPECT_NE(ran.err.find("0 of 1 ops are done, and --resume"), std::string::npos) << ran.err;
  }
}

class LittleMemory : public Cli {
 protected:
  void SetUp() override {
    Cli::SetUp();
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
    GTEST_SKIP() << "the address sanitizer needs terabytes of address space";
#endif
#endif
  }
  // 120 MB of address space, as ulimit -v counts it, and no more than half a minute.
  static Wish limited() {
    return {.launcher = {"/bin/sh", "-c", "ulimit -v 120000; exec timeout 30 \"$0\" \"$@\""}};
  }
};

TEST_F(LittleMemory, IsEnoughForCommandsThatMultiplyNothing) {
  const Ran listed = run({"machine", "list"}, limited());
  EXPECT_EQ(listed.exit_code, 0) << listed.err;
  const std::string graph = write("graph.json", kGraph);
  EXPECT_EQ(run({"graph", "info", graph}, limited()).exit_code, 0);
  EXPECT_EQ(run({"plan", graph, "-m", "p100-4", "--policy", "heft"}, limited()).exit_code, 0);
  // Its linear program needs OpenBLAS, and there is another way.
  EXPECT_EQ(run({"plan", graph, "-m", "p100-4", "--policy", "m_sct"}, limited()).exit_code, 0);
}

TEST_F(LittleMemory, IsNamedWhereProductsNeedMore) {
  const std::string graph = path("graph.json");
  ASSERT_EQ(run({"graph", "make", "chainmm", "--size", "48", "--split", "2,2,2", "--devices", "2",
                 "-o", graph})
                .exit_code,
            0);
  const Ran ran = run({"run", graph, "-m", "this-host:1x1", "--policy", "heft"}, limited());
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_NE(ran.err.find("(ulimit -v) leaves"), std::string::npos) << ran.err;
}

}  // namespace
}  // namespace tutti
