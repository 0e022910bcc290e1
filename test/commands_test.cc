// What commands promise beyond what the rooms below them do: run as a user would.

#include <regex>
#include <string>

#include "test/support/cli.h"
#include "tutti/belief/belief.h"
#include "tutti/belief/constants_file.h"
#include "tutti/machine/preset.h"
#include "tutti/policy/doppler/general.h"
#include "tutti/policy/doppler/residual_net.h"
#include "tutti/runtime/sim/jobs/options.h"

namespace tutti {
namespace {

using Commands = Cli;

// The number behind a key in JSON, the n-th of them.
double number_of(const std::string& json, const std::string& key, int n = 0) {
  const std::regex pattern("\"" + key + "\": *(-?[0-9.e+-]+)");
  auto found = std::sregex_iterator(json.begin(), json.end(), pattern);
  for (; n > 0 && found != std::sregex_iterator(); --n) ++found;
  if (found == std::sregex_iterator()) {
    ADD_FAILURE() << key << " is missing in " << json;
    return -1;
  }
  return std::stod((*found)[1]);
}

TEST_F(Commands, WhatIfNeverLosesByADeviceMore) {
  // By luck of the search alone, the first of these seeds did.
  for (const char* seed : {"1", "2", "3"}) {
    const std::string graph = path("graph.json");
    ASSERT_EQ(run({"graph", "make", "layered", "--ops", "60", "--width", "8", "--bytes", "20000000",
                   "--seed", seed, "-o", graph})
                  .exit_code,
              0);
    const Ran more =
        run({"what-if", graph, "-m", "p100-4", "--add", "gpu", "--evaluations", "150", "--json"});
    ASSERT_EQ(more.exit_code, 0) << more.err;
    EXPECT_LE(number_of(more.out, "change"), 0) << "seed " << seed;
    const Ran fewer = run(
        {"what-if", graph, "-m", "p100-4", "--remove", "gpu0", "--evaluations", "150", "--json"});
    ASSERT_EQ(fewer.exit_code, 0) << fewer.err;
    EXPECT_GE(number_of(fewer.out, "change"), 0) << "seed " << seed;
  }
}

TEST_F(Commands, ClusterReplaysWhatAFileSaysTheSameWayEveryTime) {
  const std::string arrivals = write("arrivals.json", R"({"schema_version": 1, "arrival": [
      {"time_ns": 0, "job": "align-3"}, {"time_ns": 1000000, "job": "align+eeg-7"}]})");
  const Ran first = run({"cluster", "--replay", arrivals, "--policy", "heft,sparrow", "--json"});
  ASSERT_EQ(first.exit_code, 0) << first.err;
  EXPECT_EQ(number_of(first.out, "jobs"), 2);
  EXPECT_GE(number_of(first.out, "mean_slowdown"), 1);
  EXPECT_EQ(first.out,
            run({"cluster", "--replay", arrivals, "--policy", "heft,sparrow", "--json"}).out);
  for (const std::vector<std::string>& more :
       std::vector<std::vector<std::string>>{{"--load", "0.5"},
                                             {"--saturation", "5"},
                                             {"--jobs", "5"},
                                             {"--process", "bursts"},
                                             {"--set", "train"},
                                             {"align-3"}}) {
    std::vector<std::string> words = more;
    words.insert(words.begin(), "cluster");
    words.insert(words.end(), {"--replay", arrivals, "--policy", "heft"});
    const Ran both = run(words);
    EXPECT_EQ(both.exit_code, 2) << more[0];
    expect_one_sentence(both, "has no effect with --replay");
  }
  const std::string bad = write("bad.json", R"({"schema_version": 1, "arrival": [
      {"time_ns": 0, "job": "align-x"}]})");
  const Ran refused = run({"cluster", "--replay", bad});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_NE(refused.err.find("bad.json:2"), std::string::npos) << refused.err;
}

TEST_F(Commands, ClusterPrintsItsSaturationWhichCanBeGivenAgain) {
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
  GTEST_SKIP() << "with the address sanitizer the search takes longer than commands of tests may";
#endif
#endif
  const std::vector<std::string> words = {"cluster", "align-3", "eeg-1",    "--jobs", "40",
                                          "--load",  "0.8",     "--policy", "heft",   "--json"};
  const Ran found = run(words);
  ASSERT_EQ(found.exit_code, 0) << found.err;
  EXPECT_EQ(found.out, run(words).out);
  const double saturation = number_of(found.out, "saturation_jobs_per_s");
  EXPECT_DOUBLE_EQ(number_of(found.out, "jobs_per_s"), 0.8 * saturation);
  EXPECT_GT(number_of(found.out, "mean_jobs_in_system"), 0);
  EXPECT_GE(number_of(found.out, "most_jobs_in_system"),
            number_of(found.out, "mean_jobs_in_system"));
  std::vector<std::string> given = words;
  given.insert(given.end(), {"--saturation", std::to_string(saturation)});
  const Ran again = run(given);
  ASSERT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(number_of(again.out, "mean_completion_ns"), number_of(found.out, "mean_completion_ns"));
}

TEST_F(Commands, ClusterDecisionsTakeTheTimeThatIsSaid) {
  const auto completion = [&](const char* depth, const char* delay) {
    const Ran ran = run({"cluster", "align-3", "--jobs", "20", "--saturation", "100", "--policy",
                         "fifo", "--queue-depth", depth, "--decision-delay", delay, "--json"});
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    return number_of(ran.out, "mean_completion_ns");
  };
  EXPECT_LT(completion("0", "0ns"), completion("0", "2ms"));
  EXPECT_GT(completion("2", "measured"), 0);
  expect_one_sentence(run({"cluster", "align-3", "--decision-delay", "50"}),
                      "must be a time such as 500ns, 50us, 2ms or 1s, or measured");
  expect_one_sentence(run({"cluster", "a.json", "--runtime", "local", "--queue-depth", "2"}),
                      "is for --runtime sim");
}

TEST_F(Commands, RenamedWordsAreAcceptedForOneRelease) {
  const std::string graph = path("graph.json");
  ASSERT_EQ(run({"graph", "make", "layered", "--ops", "20", "-o", graph}).exit_code, 0);
  const Ran now = run({"graph", "perturb", graph, "--seed", "7"});
  EXPECT_EQ(now.exit_code, 0) << now.err;
  EXPECT_EQ(run({"graph", "shake", graph, "--seed", "7"}).out, now.out);
  // It is refused as --fallback is.
  EXPECT_EQ(run({"cluster", "--quick=fifo"}).err, run({"cluster", "--fallback=fifo"}).err);
}

TEST_F(Commands, ClusterRunsJobsForRealAndVerifiesThem) {
  const std::string graph = path("job.json");
  ASSERT_EQ(run({"graph", "make", "chainmm", "--size", "48", "--split", "2,2,2", "--devices", "2",
                 "-o", graph})
                .exit_code,
            0);
  const Ran ran = run({"cluster", graph, "--saturation", "185.7", "--runtime", "local", "-m",
                       "this-host:2x1", "--jobs", "8", "--repeats", "2", "--unknown-load", "0.5",
                       "--verify", "--policy", "fifo,heft", "--json"});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_EQ(number_of(ran.out, "repeats"), 2);
  EXPECT_GT(number_of(ran.out, "mean_slowdown", 0), 0);
  EXPECT_NE(ran.out.find("\"good\":true"), std::string::npos) << ran.out;
  EXPECT_EQ(ran.out.find("\"good\":false"), std::string::npos) << ran.out;
  for (const std::vector<std::string>& bad : std::vector<std::vector<std::string>>{
           {"cluster", "--runtime", "local"},     // no graphs
           {"cluster", graph, "--repeats", "2"},  // of the other runtime
           {"cluster", graph, "--runtime", "local", "--noise", "0.1"},
           {"cluster", graph, "--runtime", "local", "--policy", "symphony"},
           {"cluster", graph, "--runtime", "local", "--policy", "symphony=" + graph},
           {"cluster", graph, "--runtime", "local", "--adapt", "m", "--adapted", path("no/m")}}) {
    const Ran refused = run(bad);
    EXPECT_NE(refused.exit_code, 0) << refused.out;
    EXPECT_EQ(std::count(refused.err.begin(), refused.err.end(), '\n'), 1) << refused.err;
  }
  const auto alone = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words = {"cluster", graph, "--saturation",  "185.7",    "--runtime",
                                      "local",   "-m",  "this-host:1x1", "--policy", "fifo"};
    words.insert(words.end(), more.begin(), more.end());
    return run(words);
  };
  expect_one_sentence(alone({"--quick", "fifo"}), "is for models of Symphony");
  expect_one_sentence(alone({"--unknown-work", "compute"}), "give one by --unknown-load");
  expect_one_sentence(run({"cluster", "align-3", "--runtime", "local"}), "have no kernels");
}

TEST_F(Commands, DemandsFollowFromSizesAndRunTimesAndStayIfTheyAreThere) {
  // 3 values of 4000 bytes in 1000 ns: 12 bytes per ns, of a memory that carries 10.
  const std::string graph = write("graph.json", R"({"format": "tutti-graph", "schema_version": 1,
      "inputs": [{"name": "x", "bytes": 4000}, {"name": "y", "bytes": 4000}],
      "ops": [{"name": "a", "kind": "fast", "operands": ["x", "y"], "outputs": [{"bytes": 4000}]},
              {"name": "b", "kind": "slow", "operands": ["x", "y"], "outputs": [{"bytes": 4000}]},
              {"name": "c", "kind": "known", "operands": ["x"], "outputs": [{"bytes": 4000}]}]})");
  const std::string machine = write("machine.json", R"({"schema_version": 1, "device": [
      {"name": "cpu", "kind": "cpu", "uses_host_memory": true, "bytes_per_s": 10000000000}]})");
  const std::string costs = write("costs.json", R"({"schema_version": 1, "run_time": [
      {"kind": "fast", "time_ns": 1000}, {"kind": "slow", "time_ns": 4000},
      {"kind": "known", "time_ns": 1000}],
      "demand": [{"kind": "known", "memory_bytes_per_s": 5}]})");
  const std::string output = path("with.json");
  const Ran ran = run({"costs", "demands", graph, "-m", machine, "--costs", costs, "-o", output});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  const std::string text = read_text(output);
  EXPECT_EQ(number_of(text, "memory_bytes_per_s", 0), 5) << text;
  EXPECT_DOUBLE_EQ(number_of(text, "memory_bytes_per_s", 1), 10e9) << text;  // fast
  EXPECT_DOUBLE_EQ(number_of(text, "memory_bytes_per_s", 2), 3e9) << text;   // slow
}

TEST_F(Commands, PlanNamesThePoliciesWithoutAPlan) {
  const std::string graph = path("graph.json");
  ASSERT_EQ(run({"graph", "make", "layered", "--ops", "30", "-o", graph}).exit_code, 0);
  const Ran ran = run({"plan", graph, "-m", "p100-4", "--evaluations", "50"});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_NE(ran.out.find("left out: expert (no plan that runs"), std::string::npos) << ran.out;
}

TEST_F(Commands, PlanKeepsToACountBeyondOnePlanOfEachPolicy) {
  const std::string graph = path("graph.json");
  ASSERT_EQ(run({"graph", "make", "layered", "--ops", "30", "-o", graph}).exit_code, 0);
  for (const int count : {1, 25, 60, 500}) {
    const Ran ran =
        run({"plan", graph, "-m", "p100-4", "--evaluations", std::to_string(count), "--json"});
    ASSERT_EQ(ran.exit_code, 0) << ran.err;
    // There are some twenty policies; a round of the search may end a little late.
    EXPECT_LE(number_of(ran.out, "evaluations"), std::max(25, count + count / 5)) << count;
  }
}

TEST_F(Commands, PlanSaysNothingOfThePlanThatItsSearchStartedFrom) {
  // Here the search starts from a plan of m_sct, which notes how it chose.
  const std::string graph = path("graph.json");
  ASSERT_EQ(
      run({"graph", "make", "layered", "--ops", "40", "--bytes", "1000000", "-o", graph}).exit_code,
      0);
  std::string limits;
  for (const char* gpu : {"gpu0", "gpu1", "gpu2", "gpu3"}) {
    limits += (limits.empty() ? "" : ",") + std::string(R"({"memory": ")") + gpu +
              R"(", "bytes": 6500000})";
  }
  const std::string rules =
      write("rules.json", R"({"schema_version": 1, "memory_limit": [)" + limits + "]}");
  const Ran ran =
      run({"plan", graph, "-m", "p100-4", "--constraints", rules, "--evaluations", "200"});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  ASSERT_TRUE(ran.out.starts_with("auto:search:")) << ran.out;
  EXPECT_EQ(ran.out.find("favourites"), std::string::npos) << ran.out;
}

TEST_F(Commands, DopplerDecidesByTheNetworkThatIsNamed) {
  const std::string graph = path("graph.json");
  ASSERT_EQ(run({"graph", "make", "layered", "--ops", "80", "--bytes", "20000000", "-o", graph})
                .exit_code,
            0);
  const std::string fresh =
      write("fresh.safetensors", tensors_to_bytes(ResidualNet::fresh({.width = 16}, 3)));
  const std::string general = write("general.safetensors", std::string(general_model_bytes()));
  const auto planned = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"plan",     graph,     "-m", "p100-4",
                                          "--policy", "doppler", "-o", path("plan.json")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Ran ran = run(arguments);
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    return read_text(path("plan.json"));
  };
  const std::string without = planned({});
  EXPECT_EQ(planned({"--network", general}), without);
  EXPECT_NE(planned({"--network", fresh}), without);
  // The same network serves compare, and doppler within auto.
  const auto makespan = [&](const std::vector<std::string>& arguments) {
    const Ran ran = run(arguments);
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    const size_t row = ran.out.find("\"policy\":\"doppler\"");
    EXPECT_NE(row, std::string::npos) << ran.out;
    const size_t number = ran.out.find_first_of("0123456789", row);
    return std::stod(ran.out.substr(std::min(number, ran.out.size() - 1)));
  };
  const std::vector<std::string> alone = {"compare", graph,    "-m",        "p100-4", "--policies",
                                          "doppler", "--json", "--network", fresh};
  const std::vector<std::string> portfolio = {
      "plan", graph, "-m", "p100-4", "--evaluations", "1", "--json", "--network", fresh};
  EXPECT_EQ(makespan(alone), makespan(portfolio));
  EXPECT_NE(makespan(alone),
            makespan({"compare", graph, "-m", "p100-4", "--policies", "doppler", "--json"}));
}

TEST_F(Commands, ANetworkThatIsNoneIsRefusedByName) {
  const std::string graph = write("graph.json", kGraph);
  const std::string good = tensors_to_bytes(ResidualNet::fresh({.width = 16}, 3));
  std::string other = good;
  other.replace(other.find("residual"), 8, "unheardo");
  const std::pair<const char*, std::string> wrong[] = {
      {"cut", good.substr(0, good.size() - 5)},
      {"longer", good + "x"},
      {"empty", ""},
      {"not a model", "{}"},
      {"of an unknown network", other},
  };
  for (const auto& [claim, bytes] : wrong) {
    const std::string file = write("model.safetensors", bytes);
    for (const std::vector<std::string>& command :
         {std::vector<std::string>{"plan", graph, "--policy", "doppler"},
          {"plan", graph},
          {"compare", graph, "--policies", "doppler,heft"},
          {"compare", graph},
          {"simulate", graph, "--policy", "doppler"},
          {"explain", graph, "a", "--policy", "doppler"},
          {"what-if", graph, "--add", "device0"}}) {
      std::vector<std::string> arguments = command;
      arguments.insert(arguments.end(), {"-m", "uniform-2", "--network", file});
      const Ran ran = run(arguments);
      EXPECT_EQ(ran.exit_code, 2) << claim << ", " << command[0] << ": " << ran.err;
      expect_one_sentence(ran, file);
    }
  }
}

TEST_F(Commands, ANetworkIsRefusedWhereNobodyAsksIt) {
  const std::string graph = write("graph.json", kGraph);
  const std::string file =
      write("model.safetensors", tensors_to_bytes(ResidualNet::fresh({.width = 16}, 3)));
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"plan", graph, "--policy", "heft"},
        {"compare", graph, "--policies", "heft,cpop"},
        {"simulate", graph, "--policy", "critical_path", "--online"}}) {
    std::vector<std::string> arguments = command;
    arguments.insert(arguments.end(), {"-m", "uniform-2", "--network", file});
    const Ran ran = run(arguments);
    EXPECT_EQ(ran.exit_code, 2) << command[0] << ": " << ran.err;
    expect_one_sentence(ran, "--network is for");
  }
}

TEST_F(Commands, ReportTakesATrainingRunByItsFolderOrLog) {
  std::filesystem::create_directory(path("run"));
  const std::string update =
      R"({"update":1,"episodes":8,"stage":0,"seconds":1,"mean_ratio":1.5,"greedy_ratio":1.25})"
      "\n";
  const std::string log = write("run/log.jsonl", update + R"({"update":2,"epi)");  // killed
  for (const std::string& given : {path("run"), path("run/"), log, write("any", update)}) {
    const Ran ran = run({"report", given, "-o", path("report.html")});
    if (ran.err.find("built without its page") != std::string::npos) GTEST_SKIP() << ran.err;
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    EXPECT_NE(ran.out.find("training logs: 1"), std::string::npos) << ran.out;
  }
  // A name that says it is one is taken at its word.
  const Ran cut = run({"report", write("cut.jsonl", R"({"upd)"), "-o", path("report.html")});
  EXPECT_EQ(cut.exit_code, 2);
  expect_one_sentence(cut, "cut.jsonl: holds no whole update");
}

// The constants of a network with the counters that --belief prior takes, one of them learnt.
std::string learnt_constants(const std::string& preset) {
  const Machine machine = load_machine(preset).value();
  const Belief belief(machine, usual_counters(machine));
  std::vector<double> constants = belief.network().start();
  constants[0] = raw_value(belief.network().constants()[0].range, 0.8125);
  TensorFile file;
  store_constants(belief.network(), constants, file);
  return tensors_to_bytes(file);
}

TEST_F(Commands, ReportDrawsTheBeliefAboutAMachine) {
  const std::string page = path("belief.html");
  const Ran prior = run({"report", "--belief", "prior", "-m", "p100-4", "-o", page});
  if (prior.err.find("built without its page") != std::string::npos) GTEST_SKIP() << prior.err;
  ASSERT_EQ(prior.exit_code, 0) << prior.err;
  EXPECT_NE(prior.out.find("beliefs: 1"), std::string::npos) << prior.out;
  EXPECT_EQ(read_text(page).find("0.8125"), std::string::npos);
  const std::string model = write("model.safetensors", learnt_constants("p100-4"));
  const Ran learnt = run({"report", model, "--belief", "prior", "-m", "p100-4", "-o", page});
  ASSERT_EQ(learnt.exit_code, 0) << learnt.err;
  EXPECT_NE(read_text(page).find("0.8125"), std::string::npos);
  EXPECT_EQ(run({"report", "--belief", "host", "-o", page}).exit_code, 0);
  const Ran other = run({"report", model, "--belief", "prior", "-m", "uniform-2", "-o", page});
  EXPECT_EQ(other.exit_code, 2);
  expect_one_sentence(other, "model.safetensors");
  const Ran alone = run({"report", model, "-o", page});
  EXPECT_EQ(alone.exit_code, 2);
  expect_one_sentence(alone, "--belief");
}

TEST_F(Commands, ClusterTakesJobsThatAutoPlanned) {
  const Ran ran = run({"cluster", "align-3", "--jobs", "3", "--saturation", "100", "--policy",
                       "planned_auto", "--json"});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_GE(number_of(ran.out, "mean_slowdown"), 1);
}

TEST_F(Commands, CalibrateLearnsCostsFromTracesAndPlanTellsTheirValidation) {
  const std::string graph = path("graph.json");
  ASSERT_EQ(run({"graph", "make", "cholesky", "--tiles", "6", "-o", graph}).exit_code, 0);
  std::vector<std::string> learn = {"calibrate",
                                    graph,
                                    "-m",
                                    "p100-4",
                                    "-o",
                                    path("costs.json"),
                                    "--machine-output",
                                    path("machine.json"),
                                    "--state",
                                    path("state.json"),
                                    "--from-trace"};
  for (const char* seed : {"1", "2", "3"}) {
    const std::string trace = path(std::string("trace") + seed + ".json");
    ASSERT_EQ(run({"simulate", graph, "-m", "p100-4", "--noise", "0.1", "--policy", "random",
                   "--seed", seed, "--trace", trace})
                  .exit_code,
              0);
    learn.push_back(trace);
  }
  const Ran learned = run(learn);
  ASSERT_EQ(learned.exit_code, 0) << learned.err;
  EXPECT_NE(learned.out.find("runs 3,"), std::string::npos) << learned.out;
  const Ran before = run({"simulate", graph, "-m", "p100-4", "--policy", "heft", "--json"});
  const Ran after = run({"simulate", graph, "-m", path("machine.json"), "--costs",
                         path("costs.json"), "--noise", "0", "--policy", "heft", "--json"});
  ASSERT_EQ(after.exit_code, 0) << after.err;
  EXPECT_NEAR(number_of(after.out, "makespan_ns") / number_of(before.out, "makespan_ns"), 1, 0.1);
  // A state goes on: three more runs are six.
  const Ran again = run(learn);
  EXPECT_NE(again.out.find("runs 6,"), std::string::npos) << again.out;

  std::string costs = read_text(path("costs.json"));
  costs.insert(costs.rfind('}'),
               R"(,"validation":{"graphs":1,"plans":7,"rank_correlation":0.5,)"
               R"("rank_correlation_better_half":0.25,"mean_error":0.125,"top1_regret":0.5})");
  const std::string validated = write("validated.json", costs);
  const Ran plan = run({"plan", graph, "-m", "p100-4", "--costs", validated, "--policy", "heft",
                        "-o", path("plan.json")});
  ASSERT_EQ(plan.exit_code, 0) << plan.err;
  EXPECT_NE(plan.out.find("simulator against 7 plans"), std::string::npos) << plan.out;
  EXPECT_NE(read_text(path("plan.json")).find("simulator against 7"), std::string::npos);
  EXPECT_EQ(run({"check", graph, "-m", "p100-4", "--costs", validated, "--plan", path("plan.json")})
                .exit_code,
            0);
}

TEST_F(Commands, CalibrateAndValidateSayWhatIsWrongInOneSentence) {
  const std::string graph = path("graph.json");
  const std::string other = path("other.json");
  ASSERT_EQ(run({"graph", "make", "cholesky", "--tiles", "3", "-o", graph}).exit_code, 0);
  ASSERT_EQ(run({"graph", "make", "cholesky", "--tiles", "4", "-o", other}).exit_code, 0);
  const std::string trace = path("trace.json");
  ASSERT_EQ(
      run({"simulate", graph, "-m", "p100-4", "--policy", "heft", "--trace", trace}).exit_code, 0);
  const std::string costs = path("costs.toml");
  const auto learn = [&](std::vector<std::string> more) {
    std::vector<std::string> arguments = {"calibrate", "-o", costs};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(arguments);
  };
  const std::pair<Ran, const char*> cases[] = {
      {learn({"-m", "p100-4", "--from-trace", trace}), "without its graph"},
      {learn({other, "-m", "p100-4", "--from-trace", trace}), "another graph"},
      {learn({graph, "-m", "v100-8-nvlink", "--from-trace", trace}), "another machine"},
      {learn({path("absent.json")}), "absent.json"},
      {learn({graph, "--state", "-"}), "--state needs"},
      {learn({graph, "--budget", "soon"}), "must be a time"},
      {learn({graph, "--machine-output", path("./costs.toml")}), "a file of its own"},
      {learn({graph, "--state", costs}), "a file of its own"},
      {learn({graph, "--machine-output", path("no/m.toml")}), "no/m.toml: cannot be written"},
      {run({"validate", graph, "-m", "this-host:1x1", "-o", path("no/v.json")}),
       "no/v.json: cannot be written"},
      {run({"run", graph, "-m", "this-host:1x1", "--trace", path("no/t.json")}),
       "no/t.json: cannot be written"},
      {run({"validate", graph, "--update-costs"}), "--update-costs needs"},
      {run({"validate", "--online", graph}), "--online needs --costs"},
      {run({"validate", "--online", "--costs", costs}), "--online needs jobs"},
      {run({"validate", "--online", graph, "--costs", path("absent.toml")}), "absent.toml"},
      {run({"validate", "--online", graph, "--plans", "3"}), "--plans"},
      {run({"validate", "--online", graph, "--policy", "fifo"}), "two policies"},
      {run({"validate", graph, "--load", "0.5"}), "add --online"},
      {run({"validate", graph, "-m", "p100-4", "--costs", path("absent.toml")}), "absent.toml"},
  };
  for (const auto& [ran, part] : cases) {
    EXPECT_EQ(ran.exit_code, 2) << part << ": " << ran.err;
    expect_one_sentence(ran, part);
  }
  ASSERT_EQ(learn({graph, "-m", "p100-4", "--from-trace", trace}).exit_code, 0);
  const Ran seen = run({"validate", graph, "-m", "p100-4", "--costs", costs});
  EXPECT_EQ(seen.exit_code, 2);
  expect_one_sentence(seen, "were measured on this graph");
}

TEST_F(Commands, CalibrateMeasuresThisHostAndValidateRunsOtherGraphs) {
  const std::string graph = path("graph.json");
  const std::string other = path("other.json");
  ASSERT_EQ(run({"graph", "make", "cholesky", "--tiles", "3", "--tile-size", "64", "-o", graph})
                .exit_code,
            0);
  ASSERT_EQ(run({"graph", "make", "cholesky", "--tiles", "4", "--tile-size", "64", "-o", other})
                .exit_code,
            0);
  const std::string costs = path("costs.json");
  const Ran measured = run({"calibrate", graph, "-m", "this-host:1x1", "--ladder", "none", "--runs",
                            "40", "-o", costs, "--state", path("state.json")});
  ASSERT_EQ(measured.exit_code, 0) << measured.err;
  EXPECT_NE(measured.out.find("gemm"), std::string::npos) << measured.out;
  const Ran validated = run({"validate", other, "-m", "this-host:1x1", "--costs", costs, "--plans",
                             "4", "--repeats", "1", "--update-costs", "-o", path("v.json")});
  ASSERT_EQ(validated.exit_code, 0) << validated.err;
  EXPECT_NE(read_text(costs).find("\"validation\""), std::string::npos);
  EXPECT_GT(number_of(read_text(path("v.json")), "real_ns"), 0);
  const Ran online = run({"validate", "--online", other, "-m", "this-host:1x1", "--costs", costs,
                          "--policy", "fifo,critical_path", "--jobs", "4", "--repeats", "2",
                          "--saturation", "200", "-o", path("online.json")});
  ASSERT_EQ(online.exit_code, 0) << online.err;
  EXPECT_NE(online.out.find("2 turns of 4 jobs under 2 policies"), std::string::npos) << online.out;
  EXPECT_EQ(number_of(read_text(path("online.json")), "turns"), 2);
  const Ran seen = run({"validate", "--online", graph, "-m", "this-host:1x1", "--costs", costs});
  EXPECT_EQ(seen.exit_code, 2);
  expect_one_sentence(seen, "were measured on this graph");
}

}  // namespace
}  // namespace tutti
