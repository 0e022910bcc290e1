#include "tutti/train/configuration.h"

#include <gtest/gtest.h>

#include "test/support/world.h"
#include "tutti/graph/make/layered.h"

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
      const UpdateReport report = trainer->update();
      EXPECT_GT(report.mean_ratio, 0) << name;
      EXPECT_GT(report.step.gradient_norm, 0) << name << ", stage " << report.stage;
    }
  }
}

TEST(Configuration, RefusesANameThatIsNone) {
  const auto made = configuration({.name = "none"});
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().message.find("as-published"), std::string::npos);
}

}  // namespace
}  // namespace tutti
