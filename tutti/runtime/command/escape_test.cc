// Programs that leave their process group, their session and their parents: nothing of them is left
// once they are stopped, take too long or end, nor when tutti is killed.
//
//   TUTTI_ESCAPES=200 runtime_test --gtest_filter='Escape*'
//
// tries that many of each; test/escaping_commands.py does so with the program itself.

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "tutti/runtime/command/cgroup.h"
#include "tutti/runtime/command/environment.h"
#include "tutti/runtime/command/process.h"
#include "tutti/runtime/command/testing.h"

namespace tutti {
namespace {

using testing::comes_true;
using testing::is_at_work;
using testing::text_of;

// Words: the ways, a letter each (g: a process group of its own, s: a session, d: fork and let the
// parent end), the file for numbers of processes, and what the program does after that. Perl is
// part of every Debian.
constexpr const char* kEscaper = R"(
use POSIX;
my ($ways, $file, $then) = @ARGV;
my $child = fork;
if ($child == 0) {
  $SIG{TERM} = $SIG{HUP} = 'IGNORE';
  for my $way (split //, $ways) {
    setpgrp(0, 0) if $way eq 'g';
    POSIX::setsid() if $way eq 's';
    if ($way eq 'd') { exit 0 if fork; }
  }
  close STDOUT; close STDERR;
  open my $out, '>', "$file.new"; print $out "$$\n"; close $out;
  rename "$file.new", $file;
  sleep 1000;
}
select undef, undef, undef, 0.005 until -e $file;
$SIG{TERM} = 'IGNORE' if $then eq 'deaf';
exit 0 if $then eq 'end';
sleep 1000;
)";

constexpr const char* kWays[] = {"g", "s", "d", "dd", "gd", "sd", "ds", "dsd", "sdgd", "dgs"};

int escapes() {
  const char* text = std::getenv("TUTTI_ESCAPES");
  return text != nullptr ? std::max(1, std::atoi(text)) : 20;
}

class Escape : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (::access("/usr/bin/perl", X_OK) != 0) GTEST_SKIP() << "needs /usr/bin/perl";
    if (GetParam() && !Cgroup::make()) GTEST_SKIP() << "no cgroup can be made here";
  }

  Process escaper(int number, const std::string& then) const {
    const std::string name = std::to_string(number);
    Process process{.argv = {"/usr/bin/perl", "-e", kEscaper, kWays[number % std::size(kWays)],
                             folder_.path(name), then},
                    .environment = environment_by({}),
                    .directory = folder_.path(),
                    .output = folder_.path("log" + name)};
    process.in_cgroup = GetParam();
    return process;
  }
  std::string escaped(int number) const {
    std::string text = text_of(folder_.path(std::to_string(number)));
    if (!text.empty()) text.pop_back();
    return text;
  }
  bool has_escaped(int number) const {
    return std::filesystem::exists(folder_.path(std::to_string(number)));
  }

  // Calls `one` for each number, some at once.
  template <class One>
  static void for_each(int count, const One& one) {
    std::atomic<int> next{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        for (int number = next++; number < count; number = next++) one(number);
      });
    }
    for (std::thread& thread : threads) thread.join();
  }

  testing::Folder folder_;
};

TEST_P(Escape, IsEndedWhenItIsStopped) {
  for_each(escapes(), [&](int number) {
    std::atomic<bool> stop{false};
    std::thread waits([&] {
      EXPECT_TRUE(comes_true([&] { return has_escaped(number); })) << number;
      stop.store(true);
    });
    const Result<ProcessEnd> end =
        run_process(escaper(number, number % 10 == 0 ? "deaf" : "stay"), Stop(&stop));
    waits.join();
    ASSERT_TRUE(end) << end.error().message;
    EXPECT_EQ(end->how, ProcessEnd::How::stopped);
    EXPECT_FALSE(is_at_work(escaped(number))) << number;
  });
}

TEST_P(Escape, IsEndedWhenItTakesTooLong) {
  for_each(escapes(), [&](int number) {
    Process process = escaper(number, "stay");
    process.timeout = std::chrono::milliseconds(200);
    for (int tries = 0; tries < 8 && !has_escaped(number); ++tries) {
      const Result<ProcessEnd> end = run_process(process, {});
      ASSERT_TRUE(end) << end.error().message;
      EXPECT_EQ(end->how, ProcessEnd::How::timed_out);
      process.timeout *= 2;  // too short for it to escape
    }
    EXPECT_TRUE(has_escaped(number)) << number;
    EXPECT_FALSE(is_at_work(escaped(number))) << number;
  });
}

TEST_P(Escape, IsEndedWhenTheProgramEnds) {
  for_each(escapes(), [&](int number) {
    const Result<ProcessEnd> end = run_process(escaper(number, "end"), {});
    ASSERT_TRUE(end) << end.error().message;
    EXPECT_TRUE(end->good());
    EXPECT_FALSE(is_at_work(escaped(number))) << number;
  });
}

TEST_P(Escape, IsEndedWhenTuttiIsKilled) {
  const int count = std::min(escapes(), 10);
  for_each(count, [&](int number) {
    const pid_t victim = ::fork();
    if (victim == 0) {
      static_cast<void>(run_process(escaper(number, "stay"), {}));
      ::_exit(0);
    }
    EXPECT_TRUE(comes_true([&] { return has_escaped(number); })) << number;
    ::kill(victim, SIGKILL);
    ::waitpid(victim, nullptr, 0);
    EXPECT_TRUE(comes_true([&] { return !is_at_work(escaped(number)); })) << number;
  });
}

// A chain of processes, each of which starts the next and ends at once.
TEST_P(Escape, IsOvertakenWhereItForksAllTheTime) {
  const char* script = R"(
    open my $out, '>', "$ARGV[0].new"; close $out; rename "$ARGV[0].new", $ARGV[0];
    if (fork == 0) { $SIG{TERM} = 'IGNORE'; while (1) { my $p = fork; exit 0 if $p; } }
    sleep 1000;
  )";
  Process process = escaper(0, "stay");
  process.argv = {"/usr/bin/perl", "-e", script, folder_.path("0")};
  std::atomic<bool> stop{false};
  std::thread waits([&] {
    EXPECT_TRUE(comes_true([&] { return has_escaped(0); }));
    stop.store(true);
  });
  const Result<ProcessEnd> end = run_process(process, Stop(&stop));
  waits.join();
  ASSERT_TRUE(end) << end.error().message;  // it fails if something is left
  EXPECT_EQ(end->how, ProcessEnd::How::stopped);
  EXPECT_LT(end->lasted, std::chrono::seconds(10));
}

// It does what it can to its supervisor.
TEST_P(Escape, IsEndedThoughItKillsOrStopsItsSupervisor) {
  for (const std::string signal : {"KILL", "STOP"}) {
    Process process = escaper(1, "stay");
    process.argv = {
        "/bin/sh", "-c",
        "sleep 1000 & echo $$ > own; echo $! > other; kill -" + signal + " $PPID; sleep 1000"};
    process.timeout = std::chrono::milliseconds(300);
    Result<ProcessEnd> end = run_process(process, {});
    // The signal may come after the time is over.
    for (int i = 0; i < 4 && end; ++i) {
      process.timeout *= 2;
      end = run_process(process, {});
    }
    ASSERT_FALSE(end);
    EXPECT_NE(end.error().message.find("watched over it was killed"), std::string::npos)
        << end.error().message;
    for (const char* name : {"own", "other"}) {
      std::string process_number = text_of(folder_.path(name));
      process_number.pop_back();
      EXPECT_TRUE(comes_true([&] { return !is_at_work(process_number); })) << name << signal;
    }
  }
}

// Without a timeout, too: a supervisor that is stopped would never report.
TEST_P(Escape, DoesNotHangTuttiByStoppingItsSupervisor) {
  Process process = escaper(1, "stay");
  process.argv = {"/bin/sh", "-c", "echo $$ > own; kill -STOP $PPID; sleep 1000"};
  std::atomic<bool> ended{false};
  std::atomic<bool> stop{false};
  std::thread impatient([&] {
    for (int i = 0; i < 3000 && !ended; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    stop.store(true);
  });
  const auto start = std::chrono::steady_clock::now();
  const Result<ProcessEnd> end = run_process(process, Stop(&stop));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
  ended = true;
  impatient.join();
  ASSERT_FALSE(end);
  EXPECT_NE(end.error().message.find("watched over it was killed"), std::string::npos);
  std::string process_number = text_of(folder_.path("own"));
  process_number.pop_back();
  EXPECT_TRUE(comes_true([&] { return !is_at_work(process_number); }));
}

// A child with a session of its own, and one whose parent has ended, are orphaned then.
TEST_P(Escape, IsEndedThoughItKillsTheSupervisorOfAChildWithItsOwnSession) {
  for (const int way : {1, 5, 7}) {  // s, sd, dsd
    Process process = escaper(way, "stay");
    std::string script = kEscaper;
    script.replace(script.rfind("sleep 1000;"), 11, "kill 'KILL', getppid; sleep 1000;");
    process.argv[2] = script;
    const Result<ProcessEnd> end = run_process(process, {});
    ASSERT_FALSE(end);
    EXPECT_NE(end.error().message.find("watched over it was killed"), std::string::npos);
    EXPECT_FALSE(is_at_work(escaped(way))) << kWays[way];
  }
}

TEST_P(Escape, LeavesNoCgroupBehind) {
  const std::string own = own_cgroup(text_of("/proc/self/mountinfo"), text_of("/proc/self/cgroup"));
  ASSERT_TRUE(run_process(escaper(0, "end"), {}));
  if (own.empty()) return;
  const std::string ours = "tutti-" + std::to_string(::getpid()) + "-";
  for (const auto& entry : std::filesystem::directory_iterator(own)) {
    EXPECT_FALSE(entry.path().filename().string().starts_with(ours)) << entry.path();
  }
}

INSTANTIATE_TEST_SUITE_P(Command, Escape, ::testing::Values(false, true),
                         [](const auto& param) { return param.param ? "cgroup" : "subreaper"; });

TEST(OwnCgroup, IsWhereTheFileSystemShowsIt) {
  const char* mounts =
      "23 1 0:21 / /proc rw - proc proc rw\n"
      "31 23 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"
      "41 31 0:38 / /sys/fs/cgroup/uni\\040fied rw,relatime shared:7 - cgroup2 cgroup2 rw\n";
  EXPECT_EQ(own_cgroup(mounts, "5:cpu:/x\n0::/\n"), "/sys/fs/cgroup/uni fied");
  EXPECT_EQ(own_cgroup(mounts, "0::/user.slice/a\n"), "/sys/fs/cgroup/uni fied/user.slice/a");
  EXPECT_EQ(own_cgroup(mounts, "5:cpu:/x\n"), "");
  // Only a part of the file system is mounted, as in a container.
  const char* part = "41 31 0:38 /box /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
  EXPECT_EQ(own_cgroup(part, "0::/box/a\n"), "/sys/fs/cgroup/a");
  EXPECT_EQ(own_cgroup(part, "0::/box\n"), "/sys/fs/cgroup");
  EXPECT_EQ(own_cgroup(part, "0::/boxes\n"), "");
  EXPECT_EQ(own_cgroup(part, "0::/other\n"), "");
}

TEST(Environment, GivesCommandsNoSecretsOfTutti) {
  ::setenv("TUTTI_TOKEN", "secret", 1);
  ::setenv("TUTTI_DATA", "data", 1);
  ::setenv("DATABASE_PASSWORD", "secret", 1);
  ::setenv("LC_TIME", "C", 1);
  const auto has = [](const EnvironmentRule& rule, const std::string& name) {
    const std::vector<std::string> all = environment_by(rule);
    return std::any_of(all.begin(), all.end(), [&](const std::string& variable) {
      return variable.starts_with(name + "=");
    });
  };
  const EnvironmentRule user{};
  EXPECT_FALSE(has(user, "TUTTI_TOKEN"));
  EXPECT_FALSE(has(user, "TUTTI_DATA"));
  EXPECT_TRUE(has(user, "DATABASE_PASSWORD"));
  EXPECT_TRUE(has(user, "PATH"));
  const EnvironmentRule server{EnvironmentRule::From::server};
  EXPECT_FALSE(has(server, "TUTTI_TOKEN"));
  EXPECT_FALSE(has(server, "DATABASE_PASSWORD"));
  EXPECT_TRUE(has(server, "PATH"));
  EXPECT_TRUE(has(server, "LC_TIME"));
  EXPECT_TRUE(has({EnvironmentRule::From::server, {"DATABASE_PASSWORD"}}, "DATABASE_PASSWORD"));
  EXPECT_TRUE(has({EnvironmentRule::From::user, {"TUTTI_DATA"}}, "TUTTI_DATA"));
  EXPECT_FALSE(check_names({"TUTTI_TOKEN"}));
  EXPECT_FALSE(check_names({"A=b"}));
  EXPECT_TRUE(check_names({"A"}));
  for (const char* name : {"TUTTI_TOKEN", "TUTTI_DATA", "DATABASE_PASSWORD", "LC_TIME"}) {
    ::unsetenv(name);
  }
}

}  // namespace
}  // namespace tutti
