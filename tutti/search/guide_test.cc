#include "tutti/search/walk/guide.h"

#include <gtest/gtest.h>

#include "test/support/world.h"
#include "tutti/graph/make/layered.h"
#include "tutti/policy/doppler/general.h"
#include "tutti/policy/doppler/planner.h"
#include "tutti/policy/doppler/residual_net.h"
#include "tutti/search/planners.h"
#include "tutti/search/walk/samples.h"

namespace tutti {
namespace {

// Transfers take far longer than ops, so that all belong on one device.
World clinging_world() {
  return {must(make_layered({.ops = 12, .width = 1, .operands = 1, .bytes = 500'000'000})),
          must(make_preset("uniform-2"))};
}

TEST(Guide, DoubtsTheOpThatIsInTheWrongPlace) {
  const World world = clinging_world();
  const DopplerModel model = general_model();
  Plan plan = must(plan_greedily(model, *world.problem));
  for (const DeviceId device : plan.placement) ASSERT_EQ(device, plan.placement[0]);
  const OpId lost{6};
  plan.placement[6] = DeviceId{1 - plan.placement[0].index};
  Guide guide(*world.problem, model);
  ASSERT_TRUE(guide.look_at(plan, {}));
  Rng rng(1);
  int drawn = 0;
  int back = 0;
  for (int i = 0; i < 1000; ++i) {
    drawn += guide.draw_op(rng) == lost;
    back += guide.draw_device(lost, plan.placement[6], rng) == plan.placement[0];
  }
  EXPECT_GT(drawn, 250);  // it would be 83 of 1000 for one like the others
  EXPECT_EQ(back, 1000);  // there is but one other
}

TEST(Guide, DrawsPlansThatDiffer) {
  const World world{must(make_layered({.ops = 40, .width = 8})), must(make_preset("p100-4"))};
  const DopplerModel model = general_model();
  Guide guide(*world.problem, model);
  const auto one = guide.draw_plan(Rng(1), {});
  const auto other = guide.draw_plan(Rng(2), {});
  ASSERT_TRUE(one && other);
  EXPECT_NE(one->placement, other->placement);
  EXPECT_EQ(one->placement, guide.draw_plan(Rng(1), {})->placement);
}

// Whoever names another model by --network may name any kind there is.
TEST(Guide, TakesEveryKindOfNetwork) {
  const World world{must(make_layered({.ops = 20, .width = 4})), must(make_preset("p100-4"))};
  const std::vector<TensorFile> files = {ResidualNet::fresh({.width = 16}, 1),
                                         ResidualNet::fresh({.width = 16, .one_pass = true}, 1)};
  for (const TensorFile& file : files) {
    AutoSettings settings;
    settings.trained_model =
        std::make_shared<const DopplerModel>(must(DopplerModel::load(file, "m")));
    const Plan plan = must(plan_greedily(*settings.trained_model, *world.problem));
    Guide guide(*world.problem, *settings.trained_model);
    ASSERT_TRUE(guide.look_at(plan, {}));
    Rng rng(1);
    for (int i = 0; i < 50; ++i) {
      const OpId op = guide.draw_op(rng);
      const DeviceId own = plan.placement[op.index];
      EXPECT_NE(guide.draw_device(op, own, rng), own);
    }
    EXPECT_FALSE(guide.draw_plan(Rng(1), Stop{}.by(Stop::Clock::now())));
    for (const char* name : {"doppler", "doppler_samples", "guided", "auto"}) {
      const PolicyEntry entry = must(find_planner(name, settings));
      EXPECT_TRUE(entry.learned);
      EXPECT_TRUE(
          make_plan(entry, *world.problem, {.wall_clock = {}, .evaluations = 60, .stop = {}}, 1))
          << name;
    }
  }
}

TEST(Guide, DrawsNothingOnceItIsStopped) {
  const World world{must(make_layered({.ops = 40, .width = 8})), must(make_preset("p100-4"))};
  const DopplerModel model = general_model();
  Guide guide(*world.problem, model);
  EXPECT_FALSE(guide.draw_plan(Rng(1), Stop{}.by(Stop::Clock::now())));
  const Plan plan = must(plan_greedily(model, *world.problem));
  EXPECT_FALSE(guide.look_at(plan, Stop{}.by(Stop::Clock::now())));
}

TEST(Guide, IsNotForGraphsThatItWouldTakeTooLongToLookAt) {
  const World small{must(make_layered({.ops = 40, .width = 8})), must(make_preset("p100-4"))};
  const Progress by_count(Budget{.wall_clock = {}, .evaluations = 100, .stop = {}});
  const Progress by_time(
      Budget{.wall_clock = std::chrono::seconds(1), .evaluations = {}, .stop = {}});
  EXPECT_TRUE(has_time_to_look(*small.problem, by_count, 10));
  EXPECT_TRUE(has_time_to_look(*small.problem, by_time, 0.001));
  EXPECT_FALSE(has_time_to_look(*small.problem, by_time, 0.02));
  EXPECT_TRUE(has_time_to_draw(*small.problem, by_time, 0.02));
  EXPECT_FALSE(has_time_to_draw(*small.problem, by_time, 0.1));
  const World large{must(make_layered({.ops = 5'000, .width = 80})), must(make_preset("p100-4"))};
  EXPECT_FALSE(has_time_to_look(*large.problem, by_count, 0));
  EXPECT_FALSE(has_time_to_draw(*large.problem, by_count, 0));
}

TEST(Guide, RestsAfterALookOnlyUnderAWallClock) {
  const World world{must(make_layered({.ops = 400, .width = 20})), must(make_preset("p100-4"))};
  const DopplerModel model = general_model();
  Guide guide(*world.problem, model);
  const Progress by_count(Budget{.wall_clock = {}, .evaluations = 100, .stop = {}});
  const Progress by_time(
      Budget{.wall_clock = std::chrono::hours(1), .evaluations = {}, .stop = {}});
  EXPECT_TRUE(guide.is_rested(by_time));  // it has not looked yet
  ASSERT_TRUE(guide.look_at(must(plan_greedily(model, *world.problem)), Stop{}));
  EXPECT_TRUE(guide.is_rested(by_count));
  // Later than at once: a look takes longer than asking.
  EXPECT_FALSE(guide.is_rested(by_time));
}

TEST(PolicyInSearch, GivesTheSamePlanWithAnyNumberOfThreads) {
  const World world{must(make_layered({.ops = 60, .width = 8})), must(make_preset("mixed-5"))};
  for (const char* name : {"guided", "doppler_samples", "contention_keys", "auto"}) {
    std::vector<Plan> plans;
    for (const int threads : {1, 3}) {
      AutoSettings settings;
      settings.threads = threads;
      const PolicyEntry entry = must(find_planner(name, settings));
      plans.push_back(must(
          make_plan(entry, *world.problem, {.wall_clock = {}, .evaluations = 600, .stop = {}}, 1)));
    }
    EXPECT_EQ(plans[0].placement, plans[1].placement) << name;
    EXPECT_EQ(plans[0].priority, plans[1].priority) << name;
  }
}

TEST(PolicyInSearch, IsNeverWorseThanThePolicyAlone) {
  const World world{must(make_layered({.ops = 60, .width = 8})), must(make_preset("p100-4"))};
  const double greedy = Evaluator(*world.problem, {})
                            .cost(must(make_plan(**find_policy("doppler"), *world.problem, {}, 1)));
  for (const char* name : {"guided", "doppler_samples"}) {
    const PolicyEntry entry = must(find_planner(name, {}));
    const Plan plan = must(
        make_plan(entry, *world.problem, {.wall_clock = {}, .evaluations = 200, .stop = {}}, 1));
    EXPECT_LE(Evaluator(*world.problem, {}).cost(plan), greedy) << name;
  }
}

}  // namespace
}  // namespace tutti
