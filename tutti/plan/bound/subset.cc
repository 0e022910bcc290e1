#include "tutti/plan/bound/subset.h"

#include <algorithm>

namespace tutti::bound {
namespace {

constexpr int64_t kCells = 512;  // of the grid, each way

// Whether the exact method can add up these items in 64 bits.
bool fits(std::span<const Item> items, int64_t capacity) {
  Wide work = 0;
  Ticks tail = 0;
  for (const Item& item : items) {
    work += item.work;
    tail = std::max(tail, item.tail);
  }
  return work + static_cast<Wide>(capacity) * tail < kUnreachable;
}

}  // namespace

void SubsetBound::sort(std::span<const Item> items) {
  by_head_.clear();
  by_tail_.clear();
  for (int i = 0; i < static_cast<int>(items.size()); ++i) {
    by_head_.push_back({.time = items[i].head, .item = i});
    by_tail_.push_back({.time = items[i].tail, .item = i});
  }
  const auto falling = [](const Key& a, const Key& b) { return a.time > b.time; };
  const auto rising = [](const Key& a, const Key& b) { return a.time < b.time; };
  if (!std::is_sorted(by_head_.begin(), by_head_.end(), falling)) {
    std::sort(by_head_.begin(), by_head_.end(), falling);
  }
  std::sort(by_tail_.begin(), by_tail_.end(), rising);
  place_.resize(items.size());
  for (size_t i = 0; i < items.size(); ++i) place_[by_tail_[i].item] = i;
}

void SubsetBound::insert(size_t place, const Item& item, int64_t capacity) {
  size_t node = leaves_ + place;
  tree_[node] = {.work = item.work, .best = item.work + capacity * item.tail};
  for (node /= 2; node > 0; node /= 2) {
    const Node& low = tree_[2 * node];
    const Node& high = tree_[2 * node + 1];
    tree_[node] = {.work = low.work + high.work, .best = std::max(high.best, low.best + high.work)};
  }
}

Ticks SubsetBound::of(std::span<const Item> items, int64_t capacity) {
  if (!fits(items, capacity)) return coarse_subset_bound(items, capacity);
  sort(items);
  leaves_ = 1;
  while (leaves_ < items.size()) leaves_ *= 2;
  tree_.assign(2 * leaves_, {.work = 0, .best = -kUnreachable});
  Ticks bound = 0;
  for (const auto& [head, i] : by_head_) {  // the tree holds the items that start no earlier
    insert(place_[i], items[i], capacity);
    bound = std::max(bound, head + ceil_div(tree_[1].best, capacity));
  }
  return bound;
}

Ticks coarse_subset_bound(std::span<const Item> items, int64_t capacity) {
  Ticks last_head = 0;
  Ticks last_tail = 0;
  for (const Item& item : items) {
    last_head = std::max(last_head, item.head);
    last_tail = std::max(last_tail, item.tail);
  }
  const Ticks row_height = last_head / kCells + 1;
  const Ticks column_width = last_tail / kCells + 1;
  std::vector<int64_t> work(kCells * kCells, 0);
  std::vector<Ticks> head(kCells, kUnreachable);  // the least of each row
  std::vector<Ticks> tail(kCells, kUnreachable);  // the least of each column
  for (const Item& item : items) {
    const auto row = item.head / row_height;
    const auto column = item.tail / column_width;
    work[row * kCells + column] += item.work;
    head[row] = std::min(head[row], item.head);
    tail[column] = std::min(tail[column], item.tail);
  }
  Ticks bound = 0;
  std::vector<int64_t> below(kCells, 0);  // work of each column in this row and later ones
  for (int64_t row = kCells - 1; row >= 0; --row) {
    if (head[row] == kUnreachable) continue;
    int64_t sum = 0;
    for (int64_t column = kCells - 1; column >= 0; --column) {
      below[column] += work[row * kCells + column];
      sum += below[column];
      if (sum == 0 || tail[column] == kUnreachable) continue;
      bound = std::max(bound, head[row] + ceil_div(sum, capacity) + tail[column]);
    }
  }
  return bound;
}

}  // namespace tutti::bound
