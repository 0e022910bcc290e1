// Every policy that can decide about jobs that arrive, pairs of Select and Place among them: work
// gets done, nothing illegal is answered, same seed same run. What they plan for one graph is in
// test/policy_conformance_test.cc.

#include <gtest/gtest.h>

#include "tutti/graph/make/chainmm.h"
#include "tutti/graph/make/job.h"
#include "tutti/plan/world/default_cluster.h"
#include "tutti/policy/online/fallback.h"
#include "tutti/policy/online/paragon.h"
#include "tutti/policy/symphony/decider.h"
#include "tutti/runtime/arriving/real_cluster.h"
#include "tutti/runtime/local/testing.h"
#include "tutti/runtime/sim/jobs/arrivals.h"
#include "tutti/runtime/sim/jobs/billed_load.h"
#include "tutti/runtime/sim/jobs/job_simulator.h"
#include "tutti/runtime/sim/jobs/testing.h"
#include "tutti/search/deciders.h"
#include "tutti/trace/check_jobs.h"

namespace tutti {
namespace {

// At a billed load, by which the deciders' settings were tuned.
std::vector<Arrival> arrivals_at(double load, int count, const Cluster& cluster,
                                 const JobList& jobs, uint64_t seed,
                                 ArrivalSpec::Process process = ArrivalSpec::Process::poisson) {
  const double jobs_per_s = billed_load_rate(load, billed_jobs_per_s(cluster, jobs));
  return draw_arrivals(jobs, {.process = process, .jobs_per_s = jobs_per_s, .jobs = count}, seed);
}

struct Case {
  const char* name;
  double load;
  int jobs;
  ArrivalSpec::Process process = ArrivalSpec::Process::poisson;
  JobSimOptions options{};
};

std::vector<Case> cases() {
  return {{"calm", 0.1, 15},
          {"flood", 5, 30},
          {"bursts with unknown load",
           0.5,
           30,
           ArrivalSpec::Process::bursts,
           {.unknown_load = {.share = 0.6}}},
          {"flood of queues, decisions that take time",
           5,
           30,
           ArrivalSpec::Process::poisson,
           {.queue_depth = 2, .decision_delay = Duration(50'000)}}};
}

std::vector<Duration> finishes_of(const PolicyEntry& entry, std::span<const double> values,
                                  const Case& one, uint64_t seed) {
  Cluster cluster = default_cluster();
  const auto jobs = add_jobs(cluster, make_jobs(JobSet::validation, 8, 2));
  EXPECT_TRUE(jobs);
  JobSimulator sim(cluster, one.options);
  const auto decider = entry.make_decider(values);
  const auto run = run_jobs(sim, arrivals_at(one.load, one.jobs, cluster, *jobs, seed, one.process),
                            *decider, seed, 100'000);
  if (!run) {
    ADD_FAILURE() << entry.name << ", " << one.name << ": " << run.error().message;
    return {};
  }
  std::vector<Duration> finishes;
  for (const JobRecord& job : run->jobs) {
    EXPECT_GE(job.start, job.arrival);
    EXPECT_GT(job.finish, job.start);
    finishes.push_back(job.finish);
  }
  return finishes;
}

std::unique_ptr<Decider> usual(const char* name) {
  return find_any_decider(name).value()->tuned_decider();
}

// Decisions of 1 us beside ops of milliseconds are left to who makes them; those of 10 ms are not,
// and the work gets done all the same.
TEST(FallbackDecider, GoesOnWithTheQuickOneWhereDecisionsTakeLongerThanOps) {
  for (const Duration taken : {Duration(1'000), Duration(10'000'000)}) {
    Cluster cluster = default_cluster();
    const auto jobs = add_jobs(cluster, make_jobs(JobSet::validation, 8, 2));
    ASSERT_TRUE(jobs);
    JobSimulator sim(cluster, {});
    Duration now{0};
    // Asked before and after each decision.
    FallbackDecider decider(usual("fifo"), usual("graphene"),
                            {.clock = [&] { return now += taken; }});
    const auto run = run_jobs(sim, arrivals_at(0.5, 20, cluster, *jobs, 1), decider, 1, 100'000);
    ASSERT_TRUE(run) << run.error().message;
    EXPECT_EQ(run->jobs.size(), 20U);
    for (const JobRecord& job : run->jobs) EXPECT_GT(job.finish, job.arrival);
    EXPECT_EQ(decider.gave_up(), taken > Duration(1'000'000));
  }
}

// As a server's rounds are: too few decisions in each to judge by, and many of them.
TEST(FallbackDecider, JudgesShortRunsTogetherAndTriesAgainLater) {
  Cluster cluster = default_cluster();
  const auto jobs = add_jobs(cluster, make_jobs(JobSet::validation, 1, 2));
  ASSERT_TRUE(jobs);
  JobSimulator sim(cluster, {});
  Duration now{0};
  FallbackDecider decider(usual("fifo"), usual("graphene"),
                          {.checked_after = 400, .runs_without_slow = 3, .clock = [&] {
                             return now += Duration(10'000'000);
                           }});
  const auto run = [&] {
    const auto ran = run_jobs(sim, arrivals_at(0.5, 1, cluster, *jobs, 1), decider, 1, 100'000);
    EXPECT_TRUE(ran) << ran.error().message;
    return ran->decisions;
  };
  int runs = 1;
  const int64_t decisions = run();
  ASSERT_LT(decisions, 400);
  for (; !decider.gave_up() && runs < 400; ++runs) run();
  EXPECT_TRUE(decider.gave_up()) << runs << " runs of " << decisions << " decisions";
  for (int i = 0; i < 2; ++i) run();
  EXPECT_TRUE(decider.gave_up());
  run();
  EXPECT_FALSE(decider.gave_up());
}

TEST(DeciderConformance, EveryOneGetsTheWorkDoneTheSameWayWithTheSameSeed) {
  for (const PolicyEntry& entry : all_deciders()) {
    for (const Case& one : cases()) {
      const auto finishes = finishes_of(entry, entry.tuned(), one, 3);
      EXPECT_EQ(finishes.size(), static_cast<size_t>(one.jobs)) << entry.name;
      EXPECT_EQ(finishes, finishes_of(entry, entry.tuned(), one, 3)) << entry.name << one.name;
    }
  }
}

// Each with and without noise and hidden load, and with and without queues.
TEST(DeciderConformance, EveryRunPassesTheJudgeOfJobs) {
  const HiddenTruth truth = default_job_sim_options(0).truth;
  const std::vector<Case> worlds = {
      {"exact", 0.6, 12, ArrivalSpec::Process::poisson, {.noise = false}},
      {"exact flood with queues",
       5,
       12,
       ArrivalSpec::Process::poisson,
       {.queue_depth = 2, .noise = false}},
      {"exact flood with queues, decisions that take time",
       5,
       12,
       ArrivalSpec::Process::poisson,
       {.queue_depth = 2, .decision_delay = Duration(50'000), .noise = false}},
      {"exact bursts on less than is stated",
       0.8,
       12,
       ArrivalSpec::Process::bursts,
       {.queue_depth = 2, .noise = false, .truth = truth}},
      {"noise", 2, 12, ArrivalSpec::Process::poisson, {.queue_depth = 2}},
      {"hidden load",
       0.6,
       12,
       ArrivalSpec::Process::poisson,
       {.noise = false, .unknown_load = {.share = 0.6}}},
      {"all of it",
       5,
       12,
       ArrivalSpec::Process::poisson,
       {.queue_depth = 2, .truth = truth, .unknown_load = {.share = 0.6}}}};
  Cluster cluster = default_cluster();
  const auto jobs = add_jobs(cluster, make_jobs(JobSet::validation, 8, 2));
  ASSERT_TRUE(jobs);
  size_t configured = 0;
  size_t sent = 0;
  for (const Case& one : worlds) {
    JobSimOptions options = one.options;
    options.record = true;
    JobSimulator sim(cluster, options);
    for (const PolicyEntry& entry : all_deciders()) {
      for (const uint64_t seed : {1, 2}) {
        const auto decider = entry.tuned_decider();
        const auto run =
            run_jobs(sim, arrivals_at(one.load, one.jobs, cluster, *jobs, seed, one.process),
                     *decider, seed, 100'000);
        ASSERT_TRUE(run) << entry.name << ", " << one.name << ": " << run.error().message;
        const Judgement found = judge_jobs(cluster, *run, sim.rules());
        EXPECT_EQ(found.sentences(), std::vector<std::string>{}) << entry.name << ", " << one.name;
        const bool exact = !options.noise && options.unknown_load.share == 0;
        EXPECT_EQ(found.not_applied.size(), exact ? 1U : 2U);  // memory; shares
        configured += run->reconfigurations.size();
        for (const JobRecord& job : run->jobs) sent += job.trace.transfers.size();
      }
    }
  }
  EXPECT_GT(configured, 100U);
  EXPECT_GT(sent, 1000U);
}

TEST(DeciderConformance, EveryOneGetsTheWorkDoneWithEveryKnobAtItsEnds) {
  for (const PolicyEntry& entry : all_deciders()) {
    for (size_t k = 0; k < entry.knobs.size(); ++k) {
      for (const double value : {entry.knobs[k].choices.front(), entry.knobs[k].choices.back()}) {
        std::vector<double> values = entry.tuned();
        values[k] = value;
        EXPECT_FALSE(finishes_of(entry, values, cases()[1], 4).empty())
            << entry.name << " " << entry.knobs[k].name << " = " << value;
      }
    }
  }
}

// The world that they were tuned for, on jobs of the test set: 60 of them, so that queues grow.
TEST(DeciderSettings, TunedOnesAreNeverFarWorseAndMostlyMuchBetter) {
  Cluster cluster = default_cluster();
  const auto jobs = add_jobs(cluster, make_jobs(JobSet::test, 40, 1));
  ASSERT_TRUE(jobs);
  JobSimulator sim(cluster, default_job_sim_options(0.8));
  const auto slowdown = [&](const PolicyEntry& entry, const std::vector<double>& values) {
    double sum = 0;
    for (uint64_t seed = 1; seed <= 3; ++seed) {
      const auto decider = entry.make_decider(values);
      const auto run = run_jobs(sim, arrivals_at(0.6, 60, cluster, *jobs, seed), *decider, seed);
      EXPECT_TRUE(run);
      for (const JobRecord& job : run->jobs) sum += job.slowdown() / (3 * 60);
    }
    return sum;
  };
  for (const PolicyEntry& entry : policy_registry()) {
    if (entry.knobs.empty()) continue;
    const double tuned = slowdown(entry, entry.tuned());
    const double untuned = slowdown(entry, entry.untuned());
    EXPECT_LT(tuned, 1.1 * untuned) << entry.name;
    const bool starved = entry.name == "fifo" || entry.name == "graphene" ||
                         entry.name == "paragon" || entry.name == "least_loaded";
    if (starved) {
      EXPECT_LT(tuned, 0.5 * untuned) << entry.name;
    }
  }
}

// One device of one slot, and a graph that only a reconfigurable device can run.
TEST(DeciderConformance, EveryOneConfiguresWhatNothingElseCanRun) {
  CostSpec costs;
  costs.run_times = {{.kind = "a", .device_kind = "fpga", .time_ns_by_size = {{0, 100}}},
                     {.kind = "b", .device_kind = "fpga", .time_ns_by_size = {{0, 100}}}};
  for (const PolicyEntry& entry : all_deciders()) {
    Cluster cluster = testing::small_cluster(costs);
    const auto job = testing::add(cluster, testing::chain({"a", "b", "a"}));
    JobSimulator sim(cluster, {});
    const auto decider = entry.tuned_decider();
    const auto run = run_jobs(sim, {{Duration(0), job}, {Duration(10), job}}, *decider, 1, 100);
    EXPECT_TRUE(run) << entry.name << ": " << run.error().message;
  }
}

// On two devices of this host with memories of their own, with whatever counters there are.
TEST(DeciderConformance, EveryOneGetsTheWorkDoneForReal) {
  Cluster cluster = must(Cluster::make(testing::islands(2, 1), {}));
  const ChainmmSpec spec{.size = 48, .split = {2, 2, 2}, .devices = 2};
  const auto job = must(cluster.add_job(must(make_chainmm(spec)).graph));
  std::vector<Arrival> arrivals;
  for (int i = 0; i < 12; ++i) arrivals.push_back({std::chrono::milliseconds(i / 2), job});
  const std::vector<Counter> counters = usual_counters(cluster.machine());
  const auto real = must(RealCluster::open(cluster, OpTable::standard(), {.counters = counters}));
  ASSERT_TRUE(real->load(arrivals));
  const auto expect_done = [&](const std::string& name, Decider& decider) {
    const auto run = real->run(decider, 1);
    ASSERT_TRUE(run) << name << ": " << run.error().message;
    for (const JobRecord& record : run->run.jobs) EXPECT_GT(record.finish, record.arrival) << name;
    const JobsRules rules{
        .measured = true, .queue_depth = kMostQueueDepth, .patience = std::chrono::seconds(2)};
    EXPECT_EQ(check_jobs(cluster, run->run, rules), std::vector<std::string>{}) << name;
    EXPECT_TRUE(must(real->verify_last()).good) << name;
  };
  for (const PolicyEntry& entry : all_deciders()) {
    expect_done(entry.name, *entry.tuned_decider());
  }
  const TensorFile fresh = SymphonyModel::fresh({}, cluster, counters, 1);
  SymphonyDecider symphony(must(SymphonyModel::load(fresh, "fresh", cluster, counters)));
  expect_done("symphony", symphony);
}

// HEFT's plan is one of those that auto chooses from. It judges by another simulator, so that
// single jobs may take longer.
TEST(PlannedAuto, TakesJobsThatAreAloneNoLongerThanHeftsPlansInTheMean) {
  Cluster cluster = default_cluster(/*noise=*/0);
  const auto jobs = add_jobs(cluster, make_jobs(JobSet::validation, 12, 2));
  ASSERT_TRUE(jobs);
  double heft = 0;
  double best = 0;
  for (const auto& job : *jobs) {
    const auto alone = [&](const char* name) {
      JobSimulator sim(cluster, {.noise = false});
      const auto run = run_jobs(sim, {{Duration(0), job}}, *usual(name), 1, 100'000);
      EXPECT_TRUE(run) << run.error().message;
      return run ? run->jobs[0].slowdown() : 0;
    };
    heft += alone("planned");
    best += alone("planned_auto");
  }
  EXPECT_LE(best, heft);
}

TEST(Paragon, LearnsWhoSlowsWhomDownAndKeepsApart) {
  // On the CPU alone. Two ops that stream share the memory and last 1.2 times as long; beside one
  // that computes, on another core, neither notices.
  CostSpec costs = testing::small_costs();
  std::erase_if(costs.run_times, [](const auto& row) { return row.device_kind != "cpu"; });
  Cluster cluster = testing::small_cluster(costs);
  const auto stream = testing::add(cluster, testing::chain({"stream"}));
  const auto compute = testing::add(cluster, testing::chain({"compute"}));
  JobSimulator sim(cluster, {});
  std::vector<Arrival> arrivals;
  for (int i = 0; i < 400; ++i) {
    arrivals.push_back({Duration(500 * i), i % 3 == 0 ? compute : stream});
  }
  Paragon paragon({.learning_rate = 0.1, .patience = 0});
  const auto run = run_jobs(sim, arrivals, paragon, 1);
  ASSERT_TRUE(run) << run.error().message;
  Interference learned = paragon.learned();
  const DeviceId cpu{0};
  const int32_t stream_row = learned.row(cluster, stream->kind(OpId{0}), cpu);
  const int32_t compute_row = learned.row(cluster, compute->kind(OpId{0}), cpu);
  const Neighbour beside_stream{Neighbourhood::device, stream_row};
  const Neighbour beside_compute{Neighbourhood::device, compute_row};
  EXPECT_GT(learned.effect(stream_row, beside_stream), learned.effect(stream_row, beside_compute));
  EXPECT_LT(learned.effect(compute_row, beside_compute), 0.1);
}

}  // namespace
}  // namespace tutti
