// Which of an op's elements, lines or rows a part works on.

#ifndef TUTTI_KERNELS_CPU_SHARE_H_
#define TUTTI_KERNELS_CPU_SHARE_H_

#include <algorithm>
#include <cstdint>

#include "tutti/kernels/block.h"

namespace tutti::cpu {

struct Range {
  int64_t begin = 0;
  int64_t end = 0;
  int64_t size() const { return end - begin; }
  bool empty() const { return begin >= end; }
};

// Elements of a cache line: parts that begin on one do not write to each other's.
inline constexpr int64_t kLine = 16;

// The part's share of 0 to count: shares differ by a grain at most and begin at multiples of it.
inline Range share(int64_t count, Part part, int64_t grain = 1) {
  const int64_t grains = (count + grain - 1) / grain;
  const int64_t each = grains / part.count;
  const int64_t more = grains % part.count;  // the first parts take one more
  const int64_t begin = each * part.index + std::min<int64_t>(more, part.index);
  const int64_t end = begin + each + (part.index < more ? 1 : 0);
  return {std::min(begin * grain, count), std::min(end * grain, count)};
}

}  // namespace tutti::cpu

#endif  // TUTTI_KERNELS_CPU_SHARE_H_
