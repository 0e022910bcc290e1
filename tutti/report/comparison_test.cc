#include "tutti/report/comparison.h"

#include <gtest/gtest.h>

namespace tutti {
namespace {

constexpr const char* kText = R"({"schema_version": 1, "graph": "g", "machine": "m",
 "model": "physical", "lower_bound_ns": 70, "bounds_ns": {"load": 70}, "later": [1],
 "results": [
  {"policy": "heft", "makespan_ns": {"mean": 80.5, "min": 79, "stddev": 1.5, "runs": 10},
   "planned_makespan_ns": null, "gap": 0.15, "plan_seconds": 0.25, "evaluations": 0},
  {"policy": "cpop", "error": "no room"}]})";

Result<Comparison> read(const std::string& text) {
  Source source = Source::from_text("c.json", text);
  return read_comparison(source);
}

TEST(Comparison, ReadsWhatCompareWrites) {
  const Result<Comparison> comparison = read(kText);
  ASSERT_TRUE(comparison) << comparison.error().message;
  EXPECT_EQ(comparison->name, "c.json");
  EXPECT_EQ(comparison->lower_bound_ns, 70);
  ASSERT_EQ(comparison->results.size(), 2);
  EXPECT_EQ(comparison->results[0].mean_ns, 80.5);
  EXPECT_EQ(comparison->results[0].runs, 10);
  EXPECT_FALSE(comparison->results[0].planned_ns);
  EXPECT_EQ(comparison->results[1].error, "no room");
}

TEST(Comparison, IsRecognisedByItsKeys) {
  EXPECT_TRUE(looks_like_comparison(kText));
  EXPECT_FALSE(looks_like_comparison(R"({"format": "tutti-graph", "ops": []})"));
  EXPECT_FALSE(looks_like_comparison(""));
}

TEST(Comparison, SaysWhatIsWrongInOneSentence) {
  for (const std::string text :
       {R"({"schema_version": 2, "lower_bound_ns": 1, "results": []})",
        R"({"schema_version": 1, "results": []})",
        R"({"schema_version": 1, "lower_bound_ns": -1, "results": []})",
        R"({"schema_version": 1, "lower_bound_ns": 1, "results": 3})",
        R"({"schema_version": 1, "lower_bound_ns": 1, "results": [3]})",
        R"({"schema_version": 1, "lower_bound_ns": 1, "results": [{"policy": "p"}]})",
        R"({"schema_version": 1, "lower_bound_ns": 1,
            "results": [{"policy": "p", "makespan_ns": {"mean": "x", "min": 1}}]})",
        "[]", "{"}) {
    const Result<Comparison> comparison = read(text);
    ASSERT_FALSE(comparison) << text;
    EXPECT_TRUE(comparison.error().message.starts_with("c.json:")) << comparison.error().message;
    EXPECT_EQ(comparison.error().kind, Error::Kind::invalid_input);
  }
}

// As tutti compare --runtime local writes them: measured, without a bound.
TEST(Comparison, RealRunsAreReadToo) {
  const std::string text = R"({"schema_version": 1, "graph": "g", "machine": "this-host",
      "runtime": "local", "results": [
      {"policy": "heft", "bulk_synchronous": false, "measured_ns": {"mean": 20, "half_interval": 3,
       "median": 19, "least": 18, "stddev": 2}, "predicted_ns": 15, "plan_seconds": 0.5,
       "makespans_ns": [18, 22]},
      {"policy": "heft", "bulk_synchronous": true, "measured_ns": {"mean": 30, "half_interval": null,
       "median": 30, "least": 30, "stddev": null}, "predicted_ns": null, "makespans_ns": [30]},
      {"policy": "auto", "bulk_synchronous": false, "error": "stopped"}]})";
  EXPECT_TRUE(looks_like_comparison(text));
  Source source = Source::from_text("real.json", text);
  const auto comparison = read_comparison(source);
  ASSERT_TRUE(comparison) << comparison.error().message;
  EXPECT_EQ(comparison->runtime, "local");
  EXPECT_EQ(comparison->lower_bound_ns, std::nullopt);
  ASSERT_EQ(comparison->results.size(), 3U);
  const ComparedPolicy& first = comparison->results[0];
  EXPECT_EQ(first.mean_ns, 20);
  EXPECT_EQ(first.min_ns, 18);
  EXPECT_EQ(first.stddev_ns, 2);
  EXPECT_EQ(first.runs, 2);
  EXPECT_EQ(first.planned_ns, 15);
  EXPECT_EQ(comparison->results[1].policy, "heft, bulk-synchronous");
  EXPECT_EQ(comparison->results[1].planned_ns, std::nullopt);
  EXPECT_EQ(comparison->results[2].error, "stopped");
}

}  // namespace
}  // namespace tutti
