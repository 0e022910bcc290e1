#include "tutti/report/resources.h"

#include <gtest/gtest.h>

#include "tutti/base/file/document.h"
#include "tutti/report/page.h"
#include "tutti/trace/testing.h"

namespace tutti {
namespace {

using namespace testing;  // the small world

Document object_of(const JsonWriter& json) {
  Source source = Source::from_text("data", json.text());
  Result<Document> data = read_json(source);
  EXPECT_TRUE(data) << data.error().message;
  return data ? std::move(*data) : Document{};
}

Document resources_of(const Problem& problem, const Trace& trace, bool is_plan = false) {
  JsonWriter json;
  json.open_object();
  write_resources(problem, trace, is_plan, json);
  json.close_object();
  return object_of(json);
}

TEST(Resources, TellWhatEachMemoryHeldWhen) {
  const World world(small_graph(), small_machine());
  const Document data = resources_of(world.problem(), small_trace(world.problem()));
  const Document& memory = *data.find("memory");
  ASSERT_EQ(memory.items.size(), 3U);  // the host's and two GPUs'
  for (const Document& one : memory.items) {
    EXPECT_GT(one.find("count")->integer, 1);
    EXPECT_FALSE(one.find("time")->text.empty());
  }
}

TEST(Resources, OfAPlanAreItsWeightsAlone) {
  const World world(small_graph(), small_machine());
  const Document data = resources_of(world.problem(), small_trace(world.problem()), true);
  EXPECT_TRUE(data.find("memory")->items.empty());
  EXPECT_EQ(data.find("expected")->text, "");
  EXPECT_EQ(data.find("weights")->kind,
            Document::Kind::null);  // the small plan says nothing of them
}

TEST(Resources, LeaveOutExpectedTimesIfEveryOpTookJustThat) {
  const World world(small_graph(), small_machine());
  Trace trace = small_trace(world.problem());
  EXPECT_EQ(resources_of(world.problem(), trace).find("expected")->text, "");
  trace.ops.back().finish += ns(7);
  EXPECT_NE(resources_of(world.problem(), trace).find("expected")->text, "");
}

TEST(Resources, OfALongRunKeepItsPeakInFewPoints) {
  // A chain of ops on one device, the middle one of which makes a large value.
  GraphBuilder builder("chain");
  constexpr int kOps = 20000;
  const std::vector<GivenTime> times = {{"", ns(10)}};
  for (int i = 0; i < kOps; ++i) {
    const std::vector<ValueSpec> output = {{.bytes = i == kOps / 2 ? 5'000'000 : 10}};
    builder.add_op(
        {.name = std::to_string(i), .kind = "op", .outputs = output, .run_times = times});
  }
  const World world(std::move(builder).build().value(), small_machine());
  Trace trace = empty_trace(world.problem());
  for (int i = 0; i < kOps; ++i) {
    trace.ops.push_back({OpId{i}, kGpu0, 0, ns(10 * i), ns(10 * i + 10)});
  }
  trace.makespan = ns(10 * kOps);
  const Document data = resources_of(world.problem(), trace);
  const Document& use = data.find("memory")->items.at(kOnGpu0.index);
  EXPECT_LE(use.find("count")->integer, static_cast<int64_t>(kMostMemoryPoints));
  EXPECT_GE(use.find("count")->integer, static_cast<int64_t>(kMostMemoryPoints) / 2);
}

TEST(Resources, StateTheLimitsOfMemoriesAndChannels) {
  const World world(small_graph(), small_machine());
  JsonWriter json;
  json.open_object();
  write_limits(world.problem(), json);
  json.close_object();
  const Document data = object_of(json);
  const Machine& machine = world.problem().machine;
  ASSERT_EQ(data.find("memory_limits")->items.size(), static_cast<size_t>(machine.memory_count()));
  ASSERT_EQ(data.find("channels")->items.size(), static_cast<size_t>(machine.channel_count()));
  for (int32_t i = 0; i < machine.memory_count(); ++i) {
    const int64_t limit = world.problem().memory_limit(MemoryId{i});
    const Document& shown = data.find("memory_limits")->items.at(static_cast<size_t>(i));
    if (limit == kUnlimitedBytes) {
      EXPECT_EQ(shown.kind, Document::Kind::null);
    } else {
      EXPECT_EQ(shown.integer, limit);
    }
  }
}

TEST(Resources, HoldAlternativesWithTheirObstacles) {
  ReportedAlternatives alternatives{.plan = "p.json"};
  ExplainedOp op{.op = kA, .because = "it is </script>"};
  op.alternatives.push_back(
      {.device = kGpu0, .chosen = true, .run_time = ns(5), .makespan = ns(50)});
  op.alternatives.push_back({.device = kCpu0, .obstacle = "the device cannot run this kind of op"});
  alternatives.ops.push_back(op);
  JsonWriter json;
  json.open_object();
  write_alternatives(alternatives, json);
  json.close_object();
  const Document data = object_of(json);
  const Document& shown = data.find("alternatives")->find("ops")->items.at(0);
  EXPECT_EQ(shown.find("because")->text, "it is </script>");
  EXPECT_EQ(shown.find("devices")->items.at(0).find("makespan_ns")->integer, 50);
  EXPECT_TRUE(shown.find("devices")->items.at(0).find("chosen")->boolean);
  EXPECT_EQ(shown.find("devices")->items.at(1).find("makespan_ns"), nullptr);
  EXPECT_EQ(shown.find("devices")->items.at(1).find("obstacle")->text,
            "the device cannot run this kind of op");
}

}  // namespace
}  // namespace tutti
