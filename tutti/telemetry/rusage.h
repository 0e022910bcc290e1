// What the kernel accounts to one thread or to this process (getrusage): time on a core, page
// faults, context switches.

#ifndef TUTTI_TELEMETRY_RUSAGE_H_
#define TUTTI_TELEMETRY_RUSAGE_H_

#include <memory>
#include <string>

#include "tutti/telemetry/clock.h"
#include "tutti/telemetry/source.h"

namespace tutti {

enum class RusageOf : uint8_t {
  process,
  thread,  // the one that reads; make it, and read it, in the thread it is about
};

// `about` is the resource that the process or thread works for; `name` begins its counters' names.
std::unique_ptr<CounterSource> make_rusage_source(RusageOf whose, std::string name,
                                                  const Resource& about, Clock clock);

}  // namespace tutti

#endif  // TUTTI_TELEMETRY_RUSAGE_H_
