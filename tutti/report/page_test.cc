#include "tutti/report/page.h"

#include <gtest/gtest.h>

#include "tutti/base/document.h"
#include "tutti/trace/testing.h"

namespace tutti {
namespace {

using namespace testing;  // the small world

Document data_of(const Page& page) {
  Source source = Source::from_text("data", page_data(page));
  Result<Document> data = read_json(source);
  EXPECT_TRUE(data) << data.error().message;
  return data ? std::move(*data) : Document{};
}

Page page_of_trace(const Problem& problem, Trace trace) {
  Page page{.problem = &problem};
  page.runs.push_back(run_of_trace(problem, "t.json", std::move(trace)).value());
  return page;
}

TEST(Page, CountsLanesOpsAndTransfers) {
  const World world(small_graph(), small_machine());
  const Document data = data_of(page_of_trace(world.problem(), small_trace(world.problem())));
  const Document& run = data.find("runs")->items.at(0);
  EXPECT_EQ(run.find("lanes")->items.size(), 8);
  EXPECT_EQ(run.find("ops")->find("count")->integer, 5);
  EXPECT_EQ(run.find("transfers")->find("count")->integer, 6);
  EXPECT_EQ(run.find("transfers")->find("values")->find("count")->integer, 4);  // x, a, b, d
  EXPECT_EQ(run.find("critical")->find("count")->integer, 8);
  EXPECT_EQ(run.find("makespan_ns")->integer, 1150);
  EXPECT_EQ(run.find("stats")->find("devices")->items.size(), 3);
}

TEST(Page, ShowsThePlansOwnTimeline) {
  const World world(small_graph(), small_machine());
  const ReportedRun run =
      run_of_plan(world.problem(), "p.json", small_plan(world.problem())).value();
  Page page{.problem = &world.problem(), .runs = {run}};
  const Document data = data_of(page);
  EXPECT_EQ(data.find("runs")->items.at(0).find("makespan_ns")->integer, 1140);
  EXPECT_EQ(data.find("runs")->items.at(0).find("what")->text, "plan");
}

TEST(Page, TakesPlansWithoutATimelineAndRunsOfNothing) {
  const World world(small_graph(), small_machine());
  Plan plan = small_plan(world.problem());
  plan.start.clear();
  plan.finish.clear();
  Page page = page_of_trace(world.problem(), empty_trace(world.problem()));
  page.runs.push_back(run_of_plan(world.problem(), "p.json", plan).value());
  const Document data = data_of(page);
  for (const Document& run : data.find("runs")->items) {
    EXPECT_EQ(run.find("ops")->find("count")->integer, 0);
  }
  EXPECT_EQ(data.find("runs")->items.at(0).find("makespan_ns")->integer, 0);
  // Not 0: that would be a plan of no time at all.
  EXPECT_EQ(data.find("runs")->items.at(1).find("makespan_ns")->kind, Document::Kind::null);
}

TEST(Page, NoNameCanEndTheScriptThatHoldsTheData) {
  const char* hostile = "</script><script>alert('\"\\')</script><!-- \xe6\xbc\xa2";
  GraphBuilder builder(hostile);
  const std::vector<ValueSpec> output = {{.name = hostile, .bytes = 1}};
  const std::vector<GivenTime> times = {{"", ns(10)}};
  builder.add_op({.name = hostile, .kind = hostile, .outputs = output, .run_times = times});
  MachineSpec machine = small_machine();
  machine.name = hostile;
  const World world(std::move(builder).build().value(), machine);
  Trace trace = empty_trace(world.problem());
  trace.runtime = {.name = hostile};
  trace.ops = {{OpId{0}, kGpu0, 0, ns(0), ns(10)}};
  Page page = page_of_trace(world.problem(), trace);
  page.runs[0].name = hostile;
  page.comparisons.push_back({.name = hostile, .graph = hostile, .results = {{.policy = hostile}}});
  EXPECT_EQ(page_data(page).find('<'), std::string::npos);
  const Document data = data_of(page);
  EXPECT_EQ(data.find("runs")->items.at(0).find("who")->text, hostile);
  EXPECT_EQ(data.find("comparisons")->items.at(0).find("graph")->text, hostile);
}

TEST(Page, RefusesWhatItCouldNotShow) {
  const World world(small_graph(), small_machine());
  Trace backwards = small_trace(world.problem());
  backwards.ops[1].finish = ns(1);
  EXPECT_FALSE(run_of_trace(world.problem(), "t", backwards));
  Trace nowhere = small_trace(world.problem());
  nowhere.ops[4].slot = 2;  // cpu0 has two
  const Result<ReportedRun> run = run_of_trace(world.problem(), "t", nowhere);
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().message, "t: op 'e' runs on a slot that its device does not have");
  Trace transfer = small_trace(world.problem());
  transfer.transfers[kMoveD].finish = ns(0);
  EXPECT_FALSE(run_of_trace(world.problem(), "t", transfer));
  Plan crowded = small_plan(world.problem());
  crowded.start[kB.index] = crowded.start[kA.index];  // two at once on one slot
  EXPECT_FALSE(run_of_plan(world.problem(), "p", crowded));
}

TEST(Page, OfComparisonsAloneNeedsNoProblem) {
  Page page;
  page.comparisons.push_back({.name = "c.json", .results = {{.policy = "p", .error = "no"}}});
  const Document data = data_of(page);
  EXPECT_EQ(data.find("graph")->kind, Document::Kind::null);
  EXPECT_EQ(data.find("comparisons")->items.at(0).find("results")->items.size(), 1);
}

TEST(Page, HoldsTrainingLogsWithGapsWhereThereIsNoFigure) {
  TrainingLog log{.name = "</script>", .update_count = 3};
  log.updates.push_back({.time = {1, 16, 0.5}, .mean_ratio = 1.25});
  log.updates.push_back({.time = {3, 48, 1.5}, .mean_ratio = 1.0 / 3, .loss = -2});
  log.greedy.push_back({.time = {2, 32, 1}, .ratio = 0.875});
  log.stages = {{.stage = 0}, {.stage = 1, .before = {2, 32, 1}}};
  const Page page{.training = {log}};
  EXPECT_EQ(page_data(page).find('<'), std::string::npos);
  const Document data = data_of(page);
  const Document& shown = data.find("training")->items.at(0);
  EXPECT_EQ(shown.find("name")->text, "</script>");
  EXPECT_EQ(shown.find("update_count")->integer, 3);
  const Document& updates = *shown.find("updates");
  EXPECT_EQ(updates.find("episodes")->items.at(1).integer, 48);
  EXPECT_EQ(updates.find("mean_ratio")->items.at(1).number, 0.333333);
  EXPECT_EQ(updates.find("loss")->items.at(0).kind, Document::Kind::null);
  EXPECT_EQ(updates.find("loss")->items.at(1).number, -2);
  EXPECT_EQ(shown.find("greedy")->find("greedy_ratio")->items.at(0).number, 0.875);
  EXPECT_EQ(shown.find("stages")->find("episodes")->items.at(1).integer, 32);
}

}  // namespace
}  // namespace tutti
