#include "studies/doppler/published/features.h"

#include <gtest/gtest.h>

#include <cmath>

#include "studies/doppler/published/scene.h"
#include "test/support/world.h"
#include "tutti/graph/make/layered.h"

namespace tutti {
namespace {

// a -> b -> d, a -> c -> d on two equal devices. Run times are 2, 4, 6, 4 ns, so that the mean, our
// unit of time, is 4; what a makes takes 8 ns to travel, what b and c make 4 ns.
//
//            a    b    c    d
//   comp     0.5  1    1.5  1
//   comm     2    1    1    0    nobody reads what d makes
//   b-level  6    3    3.5  1    a: 0.5 + 2 + 3.5, by c
//   t-level  0.5  2.5  3    4    d: 1 + 0 + 3, by c
//   in       0    2    2    2
//   out      4    1    1    0
World diamond() {
  return World(graph_from(R"("ops": [
      {"name": "a", "run_time_ns": 2},
      {"name": "b", "operands": ["a"], "run_time_ns": 4, "transfer_time_ns": [8]},
      {"name": "c", "operands": ["a"], "run_time_ns": 6, "transfer_time_ns": [8]},
      {"name": "d", "operands": ["b", "c"], "run_time_ns": 4, "transfer_time_ns": [4, 4]}])"),
               "uniform-2");
}

void expect_column(const PublishedFeatures& features, int column, std::vector<double> raw) {
  double mean = 0;
  for (const double value : raw) mean += value / 4;
  double square = 0;
  for (const double value : raw) square += (value - mean) * (value - mean) / 4;
  for (size_t op = 0; op < 4; ++op) {
    EXPECT_NEAR(features.op_rows[op * kPublishedOpFeatures + static_cast<size_t>(column)],
                (raw[op] - mean) / std::sqrt(square), 1e-5)
        << "column " << column << " of op " << op;
  }
}

TEST(PublishedFeatures, AreThePapersFiveColumns) {
  const World world = diamond();
  const PublishedFeatures features = published_features(*world.problem);
  ASSERT_EQ(features.ops, 4);
  EXPECT_EQ(features.mean_run_time_ns, 4);
  EXPECT_EQ(features.b_level, (std::vector<double>{6, 3, 3.5, 1}));
  expect_column(features, 0, {0.5, 1, 1.5, 1});
  expect_column(features, 1, {6, 3, 3.5, 1});
  expect_column(features, 2, {0.5, 2.5, 3, 4});
  expect_column(features, 3, {0, 2, 2, 2});
  expect_column(features, 4, {4, 1, 1, 0});
}

TEST(PublishedFeatures, FollowTheLongestWays) {
  const World world = diamond();
  const PublishedFeatures features = published_features(*world.problem);
  EXPECT_EQ(features.next, (std::vector<int32_t>{2, 3, 3, -1}));
  EXPECT_EQ(features.previous, (std::vector<int32_t>{-1, 0, 0, 2}));
  std::vector<float> rows = {1, 10, 100, 1000};
  sum_along(features, Way::to_exit, 1, rows.data());
  EXPECT_EQ(rows, (std::vector<float>{1101, 1010, 1100, 1000}));
  rows = {1, 10, 100, 1000};
  sum_along(features, Way::to_entry, 1, rows.data());
  EXPECT_EQ(rows, (std::vector<float>{1, 11, 101, 1101}));
}

// Each of the four ops sends two messages, at 2, 1, 1 and 0: mean 1, spread sqrt(1/2).
TEST(PublishedFeatures, MessagesCarryTheCostOfTheirSender) {
  const World world = diamond();
  const PublishedFeatures features = published_features(*world.problem);
  EXPECT_EQ(features.message_kind, (std::vector<int32_t>{2, 1, 1, 0}));
  ASSERT_EQ(features.message_values.size(), 3U);
  EXPECT_NEAR(features.message_values[0], -std::sqrt(2), 1e-5);
  EXPECT_NEAR(features.message_values[1], 0, 1e-5);
  EXPECT_NEAR(features.message_values[2], std::sqrt(2), 1e-5);
  const std::vector<float> x = {1, 10, 100, 1000};
  std::vector<float> sum(4);
  sum_neighbours(features, x.data(), 1, sum.data());
  EXPECT_EQ(sum, (std::vector<float>{110, 1001, 1001, 110}));
}

TEST(PublishedFeatures, KeepTheKindsOfMessagesFew) {
  const World world(must(make_layered({.ops = 2000, .width = 40, .seed = 5})), "p100-4");
  const PublishedFeatures features = published_features(*world.problem);
  EXPECT_EQ(features.message_values.size(), static_cast<size_t>(kMostMessageKinds));
  for (size_t i = 1; i < features.message_values.size(); ++i) {
    EXPECT_LE(features.message_values[i - 1], features.message_values[i]);
  }
  for (const int32_t kind : features.message_kind) {
    EXPECT_LT(kind, static_cast<int32_t>(features.message_values.size()));
  }
}

// With a on device 0 from 0 to 0.5, b sees there a load of 0.5, producers that take 0.5, from 0 to
// 0.5, and could start at 0.5; on device 1 zeros, and a start at 2.5 when a's value has come. Two
// numbers that differ are standardised to -1 and 1.
TEST(PublishedScene, TellsThePapersFiveNumbersOfADevice) {
  const World world = diamond();
  const PublishedFeatures features = published_features(*world.problem);
  PublishedScene scene(*world.problem, features, Bookkeeping::correct);
  scene.place(OpId{0}, DeviceId{0});
  const DeviceId devices[] = {DeviceId{0}, DeviceId{1}};
  std::vector<float> rows(2 * kPublishedDeviceFeatures);
  scene.observe(OpId{1}, devices, rows.data());
  const std::vector<float> expected = {1, 1, 0, 1, -1, -1, -1, 0, -1, 1};
  for (size_t i = 0; i < rows.size(); ++i) EXPECT_NEAR(rows[i], expected[i], 1e-5) << i;
}

// b on device 1 waits for a until 2.5 and runs to 3.5. The released code books it from 0 to 1.
TEST(PublishedScene, BooksWaitingUnlessToldToForgetIt) {
  const World world = diamond();
  const PublishedFeatures features = published_features(*world.problem);
  for (const auto bookkeeping : {Bookkeeping::correct, Bookkeeping::released}) {
    PublishedScene scene(*world.problem, features, bookkeeping);
    scene.place(OpId{0}, DeviceId{0});
    scene.place(OpId{1}, DeviceId{1});
    const bool correct = bookkeeping == Bookkeeping::correct;
    EXPECT_EQ(scene.start(OpId{1}), correct ? 2.5 : 0);
    // c needs a's value until 2.5, and the device.
    EXPECT_EQ(scene.earliest_start(OpId{2}, DeviceId{1}), correct ? 3.5 : 2.5);
    EXPECT_EQ(scene.earliest_start(OpId{2}, DeviceId{0}), 0.5);
  }
}

}  // namespace
}  // namespace tutti
