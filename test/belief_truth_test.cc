// What a belief is about is what a simulated cluster has as its truth, and the two agree: belief/
// and runtime/ do not know each other, so nothing but this test sees both.

#include <gtest/gtest.h>

#include <cmath>

#include "tutti/belief/belief.h"
#include "tutti/graph/make/job.h"
#include "tutti/plan/world/default_cluster.h"
#include "tutti/runtime/sim/jobs/arrivals.h"
#include "tutti/runtime/sim/jobs/job_simulator.h"
#include "tutti/runtime/sim/jobs/testing.h"

namespace tutti {
namespace {

TEST(BeliefAndTruth, EveryResourceThatIsBelievedAboutHasATruth) {
  const Cluster cluster = default_cluster();
  const Machine& machine = cluster.machine();
  const auto counters = usual_counters(machine);
  const Belief belief(machine, counters);
  EXPECT_GT(belief.resources().size(), 20U);
  for (const Believed& believed : belief.resources()) {
    const Resource& resource = believed.resource;
    // A CPU as a whole and the interconnect are means of others.
    const bool is_mean =
        resource.kind == Resource::Kind::machine ||
        (resource.kind == Resource::Kind::device && is_cpu(machine, DeviceId{resource.index}));
    EXPECT_TRUE(is_mean || cluster.resources().find(resource) >= 0) << believed.name;
  }
  for (const Counter& counter : counters)
    EXPECT_GE(cluster.resources().find(counter.resource), 0) << counter.name;
}

TEST(BeliefAndTruth, WhatIsBelievedOfMeasuredResourcesIsNearTheTruth) {
  Cluster cluster = default_cluster();
  const auto jobs = add_jobs(cluster, make_jobs(JobSet::train, 10, 1));
  ASSERT_TRUE(jobs) << jobs.error().message;
  JobSimulator sim(cluster, {.counters = usual_counters(cluster.machine()), .reading_error = 0.02});
  const Belief belief(cluster.machine(), sim.state().counters);
  const std::vector<double> constants = belief.network().start();
  testing::FirstLegal first;
  sim.reset(draw_arrivals(*jobs, {.jobs_per_s = 60, .jobs = 30}, 1), 1);
  double error = 0;
  int count = 0;
  for (int64_t step = 0; !sim.done(); ++step) {
    if (step % 10 == 0 && sim.state().epoch > 2) {
      const Inferred now = belief.infer(constants, {sim.state().readings, {}}, {.seed = 1});
      for (size_t r = 0; r < belief.resources().size(); ++r) {
        const Resource& resource = belief.resources()[r].resource;
        const bool is_link = resource.kind == Resource::Kind::channel;
        const bool is_accelerator = resource.kind == Resource::Kind::device &&
                                    !is_cpu(cluster.machine(), DeviceId{resource.index});
        if (!is_link && !is_accelerator) continue;
        error += std::abs(now.mean[r] - sim.utilisation(resource));
        ++count;
      }
    }
    ASSERT_TRUE(sim.step(first.decide(sim.state())));
  }
  ASSERT_GT(count, 100);
  EXPECT_LT(error / count, 0.1);
}

}  // namespace
}  // namespace tutti
