#include "tutti/base/chunk_table.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace tutti {
namespace {

TEST(ChunkTable, KeepsItemsUntilTheyAreErased) {
  ChunkTable<std::unique_ptr<int>> table;
  for (int i = 0; i < 3000; ++i) {
    EXPECT_EQ(*table.emplace_back(std::make_unique<int>(i)), i);
  }
  const int* const stays = table[700].get();
  for (size_t i = 0; i < 3000; ++i) {
    if (i != 700) table.erase(i);
  }
  EXPECT_EQ(table.size(), 3000U);
  EXPECT_EQ(table[700].get(), stays);  // nothing moved
  EXPECT_EQ(table[0], nullptr);
  EXPECT_EQ(table[2999], nullptr);
  table.erase(700);
  EXPECT_EQ(table[700], nullptr);
  EXPECT_EQ(*table.emplace_back(std::make_unique<int>(3000)), 3000);
  EXPECT_EQ(*table.at(3000), 3000);
}

// Counts the items that exist.
struct Counted {
  static inline int count = 0;
  Counted() { ++count; }
  Counted(const Counted& /*other*/) { ++count; }
  Counted& operator=(const Counted&) = default;
  ~Counted() { --count; }
};

TEST(ChunkTable, FreesChunksOfErasedItems) {
  ChunkTable<Counted> table;
  int most = 0;
  for (size_t i = 0; i < 100'000; ++i) {
    table.emplace_back();
    if (i >= 10) table.erase(i - 10);
    most = std::max(most, Counted::count);
  }
  EXPECT_LT(most, 1100);  // two chunks
}

}  // namespace
}  // namespace tutti
