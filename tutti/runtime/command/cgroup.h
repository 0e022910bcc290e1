// A Cgroup is a control group (version 2) that holds one program with all that it starts, wherever
// those go: the kernel kills all of it in one step, so that nothing can fork away.
//
// It needs a cgroup2 file system in which this process may make a group below its own: root has
// that, and so has a user to which systemd delegated one. Elsewhere there is none, and the
// supervisor alone ends what a program started (supervisor.h).

#ifndef TUTTI_RUNTIME_COMMAND_CGROUP_H_
#define TUTTI_RUNTIME_COMMAND_CGROUP_H_

#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace tutti {

class Cgroup {
 public:
  // Below the group that this process is in. None if that cannot be had, for whatever reason.
  static std::optional<Cgroup> make();

  Cgroup(Cgroup&& other) noexcept
      : path_(std::exchange(other.path_, {})),
        members_(std::exchange(other.members_, -1)),
        kill_(std::exchange(other.kill_, -1)) {}
  Cgroup& operator=(Cgroup&&) = delete;
  ~Cgroup();  // removes it if nothing is left in it

  const std::string& path() const { return path_; }
  // Open files. What writes "0" to the first is in the group from then on; what writes "1" to the
  // second kills it all.
  int members_file() const { return members_; }
  int kill_file() const { return kill_; }

 private:
  Cgroup() = default;
  std::string path_;
  int members_ = -1;
  int kill_ = -1;
};

// The folder of the group that this process is in, as the two files of /proc/self say; empty: no
// cgroup2 file system shows it.
std::string own_cgroup(std::string_view mountinfo, std::string_view cgroup);

}  // namespace tutti

#endif  // TUTTI_RUNTIME_COMMAND_CGROUP_H_
