#include "tutti/runtime/local/values/pool.h"

#include <algorithm>

namespace tutti {

void Pool::begin(int64_t limit) {
  limit_ = limit;
  used_.store(0);
  high_water_.store(0);
  const SpinHold hold(lock_);
  for (auto entry = kept_.begin(); entry != kept_.end();) {
    if (entry->second.used) {
      entry->second.used = false;
      ++entry;
      continue;
    }
    for (void* block : entry->second.blocks) store_.release(block, entry->first);
    kept_bytes_ -= std::ssize(entry->second.blocks) * entry->first;
    entry = kept_.erase(entry);
  }
}

bool Pool::take_room(int64_t bytes) {
  int64_t used = used_.load();
  do {
    if (bytes > limit_ - used) return false;
  } while (!used_.compare_exchange_weak(used, used + bytes));
  note_use(used + bytes);
  return true;
}

void Pool::take_room_anyway(int64_t bytes) {
  note_use(used_.fetch_add(bytes) + bytes);
}

void Pool::note_use(int64_t used) {
  int64_t high = high_water_.load();
  while (used > high && !high_water_.compare_exchange_weak(high, used)) {
  }
}

void* Pool::allocate(int64_t bytes) {
  {
    const SpinHold hold(lock_);
    Kept& kept = kept_[bytes];
    kept.used = true;
    if (!kept.blocks.empty()) {
      void* const block = kept.blocks.back();
      kept.blocks.pop_back();
      kept_bytes_ -= bytes;
      return block;
    }
  }
  if (void* const block = store_.allocate(bytes)) return block;
  trim();
  return store_.allocate(bytes);
}

void Pool::release(void* address, int64_t bytes) {
  const SpinHold hold(lock_);
  if (kept_bytes_ + bytes > std::max(kLeastKept, 2 * high_water_.load())) release_kept();
  kept_[bytes].blocks.push_back(address);
  kept_bytes_ += bytes;
}

void Pool::trim() {
  const SpinHold hold(lock_);
  release_kept();
}

void Pool::release_kept() {
  for (const auto& [bytes, kept] : kept_) {
    for (void* block : kept.blocks) store_.release(block, bytes);
  }
  kept_.clear();
  kept_bytes_ = 0;
}

}  // namespace tutti
