// Runs one program as a process of its own, from start to end.
//
// The program gets a session and a process group of its own, no standard input, and limits. What it
// prints is kept in a file, up to a size. Nothing that it started outlives the call: when it ends,
// is stopped or takes too long, all of it is killed, and also when this process dies
// (supervisor.h).

#ifndef TUTTI_RUNTIME_COMMAND_PROCESS_H_
#define TUTTI_RUNTIME_COMMAND_PROCESS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tutti/base/result.h"
#include "tutti/base/stop.h"
#include "tutti/base/time.h"

namespace tutti {

struct Process {
  std::vector<std::string> argv;         // not empty; a program without '/' is looked for in PATH
  std::vector<std::string> environment;  // "NAME=text", all of it
  std::string directory{};               // where it runs; empty: where this process does
  // The file for what it prints, emptied first; a pipe, a link and the like are refused.
  std::string output{};
  int64_t most_output_bytes = int64_t{1} << 20;
  // Limits, 0: none. CPU time is counted in whole seconds, rounded up.
  Duration timeout{0};
  Duration cpu_time{0};
  int64_t memory_bytes = 0;
  // An open file, such as a lock, that stays open until all that was started is gone, also if this
  // process dies before; -1: none.
  int held_file = -1;
  bool in_cgroup = true;  // too, where one can be had
};

struct ProcessEnd {
  enum class How : uint8_t { exited, killed, timed_out, stopped };
  How how = How::exited;
  int code = 0;  // the exit code, or the signal that killed it
  Duration lasted{0};
  Duration cpu_time{0};  // of all its processes
  int64_t peak_memory_bytes = 0;
  int64_t output_bytes = 0;  // that it printed, kept or not
  std::string last_line{};   // that it printed, cut where it is long

  bool good() const { return how == How::exited && code == 0; }
};

// Fails (failed) if the program cannot be started, its output not be written, or if something that
// it started cannot be ended. Any thread may call, several at once.
Result<ProcessEnd> run_process(const Process& process, const Stop& stop);

// "ended with exit code 3", "was killed by signal 11 (Segmentation fault)", ...
std::string to_text(const ProcessEnd& end, const Process& process);

}  // namespace tutti

#endif  // TUTTI_RUNTIME_COMMAND_PROCESS_H_
