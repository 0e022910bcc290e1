// A CounterFeed reads sources again and again in the background, each in a thread of its own, so
// that a slow one (NVML takes 20 ms for PCIe traffic) does not delay the others. A policy asks for
// the last readings of each counter at any time, also more often than they are read.
//
// Any thread may ask; no call waits for a source that is being read.

#ifndef TUTTI_TELEMETRY_COUNTER_FEED_H_
#define TUTTI_TELEMETRY_COUNTER_FEED_H_

#include <memory>
#include <vector>

#include "tutti/base/time.h"
#include "tutti/telemetry/source.h"

namespace tutti {

// Whether both count the same thing, whichever source reads them.
inline bool counts_the_same(const Counter& a, const Counter& b) {
  return a.quantity == b.quantity && a.resource == b.resource && a.threshold == b.threshold;
}

struct FeedOptions {
  Duration interval{5'000'000};  // between two readings of a source
  int window = 8;                // readings of a counter that count, the last ones
};

class CounterFeed {
 public:
  // Begins to read.
  CounterFeed(std::vector<std::unique_ptr<CounterSource>> sources, FeedOptions options);
  // Waits until the readings that are under way have ended.
  ~CounterFeed();

  // Those of all sources, one source after another.
  const std::vector<Counter>& counters() const { return counters_; }

  // What the last readings of each counter say. One that had nothing to say, for as long as the
  // window is, has a count of 0.
  void last(std::vector<CounterReading>& readings) const;

  // How often all sources together have been read.
  int64_t reads() const;

 private:
  class Reader;

  std::vector<Counter> counters_;
  std::vector<std::unique_ptr<Reader>> readers_;
};

}  // namespace tutti

#endif  // TUTTI_TELEMETRY_COUNTER_FEED_H_
