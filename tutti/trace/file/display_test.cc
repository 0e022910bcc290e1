// Trace files that were changed: what viewers show, what the header says, what the judge reads.

#include "tutti/trace/file/display.h"

#include <gtest/gtest.h>

#include <cstdio>

#include "tutti/base/fingerprint.h"
#include "tutti/trace/file.h"
#include "tutti/trace/file/digest.h"
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
  trace.runtime = runtime_from_text("sim/physical");
  trace.order = ReadyOrder::priority;
  trace.placed = {{kA, ns(0)}};
  trace.pauses = {{ns(5), ns(7)}};
  return trace;
}

std::string digest_line(const Problem& problem, const Trace& trace, int64_t version) {
  const TraceNames names{problem.graph.name(), problem.machine.name()};
  return ",\n  \"digest\":\"" + fingerprint_text(trace_digest(trace, names, version)) + "\"";
}

// As files were before the runtime had fields.
std::string as_version_2(const Problem& problem, const Trace& trace) {
  std::string text = changed(file_of(problem, trace), digest_line(problem, trace, kTraceVersion),
                             digest_line(problem, trace, 2));
  const size_t begin = text.find("\"runtime\"");
  const size_t end = text.find("\"graph\"");
  text.replace(begin, end - begin, "\"runtime\":\"" + to_text(trace.runtime) + "\",\n  ");
  return changed(text, "\"schema_version\":3", "\"schema_version\":2");
}

// As files were before digests.
std::string as_version_1(const Problem& problem, const Trace& trace) {
  return changed(changed(as_version_2(problem, trace), digest_line(problem, trace, 2), ""),
                 "\"schema_version\":2", "\"schema_version\":1");
}

struct Shown {
  const char* claim;
  const char* from;
  const char* to;
  const char* sentence;
};

class WronglyShown : public ::testing::TestWithParam<Shown> {};

// The digest does not hold what viewers look at, so that it is right in all of these.
TEST_P(WronglyShown, IsRefusedInAllVersions) {
  const World world(small_graph(), small_machine());
  const Trace trace = simulated_trace(world.problem());
  for (const std::string& text :
       {file_of(world.problem(), trace), as_version_2(world.problem(), trace),
        as_version_1(world.problem(), trace)}) {
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
        Shown{"NameOfASlot", "\"args\":{\"name\":\"slot 0\"}", "\"args\":{\"name\":\"slot 1\"}",
              "display: thread 0 of process 1 is shown as 'slot 1', but it is 'slot 0'"},
        Shown{"NameOfThePolicy", "\"args\":{\"name\":\"policy\"}", "\"args\":{\"name\":\"gpu0\"}",
              "is shown as 'gpu0', but it is 'policy'"},
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
      {"\"model\":\"physical\"", "\"model\":\"released\""},
      {"\"runtime\":\"sim\"", "\"runtime\":\"null\""},
      {"\"movement\":\"hops\"", "\"movement\":\"direct\""},
      {"\"barriers\":false", "\"barriers\":true"},
      {"\"graph\":\"", "\"graph\":\"not "},
      {"\"machine\":\"", "\"machine\":\"not "},
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
  const std::string without = changed(file_of(world.problem(), trace),
                                      digest_line(world.problem(), trace, kTraceVersion), "");
  EXPECT_NE(refusal(world.problem(), without).find("needs the key \"digest\""), std::string::npos)
      << refusal(world.problem(), without);
}

TEST(TraceFile, OfASimulatedRunIsNoRealOneByItsNameAlone) {
  const World world(small_graph(), small_machine());
  const std::string text = as_version_2(world.problem(), simulated_trace(world.problem()));
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
  EXPECT_EQ(digest_line(world.problem(), *read, 2), digest_line(world.problem(), trace, 2));
  ASSERT_EQ(not_applied.size(), 1u);
  EXPECT_EQ(not_applied[0].rule, "digest");
}

std::vector<NotApplied> left_open(const Problem& problem, const std::string& text) {
  Source source = Source::from_text("trace.json", text);
  std::vector<NotApplied> not_applied;
  const Result<Trace> trace = read_trace(source, problem, &not_applied);
  EXPECT_TRUE(trace) << trace.error().message;
  return not_applied;
}

TEST(TraceFile, OfVersion2HasTheRuntimeInOneText) {
  const World world(small_graph(), small_machine());
  Trace trace = small_trace(world.problem());
  trace.measurement = Measurement{.process = 4711, .began_unix_ms = 1};
  for (const char* runtime :
       {"null", "sim/released", "local", "local/direct", "local/files", "local/bulk_synchronous",
        "local/direct/bulk_synchronous", "starpu", "starpu/dmda", "sim/mine", "", "theirs/2"}) {
    trace.runtime = runtime_from_text(runtime);
    EXPECT_EQ(to_text(trace.runtime), runtime);
    for (const std::string& text :
         {file_of(world.problem(), trace), as_version_2(world.problem(), trace)}) {
      Source source = Source::from_text("trace.json", text);
      const Result<Trace> read = read_trace(source, world.problem());
      ASSERT_TRUE(read) << read.error().message;
      EXPECT_EQ(read->runtime, trace.runtime) << runtime;
    }
  }
  EXPECT_EQ(runtime_from_text("local/direct/bulk_synchronous"),
            (RuntimeInfo{.name = "local", .movement = Movement::direct, .barriers = true}));
}

TEST(TraceFile, SaysWhichLabelsItCannotCompare) {
  const World world(small_graph(), small_machine());
  const Problem& problem = world.problem();
  const Trace trace = simulated_trace(problem);
  const std::string text = file_of(problem, trace);
  EXPECT_TRUE(left_open(problem, text).empty());
  const auto expect_one = [&](const std::string& forged, const std::string& sentence) {
    const std::vector<NotApplied> open = left_open(problem, forged);
    ASSERT_EQ(open.size(), 1u) << sentence;
    EXPECT_EQ(open[0].rule, "display");
    EXPECT_NE(open[0].reason.find(sentence), std::string::npos) << open[0].reason;
  };
  // Names are in no fingerprint, and before version 3 in no digest.
  const std::string old = as_version_2(problem, trace);
  expect_one(changed(old, "\"graph\":\"", "\"graph\":\"not "), "the file calls the graph 'not ");
  expect_one(changed(old, "\"machine\":\"", "\"machine\":\"not "),
             "the file calls the machine 'not ");
  // Metadata that tutti does not write.
  expect_one(changed(text, "\"traceEvents\":[",
                     "\"traceEvents\":[{\"ph\":\"M\",\"name\":\"process_labels\",\"pid\":1,"
                     "\"args\":{\"labels\":\"gpu7\"}},"),
             "1 events are not tutti's");
}

TEST(TraceFile, SaysWhenLanesHaveNoNames) {
  const World world(small_graph(), small_machine());
  std::string text = file_of(world.problem(), simulated_trace(world.problem()));
  for (size_t at = text.find("{\"ph\":\"M\""); at != std::string::npos;
       at = text.find("{\"ph\":\"M\"")) {
    text.erase(at, text.find("}},", at) + 3 - at);
  }
  const std::vector<NotApplied> open = left_open(world.problem(), text);
  ASSERT_EQ(open.size(), 1u);
  EXPECT_EQ(open[0].rule, "display");
  EXPECT_NE(open[0].reason.find("of the lanes that it uses: viewers show numbers"),
            std::string::npos)
      << open[0].reason;
}

TEST(TraceFile, CountsMetadataOfUnknownProcessesAsEventsOfOthers) {
  const World world(small_graph(), small_machine());
  const std::string text =
      changed(file_of(world.problem(), simulated_trace(world.problem())), "\"traceEvents\":[",
              "\"traceEvents\":[{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":99,\"tid\":0,"
              "\"args\":{\"name\":\"gpu9\"}},");
  const std::vector<NotApplied> open = left_open(world.problem(), text);
  ASSERT_EQ(open.size(), 1u);
  EXPECT_EQ(open[0].reason, "1 events are not tutti's, and nothing is known of them");
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
