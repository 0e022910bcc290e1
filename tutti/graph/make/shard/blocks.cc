#include "tutti/graph/make/shard/blocks.h"

#include <algorithm>

namespace tutti {
namespace {

// All places from `first` to `last`, both included, in row-major order.
std::vector<Axes> places(const Axes& first, const Axes& last) {
  std::vector<Axes> found;
  Axes place = first;
  for (;;) {
    found.push_back(place);
    size_t axis = place.size();
    while (axis > 0 && place[axis - 1] == last[axis - 1]) {
      --axis;
      place[axis] = first[axis];
    }
    if (axis == 0) return found;
    ++place[axis - 1];
  }
}

}  // namespace

Region block_region(const Axes& shape, const Axes& counts, const Axes& block) {
  Region region;
  for (size_t i = 0; i < shape.size(); ++i) {
    region.begin.push_back(block_begin(shape[i], counts[i], block[i]));
    region.shape.push_back(block_begin(shape[i], counts[i], block[i] + 1) - region.begin[i]);
  }
  return region;
}

size_t block_number(const Axes& counts, const Axes& block) {
  int64_t number = 0;
  for (size_t i = 0; i < counts.size(); ++i) number = number * counts[i] + block[i];
  return static_cast<size_t>(number);
}

std::vector<Axes> all_blocks(const Axes& counts) {
  Axes last = counts;
  for (int64_t& count : last) --count;
  return places(Axes(counts.size(), 0), last);
}

std::vector<Axes> blocks_meeting(const Axes& shape, const Axes& counts, const Region& region) {
  Axes first;
  Axes last;
  for (size_t i = 0; i < shape.size(); ++i) {
    // The last block that begins no later than the position.
    const auto block_at = [&](int64_t position) {
      return ((position + 1) * counts[i] - 1) / shape[i];
    };
    first.push_back(block_at(region.begin[i]));
    last.push_back(block_at(region.begin[i] + region.shape[i] - 1));
  }
  return places(first, last);
}

Region intersection(const Region& a, const Region& b) {
  Region both;
  for (size_t i = 0; i < a.begin.size(); ++i) {
    const int64_t begin = std::max(a.begin[i], b.begin[i]);
    const int64_t end = std::min(a.begin[i] + a.shape[i], b.begin[i] + b.shape[i]);
    both.begin.push_back(begin);
    both.shape.push_back(end - begin);
  }
  return both;
}

Region relative(Region region, const Region& to) {
  for (size_t i = 0; i < region.begin.size(); ++i) region.begin[i] -= to.begin[i];
  return region;
}

}  // namespace tutti
