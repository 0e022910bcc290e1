#include "tutti/train/doppler/teacher.h"

#include <gtest/gtest.h>

#include "test/support/world.h"
#include "tutti/plan/draft.h"

namespace tutti {
namespace {

// a, b and c are ready at the start, and d reads a.
struct Case {
  Problem problem = must(Problem::make(graph_from(R"("ops": [
      {"name": "a", "run_time_ns": 2},
      {"name": "b", "run_time_ns": 7},
      {"name": "c", "run_time_ns": 7},
      {"name": "d", "operands": ["a"], "run_time_ns": 2, "transfer_time_ns": [3]}])"),
                                       must(make_preset("uniform-2"))));
};

constexpr OpId kA{0}, kB{1}, kC{2}, kD{3};
constexpr DeviceId kFirst{0}, kSecond{1};

// a has a b-level of 2 + 3 + 2 = 7 too.
TEST(CriticalPathTeacher, FindsAllTiesRight) {
  const Case here;
  CriticalPathTeacher teacher(here.problem);
  Draft draft(here.problem);
  std::vector<OpId> ops;
  std::vector<DeviceId> devices;
  teacher.right_ops(draft, ops);
  EXPECT_EQ(ops, (std::vector<OpId>{kA, kB, kC}));
  teacher.right_devices(draft, kA, devices);
  EXPECT_EQ(devices, (std::vector<DeviceId>{kFirst, kSecond}));
  draft.apply(kA, kFirst);
  teacher.right_devices(draft, kD, devices);  // from 2 on, or from 5 on the second
  EXPECT_EQ(devices, (std::vector<DeviceId>{kFirst}));
  draft.apply(kB, kFirst);
  teacher.right_devices(draft, kD, devices);  // the first is busy until 9
  EXPECT_EQ(devices, (std::vector<DeviceId>{kSecond}));
}

TEST(PlanTeacher, SaysWhatThePlanSays) {
  const Case here;
  Plan plan;
  plan.placement = {kSecond, kFirst, kFirst, kSecond};
  plan.priority = {5, 1, 1, 6};
  PlanTeacher teacher(plan);
  Draft draft(here.problem);
  std::vector<OpId> ops;
  std::vector<DeviceId> devices;
  teacher.right_ops(draft, ops);
  EXPECT_EQ(ops, (std::vector<OpId>{kB, kC}));
  teacher.right_devices(draft, kA, devices);
  EXPECT_EQ(devices, (std::vector<DeviceId>{kSecond}));
}

}  // namespace
}  // namespace tutti
