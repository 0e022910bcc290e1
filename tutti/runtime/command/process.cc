#include "tutti/runtime/command/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/close_range.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

namespace tutti {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kShortestTick{1};
constexpr std::chrono::milliseconds kLongestTick{20};
constexpr std::chrono::seconds kGrace{2};  // between SIGTERM and SIGKILL
constexpr int kMostTakes = 64;  // after the end: somebody who left the group may print for ever
constexpr size_t kLongestTail = 200;
constexpr int kCannotStart = 127;

class File {
 public:
  File() = default;
  explicit File(int number) : number_(number) {}
  File(File&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  File& operator=(File&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~File() { close(); }
  int number() const { return number_; }
  bool open() const { return number_ >= 0; }
  void close() {
    if (number_ >= 0) ::close(std::exchange(number_, -1));
  }

 private:
  int number_ = -1;
};

struct Pipe {
  File read;
  File write;
};

Result<Pipe> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) == 0) return Pipe{File(ends[0]), File(ends[1])};
  return failed(fmt::format("no pipe can be made: {}", std::strerror(errno)));
}

// ---- What the child does. It was forked from a program with threads, so that until it becomes
// another program it may call nothing but what is safe in a signal handler, and allocate nothing.

struct Child {
  const char* program;
  char* const* argv;
  char* const* environment;
  const char* directory;  // empty: none
  int output;
  int nothing;  // /dev/null
  int faults;   // a pipe; what is written to it is a Fault
  pid_t parent;
  rlimit cpu_time{};
  rlimit memory{};
  bool limits_cpu_time = false;
  bool limits_memory = false;
  const Keeper* keeper;
};

struct Fault {
  enum class At : int { nothing, limits, directory, program };
  At at = At::nothing;
  int error = 0;
};

[[noreturn]] void give_up(const Child& child, Fault::At at) {
  const Fault fault{at, errno};
  [[maybe_unused]] const ssize_t written = ::write(child.faults, &fault, sizeof fault);
  ::_exit(kCannotStart);
}

[[noreturn]] void become_program(const Child& child) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != child.parent) ::_exit(kCannotStart);  // it died before that
  child.keeper->watch(::getpid());
  struct sigaction usual {};
  usual.sa_handler = SIG_DFL;
  for (int signal = 1; signal < NSIG; ++signal) ::sigaction(signal, &usual, nullptr);
  if (child.limits_cpu_time && ::setrlimit(RLIMIT_CPU, &child.cpu_time) != 0) {
    give_up(child, Fault::At::limits);
  }
  if (child.limits_memory && ::setrlimit(RLIMIT_AS, &child.memory) != 0) {
    give_up(child, Fault::At::limits);
  }
  if (child.directory[0] != '\0' && ::chdir(child.directory) != 0) {
    give_up(child, Fault::At::directory);
  }
  ::dup2(child.nothing, STDIN_FILENO);
  ::dup2(child.output, STDOUT_FILENO);
  ::dup2(child.output, STDERR_FILENO);
  ::syscall(SYS_close_range, STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC);
  sigset_t none;
  ::sigemptyset(&none);
  ::pthread_sigmask(SIG_SETMASK, &none, nullptr);
  ::execve(child.program, child.argv, child.environment);
  give_up(child, Fault::At::program);
}

// ---- Before

bool can_run(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) &&
         ::access(path.c_str(), X_OK) == 0;
}

// Where the program is, as seen from the directory it runs in; the environment is its own.
Result<std::string> find_program(const Process& process) {
  const std::string& name = process.argv[0];
  if (name.find('/') != std::string::npos) return name;
  std::string_view path = "/usr/local/bin:/usr/bin:/bin";
  for (const std::string& variable : process.environment) {
    if (variable.starts_with("PATH=")) path = std::string_view(variable).substr(5);
  }
  while (!path.empty()) {
    const std::string_view folder = path.substr(0, path.find(':'));
    path.remove_prefix(std::min(path.size(), folder.size() + 1));
    // What is not absolute would depend on where tutti and the program run.
    if (!folder.starts_with('/')) continue;
    std::string candidate = fmt::format("{}/{}", folder, name);
    if (can_run(candidate)) return candidate;
  }
  return failed(fmt::format("program '{}' is in no folder of PATH", name));
}

std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

rlimit limit_of(int64_t most, int64_t slack) {
  return {static_cast<rlim_t>(most), static_cast<rlim_t>(most + slack)};
}

int64_t whole_seconds(Duration time) {
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(time);
  return seconds.count();
}

std::string why(const Fault& fault, const Process& process, const std::string& program) {
  const char* error = std::strerror(fault.error);
  switch (fault.at) {
    case Fault::At::limits:
      return fmt::format("its limits cannot be set: {}", error);
    case Fault::At::directory:
      return fmt::format("it cannot run in '{}': {}", process.directory, error);
    case Fault::At::nothing:
    case Fault::At::program:
      break;
  }
  return fmt::format("program '{}' cannot be started: {}", program, error);
}

// ---- While it runs

// Keeps the beginning of what a program prints, and its last line.
class Keeping {
 public:
  Keeping(File file, int64_t most) : file_(std::move(file)), most_(most) {}

  void add(std::string_view text) {
    const int64_t room = std::max<int64_t>(0, most_ - all_);
    write(text.substr(0, static_cast<size_t>(std::min(room, static_cast<int64_t>(text.size())))));
    all_ += static_cast<int64_t>(text.size());
    tail_ += text.substr(text.size() - std::min(text.size(), 2 * kLongestTail));
    if (tail_.size() > 4 * kLongestTail) tail_.erase(0, tail_.size() - 2 * kLongestTail);
  }

  // Says how much was left out. Fails if anything could not be written.
  Result<void> end() {
    if (all_ > most_) write(fmt::format("\n[{} more bytes were left out]\n", all_ - most_));
    file_.close();
    if (error_ == 0) return {};
    return failed(fmt::format("its output cannot be kept: {}", std::strerror(error_)));
  }

  int64_t all() const { return all_; }

  std::string last_line() const {
    std::string_view text = tail_;
    const size_t last = text.find_last_not_of(" \t\r\n");
    text = text.substr(0, last == std::string_view::npos ? 0 : last + 1);
    const size_t before = text.rfind('\n');
    if (before != std::string_view::npos) text.remove_prefix(before + 1);
    return std::string(text.substr(0, kLongestTail));
  }

 private:
  void write(std::string_view text) {
    while (!text.empty() && error_ == 0) {
      const ssize_t written = ::write(file_.number(), text.data(), text.size());
      if (written < 0 && errno != EINTR) error_ = errno;
      if (written > 0) text.remove_prefix(static_cast<size_t>(written));
    }
  }

  File file_;
  int64_t most_;
  int64_t all_ = 0;
  int error_ = 0;
  std::string tail_;
};

class Watch {
 public:
  Watch(const Process& process, const Keeper& keeper, const Stop& stop, pid_t child, File output,
        Keeping keeping)
      : process_(process),
        keeper_(keeper),
        stop_(stop),
        child_(child),
        output_(std::move(output)),
        keeping_(std::move(keeping)) {
    ::fcntl(output_.number(), F_SETFL, O_NONBLOCK);
  }

  Result<ProcessEnd> until_it_ends() {
    auto tick = kShortestTick;
    while (!has_ended()) {
      if (wait_and_take(tick)) {
        tick = kShortestTick;
      } else {
        tick = std::min(2 * tick, kLongestTick);
      }
      end_it_if_due();
    }
    return finish();
  }

 private:
  bool has_ended() const {
    siginfo_t info{};
    return ::waitid(P_PID, static_cast<id_t>(child_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid == child_;
  }

  // True if it printed something, or will print no more.
  bool wait_and_take(std::chrono::milliseconds tick) {
    pollfd wanted = {output_.number(), POLLIN, 0};
    ::poll(&wanted, output_.open() ? 1 : 0, static_cast<int>(tick.count()));
    return take();
  }

  bool take() {
    std::array<char, 1 << 16> buffer;
    bool took = false;
    while (output_.open()) {
      const ssize_t bytes = ::read(output_.number(), buffer.data(), buffer.size());
      if (bytes < 0 && errno == EINTR) continue;
      if (bytes < 0) break;  // nothing more for now
      took = true;
      if (bytes == 0) output_.close();
      keeping_.add({buffer.data(), static_cast<size_t>(bytes)});
      if (bytes < static_cast<ssize_t>(buffer.size())) break;
    }
    return took;
  }

  void end_it_if_due() {
    const auto now = Clock::now();
    if (!ended_by_us_) {
      if (stop_.now()) {
        ended_by_us_ = ProcessEnd::How::stopped;
      } else if (process_.timeout.count() > 0 && now - start_ >= process_.timeout) {
        ended_by_us_ = ProcessEnd::How::timed_out;
      } else {
        return;
      }
      told_ = now;
      ::kill(-child_, SIGTERM);
    } else if (now - told_ >= kGrace) {
      ::kill(-child_, SIGKILL);
    }
  }

  Result<ProcessEnd> finish() {
    ProcessEnd end;
    end.lasted = std::chrono::duration_cast<Duration>(Clock::now() - start_);
    // Its number is its own until it is waited for: now nobody else can be meant.
    ::kill(-child_, SIGKILL);
    for (int i = 0; i < kMostTakes && take(); ++i) {
    }
    keeper_.forget(child_);
    int status = 0;
    rusage usage{};
    while (::wait4(child_, &status, 0, &usage) < 0 && errno == EINTR) {
    }
    end.how = WIFEXITED(status) ? ProcessEnd::How::exited : ProcessEnd::How::killed;
    end.code = WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status);
    if (ended_by_us_ && !end.good()) end.how = *ended_by_us_;
    const auto time_of = [](const timeval& time) {
      return std::chrono::seconds(time.tv_sec) + std::chrono::microseconds(time.tv_usec);
    };
    end.cpu_time = time_of(usage.ru_utime) + time_of(usage.ru_stime);
    end.peak_memory_bytes = int64_t{usage.ru_maxrss} * 1024;
    end.output_bytes = keeping_.all();
    end.last_line = keeping_.last_line();
    if (const Result<void> kept = keeping_.end(); !kept) return kept.error();
    return end;
  }

  const Process& process_;
  const Keeper& keeper_;
  const Stop& stop_;
  pid_t child_;
  File output_;
  Keeping keeping_;
  Clock::time_point start_ = Clock::now();
  Clock::time_point told_{};
  std::optional<ProcessEnd::How> ended_by_us_;
};

}  // namespace

std::vector<std::string> own_environment() {
  std::vector<std::string> all;
  for (char** variable = environ; *variable != nullptr; ++variable) all.emplace_back(*variable);
  return all;
}

Result<ProcessEnd> run_process(const Process& process, const Keeper& keeper, const Stop& stop) {
  const Result<std::string> program = find_program(process);
  if (!program) return program.error();
  File file(::open(process.output.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (!file.open()) {
    return failed(fmt::format("{}: cannot be written: {}", process.output, std::strerror(errno)));
  }
  const File nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!nothing.open()) {
    return failed(fmt::format("/dev/null cannot be read: {}", std::strerror(errno)));
  }
  Result<Pipe> output = make_pipe();
  if (!output) return output.error();
  Result<Pipe> faults = make_pipe();
  if (!faults) return faults.error();
  const std::vector<char*> argv = pointers_to(process.argv);
  const std::vector<char*> environment = pointers_to(process.environment);
  Child child{.program = program->c_str(),
              .argv = argv.data(),
              .environment = environment.data(),
              .directory = process.directory.c_str(),
              .output = output->write.number(),
              .nothing = nothing.number(),
              .faults = faults->write.number(),
              .parent = ::getpid(),
              .limits_cpu_time = process.cpu_time.count() > 0,
              .limits_memory = process.memory_bytes > 0,
              .keeper = &keeper};
  // A second for the signal that says why, before the one that does not.
  child.cpu_time = limit_of(whole_seconds(process.cpu_time), /*slack=*/1);
  child.memory = limit_of(process.memory_bytes, /*slack=*/0);

  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);  // our handlers are not for the child
  const pid_t pid = ::fork();
  if (pid == 0) become_program(child);
  const int error = errno;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (pid < 0) return failed(fmt::format("no process can be started: {}", std::strerror(error)));

  ::setpgid(pid, pid);  // whoever of us is first
  output->write.close();
  faults->write.close();
  Fault fault;
  ssize_t bytes = 0;
  while ((bytes = ::read(faults->read.number(), &fault, sizeof fault)) < 0 && errno == EINTR) {
  }
  if (bytes == static_cast<ssize_t>(sizeof fault)) {
    keeper.forget(pid);
    while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
    }
    return failed(why(fault, process, *program));
  }
  return Watch(process, keeper, stop, pid, std::move(output->read),
               Keeping(std::move(file), process.most_output_bytes))
      .until_it_ends();
}

std::string to_text(const ProcessEnd& end, const Process& process) {
  switch (end.how) {
    case ProcessEnd::How::exited:
      return fmt::format("ended with exit code {}", end.code);
    case ProcessEnd::How::timed_out:
      return fmt::format("was killed, as it took longer than {}", to_text(process.timeout));
    case ProcessEnd::How::stopped:
      return "was stopped";
    case ProcessEnd::How::killed:
      break;
  }
  if (end.code == SIGXCPU && process.cpu_time.count() > 0) {
    return fmt::format("was killed, as it used more CPU time than {}", to_text(process.cpu_time));
  }
  const char* name = ::sigdescr_np(end.code);
  return fmt::format("was killed by signal {} ({})", end.code, name != nullptr ? name : "unknown");
}

}  // namespace tutti
