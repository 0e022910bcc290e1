// Graphs of commands on the local engine: real programs, small ones.

#include "tutti/runtime/command/command_run.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "tutti/graph/builder.h"
#include "tutti/runtime/command/testing.h"
#include "tutti/runtime/local/testing.h"
#include "tutti/trace/check.h"

namespace tutti {
namespace {

struct OpText {
  std::string name;
  std::string script;
  std::vector<std::string> after{};  // names of ops
  Command rest{};
};

// Each op is a line of shell in the folder, and hands a value on.
Graph graph_of(const std::vector<OpText>& ops, const std::string& directory) {
  GraphBuilder builder("commands");
  std::vector<std::string> names;
  for (const OpText& op : ops) {
    std::vector<ValueId> operands;
    for (const std::string& name : op.after) {
      const auto found = std::find(names.begin(), names.end(), name);
      operands.push_back(ValueId{static_cast<int32_t>(found - names.begin())});
    }
    Command command = op.rest;
    command.argv = {"/bin/sh", "-c", op.script};
    command.directory = directory;
    const ValueSpec output{.bytes = int64_t{1} << 50};  // no memory could hold it
    const GivenTime time{"", Duration(1000)};
    builder.add_op({.name = op.name,
                    .kind = "sh",
                    .operands = operands,
                    .outputs = {&output, 1},
                    .run_times = {&time, 1},
                    .command = &command});
    names.push_back(op.name);
  }
  return must(std::move(builder).build());
}

class CommandRunTest : public ::testing::Test {
 protected:
  struct Ran {
    Result<Trace> trace;
    CommandRun::Counts counts;
  };

  Result<Ran> run(const std::vector<OpText>& ops, CommandOptions options = {},
                  uint64_t plan_change = 0) {
    const World world(graph_of(ops, folder_.path()), testing::islands(2, 2));
    const Plan plan = testing::in_turn(*world.problem);
    const Result<RunFolder> folder = RunFolder::open(folder_.path("run"));
    if (!folder) return folder.error();
    const JournalHead head{.graph = world.graph.fingerprint(),
                           .commands = world.graph.commands_fingerprint(),
                           .machine = world.machine.fingerprint(),
                           .plan = fingerprint_of(plan) + plan_change};
    const auto commands = CommandRun::open(world.graph, *folder, head, std::move(options));
    if (!commands) return commands.error();
    const auto runtime = must(LocalRuntime::open(world.machine, (*commands)->table({"cpu"})));
    LocalOptions local;
    local.files = true;
    runtime->set_options(local);
    Result<Trace> trace = runtime->run(*world.problem, plan);
    if (trace) {
      const auto faults = check_trace(*world.problem, *trace, rules_for(*trace, &plan));
      EXPECT_TRUE(faults.empty()) << faults[0];
    }
    return Ran{std::move(trace), (*commands)->counts()};
  }

  std::string text(const std::string& name) const { return testing::text_of(folder_.path(name)); }

  testing::Folder folder_;
};

const std::vector<OpText> kDiamond = {
    {"top", "echo top >> ledger; echo 1 > a"},
    {"left", "echo left >> ledger; sed s/1/2/ a > b", {"top"}},
    {"right", "echo right >> ledger; sed s/1/3/ a > c", {"top"}},
    {"join", "echo join >> ledger; cat b c > d", {"left", "right"}, {.output_files = {"d"}}},
};

TEST_F(CommandRunTest, RunsEveryCommandAfterThoseItReadsFrom) {
  const Result<Ran> ran = run(kDiamond);
  ASSERT_TRUE(ran) << ran.error().message;
  ASSERT_TRUE(ran->trace) << ran->trace.error().message;
  EXPECT_EQ(text("d"), "2\n3\n");
  EXPECT_EQ(ran->counts.done, 4);
  EXPECT_EQ(ran->trace->ops.size(), 4u);
  EXPECT_TRUE(ran->trace->transfers.empty());
}

TEST_F(CommandRunTest, DoesNotRepeatWhatIsDone) {
  ASSERT_TRUE(run(kDiamond));
  const Result<Ran> again = run(kDiamond);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->counts.done_before, 4);
  EXPECT_EQ(again->counts.done, 0);
  const std::string ledger = text("ledger");
  EXPECT_EQ(std::count(ledger.begin(), ledger.end(), '\n'), 4);
}

TEST_F(CommandRunTest, GoesOnWhereARunFailed) {
  std::vector<OpText> ops = kDiamond;
  ops[3].script = "test -e allowed || { echo not yet; exit 9; }; cat b c > d";
  const Result<Ran> failed = run(ops);
  ASSERT_TRUE(failed) << failed.error().message;
  ASSERT_FALSE(failed->trace);
  const std::string& sentence = failed->trace.error().message;
  EXPECT_NE(sentence.find("op 'join' on device 'cpu"), std::string::npos) << sentence;
  EXPECT_NE(sentence.find("ended with exit code 9, after 'not yet'"), std::string::npos)
      << sentence;
  EXPECT_EQ(failed->counts.done, 3);
  std::ofstream(folder_.path("allowed")) << "";
  const Result<Ran> again = run(ops);
  ASSERT_TRUE(again) << again.error().message;
  ASSERT_TRUE(again->trace) << again->trace.error().message;
  EXPECT_EQ(again->counts.done_before, 3);
  EXPECT_EQ(again->counts.done, 1);
  EXPECT_EQ(again->counts.in_flight, 0);
  EXPECT_EQ(text("ledger").find("join"), std::string::npos);
  EXPECT_EQ(text("d"), "2\n3\n");
}

TEST_F(CommandRunTest, TriesAgainAsOftenAsItMay) {
  const std::vector<OpText> ops = {{"flaky", "echo x >> tries; test $(wc -l < tries) -ge 3"}};
  const Result<Ran> once = run(ops, {.retries = 1});
  ASSERT_TRUE(once) << once.error().message;
  ASSERT_FALSE(once->trace);
  EXPECT_NE(once->trace.error().message.find("(the last of 2 attempts)"), std::string::npos)
      << once->trace.error().message;
  const Result<Ran> again = run(ops, {.retries = 1});
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_TRUE(again->trace);
  EXPECT_EQ(text("tries"), "x\nx\nx\n");
  // Each attempt has a log of its own.
  for (const char* log : {"0-flaky.1.log", "0-flaky.2.log", "0-flaky.3.log"}) {
    EXPECT_TRUE(std::filesystem::exists(folder_.path("run/logs/") + log)) << log;
  }
}

TEST_F(CommandRunTest, RunsAgainWhatWasBegunAndNeverEnded) {
  ASSERT_TRUE(run(kDiamond));
  // As if it had been killed while the last op ran.
  const std::string path = folder_.path("run/journal.jsonl");
  std::string journal = testing::text_of(path);
  journal.erase(journal.rfind("{\"event\":\"end\""));
  std::ofstream(path, std::ios::binary) << journal << "{\"event\":\"end\",\"op\":\"jo";
  const Result<Ran> again = run(kDiamond);
  ASSERT_TRUE(again) << again.error().message;
  ASSERT_TRUE(again->trace) << again->trace.error().message;
  EXPECT_EQ(again->counts.in_flight, 1);
  EXPECT_EQ(again->counts.done_before, 3);
  EXPECT_EQ(again->counts.done, 1);
}

TEST_F(CommandRunTest, RefusesToGoOnWithSomethingElse) {
  ASSERT_TRUE(run(kDiamond));
  std::vector<OpText> other = kDiamond;
  other[0].script += "; true";
  const Result<Ran> commands = run(other);
  ASSERT_FALSE(commands);
  EXPECT_NE(commands.error().message.find("begun with other commands"), std::string::npos)
      << commands.error().message;
  other = kDiamond;
  other.pop_back();
  EXPECT_FALSE(run(other));
  const Result<Ran> plan = run(kDiamond, {}, /*plan_change=*/1);
  ASSERT_FALSE(plan);
  EXPECT_NE(plan.error().message.find("begun with another plan"), std::string::npos)
      << plan.error().message;
}

TEST_F(CommandRunTest, HoldsCommandsToTheFilesTheyDeclare) {
  const Result<Ran> no_input = run({{"reads", "true", {}, {.input_files = {"nothing"}}}});
  ASSERT_TRUE(no_input && !no_input->trace);
  EXPECT_NE(no_input->trace.error().message.find("its input file 'nothing' is not there"),
            std::string::npos);
  std::filesystem::remove_all(folder_.path("run"));
  const Result<Ran> no_output = run({{"makes", "true", {}, {.output_files = {"nothing"}}}});
  ASSERT_TRUE(no_output && !no_output->trace);
  EXPECT_NE(no_output->trace.error().message.find("but its output file 'nothing' is not there"),
            std::string::npos)
      << no_output->trace.error().message;
}

// A pipe would block for ever where it is opened: no timeout reaches that.
TEST_F(CommandRunTest, TakesNothingButRegularFilesAsOutputs) {
  const struct {
    const char* script;
    const char* expected;
  } cases[] = {
      {"mkfifo made", "is a pipe"},
      {"mkdir made", "is a folder"},
      {"ln -s /dev/null made", "is a symbolic link"},
      {"mkfifo real; ln -s real made", "is a symbolic link"},
      {"ln -s nothing made", "is a symbolic link"},
  };
  for (const auto& [script, expected] : cases) {
    const Result<Ran> ran = run({{"makes", script, {}, {.output_files = {"made"}}}});
    ASSERT_TRUE(ran && !ran->trace) << script;
    const std::string& sentence = ran->trace.error().message;
    EXPECT_NE(sentence.find(expected), std::string::npos) << sentence;
    EXPECT_NE(sentence.find("must be a regular file"), std::string::npos) << sentence;
    for (const char* name : {"run", "made", "real"}) {
      std::filesystem::remove_all(folder_.path(name));
    }
  }
}

TEST_F(CommandRunTest, IsNotBlockedByPipesInItsFolder) {
  // The first attempt lays a pipe where the log of the second will be.
  const std::vector<OpText> ops = {
      {"mean", "rm -f run/logs/0-mean.2.log; mkfifo run/logs/0-mean.2.log; exit 1"}};
  const Result<Ran> log = run(ops, {.retries = 1});
  ASSERT_TRUE(log && !log->trace);
  EXPECT_NE(log->trace.error().message.find("0-mean.2.log: cannot be written"), std::string::npos)
      << log->trace.error().message;
  std::filesystem::remove(folder_.path("run/journal.jsonl"));
  ASSERT_EQ(::mkfifo(folder_.path("run/journal.jsonl").c_str(), 0600), 0);
  const Result<Ran> journal = run(ops);
  ASSERT_FALSE(journal);
  EXPECT_NE(journal.error().message.find("is a pipe"), std::string::npos)
      << journal.error().message;
}

TEST_F(CommandRunTest, KeepsItsFilesToTheOwner) {
  const mode_t before = ::umask(0);
  ASSERT_TRUE(run(kDiamond));
  ::umask(before);
  const auto mode = [&](const std::string& name) {
    struct stat info {};
    EXPECT_EQ(::stat(folder_.path(name).c_str(), &info), 0) << name;
    return info.st_mode & 0777;
  };
  EXPECT_EQ(mode("run"), 0700u);
  EXPECT_EQ(mode("run/logs"), 0700u);
  for (const char* name : {"run/lock", "run/journal.jsonl", "run/logs/0-top.1.log"}) {
    EXPECT_EQ(mode(name), 0600u) << name;
  }
}

TEST_F(CommandRunTest, StaysAloneThoughItsLockIsDeleted) {
  const Result<RunFolder> held = RunFolder::open(folder_.path("run"));
  ASSERT_TRUE(held);
  std::filesystem::remove(folder_.path("run/lock"));
  EXPECT_FALSE(FolderLock::take(folder_.path("run")));
}

TEST_F(CommandRunTest, KeepsLogsInItsFolderWhateverOpsAreCalled) {
  const Result<Ran> ran = run({{"../../up/\n", "echo $TUTTI_OP on $TUTTI_DEVICE"}});
  ASSERT_TRUE(ran && ran->trace);
  EXPECT_EQ(text("run/logs/0-______up__.1.log"), "../../up/ on cpu0\n");
}

TEST_F(CommandRunTest, LimitsCommandsThatHaveNoLimitOfTheirOwn) {
  const Result<Ran> ran = run({{"slow", "sleep 1000"}}, {.timeout = std::chrono::milliseconds(20)});
  ASSERT_TRUE(ran && !ran->trace);
  EXPECT_NE(ran->trace.error().message.find("took longer than 20 ms"), std::string::npos)
      << ran->trace.error().message;
}

TEST_F(CommandRunTest, CountsWhatWasStoppedAsNotDone) {
  const std::atomic<bool> raised{true};
  const Result<Ran> ran = run({{"slow", "sleep 1000"}}, {.retries = 5, .stop = Stop(&raised)});
  ASSERT_TRUE(ran && !ran->trace);
  EXPECT_NE(ran->trace.error().message.find("was stopped"), std::string::npos);
  const Result<Ran> again =
      run({{"slow", "sleep 1000"}}, {.timeout = std::chrono::milliseconds(1)});
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->counts.in_flight, 1);
}

TEST_F(CommandRunTest, IsAloneInItsFolder) {
  const Result<RunFolder> held = RunFolder::open(folder_.path("run"));
  ASSERT_TRUE(held);
  const Result<FolderLock> second = FolderLock::take(folder_.path("run"));
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().message.find("another run is at work in this folder"),
            std::string::npos);
}

}  // namespace
}  // namespace tutti
