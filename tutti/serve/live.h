// What a server did recently, for its page: a thread samples it every second or two, the last
// samples are kept, and every page that is open is told of new ones by server-sent events.

#ifndef TUTTI_SERVE_LIVE_H_
#define TUTTI_SERVE_LIVE_H_

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tutti/base/mutex.h"
#include "tutti/serve/http/message.h"
#include "tutti/serve/run/runner.h"

namespace tutti {

// Totals are since the start, so that their differences say what happened between two samples.
struct LiveSample {
  int64_t unix_ms = 0;
  int64_t queued = 0;
  int64_t running = 0;
  int64_t done = 0;
  int64_t failed = 0;
  int64_t cancelled = 0;
  int64_t ended = 0;        // jobs that ran and are over
  double wait_seconds = 0;  // of them together, from acceptance to the last start
  double run_seconds = 0;   // and from there to the end
  std::vector<Utilisation> utilisation{};
};

struct LiveOptions {
  std::chrono::milliseconds period{2000};
  size_t kept = 600;      // samples
  size_t resources = 24;  // of each sample
};

class Live {
 public:
  // `sample` and `overview` (JSON) are called by the threads of this object and of streams.
  Live(std::function<LiveSample()> sample, std::function<std::string()> overview,
       LiveOptions options = {});
  // Ends its streams. They may outlive it.
  ~Live();
  Live(const Live&) = delete;
  Live& operator=(const Live&) = delete;

  // {"period_ms", "samples": [...]}, those after that time.
  std::string series(int64_t after_unix_ms) const;

  // Events "series" (once, as above), then with every sample "sample" and "overview".
  std::shared_ptr<HttpStream> stream() const;

 private:
  struct Shared;
  void take_samples();

  std::function<LiveSample()> sample_;
  LiveOptions options_;
  std::shared_ptr<Shared> shared_;
  std::thread sampler_;
};

}  // namespace tutti

#endif  // TUTTI_SERVE_LIVE_H_
