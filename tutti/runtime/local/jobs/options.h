// How the engine runs jobs.

#ifndef TUTTI_RUNTIME_LOCAL_JOBS_OPTIONS_H_
#define TUTTI_RUNTIME_LOCAL_JOBS_OPTIONS_H_

#include <cstdint>
#include <vector>

#include "tutti/machine/counter.h"
#include "tutti/plan/world/client_shares.h"
#include "tutti/plan/world/world_state.h"
#include "tutti/telemetry/counter_feed.h"

namespace tutti {

inline constexpr int32_t kMostQueueDepth = 8;

struct JobEngineOptions {
  // How many ops may wait behind the busy slots of a device; queues of devices that ran empty
  // though ops were ready grow up to the second number.
  int32_t queue_depth = 2;
  int32_t most_depth = kMostQueueDepth;
  bool staged = true;  // transfers go hop by hop; see LocalOptions
  bool files = false;  // values are files, which every device sees
  bool keep_results = false;
  bool note_decisions = false;  // keeps how long each decision took
  bool note_pauses = false;     // keeps when the decider let ready ops wait
  bool note_waits = false;      // keeps why ops waited (JobRecord::phases)
  bool note_sleeps = false;     // keeps when slots went to sleep
  // What deciders are told; of those that neither the feed nor the run itself can tell, readings
  // have a count of 0.
  std::vector<Counter> counters{};
  const CounterFeed* feed = nullptr;
  // Whose ops go first, for jobs that have an account; null: the decider alone decides. Its clock
  // is share_clock().
  ClientShares* shares = nullptr;
};

// Since some time before the first call, in this process.
Duration share_clock();

}  // namespace tutti

#endif  // TUTTI_RUNTIME_LOCAL_JOBS_OPTIONS_H_
