#include "tutti/runtime/sim/jobs/arrivals.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "tutti/graph/make/job.h"
#include "tutti/plan/world/default_cluster.h"
#include "tutti/runtime/sim/jobs/job_simulator.h"
#include "tutti/runtime/sim/jobs/testing.h"

namespace tutti {
namespace {

TEST(Arrivals, ComeAtTheirRate) {
  Cluster cluster = default_cluster();
  const auto jobs = add_jobs(cluster, make_jobs(JobSet::train, 10, 1));
  ASSERT_TRUE(jobs) << jobs.error().message;
  for (const auto process : {ArrivalSpec::Process::poisson, ArrivalSpec::Process::bursts}) {
    const auto arrivals =
        draw_arrivals(*jobs, {.process = process, .jobs_per_s = 500, .jobs = 4000}, 3);
    const double seconds = static_cast<double>(arrivals.back().time.count()) * 1e-9;
    // Standard error: 1 / sqrt(4000) = 0.016 for one at a time; about 2.4 times as much for bursts.
    EXPECT_NEAR(4000 / seconds / 500, 1, 0.12);
    int together = 0;
    for (size_t i = 1; i < arrivals.size(); ++i)
      together += arrivals[i].time == arrivals[i - 1].time;
    EXPECT_NEAR(together, process == ArrivalSpec::Process::poisson ? 0 : 3000, 150);
  }
}

TEST(Arrivals, NoTwoSetsShareTheFamiliesOfAComposedJob) {
  std::map<std::set<std::string>, std::set<std::string>> sets_of;  // by families, in any order
  std::set<std::string> families_of_test;
  int alone = 0;
  for (const JobSet set : {JobSet::train, JobSet::validation, JobSet::test}) {
    for (const Graph& graph : make_jobs(set, 100, 1)) {
      const std::string families(graph.name().substr(0, graph.name().rfind('-')));
      const size_t plus = families.find('+');
      if (plus == std::string::npos) {
        EXPECT_EQ(set, JobSet::train);
        ++alone;
        continue;
      }
      const std::string first = families.substr(0, plus);
      const std::string second = families.substr(plus + 1);
      sets_of[{first, second}].insert(to_text(set));
      if (set == JobSet::test) families_of_test.insert({first, second});
    }
  }
  EXPECT_EQ(alone, 50);
  EXPECT_EQ(families_of_test.size(), static_cast<size_t>(kJobFamilies));
  // Five of a family with itself, ten of two.
  EXPECT_EQ(sets_of.size(), 15u);
  for (const auto& [families, sets] : sets_of) EXPECT_EQ(sets.size(), 1u) << *families.begin();
}

TEST(Arrivals, NameJobsAsTheirGraphsAreCalled) {
  for (const JobSet set : {JobSet::train, JobSet::test}) {
    for (const Graph& graph : make_jobs(set, 10, 1)) {
      const auto named = make_named_job(graph.name());
      ASSERT_TRUE(named) << graph.name();
      EXPECT_EQ(named->fingerprint(), graph.fingerprint());
    }
  }
  for (const char* bad : {"", "align", "align-", "align-x", "x-1", "align+x-1", "align-1-"})
    EXPECT_FALSE(make_named_job(bad)) << bad;
}

TEST(Arrivals, FilesAreReadOrRefusedWithALine) {
  const auto read = [](const char* text) {
    Source source = Source::from_text("a.json", text);
    return read_arrivals(source);
  };
  const auto good = read(R"({"schema_version": 1, "arrival": [
      {"time_ns": 5, "job": "align-1"}, {"time_ns": 5, "job": "x.json"}]})");
  ASSERT_TRUE(good) << good.error().message;
  ASSERT_EQ(good->size(), 2U);
  EXPECT_EQ((*good)[1].job, "x.json");
  for (const auto& [text, says] : std::vector<std::pair<const char*, const char*>>{
           {R"({"schema_version": 1})", "there is no [[arrival]]"},
           {"{\"schema_version\": 1, \"arrival\": [\n{\"time_ns\": 5, \"job\": \"a\"},\n"
            "{\"time_ns\": 4, \"job\": \"a\"}]}",
            "a.json:3: an arrival is earlier"},
           {R"({"schema_version": 1, "arrival": [{"time_ns": -1, "job": "a"}]})", "time_ns"},
           {R"({"schema_version": 1, "arrival": [{"time_ns": 1}]})", "job"}}) {
    const auto bad = read(text);
    ASSERT_FALSE(bad) << text;
    EXPECT_NE(bad.error().message.find(says), std::string::npos) << bad.error().message;
  }
}

// The clusters of the study, from end to end: what is slowed down, and that the hidden load shows.
TEST(JobStudy, JobsAreSlowerTogetherThanAlone) {
  Cluster cluster = default_cluster(0);
  const auto jobs = add_jobs(cluster, make_jobs(JobSet::test, 20, 1));
  ASSERT_TRUE(jobs) << jobs.error().message;
  double slowdown[3];
  for (const int how : {0, 1, 2}) {  // nearly alone; together; together with unknown load
    JobSimOptions options;
    if (how == 2) options.unknown_load = {.share = 0.8, .flows = 4};
    JobSimulator sim(cluster, options);
    testing::FirstLegal first;
    const double jobs_per_s = how == 0 ? 2 : 100;
    const auto run =
        run_jobs(sim, draw_arrivals(*jobs, {.jobs_per_s = jobs_per_s, .jobs = 60}, 1), first, 1);
    ASSERT_TRUE(run) << run.error().message;
    slowdown[how] = 0;
    for (const JobRecord& job : run->jobs) slowdown[how] += job.slowdown() / 60;
  }
  EXPECT_LT(slowdown[0], slowdown[1]);
  EXPECT_LT(slowdown[1], slowdown[2]);
}

}  // namespace
}  // namespace tutti
