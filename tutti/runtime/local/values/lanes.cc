#include "tutti/runtime/local/values/lanes.h"

#include "tutti/base/check.h"

namespace tutti {

void Lanes::begin(Move move) {
  move_ = std::move(move);
  const MutexLock lock(mutex_);
  for (auto& [ends, lane] : lanes_) {
    const SpinHold hold(lane->lock);
    lane->items.clear();
  }
}

Lanes::Lane* Lanes::find(MemoryId from, MemoryId to) {
  const MutexLock lock(mutex_);
  std::unique_ptr<Lane>& lane = lanes_[{from, to}];
  if (lane == nullptr) {
    lane = std::make_unique<Lane>();
    lane->copier = hardware_.copier(from, to);
  }
  return lane.get();
}

bool Lanes::join(MemoryId from, MemoryId to) {
  Lane& lane = *find(from, to);
  if (lane.copier == nullptr) return false;
  const SpinHold hold(lane.lock);
  if (lane.thread == nullptr) {
    lane.thread = std::make_unique<KeptThread>([this, &lane] { serve(lane); });
  }
  return true;
}

void Lanes::send(MemoryId from, MemoryId to, int32_t item) {
  Lane& lane = *find(from, to);
  const SpinHold hold(lane.lock);
  TUTTI_CHECK(lane.thread != nullptr);
  lane.items.push_back(item);
  if (lane.active) return;
  lane.active = true;
  crew_.join();
  lane.thread->begin();
}

void Lanes::serve(Lane& lane) {
  if (!lane.entered) {
    const Result<void> entered = lane.copier->enter();
    lane.entered = entered.has_value();  // else the next run tries again
    if (!entered) crew_.fail(entered.error());
  }
  for (;;) {
    int32_t item = 0;
    {
      const SpinHold hold(lane.lock);
      if (lane.items.empty() || crew_.over()) {
        lane.active = false;
        break;
      }
      item = lane.items.front();
      lane.items.pop_front();
    }
    move_(*lane.copier, item);
  }
  crew_.leave(/*awake=*/true);
}

}  // namespace tutti
