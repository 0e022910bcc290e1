// What happened to ops and transfers, from the threads that run and move them to the scheduler,
// which takes all of it at once. Sending takes a lock for a few instructions, and wakes the
// scheduler only if it sleeps and the event is urgent.

#ifndef TUTTI_RUNTIME_LOCAL_JOBS_MAILBOX_H_
#define TUTTI_RUNTIME_LOCAL_JOBS_MAILBOX_H_

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "tutti/base/mutex.h"
#include "tutti/runtime/local/dispatch/lock.h"
#include "tutti/runtime/local/jobs/op_entry.h"

namespace tutti {

struct EngineEvent {
  enum class Kind : uint8_t {
    started,    // an op
    finished,   // an op, well or not
    dropped,    // an op that was taken, of a job that had failed meanwhile
    arrived,    // a transfer has ended, well or not
    admitted,   // a job comes
    withdrawn,  // a job is to be given up
  };
  Kind kind{};
  int64_t tick = 0;
  OpEntry* entry = nullptr;       // of an op
  JobRun* whose = nullptr;        // of arrived: the job
  ValueId value{};                // of arrived
  MemoryId memory{};              // of arrived
  std::shared_ptr<JobRun> job{};  // of admitted and withdrawn
};

class Mailbox {
 public:
  // `urgent`: wakes the scheduler if it sleeps.
  void send(EngineEvent event, bool urgent = true) {
    {
      const SpinHold hold(lock_);
      events_.push_back(std::move(event));
      filled_.store(true);
      urgent_.store(urgent_.load(std::memory_order_relaxed) || urgent);
    }
    if (urgent && sleeps_.load()) wake();
  }
  // What was sent is urgent after all.
  void hurry() {
    urgent_.store(true);
    if (sleeps_.load()) wake();
  }
  // Something happened that is not an event.
  void wake() {
    const MutexLock lock(mutex_);
    woken_ = true;
    changed_.notify_one();
  }
  bool has_mail() const { return filled_.load(std::memory_order_relaxed); }
  bool has_urgent_mail() const { return urgent_.load(std::memory_order_relaxed); }
  // Exchanges `events`, which must be empty, for what was sent.
  void take(std::vector<EngineEvent>& events) {
    if (!has_mail()) return;
    const SpinHold hold(lock_);
    events.swap(events_);
    filled_.store(false);
    urgent_.store(false);
  }
  // Sleeps until something urgent is sent, or until then.
  void sleep(std::chrono::steady_clock::time_point until) {
    sleeps_.store(true);
    {
      MutexLock lock(mutex_);
      while (!urgent_.load() && !woken_) {
        if (changed_.wait_until(mutex_, until) == std::cv_status::timeout) break;
      }
      woken_ = false;
    }
    sleeps_.store(false);
  }

 private:
  SpinLock lock_;
  std::vector<EngineEvent> events_ GUARDED_BY(lock_);
  std::atomic<bool> filled_{false};
  std::atomic<bool> urgent_{false};
  std::atomic<bool> sleeps_{false};
  Mutex mutex_;
  std::condition_variable_any changed_;
  bool woken_ GUARDED_BY(mutex_) = false;
};

}  // namespace tutti

#endif  // TUTTI_RUNTIME_LOCAL_JOBS_MAILBOX_H_
