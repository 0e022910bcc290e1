// Gives `tutti train` wishes that mean nothing or cannot be: exit code 2 and one sentence. Also
// what it says at its end.

#include <string>
#include <vector>

#include "test/support/cli.h"
#include "tutti/kernels/cpu/blas.h"

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
  void expect_refused(const std::vector<std::string>& arguments, const std::string& what,
                      int exit_code = 2) const {
    const Ran ran = train(arguments);
    EXPECT_EQ(ran.exit_code, exit_code) << what << ": " << ran.err;
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

TEST_F(Train, RefusesFlagsOfTheOtherStage) {
  expect_refused({"GRAPH", "-m", "uniform-2", "--runs", "5"}, "--runs");
  expect_refused({"GRAPH", "-m", "uniform-2", "--margin", "0.2"}, "--margin");
  expect_refused({"GRAPH", "-m", "uniform-2", "--calibration", "/no/such/file"}, "--calibration");
  expect_refused({"GRAPH", "-m", "uniform-2", "--search-alone"}, "--search-alone");
  expect_refused({"GRAPH", "-m", "uniform-2", "--plans", "/no/such/file"}, "--plans");
  for (const char* flag : {"--episodes", "--samples", "--first-rate", "--search", "--imitation"}) {
    expect_refused({"GRAPH", "--stage", "real", flag, "1"}, flag);
  }
  expect_refused({"GRAPH", "--stage", "real", "--model", "physical"}, "--model");
}

TEST_F(Train, SaysWhatCanBeTrainedAndWhere) {
  const Ran nothing = run({"train", "nosuch"});
  EXPECT_EQ(nothing.exit_code, 2);
  expect_one_sentence(nothing, "tutti train has no 'nosuch'; known are: doppler, symphony, list");
  for (const char* what : {"doppler", "symphony"}) {
    const Ran nowhere = run({"train", what, "-o", ""});
    EXPECT_EQ(nowhere.exit_code, 2) << what;
    expect_one_sentence(nowhere, "must name a folder");
  }
}

TEST_F(Train, SymphonyRefusesWhatIsNoNumberOrSaysNothing) {
  for (const std::vector<std::string>& wrong :
       std::vector<std::vector<std::string>>{{"--loads", "nan"},
                                             {"--counters", "host"},
                                             {"--fixed-belief", "--knowledge", "none"},
                                             {"--belief-rate", "0.1", "--knowledge", "none"}}) {
    std::vector<std::string> words = {"train", "symphony", "-o", path("model")};
    words.insert(words.end(), wrong.begin(), wrong.end());
    const Ran ran = run(words);
    EXPECT_EQ(ran.exit_code, 2) << wrong[0];
    expect_one_sentence(ran, wrong[0]);
  }
}

// Learned in simulation with the counters of this host, it decides for real, and its belief is
// fitted to what counters say there: that changes the belief's constants and nothing else.
TEST_F(Train, SymphonyLearnsOnAMachineOfOnesOwnDecidesForRealAndIsAdapted) {
  const std::string job = path("job.json");
  ASSERT_EQ(run({"graph", "make", "chainmm", "--size", "48", "--split", "2,2,1", "--devices", "2",
                 "-o", job})
                .exit_code,
            0);
  const std::string machine = write("machine.json", R"({"schema_version": 1, "device": [
      {"name": "cpu0", "kind": "cpu", "uses_host_memory": true, "flops_per_s": 10000000000,
       "bytes_per_s": 10000000000},
      {"name": "cpu1", "kind": "cpu", "uses_host_memory": true, "flops_per_s": 10000000000,
       "bytes_per_s": 10000000000}]})");
  const std::string none = write("none.json", R"({"schema_version": 1})");
  const std::string costs = path("costs.json");
  ASSERT_EQ(run({"costs", "demands", job, "-m", machine, "--costs", none, "-o", costs}).exit_code,
            0);
  const std::string folder = path("symphony");
  const Ran trained =
      run({"train", "symphony",  job, "-m",         machine, "--costs",     costs, "--counters",
           "host",  "--jobs",    "2", "--episodes", "2",     "--scenarios", "1",   "--rollouts",
           "2",     "--threads", "1", "-o",         folder});
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  const std::string model = folder + "/model.safetensors";
  const std::string adapted = path("adapted.safetensors");
  const Ran ran = run({"cluster",   job,     "--saturation", "185.7",
                       "--runtime", "local", "-m",           machine,
                       "--costs",   costs,   "--jobs",       "6",
                       "--repeats", "1",     "--policy",     "symphony=" + model,
                       "--adapt",   model,   "--adapted",    adapted,
                       "--verify"});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_NE(ran.err.find("fitted to"), std::string::npos) << ran.err;
  const std::string before = read_text(model);
  const std::string after = read_text(adapted);
  ASSERT_EQ(after.size(), before.size());
  size_t changed = 0;
  for (size_t i = 0; i < after.size(); ++i) changed += after[i] != before[i];
  EXPECT_GT(changed, 0U);
  EXPECT_LT(changed, 400U);  // a few dozen constants of four bytes
  EXPECT_EQ(
      run({"cluster", job, "--saturation", "185.7", "--runtime", "local", "-m", machine, "--costs",
           costs, "--jobs", "2", "--repeats", "1", "--policy", "symphony=" + adapted})
          .exit_code,
      0);
  const Ran elsewhere = run({"cluster", job, "--saturation", "185.7", "--runtime", "local", "-m",
                             "this-host:1x1", "--policy", "symphony=" + model});
  EXPECT_EQ(elsewhere.exit_code, 2);
  const Ran without = run({"train", "symphony", "-m", machine, "-o", path("no")});
  EXPECT_EQ(without.exit_code, 2);
  expect_one_sentence(without, "name their graphs");
}

// The planner's own answer, instead of figures that mean nothing.
TEST_F(Train, RefusesAProblemThatNobodyHasAPlanOf) {
  std::string limits;
  for (const char* device : {"gpu0", "gpu1", "gpu2", "gpu3"}) {
    limits += std::string("[[memory_limit]]\nmemory = \"") + device + "\"\nbytes = 10\n";
  }
  const std::string tight = write("tight.toml", "schema_version = 1\n" + limits);
  const std::string graph = path("layered.json");
  ASSERT_EQ(run({"graph", "make", "layered", "--ops", "20", "--width", "4", "-o", graph}).exit_code,
            0);
  EXPECT_EQ(run({"plan", graph, "-m", "p100-4", "--constraints", tight}).exit_code, 3);
  expect_refused({graph, "-m", "p100-4", "--constraints", tight, "--episodes", "4"}, graph, 3);
}

TEST_F(Train, TellsNoLabelWhereThereIsNone) {
  const Ran ran = train({"GRAPH", "-m", "uniform-2", "--imitation", "2", "--episodes", "0"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_NE(ran.err.find("match"), std::string::npos) << ran.err;
  EXPECT_EQ(ran.err.find("label"), std::string::npos) << ran.err;
  EXPECT_EQ(read_text(path("run/log.jsonl")).find("label_ratio"), std::string::npos);
}

TEST_F(Train, PlansWithModelsAlone) {
  ASSERT_EQ(train({"GRAPH", "-m", "uniform-2", "--episodes", "2", "--search", "2"}).exit_code, 0);
  const auto plan = [&](const std::string& network) {
    return run({"plan", path("graph.json"), "-m", "uniform-2", "--policy", "doppler", "--network",
                path("run/" + network)});
  };
  EXPECT_EQ(plan("model.safetensors").exit_code, 0);
  const Ran refused = plan("checkpoint.safetensors");
  EXPECT_EQ(refused.exit_code, 2);
  expect_one_sentence(refused, "model.safetensors in the same folder");
}

// A model of drawn problems learns a graph by heart as one that was made for it.
TEST_F(Train, GivesTheGeneralModelMarksOnGivenGraphs) {
  ASSERT_EQ(train({"GRAPH", "-m", "uniform-2", "--from", "general", "--episodes", "0"}).exit_code,
            0);
  EXPECT_NE(read_text(path("run/model.safetensors")).find("mark.weight"), std::string::npos);
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
  expect_refused({"GRAPH", "-m", "uniform-2", "--config", "one-pass", "--from", "general"},
                 "one-pass");
  const Ran fresh =
      run({"train", "doppler", write("graph.json", kGraph), "-m", "uniform-2", "--config",
           "one-pass", "--imitation", "0", "--episodes", "0", "-o", path("other")});
  ASSERT_EQ(fresh.exit_code, 0) << fresh.err;
  expect_refused({"GRAPH", "-m", "uniform-2", "--from", path("other/model.safetensors")},
                 "'one_pass'");
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

// Learning on the real machine, and its control.
class RealStage : public Cli {
 protected:
  void SetUp() override {
    Cli::SetUp();
    if (const auto opened = cpu::Blas::open(); !opened) GTEST_SKIP() << opened.error().message;
    const Ran made = run({"graph", "make", "chainmm", "--size", "16", "--split", "2,1,1",
                          "--devices", "2", "-o", path("graph.json")});
    ASSERT_EQ(made.exit_code, 0) << made.err;
  }
  Ran learn(const std::string& folder, std::vector<std::string> more) const {
    more.insert(more.begin(),
                {"train", "doppler", path("graph.json"), "-m", "this-host:2x1", "--stage", "real",
                 "--from", "general", "--threads", "1", "--margin", "1000", "-o", path(folder)});
    return run(more);
  }
  std::string log(const std::string& folder) const {
    return read_text(path(folder + "/log.jsonl"));
  }
};

TEST_F(RealStage, TheControlGoesOnWhereItWasAndNobodyElseDoes) {
  const Ran first = learn("control", {"--search-alone", "--runs", "2"});
  ASSERT_EQ(first.exit_code, 0) << first.err;
  const std::string lines = log("control");
  EXPECT_TRUE(lines.starts_with("{\"round\":0")) << lines;
  const std::string plan = read_text(path("control/plan.json"));
  EXPECT_NE(plan.find("search and races"), std::string::npos);
  const Ran idle = learn("control", {"--search-alone", "--runs", "1"});
  ASSERT_EQ(idle.exit_code, 0) << idle.err;
  EXPECT_NE(idle.err.find("nothing was run: "), std::string::npos) << idle.err;
  EXPECT_EQ(idle.err.find(" 0 ns"), std::string::npos) << idle.err;
  EXPECT_EQ(log("control"), lines);
  const Ran other = learn("control", {"--runs", "4"});
  EXPECT_EQ(other.exit_code, 2) << other.err;
  expect_one_sentence(other, "begun with --search-alone");
  EXPECT_EQ(read_text(path("control/plan.json")), plan);
  const Ran second = learn("control", {"--search-alone", "--runs", "4"});
  ASSERT_EQ(second.exit_code, 0) << second.err;
  EXPECT_TRUE(log("control").starts_with(lines)) << log("control");
  EXPECT_EQ(second.err.find("round 1:"), std::string::npos) << second.err;
}

}  // namespace
}  // namespace tutti
