// Real jobs that share this host's cores, decided by deciders.

#include "tutti/serve/run/jobs_runner.h"

#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <functional>
#include <map>
#include <thread>

#include "test/support/world.h"
#include "tutti/graph/make/cholesky.h"
#include "tutti/policy/registry.h"
#include "tutti/runtime/local/testing.h"
#include "tutti/serve/daemon.h"
#include "tutti/serve/testing.h"
#include "tutti/telemetry/simulated.h"

namespace tutti {
namespace {

constexpr auto kLong = std::chrono::seconds(30);  // that no test waits for

// Waits until it is so; false if it never is.
bool comes(const std::function<bool()>& so) {
  const auto deadline = std::chrono::steady_clock::now() + kLong;
  while (!so()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::yield();
  }
  return true;
}

// A chain of one op of each kind.
Graph chain(const std::vector<std::string>& kinds, int bytes = 8) {
  std::string ops;
  for (size_t i = 0; i < kinds.size(); ++i) {
    if (i > 0) ops += ",";
    ops += R"({"name":")" + kinds[i] + R"(-op","kind":")" + kinds[i] +
           R"(","run_time_ns":1000,"outputs":[{"bytes":)" + std::to_string(bytes) + "}]";
    if (i > 0) ops += R"(,"operands":[")" + kinds[i - 1] + R"(-op"])";
    ops += "}";
  }
  return graph_from(R"("ops":[)" + ops + "]");
}

// Takes the first action there is, and counts.
class Counting final : public Decider {
 public:
  struct Counts {
    std::atomic<int> begins{0};
    std::atomic<size_t> most_jobs{0};
    std::atomic<double> reading{-1};  // the last of the first counter
  };
  explicit Counting(Counts& counts) : counts_(counts) {}
  void begin(const Cluster& /*cluster*/, uint64_t /*seed*/) override { ++counts_.begins; }
  Action decide(const WorldState& state) override {
    counts_.most_jobs = std::max(counts_.most_jobs.load(), state.in_system.size());
    if (!state.readings.empty()) counts_.reading = state.readings[0].mean;
    std::vector<Action> actions;
    legal_actions(state, actions);
    return actions[0];
  }

 private:
  Counts& counts_;
};

// A runner with code of the test's own.
struct SharedHost {
  explicit SharedHost(Machine made, int places, OpTable ops)
      : machine(std::move(made)),
        runner(must(make_jobs_runner(
            must(make_real_world(*Cluster::make(machine, {}),
                                 {.queue_depth = 0, .ops = std::move(ops)})),
            {.policy = "counting",
             .decider = [this](const Cluster&,
                               const std::vector<Counter>&) -> Result<std::unique_ptr<Decider>> {
               return std::unique_ptr<Decider>(std::make_unique<Counting>(counts));
             },
             .places = places},
            shares))) {}

  Result<RunReport> run(const Graph& graph, const std::string& name, Stop stop = {}) {
    return run_graph(*runner, graph, {.job = name, .stop = stop}, log);
  }

  Machine machine;
  Counting::Counts counts;
  ClientShares shares;
  DecisionLog log;
  std::unique_ptr<Runner> runner;
};

using Code = std::function<Result<void>()>;

OpTable code(const std::map<std::string, Code>& by_kind) {
  OpTable table;
  for (const auto& [kind, code] : by_kind) {
    table.add(kind, "cpu", [code = code](const OpCall& /*call*/) { return code(); });
  }
  return table;
}

TEST(JobsRunner, JobsRunAtTheSameTime) {
  std::atomic<int> there{0};
  SharedHost host(testing::cpus(2, 1), 2, code({{"meet", [&]() -> Result<void> {
                                                   ++there;
                                                   if (comes([&] { return there == 2; })) return {};
                                                   return failed("nobody came");
                                                 }}}));
  const Graph graph = chain({"meet"});
  std::thread other([&] { EXPECT_TRUE(host.run(graph, "a")); });
  const Result<RunReport> report = host.run(graph, "b");
  other.join();
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_GT(report->makespan, Duration(0));
  EXPECT_EQ(host.counts.begins, 1);
  EXPECT_EQ(host.counts.most_jobs, 2U);
  EXPECT_EQ(host.log.op_count(), 2);
}

TEST(JobsRunner, ChecksThatThereIsCode) {
  SharedHost host(testing::cpus(2, 1), 2, code({{"k", [] { return Result<void>(); }}}));
  EXPECT_FALSE(host.runner->prepare(chain({"k", "k2"}))) << "there is no code for k2";
  EXPECT_EQ(host.runner->places(), 2);
}

// Code that waits for a flag.
Code gate(std::atomic<bool>& open) {
  return [&open]() -> Result<void> {
    if (comes([&] { return open.load(); })) return {};
    return failed("it stayed shut");
  };
}

TEST(JobsRunner, AJobThatIsCancelledHasItsAnswerAtOnceAndStopsNoOther) {
  std::atomic<bool> open{false};
  SharedHost host(testing::cpus(2, 1), 2, code({{"gate", gate(open)}}));
  const Graph graph = chain({"gate"});
  std::atomic<bool> stopped{false};
  std::thread other([&] {
    const Result<RunReport> report = host.run(graph, "b");
    EXPECT_TRUE(report) << report.error().message;
  });
  std::thread canceller([&] {
    EXPECT_TRUE(comes([&] { return host.log.op_count() == 2; }));
    stopped = true;
  });
  const Result<RunReport> report = host.run(graph, "a", Stop(&stopped));
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().message, "cancelled");
  open = true;
  other.join();
  canceller.join();
}

// Its op that runs ends; the one behind it does not start.
TEST(JobsRunner, WhatIsLeftOfACancelledJobIsNotRun) {
  std::atomic<bool> open{false};
  std::atomic<int> later{0};
  SharedHost host(testing::cpus(2, 1), 2, code({{"gate", gate(open)}, {"later", [&] {
                                                                         ++later;
                                                                         return Result<void>();
                                                                       }}}));
  std::atomic<bool> stopped{false};
  std::thread canceller([&] {
    EXPECT_TRUE(comes([&] { return host.log.op_count() == 1; }));
    stopped = true;
  });
  EXPECT_FALSE(host.run(chain({"gate", "later"}), "a", Stop(&stopped)));
  canceller.join();
  open = true;
  EXPECT_TRUE(host.run(chain({"gate"}), "b"));
  EXPECT_EQ(later, 0);
}

// b comes and ends while the first op of a is running.
TEST(JobsRunner, AJobStartsWhileAnotherRuns) {
  std::atomic<bool> open{false};
  SharedHost host(testing::cpus(2, 1), 2,
                  code({{"gate", gate(open)}, {"k", [] { return Result<void>(); }}}));
  std::thread other([&] { EXPECT_TRUE(host.run(chain({"gate"}), "a")); });
  EXPECT_TRUE(comes([&] { return host.log.op_count() == 1; }));
  EXPECT_TRUE(host.run(chain({"k"}), "b"));
  open = true;
  other.join();
}

TEST(JobsRunner, AJobThatIsCancelledBeforeItStartsHarmsNoOther) {
  SharedHost host(testing::cpus(1, 1), 2, code({{"k", [] { return Result<void>(); }}}));
  const std::atomic<bool> stopped{true};
  EXPECT_FALSE(host.run(chain({"k"}), "a", Stop(&stopped)));
  EXPECT_TRUE(host.run(chain({"k"}), "b"));
}

TEST(JobsRunner, AJobThatFailsFailsAlone) {
  std::atomic<bool> failed_once{false};
  SharedHost host(testing::cpus(2, 1), 2,
                  code({{"bad",
                         [&] {
                           failed_once = true;
                           return Result<void>(failed("it cannot be done"));
                         }},
                        {"good", [&]() -> Result<void> {
                           comes([&] { return failed_once.load(); });
                           return {};
                         }}}));
  Result<RunReport> bad = failed("");
  std::thread other([&] { bad = host.run(chain({"bad", "good"}), "a"); });
  const Result<RunReport> good = host.run(chain({"good"}), "b");
  other.join();
  EXPECT_TRUE(good) << good.error().message;
  ASSERT_FALSE(bad);
  EXPECT_NE(bad.error().message.find("it cannot be done"), std::string::npos)
      << bad.error().message;
  EXPECT_NE(bad.error().message.find("'bad-op'"), std::string::npos) << bad.error().message;
}

TEST(JobsRunner, AJobThatHasEndedIsDoneWhateverBecomesOfOthers) {
  std::atomic<bool> told{false};
  std::atomic<int> quick{0};
  SharedHost host(testing::cpus(2, 1), 2,
                  code({{"quick",
                         [&] {
                           ++quick;
                           return Result<void>();
                         }},
                        {"bad", [&]() -> Result<void> {
                           comes([&] { return told.load(); });
                           return failed("it cannot be done");
                         }}}));
  std::thread other([&] { EXPECT_FALSE(host.run(chain({"bad"}), "a")); });
  const Result<RunReport> done = host.run(chain({"quick"}), "b");
  EXPECT_TRUE(done) << done.error().message;
  told = true;
  other.join();
  EXPECT_EQ(quick, 1);
}

TEST(JobsRunner, AJobThatDoesNotFitIntoMemoryWaitsForAnother) {
  SharedHost host(testing::cpus(2, 1, 1000), 2, code({{"k", [] { return Result<void>(); }}}));
  const Graph graph = chain({"k"}, 600);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      const Result<RunReport> report = host.run(graph, "a");
      EXPECT_TRUE(report) << report.error().message;
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// Many ops at once, none of which depends on another.
Graph wide(const std::string& first, const std::string& rest, int count, int bytes) {
  std::string ops = R"({"name":"first","kind":")" + first + R"(","run_time_ns":1000})";
  for (int i = 0; i < count; ++i) {
    ops += R"(,{"name":"op)" + std::to_string(i) + R"(","kind":")" + rest +
           R"(","run_time_ns":1000,"outputs":[{"bytes":)" + std::to_string(bytes) + "}]}";
  }
  return graph_from(R"("ops":[)" + ops + "]");
}

// Its results fit one by one, but not together; the job behind it has room as soon as it has
// failed.
TEST(JobsRunner, AJobBehindOneThatStandsStillRuns) {
  SharedHost host(testing::cpus(1, 1, 1000), 2, code({{"k", [] { return Result<void>(); }}}));
  std::thread other([&] {
    const Result<RunReport> large = host.run(wide("k", "k", 40, 400), "a");
    ASSERT_FALSE(large);
    EXPECT_NE(large.error().message.find("stands still"), std::string::npos)
        << large.error().message;
  });
  EXPECT_TRUE(comes([&] { return host.log.op_count() > 0; }));
  const Result<RunReport> small = host.run(chain({"k"}, 600), "b");
  EXPECT_TRUE(small) << small.error().message;
  other.join();
}

// One of its ops runs on, and hundreds were ready: they are no candidates any more.
TEST(JobsRunner, ACancelledJobWhoseOpRunsOnDelaysNoOther) {
  std::atomic<bool> open{false};
  const auto while_it_lasts = [] {
    const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(2);
    while (std::chrono::steady_clock::now() < until) {
    }
    return Result<void>();
  };
  SharedHost host(testing::cpus(2, 1), 2,
                  code({{"gate", gate(open)}, {"short", while_it_lasts}, {"k", [] {
                                                                            return Result<void>();
                                                                          }}}));
  std::atomic<bool> stopped{false};
  std::thread canceller([&] {
    EXPECT_TRUE(comes([&] { return host.log.op_count() > 3; }));
    stopped = true;
  });
  EXPECT_FALSE(host.run(wide("gate", "short", 4000, 8), "a", Stop(&stopped)));
  canceller.join();
  EXPECT_TRUE(host.run(chain({"k"}), "b"));
  EXPECT_LT(host.log.op_count(), 3000);
  open = true;
}

TEST(JobsRunner, AJobThatNeverFitsIsRefusedWithTheReason) {
  SharedHost host(testing::cpus(2, 1, 1000), 2, code({{"k", [] { return Result<void>(); }}}));
  const Result<RunReport> report = host.run(chain({"k"}, 1600), "a");
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().message,
            "op 'k-op' needs 1600 bytes, which no device that may run it has");
  EXPECT_TRUE(host.run(chain({"k"}, 600), "b"));
}

TEST(JobsRunner, RefusesWhatDecidersDoNotDecideAbout) {
  SharedHost host(testing::cpus(1, 1), 1, code({{"k", [] { return Result<void>(); }}}));
  const Graph together = graph_from(
      R"("ops":[{"name":"a","kind":"k","run_time_ns":1,"attributes":{"colocate":"g"}},
                {"name":"b","kind":"k","run_time_ns":1,"attributes":{"colocate":"g"}}])");
  const Result<PreparedJob> colocated = host.runner->prepare(together);
  ASSERT_FALSE(colocated);
  EXPECT_NE(colocated.error().message.find("leave 'colocate' out"), std::string::npos);
  std::string ops;
  for (int i = 0; i <= 10'000; ++i) {
    ops += (i > 0 ? "," : "") + (R"({"name":"k)" + std::to_string(i)) +
           R"(","kind":"k","run_time_ns":1})";
  }
  const Result<PreparedJob> large = host.runner->prepare(graph_from(R"("ops":[)" + ops + "]"));
  ASSERT_FALSE(large);
  EXPECT_NE(large.error().message.find("10001 ops"), std::string::npos) << large.error().message;
}

TEST(JobsRunner, TheDeciderIsToldWhatIsCounted) {
  const std::vector<Counter> counters = {
      {"core", "share", core_of(DeviceId{0}, 0), Quantity::busy}};
  auto source = std::make_unique<SimulatedSource>(counters);
  source->push({0.25});
  std::vector<std::unique_ptr<CounterSource>> sources;
  sources.push_back(std::move(source));
  auto feed =
      std::make_unique<CounterFeed>(std::move(sources), FeedOptions{.interval = Duration(100'000)});
  ASSERT_TRUE(comes([&] { return feed->reads() >= 8; }));
  const Machine machine = testing::cpus(1, 1);
  Counting::Counts counts;
  ClientShares shares;
  auto runner = must(make_jobs_runner(
      must(make_real_world(*Cluster::make(machine, {}),
                           {.counters = counters, .feed = std::move(feed)})),
      {.decider = [&](const Cluster&,
                      const std::vector<Counter>& told) -> Result<std::unique_ptr<Decider>> {
        EXPECT_EQ(told.size(), 1U);
        return std::unique_ptr<Decider>(std::make_unique<Counting>(counts));
      }},
      shares));
  DecisionLog log;
  const Graph graph = *make_cholesky({.tiles = 2, .tile_size = 16, .devices = 1});
  ASSERT_TRUE(run_graph(*runner, graph, {.job = "j"}, log));
  EXPECT_EQ(counts.reading, 0.25);
}

TEST(JobsRunner, EveryDeciderRunsRealOps) {
  const Machine machine = testing::cpus(2, 1);
  const Graph graph = *make_cholesky({.tiles = 3, .tile_size = 16, .devices = 2});
  for (const PolicyEntry& entry : policy_registry()) {
    if (!entry.make_decider) continue;
    ClientShares shares;
    auto runner = must(runner_of(machine, entry.name, 3, shares, /*real=*/true));
    EXPECT_EQ(runner->policy(), entry.name);
    DecisionLog log;
    std::vector<std::thread> threads;
    for (int place = 0; place < 3; ++place) {
      threads.emplace_back([&] {
        for (int i = 0; i < 4; ++i) {
          const auto report = run_graph(*runner, graph, {.job = "j"}, log);
          EXPECT_TRUE(report) << entry.name << ": " << report.error().message;
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(log.op_count(), 12 * graph.size()) << entry.name;
    const auto noted = log.latest(0, 1);
    ASSERT_FALSE(noted.empty());
    EXPECT_EQ(noted[0].job, "j");
    EXPECT_NE(noted[0].reason.find(" ready ops of "), std::string::npos) << noted[0].reason;
  }
}

TEST(JobsRunner, ServesJobsOfADaemonEachOnce) {
  const TestFolder folder;
  const Machine machine = testing::cpus(2, 1);
  constexpr int kJobs = 40;
  DaemonOptions options;
  options.folder = folder.path();
  options.run_log = folder.path() + "/runs";
  options.make_graph = [](const std::string& /*words*/, int64_t /*most*/) {
    return make_cholesky({.tiles = 3, .tile_size = 16, .devices = 2});
  };
  {
    ClientShares shares;
    auto runner = must(runner_of(machine, "graphene", 3, shares, /*real=*/true));
    const auto daemon = must(Daemon::open(std::move(options), shares, std::move(runner), nullptr));
    const auto content = std::make_shared<const std::string>(R"({"make": "any"})");
    for (int i = 0; i < kJobs; ++i) {
      EXPECT_EQ(daemon->submit({.id = "j" + std::to_string(i)}, content).what,
                SubmitAnswer::What::accepted);
    }
    for (int i = 0; i < kJobs; ++i) {
      const auto facts = daemon->wait("j" + std::to_string(i), kLong);
      ASSERT_TRUE(facts);
      EXPECT_EQ(facts->state, JobState::done) << facts->message;
      EXPECT_EQ(facts->attempts, 1);
    }
    daemon->stop(std::chrono::milliseconds(0));
  }
  std::ifstream runs(folder.path() + "/runs");
  int lines = 0;
  for (std::string line; std::getline(runs, line);) ++lines;
  EXPECT_EQ(lines, 2 * kJobs);
}

}  // namespace
}  // namespace tutti
