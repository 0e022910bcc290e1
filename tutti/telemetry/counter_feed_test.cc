#include "tutti/telemetry/counter_feed.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <limits>
#include <thread>

namespace tutti {
namespace {

// Gives 1, 2, 3, ..., and at every other reading nothing for its second counter.
class Counting final : public CounterSource {
 public:
  std::span<const Counter> counters() const override { return counters_; }
  void read(std::span<double> values) override {
    ++reads_;
    values[0] = reads_;
    values[1] = reads_ % 2 == 0 ? std::numeric_limits<double>::quiet_NaN() : 5;
  }

 private:
  std::vector<Counter> counters_{{.name = "a", .unit = "share"}, {.name = "b", .unit = "share"}};
  int reads_ = 0;
};

// Cannot be read until somebody lets it.
class Stuck final : public CounterSource {
 public:
  explicit Stuck(std::atomic<bool>& free) : free_(free) {}
  std::span<const Counter> counters() const override { return counters_; }
  void read(std::span<double> values) override {
    while (!free_.load()) std::this_thread::yield();
    values[0] = 1;
  }

 private:
  std::vector<Counter> counters_{{.name = "slow", .unit = "share"}};
  std::atomic<bool>& free_;
};

TEST(CounterFeed, SaysWhatTheLastReadingsHaveInCommonAndWaitsForNoSource) {
  std::atomic<bool> free{false};
  std::vector<std::unique_ptr<CounterSource>> sources;
  sources.push_back(std::make_unique<Stuck>(free));
  sources.push_back(std::make_unique<Counting>());
  std::vector<CounterReading> readings;
  {
    const CounterFeed feed(std::move(sources), {.interval = Duration(100'000), .window = 4});
    ASSERT_EQ(feed.counters().size(), 3U);
    EXPECT_EQ(feed.counters()[1].name, "a");
    while (feed.reads() < 9) std::this_thread::yield();
    feed.last(readings);
    free.store(true);
  }
  ASSERT_EQ(readings.size(), 3U);
  EXPECT_EQ(readings[0].count, 0);  // nothing is known of what has not been read
  // Four numbers in a row: their mean is at least that of 6, 7, 8, 9, their spread sqrt(5/3).
  EXPECT_EQ(readings[1].count, 4);
  EXPECT_GE(readings[1].mean, 7.5);
  EXPECT_NEAR(readings[1].spread, std::sqrt(5.0 / 3), 1e-12);
  EXPECT_EQ(readings[2].count, 2);
  EXPECT_EQ(readings[2].mean, 5);
  EXPECT_EQ(readings[2].spread, 0);
}

}  // namespace
}  // namespace tutti
