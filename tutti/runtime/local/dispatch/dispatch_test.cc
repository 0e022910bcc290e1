#include "tutti/runtime/local/dispatch/dispatch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "tutti/base/random.h"
#include "tutti/runtime/local/dispatch/ranks.h"
#include "tutti/runtime/local/testing.h"
#include "tutti/runtime/local/values/pool.h"

namespace tutti {
namespace {

TEST(Ranks, OrderByPriorityAndThenById) {
  Ranks ranks;
  ranks.set(std::vector<int64_t>{7, -3, 7, 0});
  // b, d, a, c.
  EXPECT_EQ((std::vector<int32_t>{ranks.of(0), ranks.of(1), ranks.of(2), ranks.of(3)}),
            (std::vector<int32_t>{2, 0, 3, 1}));
  EXPECT_EQ(ranks.op(0), 1);
}

TEST(Ranks, AreThoseOfASortWhateverTheNumbers) {
  Rng rng(1);
  for (const int bits : {1, 8, 22, 40, 64}) {
    std::vector<int64_t> priorities(3000);
    for (int64_t& priority : priorities) priority = static_cast<int64_t>(rng.next()) >> (64 - bits);
    std::vector<int32_t> ops(priorities.size());
    for (size_t i = 0; i < ops.size(); ++i) ops[i] = static_cast<int32_t>(i);
    std::stable_sort(ops.begin(), ops.end(), [&](int32_t a, int32_t b) {
      return priorities[static_cast<size_t>(a)] < priorities[static_cast<size_t>(b)];
    });
    Ranks ranks;
    ranks.set(priorities);
    for (size_t rank = 0; rank < ops.size(); ++rank) {
      ASSERT_EQ(ranks.op(static_cast<int32_t>(rank)), ops[rank]) << bits << " bits";
      ASSERT_EQ(ranks.of(ops[rank]), static_cast<int32_t>(rank));
    }
  }
}

TEST(ReadyQueue, GivesTheLeastOfAllThatWait) {
  constexpr int32_t kRanks = 1'000'000;
  ReadyQueue queue;
  queue.begin(kRanks);
  Rng rng(2);
  std::vector<int32_t> wanted;
  const auto nothing = [] {};
  // Near each other, and far apart; no rank twice.
  const auto draw = [&] {
    for (;;) {
      const uint64_t below = rng.below(2) == 0 ? 1000 : kRanks;
      const auto rank = static_cast<int32_t>(rng.below(below));
      if (std::find(wanted.begin(), wanted.end(), rank) != wanted.end()) continue;
      wanted.push_back(rank);
      return rank;
    }
  };
  for (int i = 0; i < 5000; ++i) {
    std::vector<int32_t> fresh;
    for (uint64_t left = rng.below(3); left > 0; --left) fresh.push_back(draw());
    if (rng.below(4) == 0) queue.give(draw(), nothing);
    const int32_t got = queue.exchange(fresh, nothing, nothing);
    if (wanted.empty()) {
      ASSERT_EQ(got, kNoRank);
      continue;
    }
    const auto least = std::min_element(wanted.begin(), wanted.end());
    ASSERT_EQ(got, *least);
    wanted.erase(least);
    ASSERT_EQ(queue.head(),
              wanted.empty() ? kNoRank : *std::min_element(wanted.begin(), wanted.end()));
  }
}

// Two devices of three slots, whose threads give each other ops until all have been had.
TEST(Dispatch, HandsOutEveryOpOnceAndThenRests) {
  constexpr int32_t kOps = 20'000;
  const Machine machine = testing::cpus(2, 3);
  const TickClock clock;
  for (int round = 0; round < 5; ++round) {
    Crew crew;
    Dispatch dispatch(machine, clock, crew);
    dispatch.begin(std::vector<int>{3, 3}, kOps,
                   round % 2 == 0 ? Dispatch::Notes::steps : Dispatch::Notes::none);
    crew.begin(
        6, [&] { return dispatch.empty(); }, [&] { dispatch.ring_all(); });
    std::vector<std::atomic<int>> had(kOps);
    std::atomic<int32_t> next{6};
    for (int32_t i = 0; i < 6; ++i) dispatch.give(DeviceId{i % 2}, i, [](int64_t) {});
    const auto work = [&](int32_t device, int slot) {
      const int32_t me = dispatch.slot(DeviceId{device}, slot);
      std::vector<int32_t> fresh;
      for (;;) {
        Dispatch::Taken taken = dispatch.take(me, fresh);
        fresh.clear();
        if (taken.rank == kNoRank) taken = dispatch.wait(me);
        if (taken.rank == kNoRank) break;
        had[static_cast<size_t>(taken.rank)].fetch_add(1);
        // Sometimes none, sometimes two: queues run dry and fill.
        for (int32_t i = 0; i < 2 + taken.rank % 2; ++i) {
          const int32_t rank = next.fetch_add(1);
          if (rank >= kOps) break;
          if (rank % 3 == 0) {
            dispatch.give(DeviceId{1 - device}, rank, [](int64_t) {});
          } else {
            fresh.push_back(rank);
          }
        }
      }
      crew.leave(/*awake=*/true);
    };
    std::vector<std::thread> threads;
    for (int32_t i = 0; i < 6; ++i) threads.emplace_back(work, i % 2, i / 2);
    EXPECT_FALSE(crew.wait({}));
    for (std::thread& thread : threads) thread.join();
    for (const std::atomic<int>& times : had) ASSERT_EQ(times.load(), 1);
  }
}

TEST(SpinLock, LetsOneInAtATime) {
  SpinLock lock;
  int64_t count = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < 20'000; ++k) {
        const SpinHold hold(lock);
        ++count;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(count, 80'000);
}

TEST(Pool, KeepsTheBooksAndTheBlocks) {
  HostStore store;
  Pool pool(store);
  pool.begin(100);
  EXPECT_TRUE(pool.take_room(60));
  EXPECT_FALSE(pool.take_room(41));
  EXPECT_TRUE(pool.take_room(40));
  pool.give_room(60);
  EXPECT_EQ(pool.left(), 60);
  EXPECT_EQ(pool.high_water(), 100);
  void* const block = pool.allocate(1000);
  pool.release(block, 1000);
  EXPECT_EQ(pool.allocate(1000), block);
  pool.release(block, 1000);
}

}  // namespace
}  // namespace tutti
