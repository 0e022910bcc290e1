#include "tutti/base/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

namespace tutti {
namespace {

TEST(ParallelFor, CallsEachIndexOnceWithAnyNumberOfThreads) {
  for (const int threads : {1, 2, 3, 8, 100}) {
    std::vector<int> calls(50, 0);
    std::atomic<bool> thread_in_range{true};
    parallel_for(50, threads, [&](int index, int thread) {
      ++calls[static_cast<size_t>(index)];
      if (thread < 0 || thread >= threads) thread_in_range = false;
    });
    EXPECT_EQ(calls, std::vector<int>(50, 1)) << threads << " threads";
    EXPECT_TRUE(thread_in_range);
  }
}

TEST(ParallelFor, GoesInOrderOnOneThread) {
  std::vector<int> order;
  parallel_for(5, 1, [&](int index, int /*thread*/) { order.push_back(index); });
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4}));
}

TEST(ParallelFor, DoesNothingForNothing) {
  parallel_for(0, 4, [](int, int) { FAIL() << "called"; });
}

TEST(UsableCores, AreAtLeastOne) {
  EXPECT_GE(usable_cores(), 1);
}

}  // namespace
}  // namespace tutti
