// Arithmetic of equal blocks: a shape split into counts[i] blocks along axis i, numbered in
// row-major order.

#ifndef TUTTI_GRAPH_MAKE_BLOCKS_H_
#define TUTTI_GRAPH_MAKE_BLOCKS_H_

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

// The region of one block. Requires counts that divide the shape.
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

#endif  // TUTTI_GRAPH_MAKE_BLOCKS_H_
