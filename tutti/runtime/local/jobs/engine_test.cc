// Jobs that are admitted and withdrawn at any time, fail, and wait for memory, on real threads.

#include "tutti/runtime/local/jobs/engine.h"

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <thread>

#include "test/support/world.h"
#include "tutti/graph/make/layered.h"
#include "tutti/runtime/local/testing.h"
#include "tutti/trace/check_jobs.h"

namespace tutti {
namespace {

// Any legal action, or nothing now and then.
class AnyAction final : public Decider {
 public:
  void begin(const Cluster& /*cluster*/, uint64_t seed) override { rng_ = Rng(seed); }
  Action decide(const WorldState& state) override {
    legal_actions(state, actions_);
    return actions_[rng_.below(actions_.size())];
  }

 private:
  Rng rng_{0};
  std::vector<Action> actions_;
};

Graph layered(int ops, uint64_t seed, int64_t bytes) {
  return must(make_layered({.ops = ops, .width = 5, .operands = 2, .bytes = bytes, .seed = seed}));
}

struct Host {
  Host(Machine machine, JobEngineOptions options, const OpCode& code = {})
      : cluster(must(Cluster::make(std::move(machine), {}))), hardware(cluster.machine(), trouble) {
    for (uint64_t seed = 1; seed <= 4; ++seed)
      jobs.push_back(must(cluster.add_job(layered(30, seed, 1000))));
    for (const auto& job : jobs) {
      for (const std::string& kind : job->graph().op_kinds())
        ops.add(
            kind, "cpu", code ? code : [](const OpCall&) { return Result<void>(); });
    }
    engine = std::make_unique<JobEngine>(cluster, ops, hardware, std::move(options));
  }

  std::shared_ptr<JobRun> make(size_t which, JobRun::Ended ended) {
    const std::shared_ptr<const Job>& job = jobs[which % jobs.size()];
    auto inputs = must(engine->prepare(job, {}));
    return must(engine->make_run(job, std::move(inputs), std::move(ended)));
  }

  testing::Trouble trouble;
  Cluster cluster;
  testing::TroubledHardware hardware;
  OpTable ops;
  std::vector<std::shared_ptr<const Job>> jobs;
  std::unique_ptr<JobEngine> engine;
};

JobsRecord record_of(const std::vector<std::shared_ptr<JobRun>>& runs) {
  std::map<JobId, JobRecord> by_id;
  JobsRecord record;
  for (const auto& run : runs) by_id[run->record().id] = run->record();
  for (auto& [id, job] : by_id) {
    record.makespan = std::max(record.makespan, job.finish);
    record.jobs.push_back(std::move(job));
  }
  return record;
}

// Two threads admit jobs while ops run. In the first round all end, and the judge looks at them; in
// the others every third is withdrawn at some time.
void come_and_go(Machine machine, JobEngineOptions options) {
  constexpr int kThreads = 2;
  constexpr int kJobs = 60;
  Host host(std::move(machine), std::move(options));
  AnyAction decider;
  for (uint64_t round = 1; round <= 3; ++round) {
    std::atomic<int> told{0};
    std::vector<std::vector<std::shared_ptr<JobRun>>> runs(kThreads);
    host.engine->begin(decider, round);
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < kJobs; ++i) {
          auto run = host.make(static_cast<size_t>(i), [&](const JobRun&) { ++told; });
          host.engine->admit(run);
          if (i % 3 == 0) std::this_thread::yield();
          if (round > 1 && i % 3 == 1) host.engine->withdraw(run, failed("withdrawn"));
          runs[static_cast<size_t>(t)].push_back(std::move(run));
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_FALSE(host.engine->wait());
    EXPECT_EQ(told, kThreads * kJobs);
    std::vector<std::shared_ptr<JobRun>> whole;
    int withdrawn = 0;
    for (const auto& some : runs) {
      for (const auto& run : some) {
        if (run->error()) {
          EXPECT_EQ(run->error()->message, "withdrawn");
          ++withdrawn;
          continue;
        }
        EXPECT_EQ(std::ssize(run->record().trace.ops), run->job()->graph().size());
        whole.push_back(run);
      }
    }
    EXPECT_LE(withdrawn, kThreads * kJobs / 3);
    if (round > 1) continue;
    EXPECT_EQ(withdrawn, 0);
    EXPECT_EQ(check_jobs(host.cluster, record_of(whole),
                         {.measured = true,
                          .queue_depth = kMostQueueDepth,
                          .patience = std::chrono::seconds(2)}),
              std::vector<std::string>());
  }
  host.engine.reset();
  EXPECT_EQ(host.trouble.blocks, 0);
  EXPECT_EQ(host.trouble.strange, 0);
}

TEST(JobEngine, JobsComeAndGoAtAnyTimeInOneMemory) {
  come_and_go(testing::cpus(2, 2), {});
}

TEST(JobEngine, JobsComeAndGoAtAnyTimeAndValuesTravel) {
  come_and_go(testing::islands(2, 1), {});
}

TEST(JobEngine, JobsComeAndGoWithoutQueues) {
  come_and_go(testing::islands(2, 2), {.queue_depth = 0});
}

// Every op of 30 has one value of 1,000 bytes and reads two: a few jobs fit at a time.
TEST(JobEngine, JobsWaitForMemoryAndAllComeToAnEnd) {
  come_and_go(testing::cpus(2, 1, 100'000), {});
}

TEST(JobEngine, AFailingOpEndsItsJobAlone) {
  std::atomic<int> calls{0};
  Host host(testing::islands(2, 1), {}, [&](const OpCall&) -> Result<void> {
    if (++calls % 50 == 0) return failed("every fiftieth call fails");
    return {};
  });
  AnyAction decider;
  host.engine->begin(decider, 1);
  std::vector<std::shared_ptr<JobRun>> runs;
  for (size_t i = 0; i < 40; ++i) {
    runs.push_back(host.make(i, {}));
    host.engine->admit(runs.back());
  }
  EXPECT_FALSE(host.engine->wait());
  int bad = 0;
  for (const auto& run : runs) {
    if (!run->error()) continue;
    ++bad;
    EXPECT_NE(run->error()->message.find("every fiftieth call fails"), std::string::npos);
  }
  EXPECT_GT(bad, 0);
  EXPECT_LT(bad, 40);
  runs.clear();
  host.engine.reset();
  EXPECT_EQ(host.trouble.blocks, 0);
}

TEST(JobEngine, ALinkThatFailsEndsTheJobsThatUseIt) {
  Host host(testing::islands(2, 1), {});
  host.trouble.copies_left = 100;
  AnyAction decider;
  host.engine->begin(decider, 1);
  std::vector<std::shared_ptr<JobRun>> runs;
  for (size_t i = 0; i < 20; ++i) {
    runs.push_back(host.make(i, {}));
    host.engine->admit(runs.back());
  }
  EXPECT_FALSE(host.engine->wait());
  int bad = 0;
  for (const auto& run : runs) bad += run->error().has_value();
  EXPECT_GT(bad, 0);
  runs.clear();
  host.engine.reset();
  EXPECT_EQ(host.trouble.blocks, 0);
  EXPECT_EQ(host.trouble.strange, 0);
}

TEST(JobEngine, AnEngineThatIsGivenUpTellsItsJobs) {
  std::atomic<bool> open{false};
  Host host(testing::cpus(1, 1), {}, [&](const OpCall&) -> Result<void> {
    while (!open) std::this_thread::yield();
    return {};
  });
  AnyAction decider;
  std::atomic<int> told{0};
  host.engine->begin(decider, 1);
  for (size_t i = 0; i < 5; ++i)
    host.engine->admit(host.make(i, [&](const JobRun& run) { told += run.error().has_value(); }));
  std::thread opener([&] {
    while (told < 4) std::this_thread::yield();  // all but the job whose op runs
    open = true;
  });
  host.engine.reset();
  opener.join();
  EXPECT_EQ(told, 5);
}

}  // namespace
}  // namespace tutti
