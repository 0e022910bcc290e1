#include "tutti/policy/schedule/timeline.h"

#include <algorithm>
#include <utility>

#include "tutti/base/check.h"

namespace tutti {
namespace {

constexpr size_t kBlockSize = 128;

}  // namespace

Duration Timeline::earliest_start(Duration ready, Duration length) const {
  if (ready >= end_) return ready;
  auto block = std::lower_bound(blocks_.begin(), blocks_.end(), ready,
                                [](const Block& b, Duration time) { return b.finish < time; });
  for (; block != blocks_.end(); ++block) {
    if (block->longest < length) continue;
    auto gap = std::lower_bound(block->gaps.begin(), block->gaps.end(), ready,
                                [](const Gap& g, Duration time) { return g.finish < time; });
    for (; gap != block->gaps.end(); ++gap) {
      const Duration start = std::max(ready, gap->start);
      if (start + length <= gap->finish) return start;
    }
  }
  return std::max(ready, end_);
}

template <class Piece>
Duration Timeline::for_pieces(Duration ready, Duration amount, Piece piece) const {
  auto block = std::lower_bound(blocks_.begin(), blocks_.end(), ready,
                                [](const Block& b, Duration time) { return b.finish < time; });
  for (; block != blocks_.end(); ++block) {
    auto gap = std::lower_bound(block->gaps.begin(), block->gaps.end(), ready,
                                [](const Gap& g, Duration time) { return g.finish < time; });
    for (; gap != block->gaps.end(); ++gap) {
      const Duration start = std::max(ready, gap->start);
      const Duration length = std::min(amount, gap->finish - start);
      if (length.count() > 0) piece(start, length);
      amount -= length;
      if (amount.count() == 0) return start + length;
    }
  }
  const Duration start = std::max(ready, end_);
  if (amount.count() > 0) piece(start, amount);
  return start + amount;
}

Duration Timeline::end_of_fill(Duration ready, Duration amount) const {
  return for_pieces(ready, amount, [](Duration, Duration) {});
}

void Timeline::fill(Duration ready, Duration amount) {
  std::vector<std::pair<Duration, Duration>> pieces;
  for_pieces(ready, amount,
             [&](Duration start, Duration length) { pieces.emplace_back(start, length); });
  for (const auto& [start, length] : pieces) add(start, length);
}

void Timeline::refresh(Block& block) {
  block.longest = Duration{0};
  for (const Gap& gap : block.gaps) block.longest = std::max(block.longest, gap.finish - gap.start);
  if (!block.gaps.empty()) block.finish = block.gaps.back().finish;
}

void Timeline::insert(Gap gap) {
  auto block = std::lower_bound(blocks_.begin(), blocks_.end(), gap.start,
                                [](const Block& b, Duration time) { return b.finish < time; });
  if (block == blocks_.end()) {
    if (blocks_.empty() || blocks_.back().gaps.size() >= kBlockSize) blocks_.emplace_back();
    block = blocks_.end() - 1;
  }
  const auto place = std::lower_bound(block->gaps.begin(), block->gaps.end(), gap.start,
                                      [](const Gap& g, Duration time) { return g.start < time; });
  block->gaps.insert(place, gap);
  if (block->gaps.size() >= 2 * kBlockSize) {
    Block second;
    second.gaps.assign(block->gaps.begin() + kBlockSize, block->gaps.end());
    block->gaps.resize(kBlockSize);
    refresh(second);
    refresh(*block);
    blocks_.insert(block + 1, std::move(second));
    return;
  }
  refresh(*block);
}

void Timeline::add(Duration start, Duration length) {
  const Duration finish = start + length;
  if (start >= end_) {
    if (start > end_) insert({end_, start});
    end_ = finish;
    return;
  }
  if (length.count() == 0) return;
  auto block = std::lower_bound(blocks_.begin(), blocks_.end(), finish,
                                [](const Block& b, Duration time) { return b.finish < time; });
  TUTTI_CHECK(block != blocks_.end());
  const auto gap = std::lower_bound(block->gaps.begin(), block->gaps.end(), finish,
                                    [](const Gap& g, Duration time) { return g.finish < time; });
  TUTTI_CHECK(gap != block->gaps.end() && gap->start <= start);
  const Gap whole = *gap;
  block->gaps.erase(gap);
  refresh(*block);
  if (block->gaps.empty()) blocks_.erase(block);
  if (whole.start < start) insert({whole.start, start});
  if (finish < whole.finish) insert({finish, whole.finish});
}

}  // namespace tutti
