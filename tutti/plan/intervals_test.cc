#include "tutti/plan/intervals.h"

#include <gtest/gtest.h>

#include "tutti/plan/testing.h"

namespace tutti {
namespace {

using testing::ns;

TEST(Intervals, AreBusyWhereEnoughOfThemRun) {
  const std::vector<Interval> three = {{ns(0), ns(10)}, {ns(5), ns(20)}, {ns(30), ns(40)}};
  const std::vector<Interval> one = {{ns(0), ns(20)}, {ns(30), ns(40)}};
  const std::vector<Interval> two = {{ns(5), ns(10)}};
  EXPECT_EQ(busy_intervals(three, 1), one);
  EXPECT_EQ(busy_intervals(three, 2), two);
  EXPECT_TRUE(busy_intervals(three, 3).empty());
}

TEST(Intervals, ThatTouchAreBusyWithoutAGapAndNeverTwiceAtOnce) {
  const std::vector<Interval> touching = {{ns(10), ns(20)}, {ns(0), ns(10)}, {ns(10), ns(10)}};
  const std::vector<Interval> whole = {{ns(0), ns(20)}};
  EXPECT_EQ(busy_intervals(touching, 1), whole);
  EXPECT_TRUE(busy_intervals(touching, 2).empty());
}

TEST(Intervals, UniteWhereTheyOverlapOrTouch) {
  const std::vector<Interval> a = {{ns(0), ns(10)}, {ns(20), ns(30)}, {ns(50), ns(60)}};
  const std::vector<Interval> b = {{ns(5), ns(20)}, {ns(40), ns(45)}};
  const std::vector<Interval> both = {{ns(0), ns(30)}, {ns(40), ns(45)}, {ns(50), ns(60)}};
  EXPECT_EQ(unite(a, b), both);
  EXPECT_EQ(unite(b, a), both);
  EXPECT_EQ(unite(a, {}), a);
}

TEST(Intervals, LeaveGapsFromZeroToTheEndOfTime) {
  const std::vector<Interval> apart = {{ns(5), ns(10)}, {ns(20), ns(30)}};
  const std::vector<Interval> gaps = {{ns(0), ns(5)}, {ns(10), ns(20)}, {ns(30), kNever}};
  EXPECT_EQ(gaps_between(apart), gaps);
}

TEST(Intervals, ShareALaneOnlyOneAfterAnother) {
  const std::vector<Interval> spans = {{ns(0), ns(10)}, {ns(5), ns(15)}, {ns(10), ns(20)}};
  EXPECT_EQ(assign_lanes(spans), (std::vector<int>{0, 1, 0}));
}

}  // namespace
}  // namespace tutti
