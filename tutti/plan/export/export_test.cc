#include "tutti/plan/export/export.h"

#include <gtest/gtest.h>

#include "tutti/base/file/document.h"
#include "tutti/plan/testing.h"

namespace tutti {
namespace {

using namespace tutti::testing;

Document json_of(const std::string& text) {
  Source source = Source::from_text("exported", text);
  Result<Document> document = read_json(source);
  EXPECT_TRUE(document) << document.error().message;
  return std::move(*document);
}

TEST(PlanToCsv, HasARowForEachOpWithItsPlannedTimes) {
  const World world(small_graph(), small_machine());
  EXPECT_EQ(plan_to_csv(small_plan(world.problem()), world.problem()),
            "op,kind,device,priority,start_ns,finish_ns\n"
            "a,work,gpu0,110,110,210\n"
            "b,work,gpu0,210,210,310\n"
            "c,work,gpu1,430,430,530\n"
            "d,work,gpu1,530,530,630\n"
            "e,work,cpu0,740,740,1140\n");
}

TEST(PlanToCsv, LeavesTimesEmptyWhereThePolicyHasNone) {
  const World world(small_graph(), small_machine());
  Plan plan = small_plan(world.problem());
  plan.start.clear();
  plan.finish.clear();
  const std::string text = plan_to_csv(plan, world.problem());
  EXPECT_NE(text.find("\na,work,gpu0,110,,\n"), std::string::npos) << text;
}

TEST(PlanToCsv, QuotesNamesThatHoldCommasQuotesOrLines) {
  GraphBuilder builder("quoted");
  const std::vector<GivenTime> times = {{"gpu", ns(1)}};
  for (const char* name : {"a,b", "say \"so\"", "two\nlines"}) {
    builder.add_op({.name = name, .kind = "work", .run_times = times});
  }
  const World world(std::move(builder).build().value(), small_machine());
  const Plan plan{.placement = {kGpu0, kGpu0, kGpu0}, .priority = {0, 1, 2}};
  EXPECT_EQ(plan_to_csv(plan, world.problem()),
            "op,kind,device,priority,start_ns,finish_ns\n"
            "\"a,b\",work,gpu0,0,,\n"
            "\"say \"\"so\"\"\",work,gpu0,1,,\n"
            "\"two\nlines\",work,gpu0,2,,\n");
}

TEST(PlanToDeviceMap, NamesDevicesAsPyTorchDoes) {
  const World world(small_graph(), small_machine());
  const Document map = json_of(plan_to_device_map(small_plan(world.problem()), world.problem()));
  const Document& ops = *map.find("ops");
  EXPECT_EQ(ops.find("a")->text, "cuda:0");
  EXPECT_EQ(ops.find("c")->text, "cuda:1");
  EXPECT_EQ(ops.find("e")->text, "cpu");
  EXPECT_EQ(map.find("devices")->find("gpu1")->text, "cuda:1");
}

TEST(PlanToDeviceMap, PlacesModulesWhoseOpsStayTogether) {
  GraphBuilder builder("modules");
  const std::vector<GivenTime> times = {{"gpu", ns(1)}};
  const auto add = [&](const char* name, const char* module) {
    const std::vector<std::pair<std::string, std::string>> attributes = {{"module", module}};
    builder.add_op({.name = name, .kind = "work", .run_times = times, .attributes = attributes});
  };
  add("query", "attention");
  add("key", "attention");
  add("up", "mlp");
  add("down", "mlp");
  const World world(std::move(builder).build().value(), small_machine());
  const Plan plan{.placement = {kGpu1, kGpu1, kGpu0, kGpu1}, .priority = {0, 1, 2, 3}};
  const Document map = json_of(plan_to_device_map(plan, world.problem()));
  const Document& modules = *map.find("modules");
  EXPECT_EQ(modules.keys, std::vector<std::string>{"attention"});
  EXPECT_EQ(modules.find("attention")->text, "cuda:1");
}

TEST(PlanToSchedRec, NumbersAcceleratorsBeforeCoresAndPutsTheFirstOpHighest) {
  const World world(small_graph(), small_machine());
  EXPECT_EQ(plan_to_sched_rec(small_plan(world.problem()), world.problem()),
            "SubmitOrder: 1\nName: a\nNode: 0\nSpecificWorker: 0\nPriority: 4\n\n"
            "SubmitOrder: 2\nName: b\nNode: 0\nSpecificWorker: 0\nPriority: 3\n\n"
            "SubmitOrder: 3\nName: c\nNode: 0\nSpecificWorker: 1\nPriority: 2\n\n"
            "SubmitOrder: 4\nName: d\nNode: 0\nSpecificWorker: 1\nPriority: 1\n\n"
            "SubmitOrder: 5\nName: e\nNode: 0\nWorkers: 2 3\nPriority: 0\n\n");
}

TEST(PlanToSchedRec, CountsWorkersOfEachHostFromZero) {
  MachineSpec spec = small_machine();
  spec.hosts.push_back({.name = "second"});
  spec.devices.push_back({.device = {.name = "far", .kind = "gpu"}, .host = "second"});
  MachineSpec::LinkSpec link;
  link.name = "between";
  link.ends[0] = "host";
  link.ends[1] = "far";
  spec.links.push_back(link);
  const World world(small_graph(), spec);
  Plan plan = small_plan(world.problem());
  plan.placement[1] = DeviceId{3};
  const std::string text = plan_to_sched_rec(plan, world.problem());
  EXPECT_NE(text.find("Name: b\nNode: 1\nSpecificWorker: 0\n"), std::string::npos) << text;
}

TEST(PlanToSchedRec, SubmitsEveryOpAfterItsInputs) {
  // "later" is named first in the graph and reads "first".
  GraphBuilder builder("backwards");
  const std::vector<GivenTime> times = {{"gpu", ns(1)}};
  const std::vector<ValueId> open = {ValueId{}};
  const std::vector<ValueSpec> output = {{.bytes = 1}};
  builder.add_op(
      {.name = "later", .kind = "work", .operands = open, .outputs = output, .run_times = times});
  const OpId first =
      builder.add_op({.name = "first", .kind = "work", .outputs = output, .run_times = times});
  builder.connect(EdgeId{0}, builder.outputs(first).front());
  const World world(std::move(builder).build().value(), small_machine());
  const Plan plan{.placement = {kGpu0, kGpu0}, .priority = {1, 0}};
  const std::string text = plan_to_sched_rec(plan, world.problem());
  EXPECT_TRUE(text.starts_with("SubmitOrder: 1\nName: first\n")) << text;
}

}  // namespace
}  // namespace tutti
