#include "tutti/serve/run/runner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <thread>

#include "tutti/graph/make/cholesky.h"
#include "tutti/graph/make/family/family.h"
#include "tutti/graph/make/layered.h"
#include "tutti/machine/discover.h"
#include "tutti/machine/preset.h"
#include "tutti/serve/run/cluster_runner.h"
#include "tutti/serve/run/meter.h"
#include "tutti/serve/submission.h"
#include "tutti/serve/testing.h"

namespace tutti {
namespace {

TEST(Runner, SimulatesAJobAndSaysHowBusyDevicesWere) {
  const Machine machine = *make_preset("p100-4");
  auto runner = make_sim_runner(machine, {.policy = "critical_path"}, 2);
  ASSERT_TRUE(runner);
  EXPECT_EQ((*runner)->places(), 2);
  const Graph graph = *make_layered({.ops = 200, .bytes = 1000});
  EXPECT_TRUE((*runner)->check(graph));
  DecisionLog log;
  const auto report = (*runner)->run(graph, {.job = "j"}, log);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_GT(report->makespan, Duration(0));
  ASSERT_EQ(report->busy_share.size(), 4U);
  for (const double share : report->busy_share) {
    EXPECT_GT(share, 0);
    EXPECT_LE(share, 1);
  }
  EXPECT_EQ(log.op_count(), 200);
}

TEST(Runner, GivesReasonsForItsDecisions) {
  const Machine machine = *make_preset("p100-4");
  auto runner = make_sim_runner(machine, {.policy = "critical_path"}, 1);
  const Graph graph = *make_layered({.ops = 50});
  DecisionLog log;
  ASSERT_TRUE((*runner)->run(graph, {.job = "j"}, log));
  const auto decisions = log.latest(10, 10);
  ASSERT_FALSE(decisions.empty());
  EXPECT_EQ(decisions[0].job, "j");
  EXPECT_TRUE(decisions[0].op.starts_with("op")) << decisions[0].op;
  EXPECT_TRUE(decisions[0].device.starts_with("gpu")) << decisions[0].device;
  EXPECT_NE(decisions[0].reason.find("ready"), std::string::npos) << decisions[0].reason;
}

TEST(Runner, RunsAJobForRealAndStopsWhenTold) {
  const Result<Machine> machine = discover_groups(1, 1);
  ASSERT_TRUE(machine);
  auto runner = make_local_runner(*machine, {.policy = "critical_path"});
  ASSERT_TRUE(runner) << runner.error().message;
  const Graph graph = *make_cholesky({.tiles = 4, .tile_size = 32, .devices = 1});
  ASSERT_TRUE((*runner)->check(graph));
  DecisionLog log;
  const auto report = (*runner)->run(graph, {.job = "j"}, log);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_GT(report->busy_share.at(0), 0);
  const std::atomic<bool> stopped{true};
  EXPECT_FALSE((*runner)->run(graph, {.job = "j", .stop = Stop(&stopped)}, log));
  EXPECT_TRUE((*runner)->run(graph, {.job = "j"}, log));  // it can go on afterwards
}

TEST(Runner, RunsCommandsAndNoneTwiceThatIsDone) {
  const TestFolder folder;
  const Result<Machine> machine = discover_groups(1, 1);
  ASSERT_TRUE(machine);
  auto runner = make_local_runner(*machine, {.policy = "critical_path"});
  const std::string marks = folder.path() + "/marks";
  const std::string text =
      R"({"format": "tutti-graph", "schema_version": 2, "name": "g", "ops": [
          {"name": "a", "run_time_ns": 1000, "command": {"argv": ["/bin/sh", "-c", "echo a >> )" +
      marks + R"("]}},
          {"name": "b", "operands": ["a"], "run_time_ns": 1000,
           "command": {"argv": ["/bin/sh", "-c", "echo b >> )" +
      marks + R"(; test -e )" + marks + R"(.go"]}}]})";
  const Result<Graph> read = read_submission(text, {}, 10);
  ASSERT_TRUE(read) << read.error().message;
  const Graph& graph = *read;
  ASSERT_TRUE((*runner)->check(graph));
  DecisionLog log;
  const RunContext context{.job = "j", .folder = folder.path() + "/runs/1"};
  EXPECT_FALSE((*runner)->run(graph, context, log));  // b fails
  std::ofstream(marks + ".go") << "go";
  const auto again = (*runner)->run(graph, context, log);
  EXPECT_TRUE(again) << again.error().message;
  std::ifstream file(marks);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), "a\nb\nb\n");
}

// Numbers begin again where a journal is moved away or cut back.
class JobFolders : public ::testing::Test {
 protected:
  JobFolders() {
    const std::string text =
        R"({"format": "tutti-graph", "schema_version": 2, "name": "g", "ops": [
            {"name": "a", "run_time_ns": 1000, "command": {"argv": ["/bin/sh", "-c", "echo a >> )" +
        folder_.path() + R"(/marks"]}}]})";
    graph_.emplace(*read_submission(text, {}, 10));
    runner_ = std::move(*make_local_runner(*machine_, {.policy = "critical_path"}));
  }

  // How often the command has run since the beginning.
  int64_t run(const JobIdentity& identity, Unnamed unnamed = Unnamed::moved_aside) {
    RunContext context{.job = "j", .folder = path("runs/1"), .identity = identity};
    context.unnamed = unnamed;
    context.note = [this](const std::string& sentence) { notes_.push_back(sentence); };
    const auto report = runner_->run(*graph_, context, log_);
    EXPECT_TRUE(report) << report.error().message;
    std::ifstream marks(path("marks"));
    return std::count(std::istreambuf_iterator<char>(marks), {}, '\n');
  }
  std::string path(const std::string& name) const { return folder_.path() + "/" + name; }

  const TestFolder folder_;
  Result<Machine> machine_ = discover_groups(1, 1);
  std::optional<Graph> graph_;
  std::unique_ptr<Runner> runner_;
  DecisionLog log_;
  std::vector<std::string> notes_;
};

constexpr int64_t kAccepted = 1'700'000'000'000;

TEST_F(JobFolders, AnotherJobsFolderDoesNotCount) {
  const JobIdentity first{"journal-a", "job-1", 1, kAccepted, 42};
  EXPECT_EQ(run(first), 1);
  EXPECT_EQ(run(first), 1);  // the same job: it is done
  EXPECT_TRUE(notes_.empty());
  // Another journal; the same journal cut back, so that the same is accepted again; another graph.
  EXPECT_EQ(run({"journal-b", "job-1", 1, kAccepted, 42}), 2);
  EXPECT_EQ(run({"journal-b", "job-1", 1, kAccepted + 1, 42}), 3);
  EXPECT_EQ(run({"journal-b", "job-1", 1, kAccepted + 1, 43}), 4);
  EXPECT_EQ(run({"journal-b", "other", 1, kAccepted + 1, 43}), 5);
  ASSERT_EQ(notes_.size(), 4U);
  EXPECT_NE(notes_[0].find("runs/1: is another job's folder; it is now "), std::string::npos)
      << notes_[0];
  // Nothing is thrown away.
  for (const char* kept : {"runs/1.old-1", "runs/1.old-2", "runs/1.old-3", "runs/1.old-4"}) {
    EXPECT_TRUE(std::filesystem::exists(path(kept) + "/journal.jsonl")) << kept;
  }
}

TEST_F(JobFolders, AFolderThatDoesNotSayWhoseItIsCountsOnlyIfItIsAdopted) {
  const JobIdentity identity{"journal-a", "job-1", 1, kAccepted, 42};
  EXPECT_EQ(run(identity), 1);
  std::filesystem::remove(path("runs/1/job.json"));  // as tutti 0.1 leaves it
  EXPECT_TRUE(is_unnamed_job_folder(path("runs/1")));
  EXPECT_EQ(run(identity, Unnamed::taken_over), 1);
  EXPECT_FALSE(is_unnamed_job_folder(path("runs/1")));
  std::filesystem::remove(path("runs/1/job.json"));
  EXPECT_EQ(run(identity), 2);
  ASSERT_EQ(notes_.size(), 1U);
  EXPECT_NE(notes_[0].find("does not say which job's folder it is"), std::string::npos);
  // Not that of another job, either way.
  EXPECT_EQ(run({"journal-b", "job-1", 1, kAccepted, 42}, Unnamed::taken_over), 3);
}

// A server was killed between making the folder and naming it.
TEST_F(JobFolders, AFolderThatWasNeverUsedIsUsed) {
  for (const bool half : {false, true}) {
    std::filesystem::remove_all(path("runs/1"));
    std::filesystem::create_directories(path("runs/1"));
    if (half) std::ofstream(path("runs/1/job.json.new")) << "{";
    EXPECT_FALSE(is_unnamed_job_folder(path("runs/1")));
    EXPECT_EQ(run({"journal-a", "job-1", 1, kAccepted, 42}), half ? 2 : 1);
    EXPECT_TRUE(notes_.empty());
  }
}

TEST_F(JobFolders, AreNobodyElsesToRead) {
  std::filesystem::create_directory(path("runs"));
  std::filesystem::permissions(path("runs"), std::filesystem::perms(0755));
  run({"journal-a", "job-1", 1, kAccepted, 42});
  for (const char* name : {"runs", "runs/1", "runs/1/logs"}) {
    EXPECT_EQ(std::filesystem::status(path(name)).permissions(), std::filesystem::perms(0700))
        << name;
  }
  EXPECT_EQ(std::filesystem::status(path("runs/1/job.json")).permissions(),
            std::filesystem::perms(0600));
}

TEST(Runner, RefusesWhatItHasNoCodeFor) {
  const Result<Machine> machine = discover_groups(1, 1);
  ASSERT_TRUE(machine);
  auto runner = make_local_runner(*machine, {.policy = "critical_path"});
  const auto checked = (*runner)->check(*make_fft({.points = 4}));
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().message,
            "op 'point.0' is of kind 'point', which no device here has code for");
  auto other = make_sim_runner(*machine, {.policy = "heft"}, 1);
  ASSERT_FALSE(other);
  EXPECT_NE(other.error().message.find("plans ahead"), std::string::npos);
  EXPECT_FALSE(make_sim_runner(*machine, {.policy = "nobody"}, 1));
}

TEST(ClusterRunner, LetsJobsShareTheMachine) {
  const Machine machine = *make_preset("uniform-2");
  auto served = serve_cluster(machine, {.policy = "fifo"}, 4, registered_decider("fifo"));
  ASSERT_TRUE(served) << served.error().message;
  const Graph graph = *make_layered({.ops = 400, .bytes = 1000});
  ASSERT_TRUE(served->runner->check(graph));
  DecisionLog log;
  const auto alone = served->runner->run(graph, {.job = "alone"}, log);
  ASSERT_TRUE(alone) << alone.error().message;
  EXPECT_GT(alone->makespan, Duration(0));
  EXPECT_EQ(log.op_count(), 400);
  // Nobody was there: the next finds the machine as the first did.
  EXPECT_EQ(served->runner->run(graph, {.job = "again"}, log)->makespan, alone->makespan);
  std::vector<std::thread> threads;
  for (int place = 0; place < 4; ++place) {
    threads.emplace_back([&, place] {
      for (int i = 0; i < 5; ++i) {
        const auto report = served->runner->run(graph, {.job = "j", .place = place}, log);
        ASSERT_TRUE(report) << report.error().message;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(log.op_count(), 22 * 400);
  EXPECT_TRUE(served->meter->now().empty());  // nothing runs now
  for (const ServedDecision& decision : log.latest(0, 5)) {
    EXPECT_NE(decision.reason.find(" ready ops of "), std::string::npos) << decision.reason;
  }
}

TEST(ClusterRunner, StopsWaitingForAJobThatIsCancelled) {
  const Machine machine = *make_preset("uniform-2");
  auto served =
      serve_cluster(machine, {.policy = "least_loaded"}, 1, registered_decider("least_loaded"));
  ASSERT_TRUE(served);
  const Graph graph = *make_layered({.ops = 50});
  DecisionLog log;
  const std::atomic<bool> stopped{true};
  EXPECT_FALSE(served->runner->run(graph, {.job = "a", .stop = Stop(&stopped)}, log));
  EXPECT_TRUE(served->runner->run(graph, {.job = "b"}, log));
  EXPECT_FALSE(serve_cluster(machine, {.policy = "nobody"}, 1, registered_decider("nobody")));
}

TEST(Meter, BelievesSomethingOfThisHostWithinItsBounds) {
  const auto made = make_host_meter();
  ASSERT_TRUE(made);
  const std::unique_ptr<Meter>& meter = *made;
  std::vector<Utilisation> all;
  for (int i = 0; i < 600 && all.empty(); ++i) {
    all = meter->now();
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  if (all.empty()) GTEST_SKIP() << "this host counts nothing";
  for (const Utilisation& one : all) {
    EXPECT_GE(one.low, 0) << one.resource;
    EXPECT_LE(one.low, one.high) << one.resource;
    EXPECT_LE(one.high, 1) << one.resource;
    EXPECT_FALSE(one.resource.empty());
  }
}

TEST(Meter, TakesRunsTogether) {
  const Machine machine = *make_preset("uniform-2");
  const auto meter = make_run_meter(machine);
  EXPECT_TRUE(meter->now().empty());
  for (int i = 0; i <= 100; ++i) meter->note({Duration(1), {0.01 * i, 1}});  // the first is gone
  meter->note({Duration(1), {}});  // of a run that does not say
  const auto all = meter->now();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_NEAR(all[0].mean, 0.505, 1e-9);
  EXPECT_NEAR(all[0].low, 0.03, 0.011);
  EXPECT_NEAR(all[0].high, 0.98, 0.011);
  EXPECT_EQ(all[1].mean, 1);
}

// One device of one slot would run four commands of 0.3 s one after another.
TEST(Runner, CommandsHaveSlotsOfTheirOwn) {
  if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "this host has one core";
  const TestFolder folder;
  const Result<Machine> machine = discover_machine();
  Result<Machine> slots = discover_command_machine();
  ASSERT_TRUE(machine && slots);
  RunnerOptions options{.policy = "critical_path"};
  options.command_machine = std::make_shared<const Machine>(std::move(*slots));
  auto runner = make_local_runner(*machine, options);
  ASSERT_TRUE(runner) << runner.error().message;
  std::string ops;
  for (const char* name : {"a", "b", "c", "d"}) {
    ops += (ops.empty() ? "" : ",") + std::string(R"({"name": ")") + name +
           R"(", "command": {"argv": ["sleep", "0.3"]}})";
  }
  const Result<Graph> graph = read_submission(
      R"({"format": "tutti-graph", "schema_version": 2, "name": "g", "ops": [)" + ops + "]}", {},
      10);
  ASSERT_TRUE(graph) << graph.error().message;
  ASSERT_TRUE((*runner)->check(*graph));
  DecisionLog log;
  const auto report =
      (*runner)->run(*graph, {.job = "j", .folder = folder.path() + "/runs/1"}, log);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_LT(report->makespan, std::chrono::milliseconds(1000));
  EXPECT_EQ(report->busy_share.size(), static_cast<size_t>(machine->size()));
}

}  // namespace
}  // namespace tutti
