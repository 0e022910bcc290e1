// Gives the program impossible wishes: exit code 2 and one sentence for what was asked wrong, 3 for
// what cannot be, 1 when the world fails; and an output file that is whole or untouched.

#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "test/support/cli.h"

namespace tutti {
namespace {

using Infeasible = Cli;

TEST_F(Infeasible, PinToAForbiddenDeviceExitsWith3) {
  const std::string file = write(
      "rules.json",
      rules(
          R"("pin": [{"op": "a", "device": "device0"}], "forbid": [{"op": "a", "device": "device0"}])"));
  const std::string output = write("plan.json", kOld);
  const Ran ran = run({"plan", write("graph.json", kGraph), "-m", "uniform-2", "--constraints",
                       file, "-o", output});
  EXPECT_EQ(ran.exit_code, 3) << ran.err;
  expect_one_sentence(ran, "op 'a'");
  EXPECT_EQ(read_text(output), kOld);
}

TEST_F(Infeasible, MemoryTooSmallExitsWith3) {
  const std::string file = write("rules.json", rules(R"("memory_limit": [
      {"memory": "device0", "bytes": 10}, {"memory": "device1", "bytes": 10}])"));
  const std::string output = write("plan.json", kOld);
  for (const std::string policy : {"auto", "heft", "single_device"}) {
    const Ran ran = run({"plan", write("graph.json", kGraph), "-m", "uniform-2", "--constraints",
                         file, "--policy", policy, "-o", output});
    EXPECT_EQ(ran.exit_code, 3) << policy << ": " << ran.err;
    expect_one_sentence(ran, "");
    EXPECT_EQ(read_text(output), kOld);
  }
}

// Two producers of 400 bytes run first; then neither reader finds the 400 bytes that it makes.
TEST_F(Infeasible, PlanThatStandsStillIsNotCalledGood) {
  const std::string graph = write("graph.json", R"({"format": "tutti-graph", "schema_version": 1,
      "name": "g", "ops": [
      {"name": "p", "outputs": [{"bytes": 400}], "run_time_ns": 100},
      {"name": "q", "outputs": [{"bytes": 400}], "run_time_ns": 100},
      {"name": "after_p", "operands": ["p"], "outputs": [{"bytes": 400}], "run_time_ns": 100},
      {"name": "after_q", "operands": ["q"], "outputs": [{"bytes": 400}], "run_time_ns": 100}]})");
  const std::string plan = path("plan.json");
  const std::vector<std::string> check = {"check", graph, "-m", "uniform-1", "--plan", plan};
  ASSERT_EQ(run({"plan", graph, "-m", "uniform-1", "--policy", "heft", "-o", plan}).exit_code, 0);
  const Ran good = run(check);
  EXPECT_EQ(good.exit_code, 0) << good.out;
  EXPECT_NE(good.out.find("a simulated run of the plan ends"), std::string::npos) << good.out;

  std::vector<std::string> limited = check;
  limited.insert(limited.end(), {"--constraints", write("rules.json", rules(R"("memory_limit": [
      {"memory": "device0", "bytes": 1000}])"))});
  const Ran bad = run(limited);
  EXPECT_EQ(bad.exit_code, 2) << bad.out;
  EXPECT_NE(bad.out.find("stands still at 200 ns: op 'after_p' needs 400 bytes"), std::string::npos)
      << bad.out;
  limited.push_back("--json");
  const Ran json = run(limited);
  EXPECT_NE(json.out.find("\"good\":false"), std::string::npos) << json.out;
}

struct Wrong {
  std::string claim;
  std::vector<std::string> arguments;
};

void PrintTo(const Wrong& wrong, std::ostream* out) {
  *out << wrong.claim;
}

class WrongCommand : public Cli, public ::testing::WithParamInterface<Wrong> {};

// GRAPH stands for a good graph, FOLDER for a folder.
TEST_P(WrongCommand, ExitsWith2AndSaysWhy) {
  std::vector<std::string> arguments = GetParam().arguments;
  for (std::string& argument : arguments) {
    if (argument == "GRAPH") argument = write("graph.json", kGraph);
    if (argument == "FOLDER") argument = path("");
  }
  const Ran ran = run(arguments);
  EXPECT_EQ(ran.exit_code, 2) << ran.err;
  EXPECT_FALSE(ran.err.empty());
  EXPECT_TRUE(ran.out.empty()) << ran.out;
}

INSTANTIATE_TEST_SUITE_P(
    Every, WrongCommand,
    ::testing::Values(
        Wrong{"Nothing", {}}, Wrong{"UnknownCommand", {"plann"}},
        Wrong{"UnknownFlag", {"plan", "GRAPH", "--fast"}}, Wrong{"NoGraph", {"plan"}},
        Wrong{"TooMany", {"plan", "GRAPH", "GRAPH"}},
        Wrong{"SeedIsText", {"plan", "GRAPH", "--seed", "x"}},
        Wrong{"SeedIsNegative", {"plan", "GRAPH", "--seed", "-1"}},
        Wrong{"NoThreads", {"plan", "GRAPH", "--threads", "-1"}},
        Wrong{"NoiseIsNan", {"plan", "GRAPH", "--noise", "nan"}},
        Wrong{"NoiseIsNegative", {"plan", "GRAPH", "--noise", "-1"}},
        Wrong{"NoSeeds", {"compare", "GRAPH", "--seeds", "0"}},
        Wrong{"HugeSeeds", {"compare", "GRAPH", "--seeds", "99999999999999999999"}},
        Wrong{"UnknownModel", {"plan", "GRAPH", "--model", "ideal"}},
        Wrong{"UnknownPolicy", {"plan", "GRAPH", "-m", "uniform-2", "--policy", "luck"}},
        Wrong{"UnknownPolicies",
              {"compare", "GRAPH", "-m", "uniform-2", "--policies", "heft,luck"}},
        Wrong{"UnknownMachine", {"plan", "GRAPH", "-m", "p100-5"}},
        Wrong{"NoMachine", {"plan", "GRAPH", "-m", "uniform-0"}},
        Wrong{"HugeMachine", {"plan", "GRAPH", "-m", "uniform-99999999999"}},
        Wrong{"EmptyMachine", {"plan", "GRAPH", "-m", ""}},
        Wrong{"MissingGraph", {"plan", "/no/such/graph.json"}},
        Wrong{"MissingPlan", {"check", "GRAPH", "-m", "uniform-2", "--plan", "/no/such/plan"}},
        Wrong{"FolderAsGraph", {"plan", "FOLDER", "-m", "uniform-2"}},
        Wrong{"FolderAsMachine", {"plan", "GRAPH", "-m", "FOLDER"}},
        Wrong{"FolderAsCosts", {"plan", "GRAPH", "-m", "uniform-2", "--costs", "FOLDER"}},
        Wrong{"FolderAsOutput", {"graph", "convert", "GRAPH", "-o", "FOLDER"}},
        Wrong{"OutputInNoFolder", {"graph", "convert", "GRAPH", "-o", "/no/such/folder/x"}},
        Wrong{"EmptyStandardInput", {"graph", "convert", "-"}},
        Wrong{"NothingToCheck", {"check", "GRAPH", "-m", "uniform-2"}},
        Wrong{"OnlineWithoutPolicy", {"simulate", "GRAPH", "-m", "uniform-2", "--online"}},
        Wrong{"ClusterOfNoJobs", {"cluster", "--jobs", "0"}},
        Wrong{"ClusterWithoutLoad", {"cluster", "--load", "0"}},
        Wrong{"ClusterOfALoadThatIsNan", {"cluster", "--load", "nan"}},
        Wrong{"ClusterOfAnUnknownLoadThatIsNan", {"cluster", "--unknown-load", "nan"}},
        Wrong{"ClusterOfNoiseThatIsNan", {"cluster", "--noise", "nan"}},
        Wrong{"TailWeightIsNan", {"plan", "GRAPH", "-m", "uniform-2", "--tail-weight", "nan"}},
        Wrong{"ClusterOfNamedJobsAndASet", {"cluster", "align-3", "--set", "train"}},
        Wrong{"ClusterLooksWithoutSymphony",
              {"cluster", "--policy", "fifo", "--decisions-per-look", "4"}},
        Wrong{"ClusterQuickInSimulation", {"cluster", "--policy", "fifo", "--quick", "fifo"}},
        Wrong{"ClusterOfANamelessModel", {"cluster", "--policy", "symphony="}},
        Wrong{"ClusterOfUnknownDecider", {"cluster", "--policy", "luck"}},
        Wrong{"ClusterOfNoFile", {"cluster", "/no/such/graph.json"}},
        Wrong{"ClusterReplaysAGraph", {"cluster", "--replay", "GRAPH"}},
        Wrong{"ClusterReplaysAFolder", {"cluster", "--replay", "FOLDER"}},
        Wrong{"ClusterThatCannotRunIts",
              {"cluster", "align-1", "-m", "uniform-2", "--costs", "FOLDER"}},
        Wrong{"NoReadings", {"telemetry", "--readings", "0"}}, Wrong{"ReportOfNothing", {"report"}},
        Wrong{"ReportOfAGraphAlone", {"report", "GRAPH", "-m", "uniform-2"}},
        Wrong{"ReportOfTwoGraphs", {"report", "GRAPH", "GRAPH", "-m", "uniform-2"}},
        Wrong{"ReportOfAFolder", {"report", "FOLDER"}},
        Wrong{"ReportOfNoSuchBelief", {"report", "--belief", "hope"}},
        Wrong{"ReportOfABeliefAboutNoMachine", {"report", "--belief", "prior", "-m", "/no/such"}},
        Wrong{"ReportOfABeliefWithCostsThatAreAFolder",
              {"report", "--belief", "sim", "-m", "uniform-2", "--costs", "FOLDER"}},
        Wrong{"ReportOfNoFile", {"report", "/no/such/trace.json"}},
        Wrong{"ReportOfEmptyStandardInput", {"report", "-"}},
        Wrong{"NetworkIsNoFile",
              {"plan", "GRAPH", "-m", "uniform-2", "--network", "/no/such/model.safetensors"}},
        Wrong{"NetworkIsAFolder", {"compare", "GRAPH", "-m", "uniform-2", "--network", "FOLDER"}},
        Wrong{"NetworkIsAGraph",
              {"plan", "GRAPH", "-m", "uniform-2", "--policy", "doppler", "--network", "GRAPH"}},
        Wrong{"NetworkOfWhatIfIsAGraph",
              {"what-if", "GRAPH", "-m", "uniform-2", "--add", "device0", "--network", "GRAPH"}},
        Wrong{"NetworkOfSimulateIsAGraph",
              {"simulate", "GRAPH", "-m", "uniform-2", "--network", "GRAPH"}},
        Wrong{"ExactWithNoise", {"exact", "GRAPH", "-m", "uniform-2", "--noise", "0.1"}},
        Wrong{"ExactWithTail", {"exact", "GRAPH", "-m", "uniform-2", "--tail-weight", "1"}},
        Wrong{"ExactWithScenarios", {"exact", "GRAPH", "-m", "uniform-2", "--scenarios", "2"}},
        Wrong{"BudgetOfHeft",
              {"plan", "GRAPH", "-m", "uniform-2", "--policy", "heft", "--budget", "1s"}},
        Wrong{"ScenariosOfExact",
              {"plan", "GRAPH", "-m", "uniform-2", "--policy", "exact", "--scenarios", "2"}},
        Wrong{"StateToStandardOutput",
              {"plan", "GRAPH", "-m", "uniform-2", "--evaluations", "9", "--state", "-"}},
        Wrong{"StateInNoFolder",
              {"plan", "GRAPH", "-m", "uniform-2", "--evaluations", "9", "--state", "/no/such/s"}},
        Wrong{"BudgetAfterABlank", {"plan", "GRAPH", "-m", "uniform-2", "--budget", " 5ms"}},
        Wrong{"BudgetInHexadecimal", {"plan", "GRAPH", "-m", "uniform-2", "--budget", "0x10s"}},
        Wrong{"ModelOfAStudy", {"plan", "GRAPH", "-m", "uniform-2", "--model", "released"}},
        Wrong{"StateOfHeft",
              {"plan", "GRAPH", "-m", "uniform-2", "--policy", "heft", "--state", "s.json"}},
        Wrong{"FromOfLns",
              {"plan", "GRAPH", "-m", "uniform-2", "--policy", "lns", "--from", "p.json"}},
        Wrong{"BudgetOfPoliciesThatDoNotSearch",
              {"compare", "GRAPH", "-m", "uniform-2", "--budget", "1s"}},
        Wrong{"BudgetOfAGivenPlan",
              {"explain", "GRAPH", "a", "-m", "uniform-2", "--plan", "p.json", "--budget", "1s"}},
        Wrong{"PolicyAndPlan",
              {"explain", "GRAPH", "a", "-m", "uniform-2", "--plan", "p.json", "--policy", "heft"}},
        Wrong{"BudgetOnline",
              {"simulate", "GRAPH", "-m", "uniform-2", "--policy", "random", "--online", "--budget",
               "1s"}},
        Wrong{"ManyOps", {"graph", "make", "layered", "--ops", "2000000000"}},
        Wrong{"ManyOperands",
              {"graph", "make", "layered", "--ops", "1000000", "--operands", "1000000"}},
        Wrong{"NegativeOps", {"graph", "make", "layered", "--ops", "-5"}},
        Wrong{"HugeOps", {"graph", "make", "layered", "--ops", "99999999999999999999"}},
        Wrong{"NegativeWidth", {"graph", "make", "layered", "--width", "-5"}},
        Wrong{"NegativeBytes", {"graph", "make", "layered", "--bytes", "-5"}},
        Wrong{"FlopsAreNan", {"graph", "make", "layered", "--flops", "nan"}}),
    [](const auto& instance) { return instance.param.claim; });

using OtherProblem = Cli;

TEST_F(OtherProblem, IsWarnedOfInOneLine) {
  const std::string file = write("graph.json", kGraph);
  const std::string plan = path("plan.json");
  ASSERT_EQ(run({"plan", file, "-m", "uniform-2", "--policy", "heft", "-o", plan}).exit_code, 0);
  const std::string warning = "tutti: warning: " + plan + ": the plan was made for ";
  for (const std::string command : {"simulate", "check"}) {
    const Ran same = run({command, file, "-m", "uniform-2", "--plan", plan});
    EXPECT_EQ(same.exit_code, 0) << same.err;
    EXPECT_EQ(same.err, "");
    const Ran other = run({command, file, "-m", "uniform-3", "--plan", plan});
    EXPECT_EQ(other.exit_code, 0) << other.err;
    EXPECT_EQ(other.err, warning + "another machine\n");
    const Ran noisy = run({command, file, "-m", "uniform-2", "--noise", "0.1", "--plan", plan});
    EXPECT_EQ(noisy.err, warning + "other costs\n");
  }
}

using State = Cli;

TEST_F(State, OfACompleteSearchIsSaidToBeComplete) {
  const std::string file = path("graph.json");
  ASSERT_EQ(run({"graph", "make", "layered", "--ops", "30", "-o", file}).exit_code, 0);
  const std::vector<std::string> count = {
      "plan", file, "-m", "uniform-2", "--state", path("s.json"), "--evaluations", "50"};
  EXPECT_EQ(run(count).err, "");
  const Ran again = run(count);
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_NE(again.err.find("the search is complete"), std::string::npos) << again.err;
}

using Diff = Cli;

TEST_F(Diff, SaysOneThingAboutABadFile) {
  const std::string graph = write("graph.json", kGraph);
  const std::vector<std::pair<std::string, std::string>> files = {
      {"nonsense", "not valid JSON"},
      {"{}", "the plan needs the key \"format\""},
      {R"({"schema_version":1,"traceEvents":[]})", "the trace needs the key \"tutti\""}};
  for (const auto& [text, expected] : files) {
    const std::string bad = write("bad.json", text);
    const Ran ran = run({"diff", bad, bad, "-g", graph, "-m", "uniform-2"});
    EXPECT_EQ(ran.exit_code, 2) << ran.err;
    expect_one_sentence(ran, expected);
    EXPECT_EQ(ran.err.find("bad.json"), ran.err.rfind("bad.json")) << ran.err;
  }
}

using Make = Cli;

TEST_F(Make, SaysInOneSentenceWhatCannotBeMade) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> wishes = {
      {{"chainmm", "--split", "10001,1,1"}, "does not split into 10001 blocks"},
      {{"chainmm", "--split", "2,2"}, "--split is '2,2'"},
      {{"chainmm", "--split", "2,x,2"}, "--split is '2,x,2'"},
      {{"chainmm", "--split", "0,1,1"}, "does not split into 0 blocks; ask for 1 to 10000"},
      {{"chainmm", "--size", "-1"}, "has size -1"},
      {{"chainmm", "--size", "2000000000", "--split", "1,1,1"}, "bytes"},
      {{"chainmm", "--size", "1048576", "--split", "65536,65536,1"}, "ops and edges"},
      {{"chainmm", "--dtype", "i8"}, "--dtype is 'i8'"},
      {{"chainmm", "--devices", "0"}, "devices, not 0"},
      {{"ffnn", "--sizes", "4096"}, "sizes"},
      {{"ffnn", "--sizes", "4096,many"}, "--sizes is '4096,many'"},
      {{"ffnn", "--batch", "3"}, "does not split into 4 blocks; ask for 1 to 3"},
      {{"ffnn", "--batch", "1000000", "--shards", "1000000"}, "ops and edges"},
      {{"llama-block", "--batch", "1000000", "--split", "dp", "--shards", "1000000"},
       "ops and edges"},
      {{"llama-block", "--split", "pp"}, "there is no split 'pp'"},
      {{"llama-block", "--split", "dp", "--batch", "3"}, "does not split into 4"},
      {{"llama-block", "--shards", "-4"}, "for -4 shards"},
      {{"llama-block", "--batch", "-9223372036854775808"}, "a batch of -9223372036854775808"},
      {{"llama-block", "--row-shards", "3000000000"}, "does not split"},
      {{"llama-layer", "--split", "tp", "--shards", "64"}, "does not split into 64"},
      {{"llama-layer", "--heads", "0"}, "do not make 0 heads"},
      {{"cholesky", "--tiles", "1000000"}, "ops and edges"},
      {{"cholesky", "--tile-size", "0"}, "at least 1 tile"},
      {{"fork-join", "--width", "99999999999"}, "ops and edges"},
      {{"tree", "--levels", "100"}, "ops and edges"},
      {{"tree", "--direction", "up"}, "--direction is 'up'"},
      {{"stencil", "--radius", "-1"}, "radius"},
      {{"fft", "--points", "12"}, "power of two"},
      {{"all-to-all", "--width", "1000000"}, "ops and edges"},
      {{"random", "--ccr", "nan"}, "ratio"},
      {{"random", "--rate", "0"}, "positive"}};
  for (const auto& [flags, expected] : wishes) {
    std::vector<std::string> arguments = {"graph", "make"};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    const Ran ran = run(arguments);
    EXPECT_EQ(ran.exit_code, 2) << expected;
    expect_one_sentence(ran, expected);
  }
}

TEST_F(Make, WritesTheSameBytesForTheSameFlags) {
  for (const char* kind : {"chainmm", "ffnn", "llama-block", "llama-layer", "cholesky", "layered",
                           "fork-join", "tree", "stencil", "fft", "all-to-all", "random"}) {
    const Ran first = run({"graph", "make", kind});
    EXPECT_EQ(first.exit_code, 0) << kind << ": " << first.err;
    EXPECT_EQ(first.out, run({"graph", "make", kind}).out) << kind;
    // What is written can be read again, fingerprint included.
    const Ran read = run({"graph", "info", write("made.json", first.out)});
    EXPECT_EQ(read.exit_code, 0) << kind << ": " << read.err;
  }
}

using FullDisk = Cli;

TEST_F(FullDisk, ExitsWith1AndLeavesNoTemporaryFile) {
  const Ran ran = run({"graph", "make", "layered", "--ops", "1000", "-o", "/dev/full"});
  EXPECT_EQ(ran.exit_code, 1);
  expect_one_sentence(ran, "/dev/full: ");
  for (const auto& entry : std::filesystem::directory_iterator("/dev")) {
    EXPECT_FALSE(entry.path().filename().string().starts_with("full.")) << entry.path();
  }
}

TEST_F(FullDisk, KeepsTheOldFile) {
  const std::string output = write("graph.json", kOld);
  const Ran ran =
      run({"graph", "make", "layered", "--ops", "1000", "-o", output}, {.longest_file = 8192});
  EXPECT_EQ(ran.exit_code, 1);
  expect_one_sentence(ran, output + ": ");
  EXPECT_EQ(read_text(output), kOld);
  EXPECT_EQ(listing(), std::vector<std::string>{"graph.json"});
}

TEST_F(FullDisk, BehindStandardOutputExitsWith1) {
  const std::string file = write("graph.json", kGraph);
  const std::vector<std::string> commands[] = {
      {"graph", "convert", file},
      {"graph", "info", file},
      {"graph", "info", file, "--json"},
      {"machine", "show", "uniform-1024"},
      {"machine", "list"},
      {"policies"},
      {"cluster", "--saturation", "185.7", "--jobs", "2"},
      {"telemetry", "--readings", "1", "--interval-ms", "1"},
      {"plan", file, "-m", "uniform-1024", "--policy", "heft"},
      {"plan", file, "-m", "uniform-2", "--policy", "heft", "-o", "-"},
      {"simulate", file, "-m", "uniform-2", "--policy", "heft", "--json"},
      {"compare", file, "-m", "uniform-2", "--policies", "heft"},
  };
  for (const std::vector<std::string>& command : commands) {
    const Ran ran = run(command, {.standard_output = "/dev/full"});
    EXPECT_EQ(ran.exit_code, 1) << command[0] << " " << command[1 % command.size()];
    EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
  }
}

using Outputs = Cli;

TEST_F(Outputs, DoNotReplaceWhatIsRead) {
  const std::string graph = write("graph.json", kGraph);
  const std::string rows = write("times.csv", "name,ns\na,5\nb,5\n");
  const std::string machine = write("machine.toml", run({"machine", "show", "uniform-2"}).out);
  const std::string plan = path("plan.json");
  const std::string trace = path("trace.json");
  const std::vector<std::string> problem = {graph, "-m", machine};
  const auto with = [&](const std::string& command, const std::vector<std::string>& more) {
    std::vector<std::string> words = {command};
    words.insert(words.end(), problem.begin(), problem.end());
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  ASSERT_EQ(run(with("plan", {"--policy", "heft", "-o", plan})).exit_code, 0);
  ASSERT_EQ(run(with("simulate", {"--plan", plan, "--trace", trace})).exit_code, 0);
  const std::pair<std::vector<std::string>, std::string> refused[] = {
      {with("plan", {"--policy", "heft", "-o", graph}), graph},
      {with("plan", {"--policy", "heft", "-o", machine}), machine},
      {with("plan", {"--evaluations", "20", "--from", plan, "-o", plan}), plan},
      {with("plan", {"--evaluations", "20", "--state", graph}), graph},
      {with("simulate", {"--policy", "heft", "--trace", graph}), graph},
      {with("simulate", {"--plan", plan, "--trace", plan}), plan},
      {with("export", {"--plan", plan, "--to", "csv", "-o", plan}), plan},
      {with("export", {"--trace", trace, "--to", "perfetto", "-o", trace}), trace},
      {with("exact", {"-o", graph}), graph},
      {with("report", {trace, "-o", trace}), trace},
      {with("report", {trace, "--svg", machine}), machine},
      {{"costs", "import", rows, "-g", graph, "-o", rows}, rows},
      {{"costs", "demands", graph, "--costs", rows, "-o", graph}, graph},
  };
  for (const auto& [words, file] : refused) {
    const std::string before = read_text(file);
    const Ran ran = run(words);
    EXPECT_EQ(ran.exit_code, 2) << words[0] << ": " << ran.err;
    expect_one_sentence(ran, file + ", which is read; name another file");
    EXPECT_EQ(read_text(file), before);
  }
}

}  // namespace
}  // namespace tutti
