// A mutex that clang's thread-safety analysis understands: mark what it protects with GUARDED_BY.

#ifndef TUTTI_BASE_MUTEX_H_
#define TUTTI_BASE_MUTEX_H_

#include <mutex>

#if defined(__clang__)
#define TUTTI_THREAD_ATTRIBUTE(x) __attribute__((x))
#else
#define TUTTI_THREAD_ATTRIBUTE(x)
#endif
#define GUARDED_BY(x) TUTTI_THREAD_ATTRIBUTE(guarded_by(x))

namespace tutti {

class TUTTI_THREAD_ATTRIBUTE(capability("mutex")) Mutex {
 public:
  void lock() TUTTI_THREAD_ATTRIBUTE(acquire_capability()) { mutex_.lock(); }
  bool try_lock() TUTTI_THREAD_ATTRIBUTE(try_acquire_capability(true)) { return mutex_.try_lock(); }
  void unlock() TUTTI_THREAD_ATTRIBUTE(release_capability()) { mutex_.unlock(); }

 private:
  std::mutex mutex_;
};

// Holds a Mutex for as long as it lives.
class TUTTI_THREAD_ATTRIBUTE(scoped_lockable) MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) TUTTI_THREAD_ATTRIBUTE(acquire_capability(mutex))
      : mutex_(mutex) {
    mutex_.lock();
  }
  ~MutexLock() TUTTI_THREAD_ATTRIBUTE(release_capability()) { mutex_.unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

}  // namespace tutti

#endif  // TUTTI_BASE_MUTEX_H_
