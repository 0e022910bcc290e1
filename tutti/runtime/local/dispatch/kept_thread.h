// A thread that is kept: it does the same job each time it is told to, and sleeps between. Ending
// it waits for the job at hand.

#ifndef TUTTI_RUNTIME_LOCAL_DISPATCH_KEPT_THREAD_H_
#define TUTTI_RUNTIME_LOCAL_DISPATCH_KEPT_THREAD_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>
#include <utility>

namespace tutti {

class KeptThread {
 public:
  explicit KeptThread(std::function<void()> job)
      : job_(std::move(job)), thread_([this] { serve(); }) {}
  ~KeptThread() {
    ends_.store(true);
    begin();
    thread_.join();
  }
  KeptThread(const KeptThread&) = delete;
  KeptThread& operator=(const KeptThread&) = delete;

  // Does the job once more; if it is at it, once more after that. Any thread may call.
  void begin() {
    told_.fetch_add(1);
    told_.notify_one();
  }

 private:
  void serve() {
    for (uint32_t done = 0;; ++done) {
      while (told_.load() == done) told_.wait(done);
      if (ends_.load()) return;
      job_();
    }
  }

  std::function<void()> job_;
  std::atomic<uint32_t> told_{0};
  std::atomic<bool> ends_{false};
  std::thread thread_;  // last: it uses the others
};

}  // namespace tutti

#endif  // TUTTI_RUNTIME_LOCAL_DISPATCH_KEPT_THREAD_H_
