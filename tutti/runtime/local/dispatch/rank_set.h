// A set of ranks whose least can be taken: one bit for each rank, and above each word of 64 bits
// one bit that says whether it has any, up to a single word. Ops that wait at the same time mostly
// have ranks near each other, so that adding and taking mostly touch one word, without the
// unpredictable branches of a heap. Costs an eighth of a byte for each rank there could be.

#ifndef TUTTI_RUNTIME_LOCAL_DISPATCH_RANK_SET_H_
#define TUTTI_RUNTIME_LOCAL_DISPATCH_RANK_SET_H_

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace tutti {

inline constexpr int32_t kNoRank = std::numeric_limits<int32_t>::max();

class RankSet {
 public:
  // Empty, with room for ranks below that.
  void reset(int32_t ranks) {
    size_t words = 0;
    auto size = static_cast<size_t>(ranks);
    for (levels_ = 0; levels_ == 0 || size > 1; ++levels_) {
      size = (size + 63) / 64;
      begin_[levels_] = words;
      words += std::max<size_t>(size, 1);
    }
    if (!empty() || words > words_.size()) words_.assign(words, 0);
    least_ = kNoRank;
  }

  bool empty() const { return least_ == kNoRank; }
  int32_t least() const { return least_; }  // kNoRank if there is none

  // Requires that it is not there.
  void insert(int32_t rank) {
    least_ = std::min(least_, rank);
    auto index = static_cast<size_t>(rank);
    for (size_t level = 0; level < levels_; ++level) {
      uint64_t& word = words_[begin_[level] + index / 64];
      const bool known = word != 0;
      word |= uint64_t{1} << index % 64;
      if (known) return;
      index /= 64;
    }
  }

  // Requires !empty().
  int32_t pop() {
    const int32_t first = least_;
    least_ = next_after_removal(static_cast<size_t>(first));
    return first;
  }

 private:
  // Nothing is before it, so whatever is left is in its word, or behind that.
  int32_t next_after_removal(size_t index) {
    for (size_t level = 0; level < levels_; ++level) {
      uint64_t& word = words_[begin_[level] + index / 64];
      word &= word - 1;
      index /= 64;
      if (word != 0) return descend(level, index);
    }
    return kNoRank;
  }

  int32_t descend(size_t level, size_t index) const {
    for (;;) {
      const uint64_t word = words_[begin_[level] + index];
      index = index * 64 + static_cast<size_t>(std::countr_zero(word));
      if (level-- == 0) return static_cast<int32_t>(index);
    }
  }

  static constexpr size_t kMostLevels = 6;  // 64^6 is more than there are ranks

  int32_t least_ = kNoRank;
  size_t levels_ = 0;
  std::array<size_t, kMostLevels> begin_{};  // of each level among the words
  std::vector<uint64_t> words_;
};

}  // namespace tutti

#endif  // TUTTI_RUNTIME_LOCAL_DISPATCH_RANK_SET_H_
