// Gaps: how much must happen between one op and another that depends on it.

#ifndef TUTTI_PLAN_BOUND_GAPS_H_
#define TUTTI_PLAN_BOUND_GAPS_H_

#include <cstddef>
#include <vector>

#include "tutti/plan/bound/instance.h"

namespace tutti::bound {

// For every two ops the longest chain of run times strictly between them. Takes n^2 memory and
// O(n m) time for n ops and m edges: for small graphs.
class Gaps {
 public:
  Gaps() = default;  // empty: knows of no gaps
  explicit Gaps(const Instance& instance);

  bool empty() const { return size_ == 0; }

  // Seen from that side, `before` comes before `op`. Negative if `op` does not depend on it.
  Ticks between(Side side, OpId before, OpId op) const {
    return side == kFromStart ? at(before, op) : at(op, before);
  }

 private:
  Ticks at(OpId first, OpId second) const {
    return gaps_[static_cast<size_t>(second.index) * size_ + first.index];
  }

  size_t size_ = 0;
  std::vector<Ticks> gaps_;  // row by row, one for each second op
};

}  // namespace tutti::bound

#endif  // TUTTI_PLAN_BOUND_GAPS_H_
