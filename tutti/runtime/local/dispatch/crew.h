// The threads that take part in a run, which of them sleep, and whether the run is over. When the
// last thread has nothing to do, nothing will ever happen again: then the run has either come to
// its end or stands still. No op needs a common counter for that.
//
// The lock is taken when a thread sleeps or wakes, never for an op.

#ifndef TUTTI_RUNTIME_LOCAL_DISPATCH_CREW_H_
#define TUTTI_RUNTIME_LOCAL_DISPATCH_CREW_H_

#include <atomic>
#include <condition_variable>
#include <functional>
#include <optional>
#include <utility>

#include "tutti/base/mutex.h"
#include "tutti/base/result.h"
#include "tutti/base/time.h"

namespace tutti {

class Crew {
 public:
  // A run begins with so many threads, all awake. `quiet` is asked when all are asleep, and says
  // whether nothing is left that one of them was told to do; `ended` is called once, as soon as the
  // run is over, whatever ends it, and must wake all. Both are called with no thread awake but the
  // caller of that moment.
  void begin(int threads, std::function<bool()> quiet, std::function<void()> ended);

  bool over() const { return over_.load(std::memory_order_relaxed); }

  // A further thread takes part. Called by one that is awake.
  void join();
  // The caller has nothing to do until woken.
  void sleep();
  void wake();
  // The caller, awake or not, is out.
  void leave(bool awake);

  // Ends the run. The first error stands.
  void fail(Error error);

  // Waits until the run is over and all have left, and calls `look` now and then. The error, if the
  // run was ended by one.
  std::optional<Error> wait(const std::function<void()>& look);

 private:
  void one_less_awake() TUTTI_THREAD_ATTRIBUTE(requires_capability(mutex_));
  void end() TUTTI_THREAD_ATTRIBUTE(requires_capability(mutex_));

  Mutex mutex_;
  std::condition_variable_any changed_;  // over, or all have left
  std::function<bool()> quiet_;
  std::function<void()> ended_;
  int awake_ GUARDED_BY(mutex_) = 0;
  int present_ GUARDED_BY(mutex_) = 0;
  std::optional<Error> error_ GUARDED_BY(mutex_);
  std::atomic<bool> over_{true};
};

}  // namespace tutti

#endif  // TUTTI_RUNTIME_LOCAL_DISPATCH_CREW_H_
