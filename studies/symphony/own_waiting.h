// How long our own work waits for shared resources: a sign of a full memory or link that needs no
// hardware counter. The caller runs a piece of work repeatedly and notes how long it took each
// time. The share in which it waited is how far that lies between the time it takes alone and the
// time it takes when the resource that it is bound by is full.
//
// Any thread may note; one reads.

#ifndef TUTTI_STUDIES_SYMPHONY_OWN_WAITING_H_
#define TUTTI_STUDIES_SYMPHONY_OWN_WAITING_H_

#include <string>
#include <vector>

#include "tutti/base/mutex.h"
#include "tutti/base/time.h"
#include "tutti/telemetry/source.h"

namespace tutti {

class OwnWaiting final : public CounterSource {
 public:
  // Work that is bound by one resource.
  struct Work {
    std::string name;
    Resource resource{};
    Duration alone{0};
    Duration full{0};  // with as much other work as the resource carries
  };

  // Requires 0 < alone < full of each.
  explicit OwnWaiting(std::vector<Work> works);

  // The work with that index took so long.
  void note(size_t work, Duration taken);

  std::span<const Counter> counters() const override { return counters_; }
  // By the median of the times since the last call: a thread that loses its core for a while is no
  // sign of waiting.
  void read(std::span<double> values) override;

 private:
  std::vector<Work> works_;
  std::vector<Counter> counters_;
  Mutex mutex_;
  std::vector<std::vector<Duration>> noted_ GUARDED_BY(mutex_);  // by work
};

}  // namespace tutti

#endif  // TUTTI_STUDIES_SYMPHONY_OWN_WAITING_H_
