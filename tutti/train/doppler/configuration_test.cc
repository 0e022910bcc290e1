#include "tutti/train/doppler/configuration.h"

#include <gtest/gtest.h>

#include <set>

#include "test/support/world.h"
#include "tutti/graph/make/layered.h"
#include "tutti/policy/doppler/general.h"
#include "tutti/policy/doppler/planner.h"
#include "tutti/policy/doppler/residual_net.h"

namespace tutti {
namespace {

TEST(Configuration, EveryNameCanBeTrained) {
  const auto problem = must(TrainingProblem::make(
      "layered", must(make_layered({.ops = 12, .width = 3})), must(make_preset("mixed-5"))));
  for (const std::string& name : configuration_names()) {
    Configuration made = must(configuration({.name = name, .imitation = 2, .episodes = 2}));
    made.settings.episodes_per_problem = 2;
    const auto trainer = must(Trainer::make(made.network, name, made.settings, {problem.get()}));
    while (!trainer->done()) {
      const auto report = must(trainer->update({}));
      ASSERT_TRUE(report) << name;
      EXPECT_GT(report->mean_ratio.value_or(0), 0) << name;
      EXPECT_GT(report->step.gradient_norm, 0) << name << ", stage " << report->stage;
    }
  }
}

TEST(Configuration, RefusesANameThatIsNone) {
  const auto made = configuration({.name = "none"});
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().message.find("one-pass"), std::string::npos);
}

TEST(Configuration, TrainsNetworksOfItsOwnKindOnly) {
  std::vector<std::pair<std::string, Configuration>> all;
  for (const std::string& name : configuration_names()) {
    all.emplace_back(name, must(configuration({.name = name})));
  }
  const auto alike = [](const std::string& a, const std::string& b) {
    // The same nets in all but width, with other stages.
    const std::set<std::string> published = {"as-published", "as-written",   "narrow",
                                             "old-stages",   "old-baseline", "old-optimiser"};
    return a == b || (published.contains(a) && published.contains(b));
  };
  for (const auto& [name, ours] : all) {
    for (const auto& [other, theirs] : all) {
      const Result<void> checked = check_network(theirs.network, "a.safetensors", ours, name);
      const bool same = alike(name, other) || alike(other, name);
      ASSERT_EQ(checked.has_value(), same) << name << " and " << other;
      if (same) continue;
      EXPECT_TRUE(checked.error().message.starts_with("a.safetensors: ")) << other;
      EXPECT_NE(checked.error().message.find(name), std::string::npos);
    }
  }
}

TEST(Configuration, MarksOfNoWeightChangeNoPlan) {
  const auto world = must(TrainingProblem::make(
      "layered", must(make_layered({.ops = 40, .width = 6})), must(make_preset("mixed-5"))));
  Source source = Source::from_text("general", std::string(general_model_bytes()));
  TensorFile general = must(read_tensors(source));
  const auto plan = [&] {
    return must(plan_op_by_op(must(DopplerModel::load(general, "general")), world->problem()));
  };
  const Plan before = plan();
  add_marks(general);
  EXPECT_EQ(must(ResidualNet::shape_of(general, "general")).marks, 8);
  EXPECT_EQ(plan().placement, before.placement);
  EXPECT_EQ(plan().priority, before.priority);
}

TEST(Configuration, DividesEpisodesWhereProblemsAreFew) {
  TrainSettings settings = must(configuration({.imitation = 100})).settings;
  settings.episodes_per_problem = 8;
  EXPECT_EQ(usual_lessons(settings, 1), 4);
  EXPECT_EQ(usual_lessons(settings, 2), 2);
  EXPECT_EQ(usual_lessons(settings, 9), 1);
  settings.episodes_per_problem = 3;
  EXPECT_EQ(usual_lessons(settings, 1), 3);
  EXPECT_EQ(usual_lessons(must(configuration({.drawn = true})).settings, 0), 1);
  EXPECT_EQ(usual_lessons(must(configuration({})).settings, 1), 1);  // labels alone
}

// With any number of threads: episodes are divided among them, and so are the walks of a search.
TEST(Configuration, EveryNameLearnsTheSameWithAnyThreads) {
  const auto problem = must(TrainingProblem::make(
      "layered", must(make_layered({.ops = 12, .width = 3})), must(make_preset("mixed-5"))));
  for (const std::string& name : configuration_names()) {
    std::vector<TensorFile> ends;
    for (const int threads : {1, 3}) {
      Configuration made = must(configuration({.name = name, .imitation = 4, .episodes = 4}));
      made.settings.episodes_per_problem = 4;
      made.settings.stages.back().search_evaluations = 40;
      made.settings.lessons_per_problem = usual_lessons(made.settings, 1);
      made.settings.threads = threads;
      const auto trainer = must(Trainer::make(made.network, name, made.settings, {problem.get()}));
      while (!trainer->done()) ASSERT_TRUE(must(trainer->update({}))) << name;
      ends.push_back(trainer->checkpoint());
    }
    EXPECT_EQ(tensors_to_bytes(ends[0]), tensors_to_bytes(ends[1])) << name;
  }
}

TEST(Configuration, RefusesStagesThatWouldLearnNothing) {
  Configuration drawn = must(configuration({.drawn = true}));
  EXPECT_TRUE(check_settings(drawn.settings, true));
  drawn.settings.episodes_per_problem = 1;
  EXPECT_FALSE(check_settings(drawn.settings, true));
  drawn.settings.stages.back().label_weight = 1;
  EXPECT_TRUE(check_settings(drawn.settings, true));

  // A drawn problem has no past to be compared with.
  Configuration past = must(configuration({}));
  past.settings.episodes_per_problem = 1;
  past.settings.stages.back().label_weight = 0;
  past.settings.stages.back().gradient_weight = 1;
  EXPECT_FALSE(check_settings(past.settings, false));
  past.settings.stages.back().baseline = StageSettings::Baseline::past;
  EXPECT_TRUE(check_settings(past.settings, false));
  EXPECT_FALSE(check_settings(past.settings, true));

  Configuration given = must(configuration({}));
  EXPECT_TRUE(check_settings(given.settings, false));
  given.settings.stages.back().label_weight = 0;
  EXPECT_FALSE(check_settings(given.settings, false));
}

TEST(Configuration, RefusesATeacherThatNobodyListensTo) {
  Configuration given = must(configuration({}));
  given.settings.teacher = "heft";
  EXPECT_FALSE(check_settings(given.settings, false));
  given = must(configuration({.imitation = 2}));
  given.settings.teacher = "heft";
  EXPECT_TRUE(check_settings(given.settings, false));
}

}  // namespace
}  // namespace tutti
