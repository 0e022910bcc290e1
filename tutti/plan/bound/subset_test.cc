#include "tutti/plan/bound/subset.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tutti/base/random.h"

namespace tutti::bound {
namespace {

std::vector<Item> random_items(Rng rng) {
  std::vector<Item> items(1 + rng.below(60));
  for (Item& item : items) {
    item = {.head = static_cast<Ticks>(rng.below(5000)),
            .work = static_cast<int64_t>(rng.below(300)),
            .tail = static_cast<Ticks>(rng.below(5000))};
  }
  return items;
}

// As subset.h defines it, over every pair of a head and a tail.
Ticks by_definition(const std::vector<Item>& items, int64_t capacity) {
  Ticks bound = 0;
  for (const Item& a : items) {
    for (const Item& b : items) {
      int64_t work = 0;
      bool any = false;
      for (const Item& item : items) {
        if (item.head < a.head || item.tail < b.tail) continue;
        work += item.work;
        any = true;
      }
      if (any) bound = std::max(bound, a.head + ceil_div(work, capacity) + b.tail);
    }
  }
  return bound;
}

TEST(SubsetBound, IsTheLargestOverAllHeadsAndTails) {
  SubsetBound subset;
  for (uint64_t i = 0; i < 200; ++i) {
    const std::vector<Item> items = random_items(Rng(i));
    for (const int64_t capacity : {1, 3}) {
      EXPECT_EQ(subset.of(items, capacity), by_definition(items, capacity));
    }
  }
}

TEST(SubsetBound, IsNeverLessThanOverAGrid) {
  SubsetBound subset;
  for (uint64_t i = 0; i < 200; ++i) {
    const std::vector<Item> items = random_items(Rng(i));
    const Ticks exact = subset.of(items, 2);
    const Ticks coarse = coarse_subset_bound(items, 2);
    EXPECT_LE(coarse, exact);
    EXPECT_GE(coarse, exact * 9 / 10);
  }
}

TEST(SubsetBound, DoesNotOverflow) {
  // capacity * tail is beyond 64 bits: 1 + 8 / 8 + tail.
  const Ticks tail = kUnreachable / 4;
  const std::vector<Item> items = {{.head = 1, .work = int64_t{1} << 10, .tail = tail}};
  EXPECT_EQ(SubsetBound().of(items, int64_t{1} << 10), 2 + tail);
}

}  // namespace
}  // namespace tutti::bound
