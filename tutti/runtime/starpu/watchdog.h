// Ends a run whose ranks cannot end it: one of them died, stopped or was cut off, or all wait for
// each other. A thread of each rank sends a sign of life to rank 0 and rank 0 to all, once a
// second, with how far the run has come. A rank that misses a sign for `limit` says so in one
// sentence and aborts; so does rank 0 if nothing has run, ended or begun anywhere for as long while
// a run is under way.
//
// Launchers notice a process that dies sooner than this does; the watchdog is for what they miss.

#ifndef TUTTI_RUNTIME_STARPU_WATCHDOG_H_
#define TUTTI_RUNTIME_STARPU_WATCHDOG_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace tutti {

// How a rank's run goes, written by the threads that run ops and read by the watchdog.
struct Pulse {
  std::atomic<int64_t> events{0};    // runs that began, ops and transfers that ended
  std::atomic<int64_t> busy{0};      // ops that run now
  std::atomic<bool> waiting{false};  // for the end of a run
};

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
