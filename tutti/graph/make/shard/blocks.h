// Arithmetic of blocks: a shape split into counts[i] blocks along axis i, numbered in row-major
// order. Their sizes along an axis differ by at most one, and are equal where the count divides it.
// Blocks of a multiple of the count lie within those of the count.

#ifndef TUTTI_GRAPH_MAKE_SHARD_BLOCKS_H_
#define TUTTI_GRAPH_MAKE_SHARD_BLOCKS_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tutti {

using Axes = std::vector<int64_t>;  // one number per axis

struct Region {
  Axes begin;
  Axes shape;
  friend auto operator<=>(const Region&, const Region&) = default;
};

// Where a block begins along an axis; with block == count, where the last one ends.
inline int64_t block_begin(int64_t size, int64_t count, int64_t block) {
  return size * block / count;
}

// The region of one block. Requires counts from 1 to the sizes, which are at most 2^31.
Region block_region(const Axes& shape, const Axes& counts, const Axes& block);

// The number of a block.
size_t block_number(const Axes& counts, const Axes& block);

// All blocks, in order.
std::vector<Axes> all_blocks(const Axes& counts);

// Those that share elements with a region that has some, in order.
std::vector<Axes> blocks_meeting(const Axes& shape, const Axes& counts, const Region& region);

// What two regions share; they must share some.
Region intersection(const Region& a, const Region& b);

// The region as seen from the beginning of another.
Region relative(Region region, const Region& to);

}  // namespace tutti

#endif  // TUTTI_GRAPH_MAKE_SHARD_BLOCKS_H_
