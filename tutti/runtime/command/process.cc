#include "tutti/runtime/command/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
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

#include "tutti/base/mutex.h"
#include "tutti/runtime/command/cgroup.h"
#include "tutti/runtime/command/supervisor.h"

namespace tutti {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kShortestTick{1};
constexpr std::chrono::milliseconds kLongestTick{20};
constexpr std::chrono::seconds kGrace{2};  // between SIGTERM and SIGKILL
constexpr std::chrono::seconds kSupervisorTime{
    8};  // with the grace, and the five that it needs at most
constexpr int kMostRounds = 1000;
// Looks at a supervisor that is stopped before it is killed. They are counted, not timed: a batch
// system may stop and continue this process and its supervisor together.
constexpr int kMostStoppedLooks = 50;
constexpr int kMostTakes = 64;  // after the end: what could not be killed may print for ever
constexpr size_t kLongestTail = 200;

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

std::string why(const StartFault& fault, const Process& process, const std::string& program) {
  const char* error = std::strerror(fault.error);
  switch (fault.at) {
    case StartFault::At::process:
      return fmt::format("no process can be started: {}", error);
    case StartFault::At::limits:
      return fmt::format("its limits cannot be set: {}", error);
    case StartFault::At::directory:
      return fmt::format("it cannot run in '{}': {}", process.directory, error);
    case StartFault::At::nothing:
    case StartFault::At::program:
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

// The supervisors of this process. While one runs without a cgroup, this process is a subreaper: if
// a program kills its supervisor, the processes that the program started become our children. Each
// is in another session than ours, because its supervisor was; that is how they are told from
// children that this process started otherwise.
class Supervisors {
 public:
  // The supervisor's process id; less than 0: errno says why there is none.
  pid_t start(const Supervised& supervised);
  // Waits until it has ended, and forgets it.
  void wait_for(pid_t supervisor);
  // Kills inherited processes. Returns how many were alive; -1: /proc cannot be read.
  int kill_orphans(ProcessTable& table);

 private:
  Mutex mutex_;
  std::vector<pid_t> running_ GUARDED_BY(mutex_);
};

pid_t Supervisors::start(const Supervised& supervised) {
  if (supervised.kill < 0) ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  const MutexLock lock(mutex_);                   // until it is known as a supervisor
  ::pthread_sigmask(SIG_SETMASK, &all, &before);  // our handlers are not for it
  const pid_t process = ::fork();
  if (process == 0) supervise(supervised);
  const int error = errno;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (process > 0) running_.push_back(process);
  errno = error;
  return process;
}

void Supervisors::wait_for(pid_t supervisor) {
  while (::waitpid(supervisor, nullptr, 0) < 0 && errno == EINTR) {
  }
  const MutexLock lock(mutex_);
  running_.erase(std::find(running_.begin(), running_.end(), supervisor));
}

int Supervisors::kill_orphans(ProcessTable& table) {
  const MutexLock lock(mutex_);
  return table.kill_orphans(running_);
}

// One for the process, as its children are.
Supervisors& supervisors() {
  static Supervisors all;
  return all;
}

class Watch {
 public:
  Watch(const Process& process, const Stop& stop, pid_t supervisor, File socket, File output,
        Keeping keeping, const std::optional<Cgroup>& cgroup, ProcessTable& table)
      : process_(process),
        stop_(stop),
        supervisor_(supervisor),
        socket_(std::move(socket)),
        output_(std::move(output)),
        keeping_(std::move(keeping)),
        cgroup_(cgroup),
        table_(table) {
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
  // The supervisor has reported, or is dead.
  bool has_ended() {
    SupervisorReport report;
    const ssize_t bytes = ::recv(socket_.number(), &report, sizeof report, MSG_DONTWAIT);
    if (bytes < 0 && (errno == EAGAIN || errno == EINTR)) return false;
    if (bytes == static_cast<ssize_t>(sizeof report)) report_ = report;
    return true;
  }

  // True if it printed something, or will print no more.
  bool wait_and_take(std::chrono::milliseconds tick) {
    pollfd wanted[] = {{socket_.number(), POLLIN, 0}, {output_.number(), POLLIN, 0}};
    ::poll(wanted, output_.open() ? 2 : 1, static_cast<int>(tick.count()));
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

  // A program can stop its supervisor (SIGSTOP), which then reports nothing.
  bool is_stopped() const {
    siginfo_t info{};
    return ::waitid(P_PID, static_cast<id_t>(supervisor_), &info, WSTOPPED | WNOHANG | WNOWAIT) ==
               0 &&
           info.si_pid == supervisor_;
  }

  void end_it_if_due() {
    stopped_looks_ = is_stopped() ? stopped_looks_ + 1 : 0;
    if (stopped_looks_ >= kMostStoppedLooks) ::kill(supervisor_, SIGKILL);
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
      tell(Order::terminate);
    } else if (now - told_ >= kSupervisorTime) {
      ::kill(supervisor_, SIGKILL);
    } else if (now - told_ >= kGrace && !killed_) {
      killed_ = true;
      tell(Order::kill);
    }
  }

  void tell(Order order) const {
    const char byte = static_cast<char>(order);
    while (::send(socket_.number(), &byte, 1, MSG_NOSIGNAL) < 0 && errno == EINTR) {
    }
  }

  Result<ProcessEnd> finish() {
    ProcessEnd end;
    end.lasted = std::chrono::duration_cast<Duration>(Clock::now() - start_);
    if (!report_) end_without_supervisor();
    for (int i = 0; i < kMostTakes && take(); ++i) {
    }
    supervisors().wait_for(supervisor_);
    end.output_bytes = keeping_.all();
    end.last_line = keeping_.last_line();
    const Result<void> kept = keeping_.end();
    if (!report_) {
      return failed("the process of tutti that watched over it was killed, and it with that");
    }
    if (report_->left > 0) {
      return failed(
          fmt::format("{} of the processes that it started could not be ended; end {} by hand",
                      report_->left, report_->left == 1 ? "it" : "them"));
    }
    if (!kept) return kept.error();
    const int status = report_->status;
    end.how = WIFEXITED(status) ? ProcessEnd::How::exited : ProcessEnd::How::killed;
    end.code = WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status);
    if (ended_by_us_ && !end.good()) end.how = *ended_by_us_;
    end.cpu_time = Duration(report_->cpu_time_ns);
    end.peak_memory_bytes = report_->peak_memory_bytes;
    return end;
  }

  // The kernel kills the program with it, and the cgroup holds the rest. Without one the rest is in
  // the supervisor's session, whose number is not used again before we wait for it, or inherited by
  // us once the supervisor is a zombie.
  void end_without_supervisor() {
    siginfo_t info{};
    while (::waitid(P_PID, static_cast<id_t>(supervisor_), &info, WEXITED | WNOWAIT) < 0 &&
           errno == EINTR) {
    }
    for (int round = 0; round < kMostRounds; ++round) {
      const int in_session = table_.signal_descendants(supervisor_, SIGKILL);
      const bool rest = cgroup_ ? !end_cgroup() : supervisors().kill_orphans(table_) > 0;
      if (in_session <= 0 && !rest) return;
      ::poll(nullptr, 0, 1);
    }
  }

  // True if nothing is left in it: only then can it be removed.
  bool end_cgroup() {
    [[maybe_unused]] const ssize_t in = ::write(cgroup_->kill_file(), "1", 1);
    return ::rmdir(cgroup_->path().c_str()) == 0 || errno == ENOENT;
  }

  const Process& process_;
  const Stop& stop_;
  pid_t supervisor_;
  File socket_;
  File output_;
  Keeping keeping_;
  const std::optional<Cgroup>& cgroup_;
  ProcessTable& table_;
  Clock::time_point start_ = Clock::now();
  Clock::time_point told_{};
  bool killed_ = false;
  int stopped_looks_ = 0;  // the last ones in a row
  std::optional<ProcessEnd::How> ended_by_us_;
  std::optional<SupervisorReport> report_;
};

// The commands before may have left anything under that name: a pipe would block, and a link lead
// elsewhere.
Result<File> open_output(const std::string& path) {
  File file(::open(path.c_str(),
                   O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0600));
  struct stat info {};
  if (!file.open() || ::fstat(file.number(), &info) != 0) {
    return failed(fmt::format("{}: cannot be written: {}", path, std::strerror(errno)));
  }
  if (!S_ISREG(info.st_mode) || ::ftruncate(file.number(), 0) != 0) {
    return failed(fmt::format("{}: cannot be written: it is no regular file", path));
  }
  return file;
}

// What both processes share, made before the fork.
struct Channels {
  File kept;     // what it prints
  File nothing;  // /dev/null
  Pipe output;
  Pipe faults;
  File ours;  // two ends of a socket
  File its;
};

Result<Channels> make_channels(const Process& process) {
  Result<File> kept = open_output(process.output);
  if (!kept) return kept.error();
  File nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!nothing.open()) {
    return failed(fmt::format("/dev/null cannot be read: {}", std::strerror(errno)));
  }
  Result<Pipe> output = make_pipe();
  if (!output) return output.error();
  Result<Pipe> faults = make_pipe();
  if (!faults) return faults.error();
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    return failed(fmt::format("no pair of sockets can be made: {}", std::strerror(errno)));
  }
  return Channels{std::move(*kept),   std::move(nothing), std::move(*output),
                  std::move(*faults), File(ends[0]),      File(ends[1])};
}

}  // namespace

Result<ProcessEnd> run_process(const Process& process, const Stop& stop) {
  const Result<std::string> program = find_program(process);
  if (!program) return program.error();
  Result<Channels> channels = make_channels(process);
  if (!channels) return channels.error();
  const std::vector<char*> argv = pointers_to(process.argv);
  const std::vector<char*> environment = pointers_to(process.environment);
  const std::optional<Cgroup> cgroup = process.in_cgroup ? Cgroup::make() : std::nullopt;
  ProcessTable table;
  Supervised supervised{.program = program->c_str(),
                        .argv = argv.data(),
                        .environment = environment.data(),
                        .directory = process.directory.c_str(),
                        .limits_cpu_time = process.cpu_time.count() > 0,
                        .limits_memory = process.memory_bytes > 0,
                        .output = channels->output.write.number(),
                        .nothing = channels->nothing.number(),
                        .faults = channels->faults.write.number(),
                        .socket = channels->its.number(),
                        .held = process.held_file,
                        .table = &table};
  // A second for the signal that says why, before the one that does not.
  supervised.cpu_time = limit_of(whole_seconds(process.cpu_time), /*slack=*/1);
  supervised.memory = limit_of(process.memory_bytes, /*slack=*/0);
  if (cgroup) {
    supervised.members = cgroup->members_file();
    supervised.kill = cgroup->kill_file();
    supervised.cgroup = cgroup->path().c_str();
  }
  const pid_t supervisor = supervisors().start(supervised);
  if (supervisor < 0) {
    return failed(fmt::format("no process can be started: {}", std::strerror(errno)));
  }
  channels->its.close();
  channels->output.write.close();
  channels->faults.write.close();
  StartFault fault;
  ssize_t bytes = 0;
  while ((bytes = ::read(channels->faults.read.number(), &fault, sizeof fault)) < 0 &&
         errno == EINTR) {
  }
  if (bytes == static_cast<ssize_t>(sizeof fault)) {
    supervisors().wait_for(supervisor);
    return failed(why(fault, process, *program));
  }
  return Watch(process, stop, supervisor, std::move(channels->ours),
               std::move(channels->output.read),
               Keeping(std::move(channels->kept), process.most_output_bytes), cgroup, table)
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
