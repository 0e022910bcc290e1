// How a rank's run goes, written by those who run ops and read by the watchdog.

#ifndef TUTTI_RUNTIME_STARPU_PULSE_H_
#define TUTTI_RUNTIME_STARPU_PULSE_H_

#include <atomic>
#include <cstdint>

namespace tutti {

struct Pulse {
  std::atomic<int64_t> events{0};    // runs that began, ops and transfers that ended
  std::atomic<int64_t> busy{0};      // ops that run now
  std::atomic<bool> waiting{false};  // for the end of a run
};

}  // namespace tutti

#endif  // TUTTI_RUNTIME_STARPU_PULSE_H_
