#include "tutti/report/picture.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "tutti/trace/testing.h"

namespace tutti {
namespace {

using namespace testing;  // the small world

int count(const std::string& text, const std::string& part) {
  int found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

Page page_of(const Problem& problem, Trace trace) {
  Page page{.problem = &problem, .bounds = lower_bounds(problem)};
  page.runs.push_back(run_of_trace(problem, "t.json", std::move(trace)).value());
  return page;
}

Comparison comparison() {
  return {.name = "c.json",
          .graph = "g",
          .machine = "m",
          .lower_bound_ns = 70,
          .results = {{.policy = "slow", .mean_ns = 90},
                      {.policy = "fast", .mean_ns = 80, .stddev_ns = 2},
                      {.policy = "refused", .error = "no room"}}};
}

TEST(Picture, DrawsEveryOpOfASmallRun) {
  const World world(small_graph(), small_machine());
  const std::string svg = picture(page_of(world.problem(), small_trace(world.problem()))).value();
  EXPECT_TRUE(svg.starts_with("<svg "));
  EXPECT_TRUE(svg.ends_with("</svg>\n"));
  // Five ops in colours of kinds, and the legend's swatches.
  EXPECT_GE(count(svg, "class=\"k"), 5);
  EXPECT_NE(svg.find("above the lower bound"), std::string::npos);
  EXPECT_NE(svg.find(">transfers<"), std::string::npos);
}

TEST(Picture, ComparesTheFastestFirstAndLeavesRefusalsOut) {
  const std::string svg = picture({.comparisons = {comparison()}}).value();
  EXPECT_LT(svg.find(">fast<"), svg.find(">slow<"));
  EXPECT_EQ(svg.find("refused"), std::string::npos);
  EXPECT_NE(svg.find("lower bound 70 ns"), std::string::npos);
}

TEST(Picture, NamesCannotEndTheirElement) {
  Comparison evil = comparison();
  evil.graph = "</text><script>alert(1)</script>\n&";
  evil.results[0].policy = "<b>";
  const std::string svg = picture({.comparisons = {evil}}).value();
  EXPECT_EQ(svg.find("<script"), std::string::npos);
  EXPECT_EQ(svg.find("<b>"), std::string::npos);
  EXPECT_NE(svg.find("&lt;/text&gt;"), std::string::npos);
}

TEST(Picture, ManySpansDoNotMakeItLarge) {
  constexpr int kOps = 20'000;
  GraphBuilder builder("long");
  const std::vector<GivenTime> times = {{"gpu", ns(9)}, {"cpu", ns(9)}};
  for (int i = 0; i < kOps; ++i) {
    builder.add_op({.name = "op" + std::to_string(i), .kind = "work", .run_times = times});
  }
  const World world(std::move(builder).build().value(), small_machine());
  Trace trace = empty_trace(world.problem());
  for (const OpId op : world.problem().graph.ops()) {
    const Duration start = ns(10 * op.index);
    trace.ops.push_back({.op = op, .device = kGpu0, .start = start, .finish = start + ns(9)});
  }
  trace.makespan = ns(10 * kOps);
  const Result<std::string> svg = picture(page_of(world.problem(), std::move(trace)));
  ASSERT_TRUE(svg) << svg.error().message;
  EXPECT_LT(svg->size(), 200'000);
}

TEST(Picture, OfNothingIsRefused) {
  const Result<std::string> none = picture({});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().kind, Error::Kind::invalid_input);
}

}  // namespace
}  // namespace tutti
