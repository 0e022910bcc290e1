#include "tutti/plan/file.h"

#include <gtest/gtest.h>

#include "tutti/plan/testing.h"

namespace tutti {
namespace {

using testing::kGpu0;
using testing::small_graph;
using testing::small_machine;
using testing::small_plan;
using testing::World;

Result<Plan> read(const std::string& text, const Problem& problem) {
  Source source = Source::from_text("plan.json", text);
  return read_plan(source, problem);
}

TEST(PlanFile, ReadsBackWhatWasWritten) {
  const World world(small_graph(), small_machine());
  const Plan plan = small_plan(world.problem());
  const std::string text = plan_to_json(plan, world.problem());
  const Result<Plan> again = read(text, world.problem());
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->placement, plan.placement);
  EXPECT_EQ(again->priority, plan.priority);
  EXPECT_EQ(again->start, plan.start);
  EXPECT_EQ(again->finish, plan.finish);
  EXPECT_EQ(again->strict_order, plan.strict_order);
  EXPECT_EQ(again->planned_makespan, plan.planned_makespan);
  EXPECT_EQ(again->provenance.policy, "by hand");
  EXPECT_EQ(again->provenance.seed, UINT64_MAX);  // would not survive as a JSON number
  EXPECT_EQ(again->provenance.evaluations, 7);
  EXPECT_EQ(again->provenance.graph_fingerprint, plan.provenance.graph_fingerprint);
  EXPECT_EQ(again->provenance.machine_fingerprint, plan.provenance.machine_fingerprint);
  EXPECT_EQ(again->provenance.costs_fingerprint, plan.provenance.costs_fingerprint);
  EXPECT_EQ(plan_to_json(*again, world.problem()), text);
}

TEST(PlanFile, NeedsNeitherTimelineNorStrictOrder) {
  const World world(small_graph(), small_machine());
  Plan plan = small_plan(world.problem());
  plan.start.clear();
  plan.finish.clear();
  plan.strict_order.clear();
  const Result<Plan> again = read(plan_to_json(plan, world.problem()), world.problem());
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_TRUE(again->start.empty());
  EXPECT_TRUE(again->finish.empty());
  EXPECT_TRUE(again->strict_order.empty());
}

TEST(PlanFile, WithoutATimelinePlansNoMakespan) {
  const World world(small_graph(), small_machine());
  Plan plan = small_plan(world.problem());
  plan.start.clear();
  plan.finish.clear();
  const std::string text = plan_to_json(plan, world.problem());
  EXPECT_EQ(text.find("planned_makespan_ns"), std::string::npos);
  EXPECT_FALSE(read(text, world.problem()).value().planned_makespan);
  // Files of 0.1 say 0; null means the same.
  for (const char* none : {"0", "null"}) {
    std::string older = text;
    older.replace(older.find("\"ops\""), 0, std::string("\"planned_makespan_ns\":") + none + ", ");
    const Result<Plan> again = read(older, world.problem());
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_FALSE(again->planned_makespan) << none;
  }
  std::string forged = text;
  forged.replace(forged.find("\"ops\""), 0, "\"planned_makespan_ns\":1, ");
  EXPECT_FALSE(read(forged, world.problem()));
}

TEST(PlanFile, OfAnotherGraphSaysSoEvenWhereItsOpsAreUnknown) {
  const World world(small_graph(), small_machine());
  const std::string text = plan_to_json(small_plan(world.problem()), world.problem());
  GraphBuilder builder("other");
  const std::vector<GivenTime> times = {{"", Duration(1)}};
  builder.add_op({.name = "z", .kind = "work", .run_times = times});
  const World other(std::move(builder).build().value(), small_machine());
  const Result<Plan> plan = read(text, other.problem());
  ASSERT_FALSE(plan);
  EXPECT_NE(plan.error().message.find("made for another graph"), std::string::npos)
      << plan.error().message;
}

// Replaces the first `from` of a good plan file by `to`.
struct Wrong {
  const char* claim;
  std::string from;
  std::string to;
  const char* sentence;
};

class WrongPlanFile : public ::testing::TestWithParam<Wrong> {};

TEST_P(WrongPlanFile, IsRefusedWithItsLine) {
  const World world(small_graph(), small_machine());
  std::string text = plan_to_json(small_plan(world.problem()), world.problem());
  const size_t place = text.find(GetParam().from);
  ASSERT_NE(place, std::string::npos) << text;
  text.replace(place, GetParam().from.size(), GetParam().to);
  const Result<Plan> plan = read(text, world.problem());
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().kind, Error::Kind::invalid_input);
  EXPECT_EQ(plan.error().message.find("plan.json:"), 0u) << plan.error().message;
  EXPECT_NE(plan.error().message.find(GetParam().sentence), std::string::npos)
      << plan.error().message;
}

INSTANTIATE_TEST_SUITE_P(
    All, WrongPlanFile,
    ::testing::Values(
        Wrong{"OtherFormat", "tutti-plan", "tutti-trace", "this is not a plan"},
        Wrong{"OtherVersion", "\"schema_version\":1", "\"schema_version\":5", "schema_version 1"},
        Wrong{"FingerprintIsNoHex", "\"graph_fingerprint\":\"", "\"graph_fingerprint\":\"zz",
              "sixteen hexadecimal digits"},
        Wrong{"NegativeSeed", "\"seed\":\"", "\"seed\":\"-", "decimal digits"},
        Wrong{"SeedTooLarge", "\"seed\":\"", "\"seed\":\"9", "decimal digits"},
        Wrong{"SeedIsANumber", "\"seed\":\"18446744073709551615\"", "\"seed\":1", "must be a text"},
        Wrong{"UnknownOp", "\"op\":\"c\"", "\"op\":\"zz\"", "no op 'zz'"},
        Wrong{"OpTwice", "\"op\":\"c\"", "\"op\":\"a\"", "op 'a' stands twice"},
        Wrong{"UnknownDevice", "\"device\":\"gpu1\"", "\"device\":\"tpu\"", "no device 'tpu'"},
        Wrong{"DeviceIsANumber", "\"device\":\"gpu1\"", "\"device\":1", "must be a text"},
        Wrong{"OpWithoutDevice", "\"device\":\"gpu1\",", "", "needs the key \"device\""},
        Wrong{"PriorityIsAFraction", "\"priority\":430", "\"priority\":430.5", "whole number"},
        Wrong{"NegativeStart", "\"start_ns\":430", "\"start_ns\":-430", "whole number from 0"},
        Wrong{"StartIsNan", "\"start_ns\":430", "\"start_ns\":NaN", "not valid JSON"},
        Wrong{"EndlessFinish", "\"finish_ns\":530", "\"finish_ns\":1e300", "whole number from 0"},
        Wrong{"HalfATimeline", ",\"start_ns\":430,\"finish_ns\":530", "", "either all ops"},
        Wrong{"HalfASpan", ",\"finish_ns\":530", "", "needs the key \"finish_ns\""},
        Wrong{"OpIsText", "{\"op\":\"c\"", "\"c\", {\"op\":\"c\"", "must be a table of keys"},
        Wrong{"OpHasUnknownKey", "{\"op\":\"c\"", "{\"why\":1,\"op\":\"c\"", "no key \"why\""},
        Wrong{"UnknownKey", "\"policy\":", "\"extra\":1,\"policy\":", "no key \"extra\""},
        Wrong{"OpsAreAText", "\"ops\":[", "\"ops\":\"none\",\"rest\":[", "must be a list"},
        Wrong{"OpsTwice", "\"ops\":[", "\"ops\":[],\"ops\":[", "stands twice"},
        Wrong{"OpsMissing", "\"ops\":[", "\"ops\":[],\"strict\":[", "op 'a' is missing"},
        Wrong{"StrictOrderOfUnknownDevice", "\"gpu1\":[", "\"tpu\":[", "device 'tpu'"},
        Wrong{"StrictOrderOfUnknownOp", "[\"c\",", "[\"zz\",", "'zz', which is no op"},
        Wrong{"StrictOrderOfNumbers", "[\"c\",", "[1,", "which is no op"},
        Wrong{"StrictOrderIsAList", "\"strict_order\":{", "\"strict_order\":[],\"rest\":{",
              "must be a table from devices"},
        Wrong{"NoUtf8", "\"op\":\"c\"", "\"op\":\"\xc3\x28\"", "not valid JSON"},
        Wrong{"DeepNesting", "\"op\":\"c\"", "\"op\":" + std::string(100000, '['), "nested deeper"},
        Wrong{"BinaryRubbish", "{", std::string("\x00\x01\x02", 3), "not valid JSON"}),
    [](const auto& instance) { return instance.param.claim; });

TEST(PlanFile, IsRefusedWhereverItIsCutOff) {
  const World world(small_graph(), small_machine());
  const std::string text = plan_to_json(small_plan(world.problem()), world.problem());
  // The last character is only the end of the line.
  for (size_t length = 0; length + 2 < text.size(); ++length) {
    const Result<Plan> plan = read(text.substr(0, length), world.problem());
    ASSERT_FALSE(plan) << "cut off after " << length;
    EXPECT_EQ(plan.error().kind, Error::Kind::invalid_input);
  }
}

TEST(PlanFile, ReadsBackWhichWeightsAreKept) {
  const World world(testing::layer_chain(), testing::layer_machine());
  const Plan plan = testing::layer_plan(world.problem(), 2, 1);
  const std::string text = plan_to_json(plan, world.problem());
  EXPECT_NE(text.find("\"schema_version\":3"), std::string::npos) << text;
  EXPECT_NE(text.find("{\"memory\":\"gpu\",\"weights\":[\"w0\",\"w1\"]}"), std::string::npos)
      << text;
  EXPECT_NE(text.find("{\"memory\":\"gpu\",\"bytes\":100}"), std::string::npos) << text;
  const Result<Plan> again = read(text, world.problem());
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->weights, plan.weights);
}

TEST(PlanFile, StatesThatNothingIsKept) {
  const World world(testing::layer_chain(), testing::layer_machine());
  const Plan plan = testing::layer_plan(world.problem(), 0, 2);
  const Result<Plan> again = read(plan_to_json(plan, world.problem()), world.problem());
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_TRUE(again->weights.stated());
  EXPECT_EQ(again->weights, plan.weights);
}

TEST(PlanFile, SaysWhatIsWrongWithKeptWeights) {
  const World world(testing::layer_chain(), testing::layer_machine());
  const std::string good =
      plan_to_json(testing::layer_plan(world.problem(), 2, 1), world.problem());
  const auto error_with = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    text.replace(text.find(from), from.size(), to);
    const Result<Plan> plan = read(text, world.problem());
    return plan ? std::string() : plan.error().message;
  };
  const std::string kept = "{\"memory\":\"gpu\",\"weights\":[\"w0\",\"w1\"]}";
  const auto contains = [](const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
  };
  EXPECT_PRED2(contains, error_with("\"w0\"", "\"x\""),
               "'x' is no weight of the graph with a residence; only those are kept");
  EXPECT_PRED2(contains, error_with("\"w1\"", "\"w0\""), "a weight stands twice; remove one");
  EXPECT_PRED2(contains, error_with(kept, kept + "," + kept),
               "memory 'gpu' stands twice; remove one");
  EXPECT_PRED2(contains, error_with(kept, "{\"memory\":\"host\",\"weights\":[\"w0\"]}"),
               "weight 'w0' is at home in this memory; leave it out");
  EXPECT_PRED2(contains, error_with(kept, "{\"memory\":\"disk\",\"weights\":[]}"),
               "the machine has no memory 'disk'");
}

}  // namespace
}  // namespace tutti
