#include "tutti/runtime/command/process.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <thread>

#include "tutti/runtime/command/environment.h"
#include "tutti/runtime/command/testing.h"

namespace tutti {
namespace {

using testing::comes_true;
using testing::is_at_work;
using testing::text_of;

class ProcessTest : public ::testing::Test {
 protected:
  Process of(std::vector<std::string> argv) const {
    return {.argv = std::move(argv),
            .environment = environment_by({}),
            .directory = folder_.path(),
            .output = folder_.path("log")};
  }
  Process shell(const std::string& script) const { return of({"/bin/sh", "-c", script}); }

  ProcessEnd run(const Process& process, const Stop& stop = {}) const {
    const Result<ProcessEnd> end = run_process(process, stop);
    EXPECT_TRUE(end) << end.error().message;
    return end ? *end : ProcessEnd{.how = ProcessEnd::How::killed};
  }
  std::string log() const { return text_of(folder_.path("log")); }

  testing::Folder folder_;
};

TEST_F(ProcessTest, KeepsWhatAProgramPrintsOnEitherStream) {
  const ProcessEnd end = run(shell("echo one; echo two >&2; echo three"));
  EXPECT_TRUE(end.good());
  EXPECT_EQ(log(), "one\ntwo\nthree\n");
  EXPECT_EQ(end.last_line, "three");
  EXPECT_EQ(end.output_bytes, 14);
  EXPECT_GT(end.peak_memory_bytes, 0);
}

TEST_F(ProcessTest, GivesArgumentsAsTheyAreToNoShell) {
  EXPECT_TRUE(run(of({"printf", "%s|", "$HOME", "", "a b; echo c", "*"})).good());
  EXPECT_EQ(log(), "$HOME||a b; echo c|*|");
}

TEST_F(ProcessTest, TellsHowAProgramEnded) {
  const Process seven = shell("exit 7");
  EXPECT_EQ(to_text(run(seven), seven), "ended with exit code 7");
  const Process killed = shell("kill -SEGV $$");
  EXPECT_EQ(to_text(run(killed), killed), "was killed by signal 11 (Segmentation fault)");
}

TEST_F(ProcessTest, SaysWhatCannotBeStarted) {
  const struct {
    Process process;
    const char* expected;
  } cases[] = {
      {of({"no-such-program"}), "program 'no-such-program' is in no folder of PATH"},
      {of({"./no-such-program"}), "cannot be started: No such file or directory"},
      {of({folder_.path()}), "cannot be started: Permission denied"},
  };
  for (const auto& [process, expected] : cases) {
    const Result<ProcessEnd> end = run_process(process, {});
    ASSERT_FALSE(end);
    EXPECT_NE(end.error().message.find(expected), std::string::npos) << end.error().message;
  }
  Process nowhere = of({"true"});
  nowhere.directory = folder_.path("nowhere");
  const Result<ProcessEnd> end = run_process(nowhere, {});
  ASSERT_FALSE(end);
  EXPECT_NE(end.error().message.find("it cannot run in "), std::string::npos)
      << end.error().message;
}

TEST_F(ProcessTest, RunsWhereItIsToldWithTheEnvironmentItIsGiven) {
  Process process = of({"/bin/sh", "-c", "pwd; echo $COLOUR"});
  process.environment = {"COLOUR=red"};
  EXPECT_TRUE(run(process).good());
  EXPECT_EQ(log(), std::filesystem::canonical(folder_.path()).string() + "\nred\n");
}

TEST_F(ProcessTest, HasNoStandardInputAndNoFilesOfOurs) {
  EXPECT_TRUE(run(of({"cat"})).good());
  EXPECT_EQ(log(), "");
  EXPECT_TRUE(run(shell("ls /proc/self/fd | wc -l")).good());
  EXPECT_EQ(log(), "4\n");  // 0, 1, 2, and that of ls
}

TEST_F(ProcessTest, KillsWhatTakesTooLong) {
  Process process = shell("echo begun; sleep 1000");
  process.timeout = std::chrono::milliseconds(20);
  const ProcessEnd end = run(process);
  EXPECT_EQ(end.how, ProcessEnd::How::timed_out);
  EXPECT_EQ(to_text(end, process), "was killed, as it took longer than 20 ms");
}

TEST_F(ProcessTest, KillsWhatDoesNotHeedTheFirstSignal) {
  Process process = shell("trap '' TERM; echo begun; sleep 1000; sleep 1000");
  process.timeout = std::chrono::milliseconds(100);
  // The shell may need longer than that to set its trap.
  for (int i = 0; i < 8 && log() != "begun\n"; ++i) {
    EXPECT_EQ(run(process).how, ProcessEnd::How::timed_out);
    process.timeout *= 2;
  }
  EXPECT_EQ(log(), "begun\n");
}

TEST_F(ProcessTest, StopsWhenAsked) {
  const std::atomic<bool> raised{true};
  EXPECT_EQ(run(of({"sleep", "1000"}), Stop(&raised)).how, ProcessEnd::How::stopped);
}

TEST_F(ProcessTest, LeavesNothingBehindThatAProgramStarted) {
  EXPECT_TRUE(run(shell("sleep 1000 & echo $!")).good());
  std::string left = log();
  left.pop_back();
  EXPECT_TRUE(comes_true([&] { return !is_at_work(left); })) << left;
}

TEST_F(ProcessTest, LimitsCpuTime) {
  Process process = shell("while :; do :; done");
  process.cpu_time = std::chrono::milliseconds(700);  // a second, rounded up
  const ProcessEnd end = run(process);
  EXPECT_EQ(to_text(end, process), "was killed, as it used more CPU time than 700 ms");
  EXPECT_GE(end.cpu_time, std::chrono::milliseconds(700));
}

TEST_F(ProcessTest, LimitsMemory) {
  const char* script = "head -c 300000000 /dev/zero | tail -c 300000000 | wc -c";
  Process process = shell(script);
  process.memory_bytes = 100'000'000;
  run(process);
  EXPECT_EQ(log().find("300000000"), std::string::npos) << log();
  process.memory_bytes = 0;
  run(process);
  EXPECT_NE(log().find("300000000"), std::string::npos) << log();
}

TEST_F(ProcessTest, KeepsNoMoreThanItMay) {
  Process process = shell("head -c 3000000 /dev/zero | tr '\\0' x; echo; echo end");
  process.most_output_bytes = 1000;
  const ProcessEnd end = run(process);
  EXPECT_TRUE(end.good());
  EXPECT_EQ(end.output_bytes, 3000005);
  EXPECT_EQ(log(), std::string(1000, 'x') + "\n[2999005 more bytes were left out]\n");
  EXPECT_EQ(end.last_line, "end");
}

TEST_F(ProcessTest, RunsManyAtOnce) {
  std::atomic<int> good{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      for (int k = 0; k < 10; ++k) {
        Process process = of({"/bin/sh", "-c", "exit " + std::to_string(i)});
        process.output = folder_.path("log" + std::to_string(i));
        const Result<ProcessEnd> end = run_process(process, {});
        if (end && end->code == i) ++good;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, 80);
}

// A process that starts a program which starts another, and is killed.
TEST_F(ProcessTest, DiesWithUsHoweverWeDie) {
  const std::string both = folder_.path("both");
  const pid_t victim = ::fork();
  if (victim == 0) {
    Process process = shell("sleep 1000 & echo $$ $! > both.new; mv both.new both; wait");
    static_cast<void>(run_process(process, {}));
    ::_exit(0);
  }
  ASSERT_TRUE(comes_true([&] { return std::filesystem::exists(both); }));
  std::ifstream file(both);
  std::string program;
  std::string its_own;
  file >> program >> its_own;
  ASSERT_TRUE(is_at_work(program));
  ASSERT_TRUE(is_at_work(its_own));
  ::kill(victim, SIGKILL);
  ::waitpid(victim, nullptr, 0);
  EXPECT_TRUE(comes_true([&] { return !is_at_work(program); }));
  EXPECT_TRUE(comes_true([&] { return !is_at_work(its_own); }));
}

}  // namespace
}  // namespace tutti
