#include "tutti/calibrate/calibrate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <tuple>

#include "test/support/world.h"
#include "tutti/calibrate/measuring_runtime.h"
#include "tutti/calibrate/observe.h"
#include "tutti/calibrate/state_file.h"
#include "tutti/calibrate/testing.h"
#include "tutti/graph/kind/kind.h"
#include "tutti/policy/registry.h"

namespace tutti {
namespace {

using testing::chain;
using testing::everything_runs;
using testing::HiddenMachine;
using testing::tiles;
using testing::true_costs;

struct Bench {
  Machine sheet = must(make_preset("cpu-gpu"));
  Graph first = chain(1024);
  Graph second = tiles(4, 256);
  std::vector<Experiment> experiments;

  Bench() {
    const Graph* graphs[] = {&first, &second};
    experiments = op_probes(sheet, graphs, everything_runs);
    for (Experiment& probe : route_probes(sheet, everything_runs)) {
      experiments.push_back(std::move(probe));
    }
  }
};

Knowledge measured(const Bench& bench, HiddenMachine& reality, int rounds) {
  Knowledge knowledge;
  const auto runs = static_cast<int64_t>(bench.experiments.size()) * rounds;
  const Calibrated done = must(calibrate(bench.sheet, bench.experiments, everything_runs, reality,
                                         knowledge, {.runs = runs}));
  EXPECT_EQ(done.runs, runs);
  EXPECT_TRUE(done.failures.empty());
  return knowledge;
}

TEST(Calibrate, FindsTheTrueCostsOfWhatItMeasured) {
  const Bench bench;
  HiddenMachine reality(bench.sheet, {.costs = true_costs()});
  const Knowledge knowledge = measured(bench, reality, 4);
  const CostSpec spec = knowledge.costs(bench.sheet);
  for (const Graph* graph : {&bench.first, &bench.second}) {
    const Problem real = reality.clean_problem(*graph);
    const Costs found = must(Costs::build(*graph, bench.sheet, spec));
    for (const OpId op : graph->ops()) {
      for (const DeviceId device : bench.sheet.devices()) {
        const auto expected = static_cast<double>(real.costs.run_time(op, device).count());
        const auto got = static_cast<double>(found.run_time(op, device).count());
        EXPECT_NEAR(got / expected, 1, 0.04) << graph->op_name(op);
        const double spread = found.run_time_noise(op, device).spec().spread;
        EXPECT_GT(spread, 0.01);
        EXPECT_LT(spread, 0.12);
      }
    }
  }
}

TEST(Calibrate, WhatIsKeptAfterAnyRunGoesOnAsIfNothingHadHappened) {
  const Bench bench;
  const int64_t all = 3 * static_cast<int64_t>(bench.experiments.size());
  const int64_t killed_after = all / 2 - 1;
  HiddenMachine reality(bench.sheet, {.costs = true_costs()});
  Knowledge whole;
  std::string kept;
  int64_t runs_of_machine = 0;
  const auto text = [&](const Knowledge& knowledge, int64_t runs) {
    return calibration_to_json({.machine_fingerprint = bench.sheet.fingerprint(),
                                .experiments_fingerprint = 0,
                                .runs = runs,
                                .knowledge = knowledge});
  };
  CalibrateOptions options{.runs = all, .warm_ups = 0};
  options.keep = [&](int64_t runs) -> Result<void> {
    if (runs == killed_after) {
      kept = text(whole, runs);
      runs_of_machine = reality.runs();
    }
    return {};
  };
  must(calibrate(bench.sheet, bench.experiments, everything_runs, reality, whole, options));
  Source source = Source::from_text("kept", kept);
  CalibrationState state = must(read_calibration(source));
  ASSERT_EQ(state.runs, killed_after);
  HiddenMachine same(bench.sheet, {.costs = true_costs()}, runs_of_machine);
  must(calibrate(bench.sheet, bench.experiments, everything_runs, same, state.knowledge,
                 {.begin = state.runs, .runs = all, .warm_ups = 0}));
  EXPECT_EQ(text(state.knowledge, all), text(whole, all));
  options.keep = [](int64_t) -> Result<void> { return failed("the disk is full"); };
  const auto full = calibrate(bench.sheet, bench.experiments, everything_runs, reality, whole,
                              {.runs = 1, .keep = options.keep});
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().message, "the disk is full");
}

// Between two sizes that were measured, and at twice the larger one.
TEST(Calibrate, ForetellsSizesThatItDidNotMeasure) {
  const Bench bench;
  HiddenMachine reality(bench.sheet, {.costs = true_costs()});
  const Graph larger_chain = chain(2048);
  const Graph larger_tiles = tiles(4, 512);
  const Graph* graphs[] = {&bench.first, &bench.second, &larger_chain, &larger_tiles};
  const std::vector<Experiment> probes = op_probes(bench.sheet, graphs, everything_runs);
  Knowledge knowledge;
  must(calibrate(bench.sheet, probes, everything_runs, reality, knowledge,
                 {.runs = 4 * static_cast<int64_t>(probes.size())}));
  const CostSpec spec = knowledge.costs(bench.sheet);
  const auto error_on = [&](const Graph& graph) {
    const Problem real = reality.clean_problem(graph);
    const Costs found = must(Costs::build(graph, bench.sheet, spec));
    double error = 0;
    for (const OpId op : graph.ops()) {
      for (const DeviceId device : bench.sheet.devices()) {
        error += std::abs(static_cast<double>(found.run_time(op, device).count()) /
                              static_cast<double>(real.costs.run_time(op, device).count()) -
                          1);
      }
    }
    return error / (graph.size() * bench.sheet.size());
  };
  EXPECT_LT(error_on(chain(1536)), 0.05);
  EXPECT_LT(error_on(tiles(5, 384)), 0.1);
  EXPECT_LT(error_on(chain(4096)), 0.15);
  EXPECT_LT(error_on(tiles(5, 1024)), 0.15);
}

TEST(Calibrate, FindsTheTrueLinks) {
  const Bench bench;
  HiddenMachine reality(bench.sheet, {.costs = true_costs()});
  const MachineSpec found = measured(bench, reality, 6).machine(bench.sheet);
  const MachineSpec& truth = reality.truth().spec();
  ASSERT_EQ(found.links.size(), truth.links.size());
  for (size_t i = 0; i < truth.links.size(); ++i) {
    EXPECT_NEAR(found.links[i].bytes_per_s / truth.links[i].bytes_per_s, 1, 0.05);
    EXPECT_NEAR(static_cast<double>(found.links[i].latency.count()) /
                    static_cast<double>(truth.links[i].latency.count()),
                1, 0.1);
  }
  EXPECT_TRUE(Machine::build(found).has_value());
}

// The makespan, on the true costs, of the plan that HEFT makes with what was measured.
double planned_with(const Knowledge& knowledge, const Bench& bench, const HiddenMachine& reality,
                    const Graph& graph) {
  const Problem problem =
      must(Problem::make(Graph(graph), Machine(bench.sheet), knowledge.costs(bench.sheet)));
  const Plan plan = must(make_plan(**find_policy("heft"), problem, {}, 1));
  const Problem real = reality.clean_problem(graph);
  SimRuntime sim;
  return static_cast<double>(must(sim.run(real, plan)).makespan.count());
}

// Whichever experiment the spike falls into.
TEST(Calibrate, PlansAsWellWhereOneKernelOnceTook500TimesAsLong) {
  const Bench bench;
  HiddenMachine reality(bench.sheet, {.costs = true_costs()});
  const Knowledge clean = measured(bench, reality, 5);
  const double expected = planned_with(clean, bench, reality, bench.second);
  for (int64_t run = 0; run < static_cast<int64_t>(bench.experiments.size()); run += 3) {
    HiddenMachine spiked(bench.sheet, {.costs = true_costs(), .spikes = {run + 1, run + 200}});
    const Knowledge knowledge = measured(bench, spiked, 5);
    EXPECT_TRUE(knowledge.drifts().empty());
    EXPECT_NEAR(planned_with(knowledge, bench, spiked, bench.second) / expected, 1, 0.02) << run;
  }
}

TEST(Calibrate, SaysWhatGotSlower) {
  const Bench bench;
  const auto rounds = static_cast<int64_t>(bench.experiments.size());
  HiddenMachine reality(bench.sheet, {.costs = true_costs(),
                                      .slower_kind = "gemm",
                                      .slower_from = 14 * rounds * 3 / 2,
                                      .slower = 1.4});
  const Knowledge knowledge = measured(bench, reality, 24);
  ASSERT_FALSE(knowledge.drifts().empty());
  for (const Drift& drift : knowledge.drifts()) {
    EXPECT_EQ(drift.kind, "gemm") << to_text(drift);
    // On the GPU a part of each op is overhead, which stays.
    EXPECT_GT(drift.ratio, 1.2);
    EXPECT_LT(drift.ratio, 1.5);
    EXPECT_GE(drift.run, 13 * rounds);
  }
  EXPECT_NE(to_text(knowledge.drifts()[0]).find("times slower in run"), std::string::npos);
  const CostSpec spec = knowledge.costs(bench.sheet);
  EXPECT_EQ(spec.calibration->drift.size(), knowledge.drifts().size());
}

std::string state_of(const Knowledge& knowledge) {
  return calibration_to_json({.knowledge = knowledge});
}

TEST(Calibrate, EndsWithTheSameKnowledgeInOneGoAndInTwo) {
  const Bench bench;
  const HiddenMachine::Truth truth{.costs = true_costs(), .spikes = {40}};
  const auto runs = static_cast<int64_t>(bench.experiments.size()) * 2 + 3;
  HiddenMachine reality(bench.sheet, truth);
  Knowledge whole;
  must(calibrate(bench.sheet, bench.experiments, everything_runs, reality, whole,
                 {.runs = runs, .warm_ups = 0}));
  HiddenMachine again(bench.sheet, truth);
  Knowledge first;
  must(calibrate(bench.sheet, bench.experiments, everything_runs, again, first,
                 {.runs = 31, .warm_ups = 0}));
  Source source = Source::from_text("state", state_of(first));
  CalibrationState state = must(read_calibration(source));
  must(calibrate(bench.sheet, bench.experiments, everything_runs, again, state.knowledge,
                 {.begin = 31, .runs = runs, .warm_ups = 0}));
  EXPECT_EQ(state_of(whole), state_of(state.knowledge));
}

// A runtime that cannot run one kind.
class Picky : public HiddenMachine {
 public:
  using HiddenMachine::HiddenMachine;
  Result<Trace> run(const Problem& problem, const Plan& plan) override {
    if (problem.graph.op_kind_name(OpId{0}) == "potrf") return failed("no code for potrf");
    return HiddenMachine::run(problem, plan);
  }
};

TEST(Calibrate, LeavesOutWhatCannotBeRunAndSaysSo) {
  const Bench bench;
  Picky reality(bench.sheet, {.costs = true_costs()});
  Knowledge knowledge;
  const auto runs = static_cast<int64_t>(bench.experiments.size()) * 2;
  const Calibrated done = must(calibrate(bench.sheet, bench.experiments, everything_runs, reality,
                                         knowledge, {.runs = runs}));
  ASSERT_EQ(done.failures.size(), 1u);
  EXPECT_EQ(done.failures[0], "potrf 256x256: no code for potrf");
  EXPECT_FALSE(knowledge.empty());
  const Result<Calibrated> nothing =
      calibrate(bench.sheet, {}, everything_runs, reality, knowledge, {.runs = 5});
  EXPECT_TRUE(nothing.has_value());
}

TEST(Calibrate, LearnsFromRunsOfWholeGraphs) {
  const Bench bench;
  HiddenMachine reality(bench.sheet, {.costs = true_costs()});
  const std::vector<Experiment> runs =
      must(whole_graphs(bench.sheet, bench.second, 6, 3, everything_runs));
  Knowledge knowledge;
  must(calibrate(bench.sheet, runs, everything_runs, reality, knowledge, {.runs = 12}));
  const Problem real = reality.clean_problem(bench.second);
  const Costs found = must(Costs::build(bench.second, bench.sheet, knowledge.costs(bench.sheet)));
  for (const OpId op : bench.second.ops()) {
    for (const DeviceId device : bench.sheet.devices()) {
      const auto expected = static_cast<double>(real.costs.run_time(op, device).count());
      EXPECT_NEAR(static_cast<double>(found.run_time(op, device).count()) / expected, 1, 0.08)
          << bench.second.op_name(op);
    }
  }
}

TEST(CalibrationFile, IsReadBackAndRefusesWhatIsWrong) {
  const Bench bench;
  HiddenMachine reality(bench.sheet, {.costs = true_costs()});
  Knowledge knowledge = measured(bench, reality, 1);
  knowledge.note_graph(bench.first);
  knowledge.note_graph(bench.second);
  knowledge.note_graph(bench.first);
  const std::string text = calibration_to_json({.machine_fingerprint = 7, .knowledge = knowledge});
  Source source = Source::from_text("s", text);
  const CalibrationState state = must(read_calibration(source));
  EXPECT_EQ(calibration_to_json(state), text);
  EXPECT_EQ(state.knowledge.graphs().size(), 2u);
  const std::pair<std::string, std::string> wrong[] = {
      {"\"tutti-calibration\"", "\"other\""},
      {"\"count\":", "\"count\":-"},
      {"\"samples\":[", "\"samples\":[[0,1e9],"},
      {"\"runs\":", "\"typo\":"},
      {"\"machine_fingerprint\":\"0", "\"machine_fingerprint\":\"x"}};
  for (const auto& [from, to] : wrong) {
    std::string changed = text;
    changed.replace(changed.find(from), from.size(), to);
    Source bad = Source::from_text("state.json", changed);
    const Result<CalibrationState> read = read_calibration(bad);
    ASSERT_FALSE(read) << to;
    EXPECT_EQ(read.error().message.find("state.json:"), 0u) << read.error().message;
  }
}

TEST(Experiments, HaveEveryKindOfTheLadderInSeveralSizes) {
  const Graph graph = usual_sizes();
  std::map<std::string, std::set<double>> sizes;
  for (const OpId op : graph.ops()) {
    const OpWork work = work_of(graph, op);
    sizes[std::string(graph.op_kind_name(op))].insert(work.flops + work.written_bytes);
  }
  EXPECT_EQ(sizes.size(), known_kinds().size());
  for (const auto& [kind, some] : sizes) EXPECT_GE(some.size(), 6u) << kind;
}

TEST(Experiments, HaveEveryWorkOfAGraphOnEveryDeviceThatHasTimeForIt) {
  const Machine machine = must(make_preset("mixed-5"));
  const Graph rungs = usual_sizes();
  const Graph* graphs[] = {&rungs};
  std::set<std::tuple<std::string, std::string, OpWork>> probed;
  double most_bytes = 0;
  const std::vector<Experiment> probes = op_probes(machine, graphs, everything_runs);
  for (const Experiment& probe : probes) {
    double bytes = 0;
    for (const OpId op : probe.graph.ops()) {
      const DeviceId device = probe.placement[static_cast<size_t>(op.index)];
      const OpWork work = work_of(probe.graph, op);
      probed.emplace(probe.graph.op_kind_name(op), machine.device(device).kind, work);
      if (device == DeviceId{0}) bytes += work.read_bytes + work.written_bytes;
    }
    if (probe.graph.size() > machine.size()) most_bytes = std::max(most_bytes, bytes);
  }
  EXPECT_LE(most_bytes, 64e6);
  EXPECT_LT(probes.size(), 130u);  // far fewer than works
  int left_out = 0;
  for (const OpId op : rungs.ops()) {
    for (const char* kind : {"gpu", "slow-gpu", "cpu"}) {
      const OpWork work = work_of(rungs, op);
      const bool found = probed.contains({std::string(rungs.op_kind_name(op)), kind, work});
      // A product of 4096 by 4096 matrices takes the CPU 0.3 s.
      EXPECT_TRUE(found || std::string(kind) == "cpu") << rungs.op_name(op) << " on " << kind;
      left_out += found ? 0 : 1;
    }
  }
  EXPECT_GT(left_out, 0);
  EXPECT_LT(left_out, 12);
  for (const Experiment& probe : op_probes(machine, graphs, everything_runs, {"relu"})) {
    EXPECT_EQ(probe.graph.op_kinds(), (std::vector<std::string>{"relu"}));
  }
}

TEST(Experiments, GoOverEveryHopOfAMachine) {
  const Machine machine = must(make_preset("mixed-5"));
  const std::vector<Experiment> probes = route_probes(machine, everything_runs);
  HiddenMachine reality(machine, {});
  Knowledge knowledge;
  must(calibrate(machine, probes, everything_runs, reality, knowledge,
                 {.runs = 2 * static_cast<int64_t>(probes.size())}));
  std::set<std::string> seen;
  for (const auto& [key, posterior] : knowledge.cells()) {
    if (key.kind.empty()) seen.insert(key.where);
  }
  for (const DeviceId from : machine.devices()) {
    for (const DeviceId to : machine.devices()) {
      const Route* route = machine.route(machine.memory_of(from), machine.memory_of(to));
      for (const Hop& hop : route->hops) EXPECT_TRUE(seen.contains(hop_name(machine, hop)));
    }
  }
}

TEST(InputCache, GivesTheNumbersOfTheFirstCopyToAll) {
  const Bench bench;
  const Graph* graphs[] = {&bench.second};
  for (const Experiment& probe : op_probes(bench.sheet, graphs, everything_runs)) {
    InputCache cache;
    std::vector<float> first(256 * 256);
    std::vector<float> other(256 * 256);
    const auto fill = [&](int32_t value, std::vector<float>& data) {
      cache.fill(probe.graph, ValueId{value},
                 {.shape = probe.graph.shape(ValueId{value}), .data = data.data()});
    };
    fill(0, first);
    const int32_t copy = probe.graph.operands(OpId{3})[0].index;
    EXPECT_NE(copy, 0);
    fill(copy, other);
    EXPECT_EQ(first, other) << probe.what;
    EXPECT_NE(first[5], 0.0F) << probe.what;
  }
}

}  // namespace
}  // namespace tutti
