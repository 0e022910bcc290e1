#include "studies/doppler/samples.h"

#include <gtest/gtest.h>

#include "test/support/world.h"
#include "tutti/graph/make/layered.h"
#include "tutti/policy/doppler/general.h"

namespace tutti {
namespace {

TEST(Samples, AreNeverWorseIfThereAreMore) {
  const World world{must(make_layered({.ops = 40, .width = 8})), must(make_preset("p100-4"))};
  const DopplerModel model = general_model();
  double least = kNoPlan;
  for (const int samples : {0, 4, 32}) {
    const CostedPlan best = best_of_samples(model, *world.problem, {}, samples, Rng(1), 2);
    EXPECT_LE(best.cost, least);
    least = best.cost;
  }
}

}  // namespace
}  // namespace tutti
