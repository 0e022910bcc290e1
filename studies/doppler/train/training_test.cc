// Training in the released simulator, where the order of ops does not matter.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "studies/doppler/released/model.h"
#include "test/support/world.h"
#include "tutti/graph/make/layered.h"
#include "tutti/policy/doppler/residual_net.h"
#include "tutti/train/doppler/configuration.h"
#include "tutti/train/doppler/trainer.h"

namespace tutti {
namespace {

TEST(StudyTraining, LearnsALabelOnEqualDevicesByHeart) {
  const auto world =
      must(TrainingProblem::make("layered", must(make_layered({.ops = 24, .width = 4, .seed = 5})),
                                 must(make_preset("uniform-3"))));
  TrainSettings settings;
  settings.model = released_model();
  settings.episodes_per_problem = 1;
  settings.lessons_per_problem = 1;
  settings.stages = {{.episodes = 400,
                      .learning_rate = {1e-2, 1e-3},
                      .gradient_weight = 0,
                      .label_weight = 1,
                      .search_evaluations = 200,
                      .search_until = 0.2}};
  settings.check_every = 50;
  const TensorFile network = ResidualNet::fresh({.width = 16, .second = 8, .rounds = 1}, 1);
  double greedy = 9;
  double label = 9;
  RunSettings run{.folder = testing::TempDir() + "tutti-by-heart"};
  std::filesystem::remove_all(run.folder);
  run.on_update = [&](const UpdateReport& report, double) {
    if (report.greedy_ratio) greedy = std::min(greedy, *report.greedy_ratio);
    label = report.label_ratio.value_or(9);
  };
  ASSERT_TRUE(train_in_folder(network, "fresh", settings, {world.get()}, run));
  std::filesystem::remove_all(run.folder);
  EXPECT_NEAR(greedy, label, 0.02);
}

TEST(StudyConfigurations, MarksAreForResidualNetworksOnly) {
  TensorFile published = must(configuration({.name = "as-published"})).network;
  const auto tensors = published.tensors;
  add_marks(published);
  EXPECT_EQ(published.tensors, tensors);
}

// A drawn problem has no past to be compared with.
TEST(StudyConfigurations, AsPublishedLearnsFromGivenProblemsOnly) {
  const Configuration published = must(configuration({.name = "as-published"}));
  EXPECT_TRUE(check_settings(published.settings, false));
  EXPECT_FALSE(check_settings(published.settings, true));
}

TEST(StudyConfigurations, OldStagesDifferInWhatTheSecondTakesOver) {
  const auto second = [](const char* name) {
    return must(configuration({.name = name})).settings.stages.back();
  };
  EXPECT_FALSE(second("as-published").carries_past || second("as-published").carries_moments);
  EXPECT_TRUE(second("old-stages").carries_past && second("old-stages").carries_moments);
  EXPECT_TRUE(second("old-baseline").carries_past && !second("old-baseline").carries_moments);
  EXPECT_TRUE(!second("old-optimiser").carries_past && second("old-optimiser").carries_moments);
}

TEST(StudyConfigurations, AsWrittenHasTheFiguresOfTheText) {
  const auto stages = must(configuration({.name = "as-written"})).settings.stages;
  ASSERT_EQ(stages.size(), 2);
  EXPECT_EQ(stages[1].episodes, 8000);
  for (const StageSettings& stage : stages) {
    EXPECT_EQ(stage.learning_rate.first, 1e-4);
    EXPECT_EQ(stage.learning_rate.last, 1e-7);
    EXPECT_EQ(stage.entropy_weight.first, 1e-2);
  }
}

TEST(StudyConfigurations, AreListedAfterTheProducts) {
  EXPECT_EQ(configuration_names(),
            (std::vector<std::string>{"default", "one-pass", "no-device-columns", "published-view",
                                      "as-published", "as-written", "old-stages", "old-baseline",
                                      "old-optimiser", "select-only", "place-only", "joint",
                                      "every-step", "narrow", "placeto", "gdp"}));
}

}  // namespace
}  // namespace tutti
