#include "tutti/runtime/local/dispatch/ranks.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

namespace tutti {

void Ranks::set(std::span<const int64_t> priorities) {
  rank_.clear();
  op_.clear();
  if (std::is_sorted(priorities.begin(), priorities.end())) return;
  const auto [least, most] = std::minmax_element(priorities.begin(), priorities.end());
  const auto base = static_cast<uint64_t>(*least);
  const int op_bits = std::bit_width(priorities.size() - 1);
  const int bits = op_bits + std::bit_width(static_cast<uint64_t>(*most) - base);
  op_.resize(priorities.size());
  if (bits > 64) {
    std::iota(op_.begin(), op_.end(), 0);
    std::stable_sort(op_.begin(), op_.end(), [&](int32_t a, int32_t b) {
      return priorities[static_cast<size_t>(a)] < priorities[static_cast<size_t>(b)];
    });
    return set_from_order();
  }
  // A key and its op in one word: half the memory to go through, which is what takes the time.
  keyed_.resize(priorities.size());
  for (size_t i = 0; i < priorities.size(); ++i) {
    keyed_[i] = (static_cast<uint64_t>(priorities[i]) - base) << op_bits | i;
  }
  sort_by_digits(op_bits, bits);
  const uint64_t op_mask = (uint64_t{1} << op_bits) - 1;
  for (size_t rank = 0; rank < keyed_.size(); ++rank) {
    op_[rank] = static_cast<int32_t>(keyed_[rank] & op_mask);
  }
  set_from_order();
}

void Ranks::set_from_order() {
  rank_.resize(op_.size());
  for (size_t rank = 0; rank < op_.size(); ++rank) {
    rank_[static_cast<size_t>(op_[rank])] = static_cast<int32_t>(rank);
  }
}

// From the last digit to the first, each pass keeping the order of the one before. Digits are
// counted for all passes at once.
void Ranks::sort_by_digits(int first_bit, int end_bit) {
  constexpr int kMostBits = 11;
  const int passes = (end_bit - first_bit + kMostBits - 1) / kMostBits;
  const int digit_bits = (end_bit - first_bit + passes - 1) / passes;
  const size_t digits = size_t{1} << digit_bits;
  const auto digit = [&](uint64_t key, int pass) {
    return (key >> (first_bit + pass * digit_bits)) & (digits - 1);
  };
  counts_.assign(static_cast<size_t>(passes) * digits, 0);
  for (const uint64_t key : keyed_) {
    for (int pass = 0; pass < passes; ++pass) {
      ++counts_[static_cast<size_t>(pass) * digits + digit(key, pass)];
    }
  }
  other_.resize(keyed_.size());
  for (int pass = 0; pass < passes; ++pass) {
    uint32_t* const begin = counts_.data() + static_cast<size_t>(pass) * digits;
    uint32_t sum = 0;
    for (size_t i = 0; i < digits; ++i) sum += std::exchange(begin[i], sum);
    for (const uint64_t key : keyed_) other_[begin[digit(key, pass)]++] = key;
    keyed_.swap(other_);
  }
}

}  // namespace tutti
