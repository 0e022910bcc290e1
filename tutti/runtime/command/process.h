// Runs one program as a process of its own, from start to end.
//
// The program gets a process group of its own, no standard input, and limits. What it prints is
// kept in a file, up to a size. It never outlives the call: when it ends, is stopped or takes too
// long, all of its group is killed; when this process dies, so does the program (keeper.h).

#ifndef TUTTI_RUNTIME_COMMAND_PROCESS_H_
#define TUTTI_RUNTIME_COMMAND_PROCESS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tutti/base/result.h"
#include "tutti/base/stop.h"
#include "tutti/base/time.h"
#include "tutti/runtime/command/keeper.h"

namespace tutti {

struct Process {
  std::vector<std::string> argv;         // not empty; a program without '/' is looked for in PATH
  std::vector<std::string> environment;  // "NAME=text", all of it
  std::string directory{};               // where it runs; empty: where this process does
  std::string output{};                  // the file for what it prints; made anew
  int64_t most_output_bytes = int64_t{1} << 20;
  // Limits, 0: none. CPU time is counted in whole seconds, rounded up.
  Duration timeout{0};
  Duration cpu_time{0};
  int64_t memory_bytes = 0;
};

struct ProcessEnd {
  enum class How : uint8_t { exited, killed, timed_out, stopped };
  How how = How::exited;
  int code = 0;  // the exit code, or the signal that killed it
  Duration lasted{0};
  Duration cpu_time{0};  // of all processes that were waited for
  int64_t peak_memory_bytes = 0;
  int64_t output_bytes = 0;  // that it printed, kept or not
  std::string last_line{};   // that it printed, cut where it is long

  bool good() const { return how == How::exited && code == 0; }
};

// Fails (failed) if the program cannot be started, or its output not be written. Any thread may
// call, several at once; it must stay until the end.
Result<ProcessEnd> run_process(const Process& process, const Keeper& keeper, const Stop& stop);

// "ended with exit code 3", "was killed by signal 11 (Segmentation fault)", ...
std::string to_text(const ProcessEnd& end, const Process& process);

// This process's own environment, as Process takes it.
std::vector<std::string> own_environment();

}  // namespace tutti

#endif  // TUTTI_RUNTIME_COMMAND_PROCESS_H_
