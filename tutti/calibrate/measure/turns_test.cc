#include "tutti/calibrate/measure/turns.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <set>

#include "tutti/calibrate/measure/compare_plans.h"
#include "tutti/calibrate/testing.h"

namespace tutti {
namespace {

TEST(Turns, MeasureEveryRowOnceInATurn) {
  std::vector<std::vector<size_t>> seen(3);
  int counted = 0;
  measure_in_turns(4, {.warm_up = 1, .repeats = 2, .seed = 7}, [&](const Turn& turn) {
    seen[static_cast<size_t>(turn.turn)].push_back(turn.row);
    counted += turn.counts ? 1 : 0;
    return true;
  });
  EXPECT_EQ(counted, 8) << "the first turn is a warm-up";
  for (std::vector<size_t>& rows : seen) {
    std::sort(rows.begin(), rows.end());
    EXPECT_EQ(rows, (std::vector<size_t>{0, 1, 2, 3}));
  }
}

TEST(Turns, HaveOrdersOfTheirOwnThatTheSeedDecides) {
  std::set<std::vector<size_t>> orders;
  for (int turn = 0; turn < 8; ++turn) orders.insert(order_of_turn(10, 1, turn));
  EXPECT_EQ(orders.size(), 8U);
  EXPECT_EQ(order_of_turn(10, 1, 3), order_of_turn(10, 1, 3));
  EXPECT_NE(order_of_turn(10, 1, 3), order_of_turn(10, 2, 3));
}

TEST(Turns, EndWhenTheyAreStoppedOrTheMeasurementSaysSo) {
  int runs = 0;
  const Stop past = Stop().by(Stop::Clock::now() - std::chrono::seconds(1));
  measure_in_turns(3, {.stop = past}, [&](const Turn& /*turn*/) { return ++runs > 0; });
  EXPECT_EQ(runs, 0);
  measure_in_turns(3, {}, [&](const Turn& /*turn*/) { return ++runs < 5; });
  EXPECT_EQ(runs, 5);
}

// Two plans of one problem on two devices.
class ComparePlans : public ::testing::Test {
 protected:
  ComparePlans()
      : problem_(Problem::make(testing::chain(64), load_machine("uniform-2").value()).value()) {
    for (const int32_t device : {0, 1}) {
      Plan plan;
      plan.placement.assign(static_cast<size_t>(problem_.graph.size()), DeviceId{device});
      for (int32_t i = 0; i < problem_.graph.size(); ++i) plan.priority.push_back(i);
      plans_.push_back({.name = device == 0 ? "first" : "second", .plan = plan});
    }
  }

  Problem problem_;
  std::vector<PlanToRun> plans_;
};

TEST_F(ComparePlans, GivesEachPlanItsRunsWithoutTheWarmUp) {
  const auto rows = compare_plans(
      problem_, plans_,
      [&](const PlanToRun& plan, const Turn& /*turn*/) -> Result<PlanRun> {
        return PlanRun{.makespan = Duration(plan.name == "first" ? 100 : 200), .misplaced = 1};
      },
      {.warm_up = 2, .repeats = 3});
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].name, "first");
  EXPECT_EQ(rows[0].times_ns, (std::vector<double>{100, 100, 100}));
  EXPECT_EQ(rows[1].times_ns, (std::vector<double>{200, 200, 200}));
  EXPECT_EQ(rows[1].misplaced, 5) << "in all runs";
  EXPECT_TRUE(rows[0].predicted_ns.has_value());
}

TEST_F(ComparePlans, DoesNotRunAPlanAgainThatFailed) {
  int runs_of_second = 0;
  const auto rows =
      compare_plans(problem_, plans_,
                    [&](const PlanToRun& plan, const Turn& /*turn*/) -> Result<PlanRun> {
                      if (plan.name == "first") return PlanRun{.makespan = Duration(100)};
                      ++runs_of_second;
                      return failed("a device is lost");
                    },
                    {.repeats = 3});
  EXPECT_EQ(runs_of_second, 1);
  EXPECT_EQ(rows[0].times_ns.size(), 3U);
  ASSERT_TRUE(rows[1].error.has_value());
  EXPECT_EQ(rows[1].error->message, "a device is lost");
}

}  // namespace
}  // namespace tutti
