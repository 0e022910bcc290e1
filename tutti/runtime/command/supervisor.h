// The Supervisor is a process between this one and a program that it runs, one for each program. It
// ends the program with all that it started, wherever those went: in process groups and sessions of
// their own, behind parents that are gone.
//
// It is a subreaper: whatever is orphaned below it becomes its child. So when it has no child left,
// nothing is left of the program; until then it looks for descendants and kills them, again and
// again. Where there is a cgroup, the kernel kills all of it at once.
//
// It ends everything when the program ends, when it is told to, and when this process is gone,
// however that came: then the socket between them closes. Until all is gone it keeps a file open,
// such as a lock.

#ifndef TUTTI_RUNTIME_COMMAND_SUPERVISOR_H_
#define TUTTI_RUNTIME_COMMAND_SUPERVISOR_H_

#include <sys/resource.h>
#include <sys/types.h>

#include <cstdint>

#include "tutti/runtime/command/descendants.h"

namespace tutti {

// What it is told, a byte each: ask all to end (SIGTERM), or kill all.
enum class Order : char { terminate = 'T', kill = 'K' };

// What it says, once, when nothing is left of the program.
struct SupervisorReport {
  int status = 0;  // of the program, as of waitpid
  // Of all its processes that were waited for, by their parents or by the supervisor.
  int64_t cpu_time_ns = 0;
  int64_t peak_memory_bytes = 0;  // of the largest
  // Processes that did not end within five seconds, such as those of another user. They live on.
  int32_t left = 0;
};

// Why the program could not be started: written to `faults` at most once. The pipe is closed
// without a word when the program has started.
struct StartFault {
  enum class At : int { nothing, process, limits, directory, program };
  At at = At::nothing;
  int error = 0;  // errno
};

// What to start. Everything is prepared before the fork, because the process may not allocate.
struct Supervised {
  const char* program;
  char* const* argv;
  char* const* environment;
  const char* directory;  // empty: where this process is
  rlimit cpu_time{};
  rlimit memory{};
  bool limits_cpu_time = false;
  bool limits_memory = false;
  // Open files.
  int output;
  int nothing;  // /dev/null
  int faults;
  int socket;        // its end; SOCK_SEQPACKET
  int held = -1;     // until all is gone; -1: none
  int members = -1;  // of a cgroup, -1: none
  int kill = -1;
  const char* cgroup = "";  // its folder, which is removed
  ProcessTable* table;
};

// The life of the supervisor, from right after the fork, with all signals blocked. Calls nothing
// but what is safe in a signal handler.
[[noreturn]] void supervise(const Supervised& what);

}  // namespace tutti

#endif  // TUTTI_RUNTIME_COMMAND_SUPERVISOR_H_
