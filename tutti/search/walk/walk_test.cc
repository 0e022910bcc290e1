// What every way to improve a walk promises.

#include "tutti/search/walk/walk.h"

#include <gtest/gtest.h>

#include <memory>

#include "test/support/world.h"
#include "tutti/graph/make/layered.h"
#include "tutti/plan/check/check.h"
#include "tutti/policy/registry.h"
#include "tutti/search/walk/annealing.h"
#include "tutti/search/walk/cut_samples.h"
#include "tutti/search/walk/neighbourhoods.h"
#include "tutti/search/walk/random_keys.h"

namespace tutti {
namespace {

const char* const kImprovers[] = {"annealing", "lns", "random_keys", "cuts"};

std::unique_ptr<Improver> improver(const std::string& name, const Problem& problem) {
  if (name == "annealing") return std::make_unique<Annealing>(problem, /*ordering=*/true);
  if (name == "lns") return std::make_unique<LargeNeighbourhoods>(problem);
  auto keys = std::make_unique<RandomKeys>(problem);
  if (name == "cuts" && MinCut::is_available()) {
    return std::make_unique<CutSamples>(problem, std::move(keys));
  }
  return keys;
}

World small_world(bool noise) {
  CostSpec costs;
  if (noise) costs.run_time_noise = {.model = NoiseSpec::Model::log_normal, .spread = 0.2};
  return {must(make_layered({.ops = 60, .width = 10})), must(make_preset("p100-4")), costs};
}

Walk walked(const std::string& name, const Problem& problem, const Plan& start, uint64_t seed,
            int64_t evaluations) {
  const SearchModel model{.scenarios = {.count = 4}};
  Evaluator evaluator(problem, model);
  Walk walk;
  walk.start_from(start, evaluator.cost(start));
  Rng rng(seed);
  improver(name, problem)
      ->improve(walk, evaluator, {.evaluations = evaluations}, Progress({}), rng);
  return walk;
}

TEST(Improvers, NeverEndWorseThanTheyBeganAndTellTheTruth) {
  for (const bool noise : {false, true}) {
    const World world = small_world(noise);
    const Problem& problem = *world.problem;
    Evaluator evaluator(problem, {.scenarios = {.count = 4}});
    for (const char* name : kImprovers) {
      for (const char* policy : {"random", "heft"}) {
        const Plan start = must(make_plan(**find_policy(policy), problem, {}, 1));
        const Walk walk = walked(name, problem, start, /*seed=*/3, /*evaluations=*/400);
        EXPECT_LE(walk.best_cost, evaluator.cost(start)) << name << " from " << policy;
        EXPECT_EQ(walk.best_cost, evaluator.cost(walk.best)) << name << " from " << policy;
        EXPECT_LE(walk.best_cost, walk.cost) << name;
        EXPECT_EQ(walk.cost, evaluator.cost(walk.plan)) << name << " from " << policy;
        if (name == std::string("lns")) {
          EXPECT_EQ(walk.cost, walk.best_cost) << "from " << policy;
        }
        Plan found = walk.best;
        found.strict_order.clear();
        found.start.clear();
        found.finish.clear();
        found.planned_makespan.reset();
        EXPECT_EQ(check_plan(problem, found), std::vector<std::string>{}) << name;
      }
      // From a poor start there is something to gain.
      const Plan poor = must(make_plan(**find_policy("random"), problem, {}, 1));
      const Walk walk = walked(name, problem, poor, /*seed=*/3, /*evaluations=*/400);
      EXPECT_LT(walk.best_cost, 0.95 * evaluator.cost(poor)) << name;
    }
  }
}

TEST(Improvers, DoTheSameWithTheSameSeed) {
  const World world = small_world(/*noise=*/true);
  const Problem& problem = *world.problem;
  const Plan start = must(make_plan(**find_policy("heft"), problem, {}, 1));
  for (const char* name : kImprovers) {
    const Walk one = walked(name, problem, start, 3, 300);
    const Walk two = walked(name, problem, start, 3, 300);
    EXPECT_EQ(one.best_cost, two.best_cost) << name;
    EXPECT_EQ(one.best.placement, two.best.placement) << name;
    EXPECT_EQ(one.best.priority, two.best.priority) << name;
    EXPECT_EQ(one.plan.placement, two.plan.placement) << name;
  }
}

TEST(Improvers, SpendNoMoreThanTheirLeg) {
  const World world = small_world(/*noise=*/false);
  const Problem& problem = *world.problem;
  const Plan start = must(make_plan(**find_policy("heft"), problem, {}, 1));
  for (const char* name : kImprovers) {
    Evaluator evaluator(problem, {});
    Walk walk;
    walk.start_from(start, evaluator.cost(start));
    Rng rng(1);
    improver(name, problem)->improve(walk, evaluator, {.evaluations = 100}, Progress({}), rng);
    // One op is put back on the best of its devices before anyone looks at the count.
    EXPECT_LE(evaluator.evaluations(), 1 + 100 + problem.machine.size()) << name;
    EXPECT_GE(evaluator.evaluations(), 90) << name;
  }
}

}  // namespace
}  // namespace tutti
