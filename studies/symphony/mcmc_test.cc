#include "studies/symphony/mcmc.h"

#include <gtest/gtest.h>

#include "tutti/belief/testing.h"

namespace tutti {
namespace {

using testing::SeenNormal;

TEST(Mcmc, AgreesWithTheTextbookToo) {
  const SeenNormal example;
  const Samples samples =
      run_chains(example.network, example.given, {.chains = 64, .sweeps = 4000});
  EXPECT_NEAR(samples.mean(example.root), SeenNormal::kMean, 0.003);
  EXPECT_NEAR(samples.spread(example.root), SeenNormal::kSpread, 0.003);
}

}  // namespace
}  // namespace tutti
