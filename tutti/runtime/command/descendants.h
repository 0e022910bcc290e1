// Finds the processes that descend from another one, by /proc, and sends them a signal.
//
// For processes that were forked from a program with threads: nothing here allocates or locks, once
// there is a table.

#ifndef TUTTI_RUNTIME_COMMAND_DESCENDANTS_H_
#define TUTTI_RUNTIME_COMMAND_DESCENDANTS_H_

#include <sys/types.h>

#include <memory>
#include <span>

namespace tutti {

class ProcessTable {
 public:
  ProcessTable();

  // Sends `signal` to every living process that descends from `root` or is in the session that it
  // leads, but not to `root` itself. Returns how many there were; -1: /proc cannot be read.
  //
  // A process that forks meanwhile can have a child that is missed: repeat until none is left. The
  // child is found then, as whatever is orphaned becomes a child of the nearest subreaper.
  int signal_descendants(pid_t root, int signal);

  // Kills (SIGKILL) the children of this process that are in another session than it, except
  // `kept`, with their descendants, and waits for those children that are dead. Returns how many
  // were alive; -1: /proc cannot be read. Repeat as above.
  int kill_orphans(std::span<const pid_t> kept);

 private:
  struct Entry {
    pid_t process;
    pid_t parent;
    bool wanted;
    bool dead;  // and not waited for
  };

  // Those for which `wanted(process, stat)` is true, and their descendants, are wanted.
  template <class Wanted>
  bool fill(const Wanted& wanted);
  template <class Wanted>
  void add(pid_t process, const Wanted& wanted);
  void find_wanted();
  int signal_wanted(int signal, pid_t except) const;
  const Entry* find(pid_t process) const;

  std::unique_ptr<Entry[]> entries_;  // by process number
  int count_ = 0;
};

}  // namespace tutti

#endif  // TUTTI_RUNTIME_COMMAND_DESCENDANTS_H_
