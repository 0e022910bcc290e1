#include "tutti/runtime/sim/links/earliest_of.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tutti/base/random.h"

namespace tutti {
namespace {

TEST(EarliestOf, IsNeverAtFirstAndAfterReset) {
  EarliestOf times(3);
  EXPECT_EQ(times.earliest(), kNever);
  times.set(2, Duration(5));
  EXPECT_EQ(times.earliest(), Duration(5));
  EXPECT_EQ(times.which(), 2);
  times.reset();
  EXPECT_EQ(times.earliest(), kNever);
}

TEST(EarliestOf, FollowsEveryChange) {
  for (const int32_t count : {1, 2, 3, 28, 64, 100}) {
    EarliestOf times(count);
    std::vector<Duration> plain(static_cast<size_t>(count), kNever);
    Rng rng(7);
    for (int step = 0; step < 2000; ++step) {
      const auto index = static_cast<int32_t>(rng.below(static_cast<uint64_t>(count)));
      const Duration time = rng.below(4) == 0 ? kNever : Duration(rng.below(1000));
      times.set(index, time);
      plain[static_cast<size_t>(index)] = time;
      const Duration least = *std::min_element(plain.begin(), plain.end());
      ASSERT_EQ(times.earliest(), least);
      ASSERT_EQ(plain[static_cast<size_t>(times.which())], least);
    }
  }
}

}  // namespace
}  // namespace tutti
