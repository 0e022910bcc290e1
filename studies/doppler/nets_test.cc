#include "studies/doppler/nets.h"

#include <gtest/gtest.h>

#include "studies/doppler/published/net.h"
#include "studies/doppler/rivals/gdp_net.h"
#include "studies/doppler/rivals/placeto_net.h"
#include "test/support/world.h"
#include "tutti/graph/make/layered.h"
#include "tutti/policy/doppler/planner.h"
#include "tutti/policy/doppler/residual_net.h"
#include "tutti/search/planners.h"
#include "tutti/search/walk/guide.h"

namespace tutti {
namespace {

// Every weight is a number, and what comes of them is none.
TEST(StudyNets, RefuseAModelWhoseAnswersAreNoNumbers) {
  const World world(must(make_layered({.ops = 30, .width = 5})), "p100-4");
  std::vector<TensorFile> files = {PublishedNet::fresh({.width = 16, .steps = 2}, 1),
                                   PlacetoNet::fresh({}, 1), GdpNet::fresh({}, 1)};
  for (TensorFile& file : files) {
    ASSERT_TRUE(plan_greedily(must(DopplerModel::load(file, "m")), *world.problem));
    for (auto& [name, tensor] : file.tensors) {
      for (float& value : tensor.data) value = 1e30F;
    }
    const DopplerModel model = must(DopplerModel::load(file, "m"));
    for (const auto& plan :
         {plan_greedily(model, *world.problem), plan_guarded(model, *world.problem)}) {
      ASSERT_FALSE(plan) << file.metadata.at("network");
      EXPECT_EQ(plan.error().kind, Error::Kind::invalid_input);
      EXPECT_NE(plan.error().message.find("no numbers"), std::string::npos);
    }
  }
}

// Whoever names another model by --network may name any kind there is.
TEST(StudyNets, GuideEverySearch) {
  using Learned = PublishedShape::Learned;
  const World world{must(make_layered({.ops = 20, .width = 4})), must(make_preset("p100-4"))};
  std::vector<TensorFile> files = {PlacetoNet::fresh({.width = 8}, 1),
                                   GdpNet::fresh({.width = 8, .heads = 2}, 1)};
  for (const auto learned : {Learned::both, Learned::select, Learned::place, Learned::joint}) {
    files.push_back(PublishedNet::fresh({.learned = learned, .width = 8, .steps = 1}, 1));
  }
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

// Whatever one net is told of a problem, no other is made to work it out.
TEST(StudyNets, HaveFeaturesOfTheirOwnOnly) {
  const World world(must(make_layered({.ops = 30, .width = 5})), "p100-4");
  const auto features_by = [&](const TensorFile& file) {
    return must(DopplerModel::load(file, "m")).features(*world.problem);
  };
  const auto residual = features_by(ResidualNet::fresh({}, 1));
  const auto published = features_by(PublishedNet::fresh({.width = 16, .steps = 2}, 1));
  const auto placeto = features_by(PlacetoNet::fresh({}, 1));
  EXPECT_EQ(dynamic_cast<const PublishedNetFeatures*>(residual.get()), nullptr);
  EXPECT_EQ(dynamic_cast<const RivalNetFeatures*>(residual.get()), nullptr);
  EXPECT_EQ(features_as<PublishedNetFeatures>(*published).graph.ops, 30);
  EXPECT_EQ(features_as<RivalNetFeatures>(*placeto).all.order.size(), 30U);
  EXPECT_DEATH(features_as<RivalNetFeatures>(*published), "");
}

}  // namespace
}  // namespace tutti
