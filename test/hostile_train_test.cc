// Gives `tutti train` wishes that mean nothing or cannot be: exit code 2 and one sentence. Also
// what it says at its end.

#include <string>
#include <vector>

#include "test/support/cli.h"

namespace tutti {
namespace {

class Train : public Cli {
 protected:
  // With a folder for the run; GRAPH stands for a good graph.
  Ran train(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"train", "doppler", "-o", path("run"), "--threads", "1"});
    for (std::string& argument : arguments) {
      if (argument == "GRAPH") argument = write("graph.json", kGraph);
    }
    return run(arguments);
  }
  void expect_refused(const std::vector<std::string>& arguments, const std::string& what) const {
    const Ran ran = train(arguments);
    EXPECT_EQ(ran.exit_code, 2) << what << ": " << ran.err;
    expect_one_sentence(ran, what);
    EXPECT_FALSE(std::filesystem::exists(path("run"))) << what;
  }
};

TEST_F(Train, RefusesFlagsForGivenGraphsWithoutAny) {
  expect_refused({"-m", "nonsense"}, "--machine");
  expect_refused({"--costs", "/no/such/file"}, "--costs");
  expect_refused({"--constraints", "/no/such/file"}, "--constraints");
  expect_refused({"--teacher", "nonsense"}, "--teacher");
  expect_refused({"--as-recorded"}, "--as-recorded");
}

TEST_F(Train, RefusesFlagsForDrawnProblemsWithGraphs) {
  expect_refused({"GRAPH", "-m", "uniform-2", "--problems", "2"}, "--problems");
  expect_refused({"GRAPH", "-m", "uniform-2", "--most-ops", "20"}, "--most-ops");
}

TEST_F(Train, RefusesWhatWouldLearnNothing) {
  expect_refused({"--samples", "1"}, "--samples");
  expect_refused({"--most-ops", "5"}, "--most-ops");
  expect_refused({"--search", "10"}, "--search");
  expect_refused({"--gradient-weight", "0"}, "--label-weight");
  expect_refused({"GRAPH", "-m", "uniform-2", "--teacher", "heft"}, "--imitation");
  expect_refused({"GRAPH", "-m", "uniform-2", "--imitation", "2", "--teacher", "nonsense"},
                 "nonsense");
  const std::string empty = write("empty.json", R"({"format": "tutti-graph", "schema_version": 1,
      "name": "g", "ops": []})");
  expect_refused({empty, "-m", "uniform-2"}, "no ops");
}

TEST_F(Train, RefusesFiguresThatAreNotFinite) {
  for (const char* flag : {"--first-rate", "--last-rate", "--entropy", "--label-weight",
                           "--gradient-weight", "--clip-ratio"}) {
    expect_refused({"GRAPH", "-m", "uniform-2", flag, "nan"}, flag);
  }
  for (const char* figure : {"inf", "-1", "x"}) {
    expect_refused({"GRAPH", "-m", "uniform-2", "--first-rate", figure}, "--first-rate");
  }
}

TEST_F(Train, RefusesANetworkOfAnotherKindThanTheConfigurations) {
  expect_refused({"GRAPH", "-m", "uniform-2", "--config", "as-published", "--from", "general"},
                 "as-published");
  const Ran fresh =
      run({"train", "doppler", write("graph.json", kGraph), "-m", "uniform-2", "--config",
           "as-published", "--imitation", "0", "--episodes", "0", "-o", path("published")});
  ASSERT_EQ(fresh.exit_code, 0) << fresh.err;
  expect_refused({"GRAPH", "-m", "uniform-2", "--from", path("published/model.safetensors")},
                 "'published'");
}

TEST_F(Train, SaysWhereItStands) {
  const std::vector<std::string> wish = {"GRAPH", "-m", "uniform-2", "--episodes", "4"};
  std::vector<std::string> hasty = wish;
  hasty.insert(hasty.end(), {"--budget", "1ms"});
  const Ran stopped = train(hasty);
  EXPECT_EQ(stopped.exit_code, 0) << stopped.err;
  expect_one_sentence(stopped, "stopped: 0 of 4 episodes");
  EXPECT_NE(stopped.err.find("more time"), std::string::npos) << stopped.err;

  const Ran done = train(wish);
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_NE(done.err.find("tutti: done: 4 of 4 episodes"), std::string::npos) << done.err;
  EXPECT_NE(done.err.find(path("run/model.safetensors")), std::string::npos) << done.err;

  const Ran again = train(wish);
  EXPECT_EQ(again.exit_code, 0) << again.err;
  expect_one_sentence(again, "nothing was left to learn: 4 of 4 episodes");
}

}  // namespace
}  // namespace tutti
