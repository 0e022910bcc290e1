// Trace files that were changed: what viewers show, what the header says, what the judge reads.

#include "tutti/trace/file_display.h"

#include <gtest/gtest.h>

#include <cstdio>

#include "tutti/base/fingerprint.h"
#include "tutti/trace/digest.h"
#include "tutti/trace/file.h"
#include "tutti/trace/testing.h"

namespace tutti {
namespace {

using namespace testing;

std::string file_of(const Problem& problem, const Trace& trace) {
  const std::string path = ::testing::TempDir() + "file_display_test.json";
  Result<Output> output = Output::open(path);
  EXPECT_TRUE(output) << output.error().message;
  write_trace(problem, trace, *output);
  EXPECT_TRUE(output->commit());
  std::string text = Source::open(path).value().read_all().value();
  std::remove(path.c_str());
  return text;
}

// Replaces the first `from`, which must be there.
std::string changed(std::string text, const std::string& from, const std::string& to) {
  const size_t place = text.find(from);
  EXPECT_NE(place, std::string::npos) << from << " is not in " << text;
  if (place != std::string::npos) text.replace(place, from.size(), to);
  return text;
}

std::string refusal(const Problem& problem, const std::string& text) {
  Source source = Source::from_text("trace.json", text);
  const Result<Trace> trace = read_trace(source, problem);
  return trace ? "" : trace.error().message;
}

Trace simulated_trace(const Problem& problem) {
  Trace trace = small_trace(problem);
  trace.runtime = "sim/physical";
  trace.order = ReadyOrder::priority;
  trace.placed = {{kA, ns(0)}};
  trace.pauses = {{ns(5), ns(7)}};
  return trace;
}

// As files were before digests.
std::string as_version_1(const Problem& problem, const Trace& trace) {
  const std::string digest = ",\n  \"digest\":\"" + fingerprint_text(trace_digest(trace)) + "\"";
  return changed(changed(file_of(problem, trace), digest, ""), "\"schema_version\":2",
                 "\"schema_version\":1");
}

struct Shown {
  const char* claim;
  const char* from;
  const char* to;
  const char* sentence;
};

class WronglyShown : public ::testing::TestWithParam<Shown> {};

// The digest does not hold what viewers look at, so that it is right in all of these.
TEST_P(WronglyShown, IsRefusedInBothVersions) {
  const World world(small_graph(), small_machine());
  const Trace trace = simulated_trace(world.problem());
  for (const std::string& text :
       {file_of(world.problem(), trace), as_version_1(world.problem(), trace)}) {
    EXPECT_EQ(refusal(world.problem(), text), "");
    const std::string told =
        refusal(world.problem(), changed(text, GetParam().from, GetParam().to));
    EXPECT_EQ(told.find("trace.json:"), 0u) << told;
    EXPECT_NE(told.find(GetParam().sentence), std::string::npos) << told;
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, WronglyShown,
    ::testing::Values(
        Shown{"StartOfAnOp", "\"ts\":0.110,\"ph\":\"X\",\"dur\":0.100",
              "\"ts\":0.010,\"ph\":\"X\",\"dur\":0.100",
              "display: \"ts\" is 0.01 us, but \"args\" say 110 ns"},
        Shown{"LengthOfAnOp", "\"dur\":0.100", "\"dur\":0.099",
              "display: \"dur\" is 0.099 us, but \"args\" say 100 ns"},
        Shown{"NameOfAnOp", "\"name\":\"a\",\"cat\":\"op\"", "\"name\":\"b\",\"cat\":\"op\"",
              "display: \"name\" is 'b', but \"args\" say 'a'"},
        Shown{"NameOfATransfer", "\"name\":\"x\",\"cat\":\"transfer\"",
              "\"name\":\"w\",\"cat\":\"transfer\"",
              "display: \"name\" is 'w', but \"args\" say 'x'"},
        Shown{"StartOfATransfer", "\"ts\":0.210,\"ph\":\"X\",\"dur\":0.110",
              "\"ts\":0.211,\"ph\":\"X\",\"dur\":0.110", "display: \"ts\" is 0.211 us"},
        Shown{"DeviceOfAnOp", "\"cat\":\"op\",\"pid\":1", "\"cat\":\"op\",\"pid\":2",
              "display: \"pid\" is 2, but by \"args\" 'a' is shown in process 1"},
        Shown{"SlotOfAnOp", "\"cat\":\"op\",\"pid\":1,\"tid\":0",
              "\"cat\":\"op\",\"pid\":1,\"tid\":1",
              "display: \"tid\" is 1, but by \"args\" 'a' ran in slot 0"},
        Shown{"ChannelOfATransfer", "\"cat\":\"transfer\",\"pid\":4",
              "\"cat\":\"transfer\",\"pid\":1", "display: \"pid\" is 1"},
        Shown{"KindOfAnEvent", "\"ph\":\"X\"", "\"ph\":\"i\"", "display: \"ph\" is 'i'"},
        Shown{"TimeIsAText", "\"ts\":0.110", "\"ts\":\"0.110\"", "display: \"ts\" is"},
        Shown{"NameOfADevice", "\"args\":{\"name\":\"gpu0\"}", "\"args\":{\"name\":\"gpu1\"}",
              "display: process 1 is shown as 'gpu1', but it is device 'gpu0'"},
        Shown{"WhenAnOpWasPlaced", "\"ts\":0.000,\"ph\":\"i\"", "\"ts\":0.001,\"ph\":\"i\"",
              "display: \"ts\" is 0.001 us"},
        Shown{"APause", "\"name\":\"pause\"", "\"name\":\"work\"", "display: \"name\" is 'work'"}),
    [](const auto& instance) { return instance.param.claim; });

TEST(TraceFileDigest, NoticesEveryChangeOfWhatTheJudgeReads) {
  const World world(small_graph(), small_machine());
  const std::string text = file_of(world.problem(), simulated_trace(world.problem()));
  const std::pair<const char*, const char*> changes[] = {
      {"\"sampled\":false", "\"sampled\":true"},
      {"\"order\":\"priority\"", "\"order\":\"fifo\""},
      {"\"runtime\":\"sim/physical\"", "\"runtime\":\"sim/released\""},
      {"\"makespan_ns\":1150", "\"makespan_ns\":1149"},
      {"\"finish_ns\":210", "\"finish_ns\":209"},
      {"\"device\":\"gpu0\"", "\"device\":\"gpu1\""},
      {"\"hop\":0", "\"hop\":1"},
      {"\"given\":false", "\"given\":true"},
      {"\"time_ns\":0", "\"time_ns\":1"},
      {"\"slot\":0", "\"slot\":1"},
  };
  for (const auto& change : changes) {
    const std::string told = refusal(world.problem(), changed(text, change.first, change.second));
    EXPECT_NE(told.find("digest: the trace was changed after it was written"), std::string::npos)
        << change.second << ": " << told;
  }
}

TEST(TraceFileDigest, IsRequired) {
  const World world(small_graph(), small_machine());
  const Trace trace = simulated_trace(world.problem());
  const std::string without =
      changed(as_version_1(world.problem(), trace), "\"schema_version\":1", "\"schema_version\":2");
  EXPECT_NE(refusal(world.problem(), without).find("needs the key \"digest\""), std::string::npos)
      << refusal(world.problem(), without);
}

TEST(TraceFile, OfASimulatedRunIsNoRealOneByItsNameAlone) {
  const World world(small_graph(), small_machine());
  const std::string text = file_of(world.problem(), simulated_trace(world.problem()));
  for (const char* name : {"local", "local/direct", "local/files", "starpu", "starpu/dmda"}) {
    const std::string told = refusal(
        world.problem(), changed(text, "\"sim/physical\"", "\"" + std::string(name) + "\""));
    EXPECT_NE(told.find("which every real run writes, is missing: this was not measured"),
              std::string::npos)
        << told;
  }
}

TEST(TraceFile, OfASimulatedRunSaysItsOrder) {
  const World world(small_graph(), small_machine());
  Trace trace = simulated_trace(world.problem());
  trace.order.reset();
  EXPECT_NE(
      refusal(world.problem(), file_of(world.problem(), trace)).find("must say its \"order\""),
      std::string::npos);
}

TEST(TraceFile, OfVersion1IsReadAndSaysWhatItLeavesOpen) {
  const World world(small_graph(), small_machine());
  const Trace trace = simulated_trace(world.problem());
  Source source = Source::from_text("trace.json", as_version_1(world.problem(), trace));
  std::vector<NotApplied> not_applied;
  const Result<Trace> read = read_trace(source, world.problem(), &not_applied);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(trace_digest(*read), trace_digest(trace));
  ASSERT_EQ(not_applied.size(), 1u);
  EXPECT_EQ(not_applied[0].rule, "digest");
}

TEST(TraceFile, CountsEventsOfOthers) {
  const World world(small_graph(), small_machine());
  const std::string text =
      changed(file_of(world.problem(), simulated_trace(world.problem())), "\"traceEvents\":[",
              "\"traceEvents\":[{\"cat\":\"theirs\",\"ph\":\"X\",\"ts\":1},");
  Source source = Source::from_text("trace.json", text);
  std::vector<NotApplied> not_applied;
  ASSERT_TRUE(read_trace(source, world.problem(), &not_applied));
  ASSERT_EQ(not_applied.size(), 1u);
  EXPECT_EQ(not_applied[0].reason, "1 events are not tutti's, and nothing is known of them");
}

}  // namespace
}  // namespace tutti
