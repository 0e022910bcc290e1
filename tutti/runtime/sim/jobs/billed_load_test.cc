#include "tutti/runtime/sim/jobs/billed_load.h"

#include <gtest/gtest.h>

#include "tutti/runtime/sim/jobs/arrivals.h"
#include "tutti/runtime/sim/jobs/testing.h"

namespace tutti {
namespace {

TEST(BilledLoad, IsThatOfTheBestDivision) {
  // "compute" takes 1000 ns of 0.8 of one of two cores, or 100 ns of the GPU: a job per 400 ns on
  // the CPU and one per 100 ns on the GPU, together one per 80 ns.
  Cluster cluster = testing::small_cluster();
  const JobList jobs = {testing::add(cluster, testing::chain({"compute"}))};
  EXPECT_NEAR(billed_jobs_per_s(cluster, jobs) * 80e-9, 1, 0.03);
  EXPECT_DOUBLE_EQ(billed_load_rate(0.5, 100), 30);
}

}  // namespace
}  // namespace tutti
