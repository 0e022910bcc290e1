// A Keeper is a small process beside this one that outlives it: should this one die without ending
// the programs that it started, by kill -9 say, the keeper kills them, with all that they started.
//
// The kernel kills the program itself anyway (PR_SET_PDEATHSIG), but not what that started in turn.

#ifndef TUTTI_RUNTIME_COMMAND_KEEPER_H_
#define TUTTI_RUNTIME_COMMAND_KEEPER_H_

#include <sys/types.h>

#include <memory>

#include "tutti/base/result.h"

namespace tutti {

class Keeper {
 public:
  // The keeper holds `lock` too, an open file, until all is over: whoever takes that lock after a
  // death finds nothing left running. -1: none.
  static Result<std::unique_ptr<Keeper>> start(int lock);
  // It is told to go, and has gone.
  ~Keeper();
  Keeper(const Keeper&) = delete;
  Keeper& operator=(const Keeper&) = delete;

  // From now on the process group is killed if this process dies. To be called by the program's
  // process before it becomes the program. Safe between fork and exec, and from any thread.
  void watch(pid_t group) const { tell(group); }
  // To be called before the group's leader is waited for: after that its number may be another's.
  void forget(pid_t group) const { tell(-group); }

 private:
  Keeper(int socket, pid_t process) : socket_(socket), process_(process) {}
  void tell(pid_t message) const;

  int socket_;
  pid_t process_;
};

}  // namespace tutti

#endif  // TUTTI_RUNTIME_COMMAND_KEEPER_H_
