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
#include "tutti/plan/world/share_gate.h"
#include "tutti/runtime/sim/jobs/job_simulator.h"
#include "tutti/serve/run/jobs_runner.h"
#include "tutti/serve/run/meter.h"
#include "tutti/serve/submission.h"
#include "tutti/serve/testing.h"

namespace tutti {
namespace {

TEST(Runner, SimulatesAJobAndKeepsItsTrace) {
  const Machine machine = *make_preset("p100-4");
  ClientShares shares;
  auto runner = runner_of(machine, "critical_path", 2, shares, /*real=*/false);
  ASSERT_TRUE(runner) << runner.error().message;
  EXPECT_EQ((*runner)->places(), 2);
  const Graph graph = *make_layered({.ops = 200, .bytes = 1000});
  const auto prepared = (*runner)->prepare(graph);
  ASSERT_TRUE(prepared) << prepared.error().message;
  EXPECT_GT(prepared->least, Duration(0));
  EXPECT_GE(prepared->work, prepared->least);
  DecisionLog log;
  const auto account =
      std::make_shared<JobAccount>(shares.enter(shares.client("a"), prepared->work));
  const auto report = (*runner)->run(*prepared, {.job = "j", .account = account}, log);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_GE(report->makespan, prepared->least);
  EXPECT_EQ(report->record.trace.ops.size(), 200U);
  EXPECT_EQ(log.op_count(), 200);
  Duration busy{0};
  for (const OpSpan& span : report->record.trace.ops) busy += span.finish - span.start;
  EXPECT_EQ(shares.share(0, Duration(0)).used_total, busy);
}

TEST(Runner, GivesReasonsForItsDecisions) {
  const Machine machine = *make_preset("p100-4");
  ClientShares shares;
  auto runner = runner_of(machine, "critical_path", 1, shares, /*real=*/false);
  const Graph graph = *make_layered({.ops = 50});
  DecisionLog log;
  ASSERT_TRUE(run_graph(**runner, graph, {.job = "j"}, log));
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
  ClientShares shares;
  auto runner = runner_of(*machine, "critical_path", 1, shares, /*real=*/true);
  ASSERT_TRUE(runner) << runner.error().message;
  const Graph graph = *make_cholesky({.tiles = 4, .tile_size = 32, .devices = 1});
  DecisionLog log;
  const auto report = run_graph(**runner, graph, {.job = "j"}, log);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->record.trace.ops.size(), static_cast<size_t>(graph.size()));
  const std::atomic<bool> stopped{true};
  EXPECT_FALSE(run_graph(**runner, graph, {.job = "j", .stop = Stop(&stopped)}, log));
  EXPECT_TRUE(run_graph(**runner, graph, {.job = "j"}, log));  // it can go on afterwards
}

TEST(Runner, RunsCommandsAndNoneTwiceThatIsDone) {
  const TestFolder folder;
  const Result<Machine> machine = discover_groups(1, 1);
  ASSERT_TRUE(machine);
  ClientShares shares;
  auto runner = runner_of(*machine, "critical_path", 1, shares, /*real=*/true);
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
  DecisionLog log;
  const RunContext context{.job = "j", .folder = folder.path() + "/runs/1"};
  EXPECT_FALSE(run_graph(**runner, graph, context, log));  // b fails
  std::ofstream(marks + ".go") << "go";
  const auto again = run_graph(**runner, graph, context, log);
  EXPECT_TRUE(again) << again.error().message;
  std::ifstream file(marks);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), "a\nb\nb\n");
}

TEST(Runner, CommandsThatFailAreChargedToo) {
  const TestFolder folder;
  const Result<Machine> machine = discover_groups(1, 1);
  ASSERT_TRUE(machine);
  ClientShares shares;
  auto runner = runner_of(*machine, "critical_path", 1, shares, /*real=*/true);
  ASSERT_TRUE(runner) << runner.error().message;
  const Result<Graph> graph = read_submission(
      R"({"format": "tutti-graph", "schema_version": 2, "name": "g", "ops": [
          {"name": "a", "command": {"argv": ["/bin/sh", "-c", "sleep 0.2; exit 1"]}}]})",
      {}, 10);
  ASSERT_TRUE(graph) << graph.error().message;
  const int32_t client = shares.client("a");
  DecisionLog log;
  const RunContext context{.job = "j",
                           .folder = folder.path() + "/runs/1",
                           .account = std::make_shared<JobAccount>(shares.enter(client, {}))};
  EXPECT_FALSE(run_graph(**runner, *graph, context, log));
  EXPECT_GE(shares.share(client, Duration(0)).used_total, std::chrono::milliseconds(190));
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
    runner_ = std::move(*runner_of(*machine_, "critical_path", 1, shares_, /*real=*/true));
  }

  // How often the command has run since the beginning.
  int64_t run(const JobIdentity& identity, Unnamed unnamed = Unnamed::moved_aside) {
    RunContext context{.job = "j", .folder = path("runs/1"), .identity = identity};
    context.unnamed = unnamed;
    context.note = [this](const std::string& sentence) { notes_.push_back(sentence); };
    const auto report = run_graph(*runner_, *graph_, context, log_);
    EXPECT_TRUE(report) << report.error().message;
    std::ifstream marks(path("marks"));
    return std::count(std::istreambuf_iterator<char>(marks), {}, '\n');
  }
  std::string path(const std::string& name) const { return folder_.path() + "/" + name; }

  const TestFolder folder_;
  Result<Machine> machine_ = discover_groups(1, 1);
  std::optional<Graph> graph_;
  ClientShares shares_;
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
  ClientShares shares;
  auto runner = runner_of(*machine, "critical_path", 1, shares, /*real=*/true);
  const auto checked = (*runner)->prepare(*make_fft({.points = 4}));
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().message,
            "op 'point.0' is of kind 'point', which no device here has code for");
  EXPECT_FALSE(runner_of(*machine, "nobody", 1, shares, /*real=*/false));
}

TEST(SimulatedWorld, LetsJobsShareTheMachine) {
  const Machine machine = *make_preset("uniform-2");
  ClientShares shares;
  auto made = runner_of(machine, "fifo", 4, shares, /*real=*/false);
  ASSERT_TRUE(made) << made.error().message;
  Runner& runner = **made;
  const Graph graph = *make_layered({.ops = 400, .bytes = 1000});
  DecisionLog log;
  const auto alone = run_graph(runner, graph, {.job = "alone"}, log);
  ASSERT_TRUE(alone) << alone.error().message;
  EXPECT_GT(alone->makespan, Duration(0));
  EXPECT_EQ(log.op_count(), 400);
  // No other job was there: the next finds the machine as the first did.
  EXPECT_EQ(run_graph(runner, graph, {.job = "again"}, log)->makespan, alone->makespan);
  std::vector<std::thread> threads;
  for (int place = 0; place < 4; ++place) {
    threads.emplace_back([&] {
      for (int i = 0; i < 5; ++i) {
        const auto report = run_graph(runner, graph, {.job = "j"}, log);
        ASSERT_TRUE(report) << report.error().message;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(log.op_count(), 22 * 400);
  for (const ServedDecision& decision : log.latest(0, 5)) {
    EXPECT_NE(decision.reason.find(" ready ops of "), std::string::npos) << decision.reason;
  }
}

TEST(SimulatedWorld, StopsWaitingForAJobThatIsCancelled) {
  const Machine machine = *make_preset("uniform-2");
  ClientShares shares;
  auto runner = runner_of(machine, "least_loaded", 1, shares, /*real=*/false);
  ASSERT_TRUE(runner);
  const Graph graph = *make_layered({.ops = 50});
  DecisionLog log;
  const std::atomic<bool> stopped{true};
  EXPECT_FALSE(run_graph(**runner, graph, {.job = "a", .stop = Stop(&stopped)}, log));
  EXPECT_TRUE(run_graph(**runner, graph, {.job = "b"}, log));
}

// Device time of the job's ops between two simulated times.
double time_between(const JobRecord& record, Duration from, Duration to) {
  Duration sum{0};
  for (const OpSpan& span : record.trace.ops) {
    sum += std::max(Duration(0), std::min(span.finish, to) - std::max(span.start, from));
  }
  return static_cast<double>(sum.count());
}

// Whatever decides op by op, a client gets its share of the devices while jobs of both are there.
// whole_job binds each job to one device: of two jobs on two devices each has one, and nothing is
// to be divided.
TEST(ShareGate, EveryDeciderDividesDeviceTimeByWeight) {
  Cluster cluster = *Cluster::make(*make_preset("uniform-2"), {});
  const auto job = *cluster.add_job(*make_layered({.ops = 800, .bytes = 1000}));
  for (const PolicyEntry& entry : policy_registry()) {
    if (!entry.make_decider || entry.name == "whole_job") continue;
    ClientShares shares(
        {.divided = true, .named = {{"light", {.weight = 1}}, {"heavy", {.weight = 3}}}});
    ShareGate gate(shares);
    std::vector<JobAccount> accounts;
    for (const char* name : {"light", "heavy"}) {
      accounts.push_back(shares.enter(shares.client(name), std::chrono::seconds(1)));
      shares.job_opened(accounts.back().client, Duration(0));
    }
    for (int32_t i = 0; i < 2; ++i) gate.add(JobId{i}, &accounts[static_cast<size_t>(i)]);
    JobSimulator sim(cluster, {.record = true});
    const auto decider = entry.tuned_decider();
    decider->begin(cluster, 1);
    sim.reset({{Duration(0), job}, {Duration(0), job}}, 1);
    for (int64_t epoch = -1; !sim.done();) {
      const Action action = gate.decide(sim.ledger(), *decider, sim.state().now);
      if (action.kind == Action::Kind::execute)
        gate.given(sim.state().job(action.job), action.op, action.device);
      const auto stepped = sim.step(action);
      ASSERT_TRUE(stepped) << entry.name << ": " << stepped.error().message;
      if (sim.state().epoch == epoch) continue;
      epoch = sim.state().epoch;
      for (const FinishedOp& op : sim.state().finished) gate.ended(*job, op, sim.state().now);
    }
    const Duration end = sim.jobs()[1].finish;
    EXPECT_LT(end, sim.jobs()[0].finish) << entry.name;
    const double ratio = time_between(sim.jobs()[1], Duration(0), end) /
                         time_between(sim.jobs()[0], Duration(0), end);
    EXPECT_GT(ratio, 2.7) << entry.name;
    EXPECT_LT(ratio, 3.3) << entry.name;
  }
}

// Nothing else happens meanwhile: the clock moves on to when the quota allows more.
TEST(SimulatedWorld, AQuotaIsWaitedForInSimulatedTime) {
  const Graph graph = *make_layered({.ops = 40, .bytes = 1000});
  Duration work{0};
  for (const bool limited : {false, true}) {
    ShareRules rules{.divided = true};
    if (limited) rules.usual = {.quota = work / 4, .quota_window = std::chrono::seconds(10)};
    ClientShares shares(rules);
    auto runner = runner_of(*make_preset("uniform-2"), "fifo", 1, shares, /*real=*/false);
    ASSERT_TRUE(runner) << runner.error().message;
    const auto prepared = (*runner)->prepare(graph);
    ASSERT_TRUE(prepared);
    work = prepared->work;
    const int32_t client = shares.client("a");
    shares.job_opened(client, Duration(0));
    const auto account = std::make_shared<JobAccount>(shares.enter(client, work));
    DecisionLog log;
    const auto report = (*runner)->run(*prepared, {.job = "j", .account = account}, log);
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_EQ((*runner)->share_time() > std::chrono::seconds(20), limited);
    EXPECT_EQ(account->work_left, Duration(0));
  }
}

// Does what it can, after it was let go once.
class LateDecider final : public Decider {
 public:
  struct Gate {
    std::atomic<int> asked{0};
    std::atomic<bool> open{false};
  };
  explicit LateDecider(Gate& gate) : gate_(gate) {}
  void begin(const Cluster& /*cluster*/, uint64_t /*seed*/) override {}
  Action decide(const WorldState& state) override {
    while (++gate_.asked > 1 && !gate_.open)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    std::vector<Action> actions;
    legal_actions(state, actions);
    return actions[0];
  }

 private:
  Gate& gate_;
};

TEST(SimulatedWorld, AJobThatIsCancelledCountsNoMoreOnceTheWorldIsGone) {
  ClientShares shares({.divided = true});
  LateDecider::Gate gate;
  const auto decider = [&](const Cluster&,
                           const std::vector<Counter>&) -> Result<std::unique_ptr<Decider>> {
    return std::unique_ptr<Decider>(std::make_unique<LateDecider>(gate));
  };
  auto runner =
      make_jobs_runner(make_simulated_world(*Cluster::make(*make_preset("uniform-2"), {})),
                       {.policy = "late", .decider = decider, .one_job_at_a_look = true}, shares);
  ASSERT_TRUE(runner) << runner.error().message;
  const Graph graph = *make_layered({.ops = 4000, .bytes = 1000});
  const int32_t client = shares.client("a");
  shares.job_opened(client, Duration(0));
  const auto account = std::make_shared<JobAccount>(shares.enter(client, Duration(1)));
  std::atomic<bool> stopped{false};
  DecisionLog log;
  std::thread job([&] {
    EXPECT_FALSE(
        run_graph(**runner, graph, {.job = "j", .account = account, .stop = Stop(&stopped)}, log));
  });
  while (gate.asked < 2) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_GT(shares.share(client, Duration(0)).quota_used, Duration(0)) << "an op was given";
  stopped = true;
  job.join();
  std::thread opens([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    gate.open = true;
  });
  runner->reset();
  opens.join();
  EXPECT_EQ(shares.share(client, shares.latest()).quota_used, Duration(0));
}

TEST(SimulatedWorld, AClientThatIsHeldDelaysNoOther) {
  ClientShares shares({.divided = true, .named = {{"held", {.quota = Duration(1000)}}}});
  auto runner = runner_of(*make_preset("uniform-2"), "fifo", 2, shares, /*real=*/false);
  ASSERT_TRUE(runner) << runner.error().message;
  const Graph graph = *make_layered({.ops = 40, .bytes = 1000});
  const auto account_of = [&](const std::string& name) {
    const int32_t client = shares.client(name);
    shares.job_opened(client, Duration(0));
    return std::make_shared<JobAccount>(shares.enter(client, Duration(1)));
  };
  const auto held = account_of("held");
  const auto other = account_of("other");
  shares.given(*held, std::chrono::seconds(1));  // so that it never gets a turn
  std::atomic<bool> stopped{false};
  std::thread waits([&] {
    DecisionLog log;
    EXPECT_FALSE(
        run_graph(**runner, graph, {.job = "held", .account = held, .stop = Stop(&stopped)}, log));
  });
  const Duration began = (*runner)->share_time();
  while ((*runner)->share_time() == began) std::this_thread::yield();  // it is there
  DecisionLog log;
  std::atomic<bool> late{false};
  std::thread patience([&] {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!stopped && std::chrono::steady_clock::now() < end)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    late = true;
  });
  EXPECT_TRUE(
      run_graph(**runner, graph, {.job = "other", .account = other, .stop = Stop(&late)}, log));
  stopped = true;
  waits.join();
  patience.join();
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

// One device of one slot would run four commands of 0.3 s one after another.
TEST(Runner, CommandsHaveSlotsOfTheirOwn) {
  if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "this host has one core";
  const TestFolder folder;
  const Result<Machine> machine = discover_machine();
  Result<Machine> slots = discover_command_machine();
  ASSERT_TRUE(machine && slots);
  ClientShares shares;
  auto runner = runner_of(*machine, "critical_path", 1, shares, /*real=*/true, {},
                          std::make_shared<const Machine>(std::move(*slots)));
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
  DecisionLog log;
  const auto report =
      run_graph(**runner, *graph, {.job = "j", .folder = folder.path() + "/runs/1"}, log);
  ASSERT_TRUE(report) << report.error().message;
  // One slot would run them one after the other.
  const std::vector<OpSpan>& spans = report->record.trace.ops;
  const auto meet = [](const OpSpan& a, const OpSpan& b) {
    return &a != &b && a.start < b.finish && b.start < a.finish;
  };
  EXPECT_TRUE(std::any_of(spans.begin(), spans.end(), [&](const OpSpan& a) {
    return std::any_of(spans.begin(), spans.end(), [&](const OpSpan& b) { return meet(a, b); });
  }));
}

}  // namespace
}  // namespace tutti
