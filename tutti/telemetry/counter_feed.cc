#include "tutti/telemetry/counter_feed.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <thread>
#include <utility>

#include "tutti/base/mutex.h"
#include "tutti/telemetry/clock.h"

namespace tutti {

class CounterFeed::Reader {
 public:
  Reader(std::unique_ptr<CounterSource> source, const FeedOptions& options)
      : source_(std::move(source)),
        interval_(options.interval),
        window_(static_cast<size_t>(std::max(1, options.window))),
        width_(source_->counters().size()),
        rows_(window_ * width_, kUnknown),
        thread_([this] { work(); }) {}

  ~Reader() {
    {
      const MutexLock lock(mutex_);
      ends_ = true;
    }
    end_.notify_all();
    thread_.join();
  }

  void add_last(std::vector<CounterReading>& readings) const {
    const MutexLock lock(mutex_);
    for (size_t c = 0; c < width_; ++c) readings.push_back(last(c));
  }

  int64_t reads() const {
    const MutexLock lock(mutex_);
    return reads_;
  }

 private:
  CounterReading last(size_t counter) const TUTTI_THREAD_ATTRIBUTE(requires_capability(mutex_)) {
    CounterReading reading;
    double sum = 0;
    for (size_t r = 0; r < window_; ++r) {
      const double value = rows_[r * width_ + counter];
      if (!std::isfinite(value)) continue;
      sum += value;
      ++reading.count;
    }
    if (reading.count == 0) return reading;
    reading.mean = sum / reading.count;
    double squares = 0;
    for (size_t r = 0; r < window_; ++r) {
      const double value = rows_[r * width_ + counter];
      if (std::isfinite(value)) squares += (value - reading.mean) * (value - reading.mean);
    }
    if (reading.count > 1) reading.spread = std::sqrt(squares / (reading.count - 1));
    return reading;
  }

  void work() {
    std::vector<double> values(width_);
    auto next = std::chrono::steady_clock::now() + interval_;
    for (;;) {
      {
        const MutexLock lock(mutex_);
        while (!ends_ && std::chrono::steady_clock::now() < next) end_.wait_until(mutex_, next);
        if (ends_) return;
      }
      source_->read(values);  // may take long: no thread waits for it
      // One that takes longer than the interval does not catch up.
      next = std::max(next + interval_, std::chrono::steady_clock::now() + interval_ / 2);
      const MutexLock lock(mutex_);
      const size_t row = static_cast<size_t>(reads_++) % window_;
      std::copy(values.begin(), values.end(), rows_.begin() + static_cast<int64_t>(row * width_));
    }
  }

  std::unique_ptr<CounterSource> source_;
  const Duration interval_;
  const size_t window_;
  const size_t width_;
  mutable Mutex mutex_;
  std::condition_variable_any end_;
  std::vector<double> rows_ GUARDED_BY(mutex_);  // the last readings, [window][counter]
  int64_t reads_ GUARDED_BY(mutex_) = 0;
  bool ends_ GUARDED_BY(mutex_) = false;
  std::thread thread_;  // last: it uses the others
};

CounterFeed::CounterFeed(std::vector<std::unique_ptr<CounterSource>> sources, FeedOptions options) {
  for (auto& source : sources) {
    const auto some = source->counters();
    counters_.insert(counters_.end(), some.begin(), some.end());
    readers_.push_back(std::make_unique<Reader>(std::move(source), options));
  }
}

CounterFeed::~CounterFeed() = default;

void CounterFeed::last(std::vector<CounterReading>& readings) const {
  readings.clear();
  for (const auto& reader : readers_) reader->add_last(readings);
}

int64_t CounterFeed::reads() const {
  int64_t sum = 0;
  for (const auto& reader : readers_) sum += reader->reads();
  return sum;
}

}  // namespace tutti
