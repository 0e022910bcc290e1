#include "tutti/runtime/local/arena.h"

#include <gtest/gtest.h>

#include <vector>

#include "tutti/base/random.h"

namespace tutti {
namespace {

constexpr int64_t kUnit = Arena::kAlignment;

struct Piece {
  alignas(kUnit) std::byte bytes[8 * kUnit];
};

TEST(Arena, GivesAlignedRoomUntilThereIsNone) {
  Piece piece;
  Arena arena;
  EXPECT_EQ(arena.take(1), nullptr);
  arena.add_piece(piece.bytes, sizeof piece.bytes);
  EXPECT_EQ(arena.take(1), piece.bytes);
  EXPECT_EQ(arena.take(kUnit + 1), piece.bytes + kUnit);
  EXPECT_EQ(arena.take(6 * kUnit), nullptr);
  EXPECT_EQ(arena.take(5 * kUnit), piece.bytes + 3 * kUnit);
  EXPECT_EQ(arena.take(0), nullptr);
}

TEST(Arena, JoinsGapsOnBothSides) {
  Piece piece;
  Arena arena;
  arena.add_piece(piece.bytes, sizeof piece.bytes);
  std::vector<void*> blocks;
  for (int i = 0; i < 8; ++i) blocks.push_back(arena.take(kUnit));
  for (const int i : {1, 3, 2}) arena.give(blocks[static_cast<size_t>(i)]);
  EXPECT_EQ(arena.take(4 * kUnit), nullptr);
  EXPECT_EQ(arena.take(3 * kUnit), piece.bytes + kUnit);
}

TEST(Arena, TakesTheSmallestGapThatFits) {
  Piece piece;
  Arena arena;
  arena.add_piece(piece.bytes, sizeof piece.bytes);
  void* const large = arena.take(3 * kUnit);
  void* const between = arena.take(kUnit);
  void* const small = arena.take(2 * kUnit);
  arena.take(2 * kUnit);
  arena.give(large);
  arena.give(small);
  EXPECT_EQ(arena.take(2 * kUnit), small);
  EXPECT_EQ(arena.take(3 * kUnit), large);
  arena.give(between);
}

TEST(Arena, PiecesThatTouchStayApart) {
  Piece pieces[2];
  static_assert(sizeof pieces == 2 * sizeof(Piece));
  Arena arena;
  arena.add_piece(pieces[0].bytes, sizeof(Piece));
  arena.add_piece(pieces[1].bytes, sizeof(Piece));
  void* const first = arena.take(8 * kUnit);
  void* const second = arena.take(8 * kUnit);
  arena.give(first);
  arena.give(second);
  EXPECT_EQ(arena.take(9 * kUnit), nullptr);
  EXPECT_EQ(arena.take(8 * kUnit), first);
}

TEST(Arena, BlocksNeverOverlapAndAllComesBack) {
  constexpr int64_t kUnits = 64;
  alignas(kUnit) static std::byte bytes[kUnits * kUnit];
  Arena arena;
  arena.add_piece(bytes, sizeof bytes);
  Rng rng(1);
  std::vector<std::pair<std::byte*, int64_t>> live;
  std::vector<bool> used(kUnits, false);
  for (int step = 0; step < 5000; ++step) {
    if (!live.empty() && rng.below(2) == 0) {
      const size_t i = rng.below(live.size());
      const auto [begin, units] = live[i];
      for (int64_t unit = 0; unit < units; ++unit) {
        used[static_cast<size_t>((begin - bytes) / kUnit + unit)] = false;
      }
      arena.give(begin);
      live[i] = live.back();
      live.pop_back();
      continue;
    }
    const auto units = static_cast<int64_t>(1 + rng.below(9));
    auto* const begin = static_cast<std::byte*>(arena.take(units * kUnit));
    if (begin == nullptr) continue;
    for (int64_t unit = 0; unit < units; ++unit) {
      const auto at = static_cast<size_t>((begin - bytes) / kUnit + unit);
      ASSERT_FALSE(used[at]);
      used[at] = true;
    }
    live.emplace_back(begin, units);
  }
  for (const auto& [begin, units] : live) arena.give(begin);
  EXPECT_EQ(arena.take(sizeof bytes), bytes);
}

}  // namespace
}  // namespace tutti
