#include "tutti/runtime/local/arena.h"

#include <iterator>

#include "tutti/base/check.h"

namespace tutti {

void Arena::add_piece(void* begin, int64_t bytes) {
  TUTTI_CHECK(bytes > 0 && bytes % kAlignment == 0);
  pieces_.insert(static_cast<std::byte*>(begin));
  add_gap(static_cast<std::byte*>(begin), bytes);
}

void* Arena::take(int64_t bytes) {
  const int64_t room = room_for(bytes);
  const auto found = by_size_.lower_bound({room, nullptr});
  if (found == by_size_.end()) return nullptr;
  const auto [size, begin] = *found;
  remove_gap(begin, size);
  if (size > room) add_gap(begin + room, size - room);
  taken_[begin] = room;
  return begin;
}

void Arena::give(void* address) {
  const auto block = taken_.find(static_cast<std::byte*>(address));
  TUTTI_CHECK(block != taken_.end());
  std::byte* begin = block->first;
  int64_t bytes = block->second;
  taken_.erase(block);
  const auto after = gaps_.lower_bound(begin);
  if (after != gaps_.begin() && !pieces_.contains(begin)) {
    const auto [before, size] = *std::prev(after);
    if (before + size == begin) {
      remove_gap(before, size);
      begin = before;
      bytes += size;
    }
  }
  std::byte* const end = begin + bytes;
  if (const auto next = gaps_.find(end); next != gaps_.end() && !pieces_.contains(end)) {
    const int64_t size = next->second;
    remove_gap(end, size);
    bytes += size;
  }
  add_gap(begin, bytes);
}

void Arena::add_gap(std::byte* begin, int64_t bytes) {
  gaps_[begin] = bytes;
  by_size_.insert({bytes, begin});
}

void Arena::remove_gap(std::byte* begin, int64_t bytes) {
  gaps_.erase(begin);
  by_size_.erase({bytes, begin});
}

}  // namespace tutti
