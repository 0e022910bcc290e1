// Answers must be right or refused: costs that do not cover the problem, optima that are called
// proven, makespans that were never planned, baselines that change with the question.

#include <chrono>
#include <regex>
#include <string>

#include "test/support/cli.h"
#include "test/support/shared_data.h"

namespace tutti {
namespace {

using Answers = Cli;

// The numbers behind a key in JSON; null and the rest are left out.
std::vector<double> numbers_of(const std::string& json, const std::string& key) {
  const std::regex pattern("\"" + key + "\": *(-?[0-9.e+-]+)");
  std::vector<double> numbers;
  for (std::sregex_iterator it(json.begin(), json.end(), pattern), end; it != end; ++it) {
    numbers.push_back(std::stod((*it)[1]));
  }
  return numbers;
}

size_t lines_of(const std::string& text) {
  return static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
}

// Ops that state no work, as those of task graphs in text formats.
const char* const kTasks = R"({"format": "tutti-graph", "schema_version": 1, "name": "tasks",
 "ops": [{"name": "a", "kind": "lu", "outputs": [{"bytes": 8}]},
         {"name": "b", "kind": "fwd", "operands": ["a"], "outputs": [{"bytes": 8}]},
         {"name": "c", "kind": "fwd", "operands": ["a"], "outputs": [{"bytes": 8}]}]})";

std::string costs_for(const std::vector<std::string>& kinds,
                      const std::vector<std::string>& device_kinds) {
  std::string text = "{\"schema_version\": 1, \"run_time\": [";
  for (const std::string& kind : kinds) {
    for (const std::string& device_kind : device_kinds) {
      text += (text.back() == '[' ? "\n{\"kind\": \"" : ",\n{\"kind\": \"") + kind +
              "\", \"device_kind\": \"" + device_kind + "\", \"time_ns\": 5000000}";
    }
  }
  return text + "]}";
}

TEST_F(Answers, ADeviceKindWithoutTimesGetsNoOpsAndOneWarning) {
  const std::string graph = write("tasks.json", kTasks);
  const std::string costs = write("costs.json", costs_for({"lu", "fwd"}, {"cpu", "gpu"}));
  const Ran plan = run({"plan", graph, "-m", "mixed-5", "--costs", costs, "--policy", "heft"});
  ASSERT_EQ(plan.exit_code, 0) << plan.err;
  EXPECT_EQ(lines_of(plan.err), 1u) << plan.err;
  EXPECT_NE(plan.err.find("cannot run there: kinds 'lu', 'fwd' on 'slow-gpu'"), std::string::npos)
      << plan.err;
  EXPECT_NE(plan.out.find("slow0: ops 0"), std::string::npos) << plan.out;
  EXPECT_NE(plan.out.find("makespan 10"), std::string::npos) << plan.out;  // two of 5 ms
  // Every policy keeps to it: none is quicker than two ops one after the other.
  const Ran all = run({"compare", graph, "-m", "mixed-5", "--costs", costs, "--json"});
  ASSERT_EQ(all.exit_code, 0) << all.err;
  for (const double mean : numbers_of(all.out, "mean")) EXPECT_GE(mean, 10'000'000);
}

TEST_F(Answers, OpsLeftWithoutADeviceAreRefusedByName) {
  const std::string graph = write("tasks.json", kTasks);
  const std::string costs = write("costs.json", costs_for({"lu", "fwd"}, {"cpu", "gpu"}));
  const Ran none = run({"plan", graph, "-m", "uniform-2", "--costs", costs});
  EXPECT_EQ(none.exit_code, 3) << none.err;
  expect_one_sentence(
      none, "ops of kinds 'lu', 'fwd' have no run time on any device of machine 'uniform-2'");
  EXPECT_NE(none.err.find("'device'"), std::string::npos) << none.err;
  // Some devices could, and constraints take those.
  const std::string rules = write("rules.json", R"({"schema_version": 1, "forbid": [
      {"op": "a", "device_kind": "gpu"}, {"op": "a", "device_kind": "cpu"}]})");
  const Ran forbidden =
      run({"plan", graph, "-m", "mixed-5", "--costs", costs, "--constraints", rules});
  EXPECT_EQ(forbidden.exit_code, 3) << forbidden.err;
  EXPECT_NE(forbidden.err.find("its kind 'lu' has no time on 'slow-gpu'"), std::string::npos)
      << forbidden.err;
}

TEST_F(Answers, AMistypedNameInACostsFileIsAnErrorWithASuggestion) {
  const std::string graph = write("tasks.json", kTasks);
  const auto plan = [&](const std::vector<std::string>& kinds,
                        const std::vector<std::string>& device_kinds) {
    const std::string costs = write("costs.json", costs_for(kinds, device_kinds));
    return run({"plan", graph, "-m", "mixed-5", "--costs", costs, "--policy", "heft"});
  };
  const Ran device = plan({"lu", "fwd"}, {"cpu", "gpu", "slow_gpu"});
  EXPECT_EQ(device.exit_code, 2);
  expect_one_sentence(device, "did you mean \"slow-gpu\"?");
  EXPECT_NE(device.err.find("costs.json:4: "), std::string::npos) << device.err;
  const Ran kind = plan({"lu", "fwdd"}, {"cpu", "gpu", "slow-gpu"});
  EXPECT_EQ(kind.exit_code, 2);
  expect_one_sentence(kind, "did you mean \"fwd\"?");
  // Commands that add graphs as jobs check the same.
  const std::string costs = write("costs.json", costs_for({"lu", "fwdd"}, {"cpu", "gpu"}));
  const Ran job = run({"cluster", graph, "--saturation", "185.7", "-m", "mixed-5", "--costs", costs,
                       "--policy", "fifo"});
  EXPECT_EQ(job.exit_code, 2);
  expect_one_sentence(job, "did you mean \"fwd\"?");
  // What this graph or machine does not have is normal.
  const Ran more = plan({"lu", "fwd", "bmod"}, {"cpu", "gpu", "slow-gpu", "fpga"});
  EXPECT_EQ(more.exit_code, 0);
  EXPECT_EQ(more.err, "");
}

TEST_F(Answers, ADeviceWithoutRatesSaysSo) {
  const std::string machine = write("machine.json", R"({"schema_version": 1, "name": "m",
      "device": [{"name": "quick", "kind": "gpu", "flops_per_s": 1e12, "bytes_per_s": 1e12},
                 {"name": "mute", "kind": "fpga"}],
      "link": [{"name": "l", "between": ["quick", "mute"]}]})");
  const std::string graph = write("graph.json", R"({"format": "tutti-graph", "schema_version": 1,
      "name": "g", "ops": [{"name": "a", "kind": "matmul", "flops": 1e6}]})");
  const Ran plan = run({"plan", graph, "-m", machine, "--policy", "heft"});
  EXPECT_EQ(plan.exit_code, 0);
  EXPECT_EQ(lines_of(plan.err), 1u) << plan.err;
  EXPECT_NE(plan.err.find("kind 'matmul' on 'fpga'"), std::string::npos) << plan.err;
  EXPECT_NE(plan.err.find("states no flops_per_s of 'mute'"), std::string::npos) << plan.err;
  const Ran shown = run({"machine", "show", machine});
  EXPECT_NE(shown.err.find("device 'mute' states no flops_per_s"), std::string::npos) << shown.err;
}

TEST_F(Answers, ExactEndsWithItsBudgetAndIsNeverWorseThanAPolicy) {
  TUTTI_NEEDS_SHARED_DATA("stg/50/rand0000.stg");
  const std::string graph = shared_data("stg/50/rand0000.stg");
  const auto began = std::chrono::steady_clock::now();
  // HEFT's 66 is the lower bound.
  const Ran exact = run({"exact", graph, "-m", "uniform-4", "--budget", "2s", "--json"});
  ASSERT_EQ(exact.exit_code, 0) << exact.err;
  EXPECT_EQ(numbers_of(exact.out, "makespan_ns"), (std::vector<double>{66, 66})) << exact.out;
  EXPECT_EQ(numbers_of(exact.out, "price_of_work_conservation"), (std::vector<double>{0}));
  // One that is not proven so soon ends as well, with a budget and without.
  const std::string hard = path("hard.json");
  ASSERT_EQ(run({"graph", "make", "layered", "--ops", "40", "--width", "6", "-o", hard}).exit_code,
            0);
  EXPECT_EQ(run({"exact", hard, "-m", "uniform-3", "--budget", "1s"}).exit_code, 0);
  EXPECT_EQ(run({"plan", hard, "-m", "uniform-3", "--policy", "exact"}).exit_code, 0);
  // The old ones did not end within minutes; this is no measurement.
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(60));
}

TEST_F(Answers, APlanMadeBySearchCarriesTheTimelineOfItsSimulation) {
  const std::string graph = path("graph.json");
  ASSERT_EQ(run({"graph", "make", "layered", "--ops", "60", "--width", "8", "--bytes", "20000000",
                 "-o", graph})
                .exit_code,
            0);
  // Without noise the simulation is the run it is judged by.
  const Ran compared = run({"compare", graph, "-m", "p100-4", "--policies", "annealing,lns,auto",
                            "--evaluations", "200", "--seeds", "3", "--json"});
  ASSERT_EQ(compared.exit_code, 0) << compared.err;
  EXPECT_EQ(numbers_of(compared.out, "planned_makespan_ns").size(), 3u) << compared.out;
  const std::vector<double> means = numbers_of(compared.out, "mean");
  const std::vector<double> planned = numbers_of(compared.out, "planned_makespan_ns");
  ASSERT_EQ(planned.size(), means.size());
  EXPECT_DOUBLE_EQ(planned[0], means[0]);
  EXPECT_DOUBLE_EQ(planned[1], means[1]);
  const std::string plan = path("plan.json");
  ASSERT_EQ(run({"plan", graph, "-m", "p100-4", "--policy", "annealing", "--evaluations", "200",
                 "-o", plan})
                .exit_code,
            0);
  EXPECT_NE(read_text(plan).find("start_ns"), std::string::npos);
  EXPECT_EQ(run({"check", graph, "-m", "p100-4", "--plan", plan}).exit_code, 0);
}

TEST_F(Answers, WhatIfHasOneBaselineForAllQuestions) {
  const std::string graph = path("graph.json");
  for (const char* seed : {"1", "2", "3"}) {
    ASSERT_EQ(run({"graph", "make", "layered", "--ops", "60", "--width", "8", "--bytes", "20000000",
                   "--seed", seed, "-o", graph})
                  .exit_code,
              0);
    std::vector<double> baselines;
    for (const std::vector<std::string>& question :
         std::vector<std::vector<std::string>>{{"--add", "gpu"},
                                               {"--remove", "gpu0"},
                                               {"--bandwidth", "2"},
                                               {"--bandwidth", "0.5"}}) {
      std::vector<std::string> words = {"what-if", graph,           "-m", "p100-4",
                                        "--json",  "--evaluations", "150"};
      words.insert(words.end(), question.begin(), question.end());
      const Ran ran = run(words);
      ASSERT_EQ(ran.exit_code, 0) << ran.err;
      baselines.push_back(numbers_of(ran.out, "makespan_ns").at(0));
    }
    EXPECT_EQ(baselines, std::vector<double>(4, baselines[0])) << "seed " << seed;
  }
}

}  // namespace
}  // namespace tutti
