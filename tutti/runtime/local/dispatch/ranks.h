// Priorities as ranks: the op that goes before all others has rank 0, the next rank 1. Ties go by
// id. One whole number is then all that queues compare.

#ifndef TUTTI_RUNTIME_LOCAL_DISPATCH_RANKS_H_
#define TUTTI_RUNTIME_LOCAL_DISPATCH_RANKS_H_

#include <cstdint>
#include <span>
#include <vector>

namespace tutti {

class Ranks {
 public:
  // By op. In time linear in their number, unless they lie so far apart (for a million ops: 2^44)
  // that one of them and its op do not fit one word together.
  void set(std::span<const int64_t> priorities);

  int32_t of(int32_t op) const { return rank_.empty() ? op : rank_[static_cast<size_t>(op)]; }
  int32_t op(int32_t rank) const { return op_.empty() ? rank : op_[static_cast<size_t>(rank)]; }

 private:
  void sort_by_digits(int first_bit, int end_bit);
  void set_from_order();

  // Both empty: ops are ranked by id.
  std::vector<int32_t> rank_;  // by op
  std::vector<int32_t> op_;    // by rank
  std::vector<uint64_t> keyed_;
  std::vector<uint64_t> other_;
  std::vector<uint32_t> counts_;  // by pass and digit
};

}  // namespace tutti

#endif  // TUTTI_RUNTIME_LOCAL_DISPATCH_RANKS_H_
