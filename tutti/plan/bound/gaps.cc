#include "tutti/plan/bound/gaps.h"

#include <algorithm>

namespace tutti::bound {

Gaps::Gaps(const Instance& instance)
    : size_(static_cast<size_t>(instance.size)), gaps_(size_ * size_, -1) {
  for (const OpId op : instance.order[kFromStart]) {
    Ticks* row = &gaps_[op.index * size_];
    for (const Neighbour& neighbour : instance.before[kFromStart][op]) {
      const Ticks* through = &gaps_[neighbour.op.index * size_];
      const Ticks run = instance.shortest[neighbour.op.index];
      for (size_t first = 0; first < size_; ++first) {
        if (through[first] >= 0) row[first] = std::max(row[first], through[first] + run);
      }
      row[neighbour.op.index] = std::max<Ticks>(row[neighbour.op.index], 0);
    }
  }
}

}  // namespace tutti::bound
