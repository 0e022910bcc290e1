// LeastOf answers "the least number from here to there" for a fixed list, in logarithmic time and
// twice the list's memory: a segment tree, laid out bottom up in one array.

#ifndef TUTTI_TRACE_LEAST_OF_H_
#define TUTTI_TRACE_LEAST_OF_H_

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace tutti {

class LeastOf {
 public:
  explicit LeastOf(const std::vector<int64_t>& numbers)
      : size_(numbers.size()), tree_(2 * numbers.size()) {
    std::copy(numbers.begin(), numbers.end(), tree_.begin() + static_cast<std::ptrdiff_t>(size_));
    for (size_t i = size_; i-- > 1;) tree_[i] = std::min(tree_[2 * i], tree_[2 * i + 1]);
  }

  // Over [first, end); the largest int64_t if that is empty.
  int64_t over(size_t first, size_t end) const {
    int64_t least = std::numeric_limits<int64_t>::max();
    for (first += size_, end += size_; first < end; first /= 2, end /= 2) {
      if (first % 2 == 1) least = std::min(least, tree_[first++]);
      if (end % 2 == 1) least = std::min(least, tree_[--end]);
    }
    return least;
  }

 private:
  size_t size_;
  std::vector<int64_t> tree_;
};

}  // namespace tutti

#endif  // TUTTI_TRACE_LEAST_OF_H_
