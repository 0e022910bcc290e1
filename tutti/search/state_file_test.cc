#include "tutti/search/state_file.h"

#include <gtest/gtest.h>

#include "test/support/world.h"
#include "tutti/graph/make/layered.h"
#include "tutti/search/auto.h"

namespace tutti {
namespace {

struct Kept {
  World world{must(make_layered({.ops = 30, .width = 5})), "p100-4"};
  AutoSettings settings;
  IslandsState state;
  StateOwner owner;

  Kept(const Kept&) = delete;  // others point into it
  Kept() {
    settings.budget.evaluations = 2000;
    settings.on_round = [this](const IslandsState& now) {
      if (now.rounds == 5) state = now;
    };
    must(plan_auto(*world.problem, settings));
    owner = owner_of(*world.problem, settings.model, settings.seed, settings.budget);
  }

  Result<IslandsState> read(const std::string& text) const {
    Source source = Source::from_text("state.json", text);
    return read_state(source, *world.problem, owner);
  }
};

TEST(StateFile, ReadsBackWhatWasWritten) {
  const Kept kept;
  ASSERT_EQ(kept.state.rounds, 5);
  const std::string text = state_to_json(kept.state, kept.owner);
  const IslandsState read = must(kept.read(text));
  EXPECT_EQ(state_to_json(read, kept.owner), text);
  EXPECT_EQ(read.walks[2].best.placement, kept.state.walks[2].best.placement);
  EXPECT_EQ(read.walks[2].best_cost, kept.state.walks[2].best_cost);
}

TEST(StateFile, RefusesTheStateOfAnotherSeed) {
  Kept kept;
  const std::string text = state_to_json(kept.state, kept.owner);
  const std::string aim = kept.owner.aim;
  kept.owner.aim += " and more";
  EXPECT_FALSE(kept.read(text));
  kept.owner.aim = aim;
  ++kept.owner.seed;
  const Result<IslandsState> read = kept.read(text);
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().message.find("another graph, machine, costs, constraints, seed"),
            std::string::npos);
}

TEST(StateFile, RefusesTheStateOfOtherConstraints) {
  const Kept kept;
  const std::string text = state_to_json(kept.state, kept.owner);
  Constraints constraints;
  for (const char* gpu : {"gpu0", "gpu1", "gpu2", "gpu3"}) {
    constraints.memory_limits.push_back({.memory = gpu, .bytes = 1'000'000'000});
  }
  const World tighter(must(make_layered({.ops = 30, .width = 5})), must(make_preset("p100-4")), {},
                      constraints);
  const StateOwner owner =
      owner_of(*tighter.problem, kept.settings.model, kept.settings.seed, kept.settings.budget);
  Source source = Source::from_text("state.json", text);
  const Result<IslandsState> read = read_state(source, *tighter.problem, owner);
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().message.find("constraints"), std::string::npos);
}

TEST(StateFile, RefusesADeviceThatIsNotThere) {
  Kept kept;
  kept.state.walks[0].plan.placement[0] = DeviceId{77};
  EXPECT_FALSE(kept.read(state_to_json(kept.state, kept.owner)));
  kept.state.walks.pop_back();
  EXPECT_FALSE(kept.read(state_to_json(kept.state, kept.owner)));
}

}  // namespace
}  // namespace tutti
