#include "tutti/calibrate/tune.h"

#include <gtest/gtest.h>

#include <cmath>

#include "test/support/world.h"
#include "tutti/calibrate/calibrate.h"
#include "tutti/calibrate/plans.h"
#include "tutti/calibrate/testing.h"
#include "tutti/calibrate/validate.h"

namespace tutti {
namespace {

using testing::chain;
using testing::everything_runs;
using testing::HiddenMachine;
using testing::network;
using testing::tiles;
using testing::true_costs;

// Measured alone, and then in plans where all is slower: ops on the CPU by half, the rest a little.
class Crowded : public ::testing::Test {
 protected:
  static HiddenMachine::Truth truth_among_others() {
    HiddenMachine::Truth truth{.costs = true_costs(), .speed = 0.4};
    for (CostSpec::Efficiency& row : truth.costs.efficiencies) {
      if (row.device_kind == "cpu") row.efficiency /= 1.2;
    }
    return truth;
  }

  Crowded() {
    const Graph* graphs[] = {&first_, &second_, &small_};
    std::vector<Experiment> experiments = op_probes(sheet_, graphs, everything_runs);
    for (Experiment& probe : route_probes(sheet_, everything_runs)) {
      experiments.push_back(std::move(probe));
    }
    HiddenMachine alone(sheet_, {.costs = true_costs()});
    must(calibrate(sheet_, experiments, everything_runs, alone, knowledge_,
                   {.runs = 4 * static_cast<int64_t>(experiments.size())}));
  }

  // How many times as long as in a probe an op takes that takes a millisecond there.
  static double stretch(const Knowledge& knowledge, const char* kind, const char* where) {
    return knowledge.scales().in_plan(kind, where, 1e6) / 1e6;
  }

  // On a graph that nobody has measured.
  double bias_on_another_graph() {
    Machine machine = must(Machine::build(knowledge_.machine(sheet_)));
    const CostSpec costs = knowledge_.costs(machine);
    const Problem problem = must(Problem::make(network(2048), std::move(machine), costs));
    const std::vector<Plan> plans = diverse_plans(problem, {}, 20, 3);
    const ToValidate cases[] = {{&problem, plans}};
    HiddenMachine reality(sheet_, truth_among_others());
    return must(validate(cases, reality, {.repeats = 1})).graphs[0].bias();
  }

  const Machine sheet_ = must(make_preset("cpu-gpu"));
  const Graph first_ = chain(4096);
  const Graph second_ = tiles(4, 1024);
  const Graph small_ = chain(512);  // whose transfers take longer than its ops
  const Graph* const graphs_[2] = {&first_, &second_};
  Knowledge knowledge_;
};

TEST_F(Crowded, PlansTellWhatOpsAloneDoNot) {
  EXPECT_LT(bias_on_another_graph(), -0.15);
  HiddenMachine reality(sheet_, truth_among_others());
  const Tuned tuned = must(tune(sheet_, graphs_, reality, knowledge_, {}));
  EXPECT_EQ(tuned.plans, 24);
  EXPECT_EQ(tuned.runs, 72);
  EXPECT_LT(tuned.error_after, 0.5 * tuned.error_before);
  // Truly 1.25 (a speed of 0.4 for 0.5), and 1.5 on the CPU.
  EXPECT_NEAR(stretch(knowledge_, "matmul", "gpu"), 1.25, 0.1);
  EXPECT_NEAR(stretch(knowledge_, "matmul", "cpu"), 1.5, 0.15);
  EXPECT_NEAR(bias_on_another_graph(), 0, 0.12);
}

// As where every op waits for its turn: small ones take twice as long, large ones do not.
TEST_F(Crowded, WhatSmallOpsWaitDoesNotStretchLargeOnes) {
  HiddenMachine::Truth truth{.costs = true_costs()};
  for (CostSpec::Efficiency& row : truth.costs.efficiencies) row.launch_overhead_ns = 1e5;
  HiddenMachine reality(sheet_, truth);
  const Graph smaller = chain(1024);
  const Graph larger = chain(2048);
  const Graph* const small[] = {&smaller, &larger};
  must(tune(sheet_, small, reality, knowledge_, {}));
  EXPECT_GT(knowledge_.scales().in_plan("matmul", "gpu", 1e5), 1.5e5);
  EXPECT_NEAR(knowledge_.scales().in_plan("matmul", "gpu", 1e8) / 1e8, 1, 0.1);
}

// Sizes so near each other that their line could have any slope.
TEST_F(Crowded, LinesAreNeverSteep) {
  HiddenMachine::Truth truth{.costs = true_costs()};
  for (CostSpec::Efficiency& row : truth.costs.efficiencies) row.launch_overhead_ns = 3e6;
  HiddenMachine reality(sheet_, truth);
  const Graph smaller = chain(1000);
  const Graph larger = chain(1024);
  const Graph* const near[] = {&smaller, &larger};
  must(tune(sheet_, near, reality, knowledge_, {}));
  ASSERT_FALSE(knowledge_.scales().kinds.empty());
  for (const auto& [key, stretch] : knowledge_.scales().kinds) {
    EXPECT_GE(stretch.factor, 0.5) << key.first << " on " << key.second;
    EXPECT_LE(stretch.factor, 2) << key.first << " on " << key.second;
  }
}

TEST_F(Crowded, PlansTellOfTransfersToo) {
  HiddenMachine reality(sheet_, truth_among_others());
  const Graph* const one[] = {&small_};
  must(tune(sheet_, one, reality, knowledge_, {}));
  // Bandwidth is 0.8 of what it was, latency is the same.
  EXPECT_NEAR(knowledge_.scales().transfers, 1.25, 0.15);
  EXPECT_NEAR(knowledge_.scales().latency, 1, 0.15);
}

TEST_F(Crowded, OneSlowRunDecidesNothing) {
  HiddenMachine reality(sheet_, truth_among_others());
  HiddenMachine::Truth truth = truth_among_others();
  truth.spikes = {9};
  HiddenMachine spiked(sheet_, truth);
  Knowledge other = knowledge_;
  must(tune(sheet_, graphs_, reality, knowledge_, {}));
  must(tune(sheet_, graphs_, spiked, other, {}));
  EXPECT_NEAR(other.scales().transfers / knowledge_.scales().transfers, 1, 0.02);
  for (const char* on : {"cpu", "gpu"}) {
    EXPECT_NEAR(stretch(other, "gemm", on) / stretch(knowledge_, "gemm", on), 1, 0.02) << on;
  }
}

// What whole graphs teach later is not multiplied twice.
TEST_F(Crowded, RunsThatAreLearnedFromLaterChangeLittle) {
  HiddenMachine reality(sheet_, truth_among_others());
  must(tune(sheet_, graphs_, reality, knowledge_, {}));
  const std::vector<Experiment> whole = must(whole_graphs(sheet_, second_, 4, 3, everything_runs));
  must(calibrate(sheet_, whole, everything_runs, reality, knowledge_, {.runs = 40}));
  EXPECT_NEAR(bias_on_another_graph(), 0, 0.12);
}

TEST_F(Crowded, TooFewPlansChangeNothing) {
  HiddenMachine reality(sheet_, truth_among_others());
  knowledge_.set_scales({.devices = {{"gpu", 1.5}}, .transfers = 2});
  const Graph* const one[] = {&first_};
  must(tune(sheet_, one, reality, knowledge_, {.plans = 3}));
  EXPECT_EQ(stretch(knowledge_, "matmul", "gpu"), 1.5);
  EXPECT_EQ(knowledge_.scales().transfers, 2);
}

}  // namespace
}  // namespace tutti
