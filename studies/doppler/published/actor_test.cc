#include "studies/doppler/published/actor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "test/support/world.h"
#include "tutti/graph/make/layered.h"
#include "tutti/plan/check/check.h"
#include "tutti/policy/doppler/planner.h"

namespace tutti {
namespace {

using Learned = PublishedShape::Learned;

struct Case {
  World world;
  PublishedFeatures features;
  PublishedNet network;

  Case(const char* preset, const PublishedShape& shape)
      : world(must(make_layered({.ops = 40, .width = 6, .seed = 3})), preset),
        features(published_features(*world.problem)),
        network(must(PublishedNet::load(PublishedNet::fresh(shape, 7), "test"))) {}

  PublishedActor actor() const { return {*world.problem, network, features}; }
};

class EveryVariant : public testing::TestWithParam<PublishedShape> {};

TEST_P(EveryVariant, MakesWholePlans) {
  const Case here("mixed-5", GetParam());
  PublishedActor actor = here.actor();
  for (const auto mode :
       {Acting::Mode::greedy, Acting::Mode::sample, Acting::Mode::random_at_times}) {
    const auto plan =
        actor.act({.mode = mode, .select_randomness = 0.5, .place_randomness = 0.5}, Rng(1));
    ASSERT_TRUE(plan);
    for (const std::string& sentence : check_plan(*here.world.problem, *plan)) {
      ADD_FAILURE() << sentence;
    }
  }
}

TEST_P(EveryVariant, IsTheSameWithTheSameSeed) {
  const Case here("mixed-5", GetParam());
  PublishedActor first = here.actor();
  PublishedActor second(*here.world.problem, here.network, here.features,
                        PublishedEncoding::make(here.network, here.features, 2));
  const Acting acting{.mode = Acting::Mode::sample};
  EXPECT_EQ(first.act(acting, Rng(5))->placement, second.act(acting, Rng(5))->placement);
}

TEST_P(EveryVariant, FollowsAPlan) {
  const Case here("mixed-5", GetParam());
  PublishedActor actor = here.actor();
  const auto plan = actor.act({.mode = Acting::Mode::sample}, Rng(5));
  Episode episode;
  const auto again =
      actor.act({.mode = Acting::Mode::follow, .plan = &*plan, .record = &episode}, Rng(6));
  ASSERT_TRUE(again);
  EXPECT_EQ(plan->placement, again->placement);
  for (const float likelihood : episode.likelihood) EXPECT_LE(likelihood, 1e-6F);
}

// Devices that are alike may change names: the likelihoods of what a plan does stay the same.
TEST_P(EveryVariant, DoesNotCareWhatDevicesAreCalled) {
  const Case here("uniform-4", GetParam());
  PublishedActor actor = here.actor();
  Plan plan = *actor.act({.mode = Acting::Mode::sample}, Rng(5));
  Episode before;
  ASSERT_TRUE(actor.act({.mode = Acting::Mode::follow, .plan = &plan, .record = &before}, Rng(1)));
  const int32_t renamed[] = {2, 0, 3, 1};
  for (DeviceId& device : plan.placement) device = DeviceId{renamed[device.index]};
  Episode after;
  ASSERT_TRUE(actor.act({.mode = Acting::Mode::follow, .plan = &plan, .record = &after}, Rng(1)));
  ASSERT_EQ(before.op, after.op);
  ASSERT_EQ(before.likelihood.size(), after.likelihood.size());
  for (size_t i = 0; i < before.likelihood.size(); ++i) {
    EXPECT_NEAR(before.likelihood[i], after.likelihood[i], 1e-5) << i;
  }
}

TEST_P(EveryVariant, IsGreedyWhenNothingIsRandom) {
  const Case here("mixed-5", GetParam());
  PublishedActor actor = here.actor();
  const auto greedy = actor.act({}, Rng(1));
  const auto never = actor.act({.mode = Acting::Mode::random_at_times}, Rng(2));
  EXPECT_EQ(greedy->placement, never->placement);
  EXPECT_EQ(greedy->priority, never->priority);
}

INSTANTIATE_TEST_SUITE_P(
    Variants, EveryVariant,
    testing::Values(PublishedShape{.width = 16, .steps = 2},
                    PublishedShape{.learned = Learned::select, .width = 16, .steps = 2},
                    PublishedShape{.learned = Learned::place, .width = 16, .steps = 2},
                    PublishedShape{.learned = Learned::joint, .width = 16, .steps = 2},
                    PublishedShape{.width = 16, .steps = 2, .every_step = true}));

TEST(PublishedActor, IsRandomInOnePolicyAtATime) {
  const Case here("uniform-4", {.width = 16, .steps = 2});
  PublishedActor actor = here.actor();
  Episode greedy;
  ASSERT_TRUE(actor.act({.record = &greedy}, Rng(1)));
  Episode places;
  ASSERT_TRUE(actor.act(
      {.mode = Acting::Mode::random_at_times, .place_randomness = 1, .record = &places}, Rng(1)));
  EXPECT_EQ(greedy.op, places.op);  // SELECT does not see where things are
  EXPECT_NE(greedy.device, places.device);
}

// SELECT by b-level and PLACE by earliest start, which need no net.
TEST(PublishedActor, TakesTheLargestBLevelWhereSelectIsNotLearned) {
  const Case here("uniform-4", {.learned = Learned::place, .width = 16, .steps = 2});
  PublishedActor actor = here.actor();
  Episode episode;
  ASSERT_TRUE(actor.act({.record = &episode}, Rng(1)));
  for (size_t step = 0; step < episode.op.size(); ++step) {
    const double chosen = here.features.b_level[static_cast<size_t>(episode.op[step])];
    for (int32_t i = episode.ready_begin[step]; i < episode.ready_begin[step + 1]; ++i) {
      const int32_t other = episode.ready[static_cast<size_t>(i)];
      EXPECT_GE(chosen, here.features.b_level[static_cast<size_t>(other)]);
    }
    EXPECT_EQ(episode.likelihood[2 * step], 0);
  }
  EXPECT_EQ(episode.decisions, static_cast<int64_t>(episode.op.size()));
}

TEST(PublishedActor, TakesTheEarliestStartWherePlaceIsNotLearned) {
  const Case here("mixed-5", {.learned = Learned::select, .width = 16, .steps = 2});
  PublishedActor actor = here.actor();
  Episode episode;
  ASSERT_TRUE(actor.act({.record = &episode}, Rng(1)));
  Draft draft(*here.world.problem);
  for (size_t step = 0; step < episode.op.size(); ++step) {
    const OpId op{episode.op[step]};
    const DeviceId device{episode.device[step]};
    for (const DeviceId other : draft.devices_for(op)) {
      EXPECT_LE(draft.earliest_start(op, device), draft.earliest_start(op, other));
    }
    draft.apply(op, device);
  }
}

TEST(PublishedActor, PlansForWhoeverHasItsModel) {
  const Case here("mixed-5", {.width = 16, .steps = 2});
  const auto model =
      must(DopplerModel::load(PublishedNet::fresh({.width = 16, .steps = 2}, 7), "test"));
  EXPECT_EQ(must(plan_greedily(model, *here.world.problem)).placement,
            here.actor().act({}, Rng(0))->placement);
}

}  // namespace
}  // namespace tutti
