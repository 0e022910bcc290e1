#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <set>

#include "studies/doppler/rivals/gdp_actor.h"
#include "studies/doppler/rivals/placeto_actor.h"
#include "test/support/world.h"
#include "tutti/graph/make/layered.h"
#include "tutti/plan/check/check.h"
#include "tutti/plan/draft.h"
#include "tutti/policy/doppler/planner.h"

namespace tutti {
namespace {

enum class Rival { placeto, gdp };

TensorFile fresh(Rival rival) {
  return rival == Rival::placeto
             ? PlacetoNet::fresh({.width = 8, .rounds = 2}, 7)
             : GdpNet::fresh({.width = 16, .layers = 1, .blocks = 2, .heads = 2, .segment = 8}, 7);
}

struct Case {
  World world;
  RivalFeatures features;
  Rival rival;
  std::optional<PlacetoNet> placeto{};
  std::optional<GdpNet> gdp{};
  std::unique_ptr<Actor> actor{};

  Case(const char* preset, Rival which)
      : world(must(make_layered({.ops = 40, .width = 6, .seed = 3})), preset),
        features(rival_features(*world.problem)),
        rival(which) {
    if (rival == Rival::placeto) {
      placeto = must(PlacetoNet::load(fresh(rival), "test"));
      actor = std::make_unique<PlacetoActor>(*world.problem, *placeto, features);
    } else {
      gdp = must(GdpNet::load(fresh(rival), "test"));
      actor = std::make_unique<GdpActor>(*world.problem, *gdp, features);
    }
  }
};

class EveryRival : public testing::TestWithParam<Rival> {};

TEST_P(EveryRival, MakesWholePlans) {
  const Case here("mixed-5", GetParam());
  for (const auto mode :
       {Acting::Mode::greedy, Acting::Mode::sample, Acting::Mode::random_at_times}) {
    const auto plan = here.actor->act({.mode = mode, .place_randomness = 0.5}, Rng(1));
    ASSERT_TRUE(plan);
    for (const std::string& sentence : check_plan(*here.world.problem, *plan)) {
      ADD_FAILURE() << sentence;
    }
  }
}

TEST_P(EveryRival, IsTheSameWithTheSameSeed) {
  const Case here("mixed-5", GetParam());
  const Acting acting{.mode = Acting::Mode::sample};
  const auto plan = here.actor->act(acting, Rng(5));
  EXPECT_EQ(plan->placement, here.actor->act(acting, Rng(5))->placement);
  EXPECT_NE(plan->placement, here.actor->act(acting, Rng(6))->placement);
}

TEST_P(EveryRival, PlacesInTheOrderItIsGiven) {
  const Case here("mixed-5", GetParam());
  Episode episode;
  const auto plan = here.actor->act({.mode = Acting::Mode::sample, .record = &episode}, Rng(1));
  ASSERT_TRUE(plan);
  EXPECT_EQ(episode.op, here.features.order);
  EXPECT_EQ(episode.ready, here.features.order);
  Draft draft(*here.world.problem);
  for (size_t step = 0; step < episode.op.size(); ++step) {
    EXPECT_EQ(episode.likelihood[2 * step], 0);
    EXPECT_LT(episode.likelihood[2 * step + 1], 0);
    draft.apply(OpId{episode.op[step]}, DeviceId{episode.device[step]});
  }
  EXPECT_EQ(plan->placement, draft.to_plan().placement);
  EXPECT_EQ(plan->priority, draft.to_plan().priority);
  EXPECT_EQ(episode.decisions, static_cast<int64_t>(episode.op.size()));
}

TEST_P(EveryRival, FollowsAPlan) {
  const Case here("mixed-5", GetParam());
  Episode first;
  const auto plan = here.actor->act({.mode = Acting::Mode::sample, .record = &first}, Rng(5));
  Episode second;
  const auto again =
      here.actor->act({.mode = Acting::Mode::follow, .plan = &*plan, .record = &second}, Rng(6));
  ASSERT_TRUE(again);
  EXPECT_EQ(plan->placement, again->placement);
  EXPECT_EQ(first.likelihood, second.likelihood);
  const auto unrecorded = here.actor->act({.mode = Acting::Mode::follow, .plan = &*plan}, Rng(6));
  EXPECT_EQ(plan->placement, unrecorded->placement);
}

TEST_P(EveryRival, IsGreedyWhenNothingIsRandom) {
  const Case here("mixed-5", GetParam());
  const auto greedy = here.actor->act({}, Rng(1));
  const auto never = here.actor->act({.mode = Acting::Mode::random_at_times}, Rng(2));
  EXPECT_EQ(greedy->placement, never->placement);
  const Acting always{.mode = Acting::Mode::random_at_times, .place_randomness = 1};
  EXPECT_NE(greedy->placement, here.actor->act(always, Rng(2))->placement);
}

TEST_P(EveryRival, TellsTheLogitsOfItsChoices) {
  const Case here("uniform-4", GetParam());
  std::vector<float> logits;
  const auto plan = here.actor->act({.place_logits = &logits}, Rng(1));
  ASSERT_EQ(logits.size(), plan->placement.size() * 4);
  for (size_t op = 0; op < plan->placement.size(); ++op) {
    const auto row = logits.begin() + static_cast<ptrdiff_t>(4 * op);
    EXPECT_EQ(plan->placement[op].index, std::max_element(row, row + 4) - row);
  }
}

class OneDevice : public Teacher {
 public:
  void right_ops(const State& /*state*/, std::vector<OpId>& /*ops*/) override {
    FAIL() << "the order is given";
  }
  void right_devices(const State& state, OpId op, std::vector<DeviceId>& devices) override {
    devices.assign(1, state.devices_for(op).front());
  }
};

TEST_P(EveryRival, RecordsWhatATeacherSays) {
  const Case here("uniform-4", GetParam());
  OneDevice teacher;
  Episode episode;
  const Acting acting{.mode = Acting::Mode::sample, .teacher = &teacher, .record = &episode};
  ASSERT_TRUE(here.actor->act(acting, Rng(1)));
  for (size_t i = 0; i < episode.right_device.size(); ++i) {
    EXPECT_EQ(episode.right_device[i], i % 4 == 0 ? 1 : 0);
    EXPECT_EQ(episode.allowed[i], 1);
  }
}

TEST_P(EveryRival, StopsWhenAsked) {
  const Case here("uniform-4", GetParam());
  const std::atomic<bool> yes = true;
  EXPECT_FALSE(here.actor->act({.stop = Stop(&yes)}, Rng(1)));
}

TEST_P(EveryRival, PlansForWhoeverHasItsModel) {
  const Case here("mixed-5", GetParam());
  const auto model = must(DopplerModel::load(fresh(GetParam()), "test"));
  EXPECT_EQ(must(plan_greedily(model, *here.world.problem)).placement,
            here.actor->act({}, Rng(0))->placement);
}

INSTANTIATE_TEST_SUITE_P(Rivals, EveryRival, testing::Values(Rival::placeto, Rival::gdp));

// Devices that are alike may change names: the likelihoods of what a plan does stay the same.
TEST(PlacetoActor, DoesNotCareWhatDevicesAreCalled) {
  const Case here("uniform-4", Rival::placeto);
  Plan plan = *here.actor->act({.mode = Acting::Mode::sample}, Rng(5));
  Episode before;
  Episode after;
  Acting acting{.mode = Acting::Mode::follow, .plan = &plan, .record = &before};
  ASSERT_TRUE(here.actor->act(acting, Rng(1)));
  const int32_t renamed[] = {2, 0, 3, 1};
  for (DeviceId& device : plan.placement) device = DeviceId{renamed[device.index]};
  acting.record = &after;
  ASSERT_TRUE(here.actor->act(acting, Rng(1)));
  ASSERT_EQ(before.likelihood.size(), after.likelihood.size());
  for (size_t i = 0; i < before.likelihood.size(); ++i) {
    EXPECT_NEAR(before.likelihood[i], after.likelihood[i], 1e-5) << i;
  }
}

// Where nothing is placed all devices are the same, so the first op goes to the first of them, and
// a plan comes out as the same equal whatever its devices were called.
TEST(PlacetoActor, NamesDevicesByTheirFirstUse) {
  const Case here("uniform-4", Rival::placeto);
  Plan plan = *here.actor->act({.mode = Acting::Mode::sample}, Rng(5));
  const Acting acting{.mode = Acting::Mode::follow, .plan = &plan, .rename_equals = true};
  const auto once = here.actor->act(acting, Rng(1));
  const int32_t renamed[] = {2, 0, 3, 1};
  for (DeviceId& device : plan.placement) device = DeviceId{renamed[device.index]};
  const auto twice = here.actor->act(acting, Rng(1));
  EXPECT_EQ(once->placement, twice->placement);
  EXPECT_EQ(once->placement[static_cast<size_t>(here.features.order[0])], DeviceId{0});
}

// A decision shows in the odds of those that follow, but never in those before.
TEST(PlacetoActor, SeesWhatIsPlacedSoFar) {
  const Case here("uniform-4", Rival::placeto);
  Plan plan = *here.actor->act({.mode = Acting::Mode::sample}, Rng(5));
  Episode before;
  Episode after;
  Acting acting{.mode = Acting::Mode::follow, .plan = &plan, .record = &before};
  ASSERT_TRUE(here.actor->act(acting, Rng(1)));
  constexpr size_t kStep = 10;
  DeviceId& moved = plan.placement[static_cast<size_t>(before.op[kStep])];
  moved = DeviceId{(moved.index + 1) % 4};
  acting.record = &after;
  ASSERT_TRUE(here.actor->act(acting, Rng(1)));
  for (size_t step = 0; step < kStep; ++step) {
    EXPECT_EQ(before.likelihood[2 * step + 1], after.likelihood[2 * step + 1]);
  }
  for (size_t step = kStep; step < before.op.size(); ++step) {
    EXPECT_NE(before.likelihood[2 * step + 1], after.likelihood[2 * step + 1]) << step;
  }
}

// In one pass only names can spread work over devices that are alike.
TEST(GdpActor, UsesMoreThanOneOfTheDevicesThatAreAlike) {
  const Case here("uniform-4", Rival::gdp);
  const auto plan = here.actor->act({}, Rng(0));
  std::set<int32_t> used;
  for (const DeviceId device : plan->placement) used.insert(device.index);
  EXPECT_GT(used.size(), 1U);
}

TEST(GdpNet, ServesMoreDevicesThanItHasNamesFor) {
  const World world(must(make_layered({.ops = 20, .width = 6, .seed = 3})), "uniform-32");
  const RivalFeatures features = rival_features(*world.problem);
  const auto network = must(GdpNet::load(fresh(Rival::gdp), "test"));
  const std::vector<float> logits = network.logits(features);
  ASSERT_EQ(logits.size(), 20U * 32);
  EXPECT_NE(logits[0], logits[16]);
}

}  // namespace
}  // namespace tutti
