#include "tutti/runtime/command/supervisor.h"

#include <linux/close_range.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <ctime>

namespace tutti {
namespace {

constexpr int kCannotStart = 127;
constexpr int kMostSeconds = 5;  // for processes that were killed to be gone

void tell_fault(const Supervised& what, StartFault::At at) {
  const StartFault fault{at, errno};
  [[maybe_unused]] const ssize_t written = ::write(what.faults, &fault, sizeof fault);
}

[[noreturn]] void give_up(const Supervised& what, StartFault::At at) {
  tell_fault(what, at);
  ::_exit(kCannotStart);
}

[[noreturn]] void become_program(const Supervised& what, pid_t supervisor) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != supervisor) ::_exit(kCannotStart);  // it died before that
  // Without the cgroup, should it have gone, the supervisor is enough.
  if (what.members >= 0) [[maybe_unused]]
    const ssize_t in = ::write(what.members, "0", 1);
  struct sigaction usual {};
  usual.sa_handler = SIG_DFL;
  for (int signal = 1; signal < NSIG; ++signal) ::sigaction(signal, &usual, nullptr);
  if (what.limits_cpu_time && ::setrlimit(RLIMIT_CPU, &what.cpu_time) != 0) {
    give_up(what, StartFault::At::limits);
  }
  if (what.limits_memory && ::setrlimit(RLIMIT_AS, &what.memory) != 0) {
    give_up(what, StartFault::At::limits);
  }
  if (what.directory[0] != '\0' && ::chdir(what.directory) != 0) {
    give_up(what, StartFault::At::directory);
  }
  ::dup2(what.nothing, STDIN_FILENO);
  ::dup2(what.output, STDOUT_FILENO);
  ::dup2(what.output, STDERR_FILENO);
  ::syscall(SYS_close_range, STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC);
  sigset_t none;
  ::sigemptyset(&none);
  ::pthread_sigmask(SIG_SETMASK, &none, nullptr);
  ::execve(what.program, what.argv, what.environment);
  give_up(what, StartFault::At::program);
}

void close_from(unsigned first, unsigned last) {
  if (first > last) return;
  if (::syscall(SYS_close_range, first, last, 0) == 0) return;
  for (unsigned file = first; file <= std::min(last, 1023U); ++file) {
    ::close(static_cast<int>(file));  // an old kernel
  }
}

// Other files of ours: the ends of other supervisors' sockets, pipes that must come to an end.
template <size_t N>
void close_all_but(std::array<int, N> kept) {
  std::sort(kept.begin(), kept.end());
  unsigned next = 0;
  for (const int file : kept) {
    if (file < 0) continue;
    const auto number = static_cast<unsigned>(file);
    if (number > next) close_from(next, number - 1);
    next = number + 1;
  }
  close_from(next, ~0U);
}

int64_t now_ns() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

int64_t nanoseconds_of(const timeval& time) {
  return (int64_t{time.tv_sec} * 1'000'000 + time.tv_usec) * 1000;
}

class Supervision {
 public:
  Supervision(const Supervised& what, pid_t self, pid_t program, int children)
      : what_(what), self_(self), program_(program), children_(children) {}

  SupervisorReport until_all_is_gone() {
    while (!program_ended_ && !told_to_kill_) {
      pollfd files[] = {{what_.socket, POLLIN, 0}, {children_, POLLIN, 0}};
      ::poll(files, 2, -1);
      if (files[0].revents != 0) take_order();
      reap();
    }
    end_all();
    return report_;
  }

 private:
  void take_order() {
    char order = 0;
    const ssize_t bytes = ::recv(what_.socket, &order, 1, MSG_DONTWAIT);
    if (bytes < 0 && (errno == EINTR || errno == EAGAIN)) return;
    if (bytes == 1 && order == static_cast<char>(Order::terminate)) {
      if (what_.table->signal_descendants(self_, SIGTERM) < 0) ::kill(-program_, SIGTERM);
      return;
    }
    told_to_kill_ = true;  // or the other end of the socket is closed
  }

  // Waits for all that have ended. False: there are no children any more.
  bool reap() {
    signalfd_siginfo info;
    while (::read(children_, &info, sizeof info) > 0) {
    }
    for (;;) {
      int status = 0;
      rusage usage{};
      const pid_t child = ::wait4(-1, &status, WNOHANG, &usage);
      if (child < 0 && errno == EINTR) continue;
      if (child < 0) return false;
      if (child == 0) return true;
      report_.cpu_time_ns += nanoseconds_of(usage.ru_utime) + nanoseconds_of(usage.ru_stime);
      report_.peak_memory_bytes =
          std::max(report_.peak_memory_bytes, int64_t{usage.ru_maxrss} * 1024);
      if (child != program_) continue;
      report_.status = status;
      program_ended_ = true;
    }
  }

  // A process that forks between our look and our signal has a child that we find the next time.
  void end_all() {
    const int64_t end = now_ns() + int64_t{kMostSeconds} * 1'000'000'000;
    for (int round = 0; reap(); ++round) {
      if (what_.kill >= 0) [[maybe_unused]]
        const ssize_t killed = ::write(what_.kill, "1", 1);
      const int alive = what_.table->signal_descendants(self_, SIGKILL);
      if (alive < 0 && !program_ended_) ::kill(-program_, SIGKILL);
      if (now_ns() >= end) {
        report_.left = std::max(alive, 1);
        return;
      }
      // First at once: what forks all the time has to be overtaken.
      pollfd file = {children_, POLLIN, 0};
      ::poll(&file, 1, round < 100 ? 0 : 1);
    }
  }

  const Supervised& what_;
  pid_t self_;
  pid_t program_;
  int children_;
  bool program_ended_ = false;
  bool told_to_kill_ = false;
  SupervisorReport report_;
};

}  // namespace

void supervise(const Supervised& what) {
  ::setsid();  // Ctrl-C is not for it
  ::prctl(PR_SET_NAME, "tutti-command");
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  const pid_t self = ::getpid();
  sigset_t signals;
  ::sigemptyset(&signals);
  ::sigaddset(&signals, SIGCHLD);
  const int children = ::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
  const pid_t program = children < 0 ? -1 : ::_Fork();
  if (program == 0) become_program(what, self);
  if (program < 0) give_up(what, StartFault::At::process);
  ::setpgid(program, program);  // whichever of the two is first
  close_all_but<4>({what.socket, what.held, what.kill, children});
  const SupervisorReport report = Supervision(what, self, program, children).until_all_is_gone();
  ::send(what.socket, &report, sizeof report, MSG_NOSIGNAL);
  if (what.cgroup[0] != '\0') ::rmdir(what.cgroup);
  ::_exit(0);
}

}  // namespace tutti
