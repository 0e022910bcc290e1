#include "tutti/runtime/command/keeper.h"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>

namespace tutti {
namespace {

constexpr int kMostGroups = 4096;  // at once; one for each slot of the machine
constexpr int kMostWaits = 5000;   // of a millisecond, for groups to end

void close_all_but(int one, int other) {
  const int low = std::min(one, other);
  const int high = std::max(one, other);
  const auto close_range = [](unsigned first, unsigned last) {
    if (first > last) return;
    if (::syscall(SYS_close_range, first, last, 0) == 0) return;
    for (unsigned file = first; file <= std::min(last, 1023U); ++file) {
      ::close(static_cast<int>(file));  // an old kernel
    }
  };
  if (low < 0) {
    if (high > 0) close_range(0, static_cast<unsigned>(high) - 1);
  } else {
    if (low > 0) close_range(0, static_cast<unsigned>(low) - 1);
    close_range(static_cast<unsigned>(low) + 1, static_cast<unsigned>(high) - 1);
  }
  close_range(static_cast<unsigned>(high) + 1, ~0U);
}

// The keeper's whole life. It was forked from a program with threads, so that it may call nothing
// but what is safe in a signal handler.
[[noreturn]] void keep(int socket, int lock) {
  ::setsid();  // Ctrl-C is not for it
  ::prctl(PR_SET_NAME, "tutti-keeper");
  close_all_but(socket, lock);
  static pid_t groups[kMostGroups];
  int count = 0;
  for (;;) {
    pid_t message = 0;
    const ssize_t bytes = ::read(socket, &message, sizeof message);
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes <= 0) break;  // nobody is left who could write
    if (message > 0) {
      if (count < kMostGroups) groups[count++] = message;
      continue;
    }
    for (int k = 0; k < count; ++k) {
      if (groups[k] == -message) groups[k--] = groups[--count];
    }
  }
  for (int k = 0; k < count; ++k) ::kill(-groups[k], SIGKILL);
  for (int wait = 0; count > 0 && wait < kMostWaits; ++wait) {
    if (::kill(-groups[count - 1], 0) != 0) {
      --count;
      continue;
    }
    const timespec millisecond = {0, 1'000'000};
    ::nanosleep(&millisecond, nullptr);
  }
  ::_exit(0);
}

}  // namespace

Result<std::unique_ptr<Keeper>> Keeper::start(int lock) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    return failed(fmt::format("no pair of sockets can be made: {}", std::strerror(errno)));
  }
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);  // stays so in the keeper
  const pid_t process = ::fork();
  if (process == 0) keep(ends[0], lock);
  const int error = errno;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ::close(ends[0]);
  if (process < 0) {
    ::close(ends[1]);
    return failed(fmt::format("no process can be started: {}", std::strerror(error)));
  }
  return std::unique_ptr<Keeper>(new Keeper(ends[1], process));
}

Keeper::~Keeper() {
  ::close(socket_);
  while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

// If the keeper was killed there is nobody to tell.
void Keeper::tell(pid_t message) const {
  while (::send(socket_, &message, sizeof message, MSG_NOSIGNAL) < 0 && errno == EINTR) {
  }
}

}  // namespace tutti
