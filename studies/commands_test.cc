// tutti-study as a program: all that tutti does, and what the studies add to it.

#include <string>
#include <vector>

#include "test/support/cli.h"

namespace tutti {
namespace {

class Study : public Cli {
 protected:
  std::string graph() const { return write("graph.json", kGraph); }
  void expect_refused(const std::vector<std::string>& arguments, const std::string& what) const {
    const Ran ran = run(arguments);
    EXPECT_EQ(ran.exit_code, 2) << what << ": " << ran.err;
    expect_one_sentence(ran, what);
  }
};

TEST_F(Study, PlansComparesAndSimulatesInTheReleasedModel) {
  for (const std::string command : {"plan", "compare"}) {
    const Ran ran = run({command, graph(), "-m", "uniform-2", "--model", "released"});
    EXPECT_EQ(ran.exit_code, 0) << command << ": " << ran.err;
  }
  const Ran simulated = run({"simulate", graph(), "-m", "uniform-2", "--model", "released",
                             "--policy", "critical_path_released"});
  EXPECT_EQ(simulated.exit_code, 0) << simulated.err;
  EXPECT_NE(simulated.out.find("sim/released"), std::string::npos) << simulated.out;
}

TEST_F(Study, ChecksATraceOfTheReleasedModel) {
  const std::string trace = path("trace.json");
  const Ran simulated = run({"simulate", graph(), "-m", "uniform-2", "--model", "released",
                             "--policy", "heft", "--trace", trace});
  ASSERT_EQ(simulated.exit_code, 0) << simulated.err;
  const Ran checked = run({"check", graph(), "-m", "uniform-2", "--trace", trace});
  EXPECT_EQ(checked.exit_code, 0) << checked.out << checked.err;
}

TEST_F(Study, RefusesOrderAndNoiseOfTheReleasedModel) {
  expect_refused({"plan", graph(), "-m", "uniform-2", "--model", "released", "--noise", "0.1"},
                 "--noise");
  expect_refused({"plan", graph(), "-m", "uniform-2", "--model", "released", "--order", "fifo"},
                 "--order");
  expect_refused({"simulate", graph(), "-m", "uniform-2", "--model", "released", "--policy",
                  "random", "--online"},
                 "released model runs plans only");
}

TEST_F(Study, ListsThePolicyThatIsForComparisonOnly) {
  const Ran ran = run({"policies"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_NE(ran.out.find("critical_path_released"), std::string::npos) << ran.out;
}

#ifdef TUTTI_STUDIES_TRAIN
TEST_F(Study, TrainsAndPlansWithThePublishedNets) {
  for (const std::string config : {"as-published", "placeto", "gdp"}) {
    const Ran trained =
        run({"train", "doppler", graph(), "-m", "uniform-2", "--model", "released", "--config",
             config, "--imitation", "1", "--episodes", "1", "--threads", "1", "-o", path(config)});
    ASSERT_EQ(trained.exit_code, 0) << config << ": " << trained.err;
    const Ran planned = run({"plan", graph(), "-m", "uniform-2", "--policy", "doppler", "--network",
                             path(config) + "/model.safetensors"});
    EXPECT_EQ(planned.exit_code, 0) << config << ": " << planned.err;
  }
}

TEST_F(Study, ListsTheConfigurationsOfTheStudies) {
  const Ran ran = run({"policies"});
  for (const std::string name : {"doppler --config default", "doppler --config as-published",
                                 "doppler --config published-view", "doppler --config gdp",
                                 "symphony --config default", "symphony --config as-published"}) {
    EXPECT_NE(ran.out.find(name + " "), std::string::npos) << name << "\n" << ran.out;
  }
}

TEST_F(Study, RefusesANetworkOfAnotherKindThanTheConfigurations) {
  const std::string run_folder = path("run");
  expect_refused({"train", "doppler", graph(), "-m", "uniform-2", "--config", "as-published",
                  "--from", "general", "-o", run_folder},
                 "as-published");
  const Ran fresh = run({"train", "doppler", graph(), "-m", "uniform-2", "--config", "as-published",
                         "--imitation", "0", "--episodes", "0", "-o", path("published")});
  ASSERT_EQ(fresh.exit_code, 0) << fresh.err;
  expect_refused({"train", "doppler", graph(), "-m", "uniform-2", "--from",
                  path("published/model.safetensors"), "-o", run_folder},
                 "'published'");
}
#endif

}  // namespace
}  // namespace tutti
