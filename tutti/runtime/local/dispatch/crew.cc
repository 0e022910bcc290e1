#include "tutti/runtime/local/dispatch/crew.h"

#include <chrono>

namespace tutti {

void Crew::begin(int threads, std::function<bool()> quiet, std::function<void()> ended) {
  const MutexLock lock(mutex_);
  quiet_ = std::move(quiet);
  ended_ = std::move(ended);
  awake_ = threads;
  present_ = threads;
  error_.reset();
  over_.store(false);
}

void Crew::join() {
  const MutexLock lock(mutex_);
  ++awake_;
  ++present_;
}

void Crew::end() {
  if (over_.exchange(true)) return;
  ended_();
  changed_.notify_all();
}

void Crew::one_less_awake() {
  // No thread can wake meanwhile: that takes the lock. A thread that was told to do something and
  // has not woken yet has it still before him, and quiet_ sees it.
  if (--awake_ == 0 && !over() && quiet_()) end();
}

void Crew::sleep() {
  const MutexLock lock(mutex_);
  one_less_awake();
}

void Crew::wake() {
  const MutexLock lock(mutex_);
  ++awake_;
}

void Crew::leave(bool awake) {
  const MutexLock lock(mutex_);
  if (awake) one_less_awake();
  if (--present_ == 0) changed_.notify_all();
}

void Crew::fail(Error error) {
  const MutexLock lock(mutex_);
  if (over()) return;
  error_ = std::move(error);
  end();
}

std::optional<Error> Crew::wait(const std::function<void()>& look) {
  constexpr auto kBetweenLooks = std::chrono::milliseconds(100);
  for (;;) {
    {
      const MutexLock lock(mutex_);
      if (present_ > 0 && look) changed_.wait_for(mutex_, kBetweenLooks);
      while (present_ > 0 && !look) changed_.wait(mutex_);
      if (present_ == 0) return error_;
    }
    look();
  }
}

}  // namespace tutti
