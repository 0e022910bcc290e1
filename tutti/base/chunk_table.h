// A table of items that are numbered as they come, from 0, and erased one by one, mostly in about
// that order: jobs of a server that runs for months. Items are kept in chunks; a chunk is freed
// when all its items were erased, so that what is left of a million erased items is some bytes for
// each thousand. Numbers are not used again, and items do not move.

#ifndef TUTTI_BASE_CHUNK_TABLE_H_
#define TUTTI_BASE_CHUNK_TABLE_H_

#include <array>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace tutti {

template <class T>
class ChunkTable {
 public:
  // How many items there have been.
  size_t size() const { return size_; }

  T& emplace_back(T item = {}) {
    if (size_ / kItems == chunks_.size()) chunks_.push_back(std::make_unique<Chunk>());
    Chunk& chunk = *chunks_[size_ / kItems];
    T& added = chunk.items[size_ % kItems];
    added = std::move(item);
    ++chunk.left;
    ++size_;
    return added;
  }

  // One that was erased reads as a value-initialised item. Requires number < size().
  const T& operator[](size_t number) const {
    static const T none{};
    const auto& chunk = chunks_[number / kItems];
    return chunk == nullptr ? none : chunk->items[number % kItems];
  }
  // Requires an item that was not erased.
  T& at(size_t number) { return chunks_[number / kItems]->items[number % kItems]; }

  // Once for each item.
  void erase(size_t number) {
    auto& chunk = chunks_[number / kItems];
    chunk->items[number % kItems] = T{};
    --chunk->left;
    const bool full = size_ / kItems > number / kItems;
    if (full && chunk->left == 0) chunk.reset();
  }

  void clear() {
    chunks_.clear();
    size_ = 0;
  }

 private:
  static constexpr size_t kItems = 512;
  struct Chunk {
    std::array<T, kItems> items{};
    size_t left = 0;
  };
  std::vector<std::unique_ptr<Chunk>> chunks_;
  size_t size_ = 0;
};

}  // namespace tutti

#endif  // TUTTI_BASE_CHUNK_TABLE_H_
