// Ends a run whose ranks cannot end it: one of them died, stopped or was cut off, or all wait for
// each other. A thread of each rank sends a sign of life to rank 0 and rank 0 to all, once a
// second, with how far the run has come. Who misses a sign for `limit` says so in one sentence and
// aborts; so does rank 0 if nothing has run, ended or begun anywhere for as long while a run is
// waited for.
//
// Launchers notice a process that dies sooner than this does; the watchdog is for what they miss.

#ifndef TUTTI_RUNTIME_STARPU_WATCHDOG_H_
#define TUTTI_RUNTIME_STARPU_WATCHDOG_H_

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "tutti/runtime/starpu/pulse.h"

namespace tutti {

// How long a rank may be silent: 15 seconds, or TUTTI_RANK_TIMEOUT.
std::chrono::seconds rank_timeout();

// Says the sentence and ends this process with exit code 1, and by MPI the others as well.
[[noreturn]] void abort_run(const std::string& sentence);

class Watchdog {
 public:
  // Collective. Keeps references; `describe` names a rank in sentences.
  Watchdog(int rank, int size, const Pulse& pulse, std::function<std::string(int)> describe);
  ~Watchdog();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Ends this process if it is not destroyed in time: for calls of MPI that others must answer.
class Deadline {
 public:
  explicit Deadline(std::string sentence);
  ~Deadline();
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tutti

#endif  // TUTTI_RUNTIME_STARPU_WATCHDOG_H_
