#include "tutti/runtime/local/dispatch/ranks.h"

#include <algorithm>
#include <array>
#include <utility>

namespace tutti {

void Ranks::set(std::span<const int64_t> priorities) {
  rank_.clear();
  op_.clear();
  if (std::is_sorted(priorities.begin(), priorities.end())) return;
  const auto [least, most] = std::minmax_element(priorities.begin(), priorities.end());
  const auto base = static_cast<uint64_t>(*least);
  keyed_.resize(priorities.size());
  for (size_t i = 0; i < priorities.size(); ++i) {
    keyed_[i] = {static_cast<uint64_t>(priorities[i]) - base, static_cast<int32_t>(i)};
  }
  sort_by_digits(static_cast<uint64_t>(*most) - base);
  rank_.resize(priorities.size());
  op_.resize(priorities.size());
  for (size_t rank = 0; rank < keyed_.size(); ++rank) {
    op_[rank] = keyed_[rank].op;
    rank_[static_cast<size_t>(keyed_[rank].op)] = static_cast<int32_t>(rank);
  }
}

// From the last digit to the first, each pass keeping the order of the one before.
void Ranks::sort_by_digits(uint64_t largest) {
  constexpr int kBits = 11;
  constexpr uint64_t kMask = (1U << kBits) - 1;
  other_.resize(keyed_.size());
  for (int shift = 0; shift < 64 && (largest >> shift) > 0; shift += kBits) {
    std::array<size_t, kMask + 1> begin{};
    for (const Keyed& entry : keyed_) ++begin[(entry.key >> shift) & kMask];
    size_t sum = 0;
    for (size_t& count : begin) sum += std::exchange(count, sum);
    for (const Keyed& entry : keyed_) other_[begin[(entry.key >> shift) & kMask]++] = entry;
    keyed_.swap(other_);
  }
}

}  // namespace tutti
