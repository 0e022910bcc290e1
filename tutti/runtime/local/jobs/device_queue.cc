#include "tutti/runtime/local/jobs/device_queue.h"

#include <algorithm>

namespace tutti {
namespace {

bool goes_later(const OpEntry* a, const OpEntry* b) {
  return a->turn > b->turn;
}

}  // namespace

void DeviceQueue::push(OpEntry& entry) {
  {
    const SpinHold hold(lock_);
    entry.state.store(OpEntry::State::queued, std::memory_order_relaxed);
    heap_.push_back(&entry);
    std::push_heap(heap_.begin(), heap_.end(), goes_later);
    size_.store(static_cast<int32_t>(heap_.size()));
    // From here on a slot that looks can see it. A time noted before would be too early if this
    // thread lost its core.
    entry.queued = clock_.now();
    if (entry.first_queued == 0) entry.first_queued = entry.queued;
  }
  // A slot that goes to sleep counts itself first and looks at the queue after that.
  if (sleepers_.load() == 0) return;
  rung_.fetch_add(1);
  rung_.notify_one();
}

bool DeviceQueue::remove(OpEntry& entry) {
  const SpinHold hold(lock_);
  const auto found = std::find(heap_.begin(), heap_.end(), &entry);
  if (found == heap_.end()) return false;
  heap_.erase(found);
  std::make_heap(heap_.begin(), heap_.end(), goes_later);
  size_.store(static_cast<int32_t>(heap_.size()));
  entry.state.store(OpEntry::State::free, std::memory_order_relaxed);
  return true;
}

OpEntry* DeviceQueue::take() {
  if (size_.load(std::memory_order_relaxed) == 0) return nullptr;
  const SpinHold hold(lock_);
  if (heap_.empty()) return nullptr;
  std::pop_heap(heap_.begin(), heap_.end(), goes_later);
  OpEntry* const entry = heap_.back();
  heap_.pop_back();
  size_.store(static_cast<int32_t>(heap_.size()));
  entry->state.store(OpEntry::State::taken, std::memory_order_relaxed);
  entry->taken = clock_.now();
  return entry;
}

OpEntry* DeviceQueue::wait(int64_t spin, int slot) {
  was_empty_.store(true, std::memory_order_relaxed);
  const int64_t until = clock_.about_now() + spin;
  while (spin > 0 && clock_.about_now() < until) {
    if (OpEntry* const entry = take()) return entry;
    if (closed_.load(std::memory_order_relaxed)) return nullptr;
    relax();
  }
  for (;;) {
    sleepers_.fetch_add(1);
    const uint32_t rung = rung_.load();
    const int64_t look_from = clock_.now();
    OpEntry* const entry = size_.load() > 0 ? take() : nullptr;
    const bool ends = closed_.load();
    if (entry == nullptr && !ends) {
      note_sleep({slot, look_from, clock_.now()});
      rung_.wait(rung);
    }
    sleepers_.fetch_sub(1);
    if (entry != nullptr || ends) return entry;
  }
}

void DeviceQueue::note_sleep(const Sleep& sleep) {
  const SpinHold hold(lock_);
  if (noted_) sleeps_.push_back(sleep);
}

void DeviceQueue::note_sleeps(bool noted) {
  const SpinHold hold(lock_);
  noted_ = noted;
  sleeps_.clear();
}

std::vector<DeviceQueue::Sleep> DeviceQueue::sleeps() const {
  const SpinHold hold(lock_);
  return sleeps_;
}

void DeviceQueue::close() {
  closed_.store(true);
  rung_.fetch_add(1);
  rung_.notify_all();
}

}  // namespace tutti
