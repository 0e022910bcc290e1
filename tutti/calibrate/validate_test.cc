#include "tutti/calibrate/validate.h"

#include <gtest/gtest.h>

#include <set>

#include "test/support/world.h"
#include "tutti/calibrate/calibrate.h"
#include "tutti/calibrate/plans.h"
#include "tutti/calibrate/rank.h"
#include "tutti/calibrate/testing.h"
#include "tutti/plan/check/check.h"

namespace tutti {
namespace {

using testing::chain;
using testing::everything_runs;
using testing::HiddenMachine;
using testing::network;
using testing::tiles;
using testing::true_costs;

TEST(Rank, SharesTheRanksOfEqualValues) {
  const std::vector<double> values = {5, 1, 5, 9};
  EXPECT_EQ(ranks_of(values), (std::vector<double>{2.5, 1, 2.5, 4}));
}

TEST(Rank, CorrelationIsSpearmans) {
  const std::vector<double> a = {1, 2, 3, 4, 5};
  const std::vector<double> b = {5, 6, 7, 8, 7};
  // Ranks of b: 1, 2, 3.5, 5, 3.5; sums of products by hand: 8 / sqrt(10 * 9.5).
  EXPECT_NEAR(rank_correlation(a, b), 8 / std::sqrt(95.0), 1e-12);
  const std::vector<double> backwards = {5, 4, 3, 2, 1};
  EXPECT_DOUBLE_EQ(rank_correlation(a, backwards), -1);
  const std::vector<double> same(5, 3.0);
  // Who says the same of all tells nothing of their order.
  EXPECT_EQ(rank_correlation(a, same), 0);
  EXPECT_EQ(rank_correlation(same, same), 1);
}

ValidatedGraph graph_of(const std::vector<std::pair<int, int>>& makespans) {
  ValidatedGraph graph;
  for (const auto& [simulated, real] : makespans) {
    graph.plans.push_back(
        {.policy = "p", .simulated = Duration(simulated), .real = Duration(real)});
  }
  return graph;
}

TEST(Validate, CountsErrorsByHand) {
  const ValidatedGraph graph = graph_of({{90, 100}, {120, 110}, {100, 80}, {200, 200}});
  // 0.1, 0.0909, 0.25, 0
  EXPECT_NEAR(graph.mean_error(), (0.1 + 10 / 110.0 + 0.25) / 4, 1e-12);
  // Liked best: the first, really 100; the best is 80.
  EXPECT_NEAR(graph.top1_regret(), 0.25, 1e-12);
  // Real ranks 2, 3, 1, 4; simulated 1, 3, 2, 4: 1 - 6 * 2 / 60.
  EXPECT_NEAR(graph.rank_correlation(), 0.8, 1e-12);
  // The better half: 80 and 100, simulated the other way round.
  EXPECT_NEAR(graph.rank_correlation_better_half(), -1, 1e-12);
}

TEST(Plans, AreDifferentAllGoodAndTheSameForTheSameSeed) {
  const World world(tiles(5, 256), "cpu-gpu");
  const std::vector<Plan> plans = diverse_plans(*world.problem, {}, 60, 1);
  EXPECT_EQ(plans.size(), 60u);
  std::set<std::pair<std::vector<DeviceId>, std::vector<int64_t>>> distinct;
  for (const Plan& plan : plans) {
    EXPECT_TRUE(check_plan(*world.problem, plan, 1).empty());
    distinct.emplace(plan.placement, plan.priority);
  }
  EXPECT_EQ(distinct.size(), plans.size());
  const std::vector<Plan> again = diverse_plans(*world.problem, {}, 60, 1);
  for (size_t i = 0; i < plans.size(); ++i) EXPECT_EQ(plans[i].placement, again[i].placement);
}

TEST(Plans, AreAsManyAsThereAre) {
  // One op, two devices.
  const World world(graph_from(R"("ops":[{"name":"a","kind":"relu","flops":1e9}])"), "cpu-gpu");
  EXPECT_EQ(diverse_plans(*world.problem, {}, 50, 1).size(), 2u);
}

// Measured on other graphs than those it is validated on.
struct Measured {
  Machine sheet = must(make_preset("cpu-gpu"));
  HiddenMachine reality{sheet, {.costs = true_costs()}};
  Machine machine = sheet;
  CostSpec spec;

  Measured() {
    const Graph ladder_of_all = usual_sizes();
    const Graph first = chain(2048);
    const Graph second = tiles(4, 512);
    const Graph* graphs[] = {&ladder_of_all, &first, &second};
    std::vector<Experiment> experiments = op_probes(sheet, graphs, everything_runs);
    for (Experiment& probe : route_probes(sheet, everything_runs)) {
      experiments.push_back(std::move(probe));
    }
    Knowledge knowledge;
    must(calibrate(sheet, experiments, everything_runs, reality, knowledge,
                   {.runs = 3 * static_cast<int64_t>(experiments.size())}));
    spec = knowledge.costs(sheet);
    machine = must(Machine::build(knowledge.machine(sheet)));
  }
};

struct Case {
  Problem problem;
  std::vector<Plan> plans;

  Case(Graph made, const Machine& machine, const CostSpec& spec, int count)
      : problem(must(Problem::make(std::move(made), Machine(machine), spec))),
        plans(diverse_plans(problem, {}, count, 5)) {}
  Case(const Case&) = delete;
};

TEST(Validate, FindsACalibratedSimulatorRightOnGraphsItHasNotSeen) {
  Measured measured;
  const Case first(network(2048), measured.machine, measured.spec, 100);
  const Case second(tiles(7, 384), measured.machine, measured.spec, 100);
  const ToValidate cases[] = {{&first.problem, first.plans}, {&second.problem, second.plans}};
  const Validation validation = must(validate(cases, measured.reality, {.repeats = 3}));
  const CostSpec::Validation summary = validation.summary();
  EXPECT_EQ(summary.plans, 200);
  EXPECT_GT(summary.rank_correlation, 0.9) << to_text(summary);
  EXPECT_GT(summary.rank_correlation_better_half, 0.6) << to_text(summary);
  EXPECT_LT(summary.mean_error, 0.1) << to_text(summary);
  EXPECT_LT(summary.top1_regret, 0.05) << to_text(summary);
  for (const Residual& residual : validation.residuals) {
    EXPECT_NEAR(residual.median_ratio, 1, 0.2) << residual.kind << " on " << residual.where;
  }
}

TEST(Validate, FindsTheDataSheetWrong) {
  const Machine sheet = must(make_preset("cpu-gpu"));
  HiddenMachine reality(sheet, {.costs = true_costs()});
  const Case one(tiles(6, 384), sheet, {}, 40);
  const ToValidate cases[] = {{&one.problem, one.plans}};
  const Validation validation = must(validate(cases, reality, {.repeats = 1}));
  EXPECT_GT(validation.summary().mean_error, 0.3);
  bool gemm = false;
  for (const Residual& residual : validation.residuals) {
    if (residual.kind != "gemm" || residual.where != "gpu") continue;
    gemm = true;
    EXPECT_GT(residual.median_ratio, 1.5);  // half the rate at 65 %
    EXPECT_GT(residual.count, 100);
  }
  EXPECT_TRUE(gemm);
}

}  // namespace
}  // namespace tutti
