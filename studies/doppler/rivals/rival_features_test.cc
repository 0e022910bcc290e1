#include "studies/doppler/rivals/rival_features.h"

#include <gtest/gtest.h>

#include <cmath>

#include "studies/doppler/rivals/gdp_net.h"
#include "studies/doppler/rivals/placeto_net.h"
#include "test/support/world.h"

namespace tutti {
namespace {

// a -> c, b -> c, b -> d: b has the larger b-level of the two that are ready at first, and d is
// short.
World small_world() {
  return {graph_from(R"("ops":[
    {"name":"a","kind":"add","operands":[],"outputs":[{"bytes":0}],"run_time_ns":1000},
    {"name":"b","kind":"matmul","operands":[],"outputs":[{"bytes":8000}],"run_time_ns":5000},
    {"name":"c","kind":"add","operands":["a","b"],"outputs":[{"bytes":0}],
     "run_time_ns":1500},
    {"name":"d","kind":"exp","operands":["b"],"outputs":[{"bytes":0}],"run_time_ns":500}])"),
          "uniform-4"};
}

TEST(RivalFeatures, OrderOpsByBLevelAfterTheirProducers) {
  const World world = small_world();
  const RivalFeatures features = rival_features(*world.problem);
  EXPECT_EQ(features.order, (std::vector<int32_t>{1, 0, 2, 3}));
  EXPECT_EQ(features.step, (std::vector<int32_t>{1, 0, 2, 3}));
}

TEST(RivalFeatures, TellTimesInMeanRunTimes) {
  const World world = small_world();
  const RivalFeatures features = rival_features(*world.problem);
  // The mean is 2000.
  const double expected[] = {0.5, 2.5, 0.75, 0.25};
  for (size_t op = 0; op < 4; ++op) {
    EXPECT_NEAR(features.mean_run_time[op], std::log1p(expected[op]), 1e-6);
    for (size_t d = 0; d < 4; ++d) {
      EXPECT_EQ(features.run_time[4 * op + d], features.mean_run_time[op]);
    }
  }
  EXPECT_NEAR(features.bytes[1], std::log1p(4.0), 1e-6);  // 8000 of a mean of 2000
  EXPECT_EQ(features.transfer_time[3], 0);                // nobody reads it
  EXPECT_EQ(features.slowness, std::vector<float>(4, 0.0F));
  EXPECT_EQ(features.kind[0], features.kind[2]);
}

TEST(RivalFeatures, KnowSlowDevicesFromFastOnes) {
  const World world(graph_from(R"("ops":[
    {"name":"a","kind":"add","operands":[],"outputs":[{"bytes":0}],
     "run_time_ns":{"*":8000,"gpu":2000}}])"),
                    "mixed-5");
  const RivalFeatures features = rival_features(*world.problem);
  for (const DeviceId device : world.machine.devices()) {
    const auto at = static_cast<size_t>(device.index);
    const bool slow = world.machine.device(device).kind != "gpu";
    EXPECT_EQ(features.slowness[at] > 0, slow);
    EXPECT_EQ(features.run_time[at] > features.mean_run_time[0], slow);
  }
}

TEST(PlacetoKin, AreNeededNeedingOrParallel) {
  const World world = small_world();
  const RivalFeatures features = rival_features(*world.problem);
  std::vector<Kin> kin;
  find_kin(features.graph, 2, kin);
  EXPECT_EQ(kin, (std::vector<Kin>{Kin::needed, Kin::needed, Kin::itself, Kin::parallel}));
  find_kin(features.graph, 1, kin);
  EXPECT_EQ(kin, (std::vector<Kin>{Kin::parallel, Kin::itself, Kin::needing, Kin::needing}));
}

TEST(GdpRows, TellOpsThatAreAlikeApart) {
  const World world = small_world();
  const RivalFeatures features = rival_features(*world.problem);
  const std::vector<float> rows = gdp_op_rows(features);
  for (size_t op = 0; op < 4; ++op) {
    const float* row = rows.data() + op * kGdpOpColumns;
    EXPECT_EQ(row[features.kind[op]], 1);
    // The second wave has a period of 4.
    const double angle = 3.141592653589793 / 2 * features.step[op];
    EXPECT_NEAR(row[kKindBuckets + 3 + 2], std::sin(angle), 1e-6);
    EXPECT_NEAR(row[kKindBuckets + 3 + 3], std::cos(angle), 1e-6);
  }
}

TEST(GdpAttention, ReachesOneSegmentBack) {
  const GdpShape shape{.segment = 8};
  EXPECT_EQ(context_of(shape, 0, 20).begin, 0);
  EXPECT_EQ(context_of(shape, 0, 20).end, 8);
  EXPECT_EQ(context_of(shape, 2, 20).begin, 8);
  EXPECT_EQ(context_of(shape, 2, 20).end, 20);
}

TEST(GdpLayers, TakeTheLargestOfWhatNeighboursSend) {
  const World world = small_world();
  const RivalFeatures features = rival_features(*world.problem);
  const std::vector<float> sent = {1, 2, 3, 0, 5, 0, 0, 7};  // two columns
  std::vector<float> most(8);
  std::vector<int32_t> whose(8);
  max_of_neighbours(features.graph, sent.data(), 2, most.data(), whose.data());
  // a hears c; b hears c and d; c hears a and b; d hears b.
  EXPECT_EQ(most, (std::vector<float>{5, 0, 5, 7, 3, 2, 3, 0}));
  EXPECT_EQ(whose, (std::vector<int32_t>{2, -1, 2, 3, 1, 0, 1, -1}));
}

}  // namespace
}  // namespace tutti
