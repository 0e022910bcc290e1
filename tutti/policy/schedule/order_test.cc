#include "tutti/policy/schedule/order.h"

#include <algorithm>
#include <string_view>

#include "tutti/graph/make/layered.h"
#include "tutti/plan/check/check.h"
#include "tutti/policy/schedule/contention.h"
#include "tutti/policy/schedule/ready_queue.h"
#include "tutti/policy/testing.h"

namespace tutti {
namespace {

const OrderRule& rule_named(std::string_view name) {
  for (const OrderRule& rule : order_rules()) {
    if (rule.name == name) return rule;
  }
  ADD_FAILURE() << "no rule " << name;
  return order_rules().front();
}

// The makespan when ready ops go by those priorities.
Duration time_of(const Problem& problem, const Plan& plan) {
  std::vector<double> key;
  for (const int64_t priority : plan.priority) key.push_back(-static_cast<double>(priority));
  ContentionSchedule schedule(problem);
  for (ReadyQueue ready(problem.graph, key); !ready.empty();) {
    const OpId op = ready.pop();
    schedule.place(op, plan.placement[op.index]);
  }
  return schedule.to_plan().planned_makespan.value();
}

TEST(OrderRules, GiveEveryOpOfAnyPlacementAPriorityOfItsOwn) {
  for (const char* machine : {"p100-4", "mixed-5", "uniform-1"}) {
    const World world(must(make_layered({.ops = 200, .width = 9})), machine);
    for (const char* policy : {"random", "heft"}) {
      const Plan plan = must(plan_with(policy, *world.problem));
      for (const OrderRule& rule : order_rules()) {
        const Plan other = reordered(*world.problem, plan, rule);
        EXPECT_EQ(check_plan(*world.problem, other), std::vector<std::string>()) << rule.name;
        EXPECT_EQ(other.placement, plan.placement);
        Priorities sorted = other.priority;
        std::sort(sorted.begin(), sorted.end());
        for (size_t i = 0; i < sorted.size(); ++i) {
          ASSERT_EQ(sorted[i], static_cast<int64_t>(i)) << rule.name;
        }
        EXPECT_EQ(reordered(*world.problem, plan, rule).priority, other.priority) << rule.name;
      }
    }
  }
}

TEST(OrderRules, KnowWhichTransfersThePlacementSpares) {
  // p and q share a device. In mean times p's way is the longer (10 + 100 + 50 against 10 + 90 +
  // 50), but its reader is on the same device, and q's is not: q first ends at 150, p first at 160.
  const World world(graph_of_ops({op_json("p", 10), op_json("q", 10),
                                  op_json("r", 50, {"p"}, {100}), op_json("s", 50, {"q"}, {90})}),
                    "uniform-2");
  Plan plan;
  plan.placement = {DeviceId{0}, DeviceId{0}, DeviceId{0}, DeviceId{1}};
  plan.priority.assign(4, 0);
  const Plan blind = reordered(*world.problem, plan, rule_named("b_level"));
  const Plan aware = reordered(*world.problem, plan, rule_named("plan_b_level"));
  EXPECT_EQ(time_of(*world.problem, blind), Duration(160));
  EXPECT_EQ(time_of(*world.problem, aware), Duration(150));
}

TEST(OrderRules, KeepGroupsTogether) {
  const std::string x = R"(,"attributes":{"group":"x"})";
  const std::string y = R"(,"attributes":{"group":"y"})";
  const World world(graph_of_ops({op_json("a", 1, {}, {}, x), op_json("b", 9, {}, {}, y),
                                  op_json("c", 5, {}, {}, x), op_json("d", 7, {}, {}, y)}),
                    "uniform-1");
  const std::vector<DeviceId> placement(4, DeviceId{0});
  EXPECT_EQ(rule_named("group").priorities(*world.problem, placement), (Priorities{1, 2, 0, 3}));
  EXPECT_EQ(rule_named("group_level").priorities(*world.problem, placement),
            (Priorities{3, 0, 2, 1}));
}

TEST(OrderRules, FinishWhatIsStarted) {
  // Two chains a-c and b-d, listed level by level.
  const World world(graph_of_ops({op_json("a", 1), op_json("b", 1), op_json("c", 1, {"a"}),
                                  op_json("d", 1, {"b"})}),
                    "uniform-1");
  const std::vector<DeviceId> placement(4, DeviceId{0});
  EXPECT_EQ(rule_named("depth_first").priorities(*world.problem, placement),
            (Priorities{0, 2, 1, 3}));
  EXPECT_EQ(rule_named("level").priorities(*world.problem, placement), (Priorities{0, 1, 2, 3}));
}

}  // namespace
}  // namespace tutti
