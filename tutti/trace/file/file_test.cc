#include "tutti/trace/file.h"

#include <gtest/gtest.h>

#include <cstdio>

#include "tutti/base/file/document.h"
#include "tutti/trace/testing.h"

namespace tutti {
namespace {

using namespace testing;

std::string written(const Problem& problem, const Trace& trace) {
  const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
  std::string name = std::string(test->test_suite_name()) + "." + test->name() + ".json";
  for (char& c : name) c = c == '/' ? '.' : c;
  const std::string path = ::testing::TempDir() + name;
  Result<Output> output = Output::open(path);
  EXPECT_TRUE(output) << output.error().message;
  write_trace(problem, trace, *output);
  EXPECT_TRUE(output->commit());
  std::string text = Source::open(path).value().read_all().value();
  std::remove(path.c_str());
  return text;
}

Result<Trace> read(const std::string& text, const Problem& problem) {
  Source source = Source::from_text("trace.json", text);
  return read_trace(source, problem);
}

// Everything a trace can hold, though no run would be like it.
Trace full_trace(const Problem& problem) {
  Trace trace = small_trace(problem);
  trace.sampled = true;
  trace.order = ReadyOrder::lifo;
  trace.measurement = Measurement{.process = 4711, .began_unix_ms = 1'700'000'000'123};
  trace.transfers[kMoveX].given = true;
  trace.transfers.push_back({kFromA, kOnGpu0, kHost, 7, false, ns(1), ns(1234567890123)});
  trace.placed = {{kB, ns(210)}, {kA, ns(0)}};
  trace.pauses = {{ns(5), ns(1007)}};
  return trace;
}

void expect_same(const Trace& a, const Trace& b) {
  EXPECT_EQ(a.runtime, b.runtime);
  EXPECT_EQ(a.graph_fingerprint, b.graph_fingerprint);
  EXPECT_EQ(a.machine_fingerprint, b.machine_fingerprint);
  EXPECT_EQ(a.seed, b.seed);
  EXPECT_EQ(a.sampled, b.sampled);
  EXPECT_EQ(a.order, b.order);
  EXPECT_EQ(a.measurement, b.measurement);
  EXPECT_EQ(a.makespan, b.makespan);
  ASSERT_EQ(a.ops.size(), b.ops.size());
  for (size_t i = 0; i < a.ops.size(); ++i) {
    EXPECT_EQ(a.ops[i].op, b.ops[i].op);
    EXPECT_EQ(a.ops[i].device, b.ops[i].device);
    EXPECT_EQ(a.ops[i].slot, b.ops[i].slot);
    EXPECT_EQ(a.ops[i].start, b.ops[i].start);
    EXPECT_EQ(a.ops[i].finish, b.ops[i].finish);
  }
  ASSERT_EQ(a.transfers.size(), b.transfers.size());
  for (size_t i = 0; i < a.transfers.size(); ++i) {
    EXPECT_EQ(a.transfers[i].value, b.transfers[i].value);
    EXPECT_EQ(a.transfers[i].from, b.transfers[i].from);
    EXPECT_EQ(a.transfers[i].to, b.transfers[i].to);
    EXPECT_EQ(a.transfers[i].hop, b.transfers[i].hop);
    EXPECT_EQ(a.transfers[i].given, b.transfers[i].given);
    EXPECT_EQ(a.transfers[i].start, b.transfers[i].start);
    EXPECT_EQ(a.transfers[i].finish, b.transfers[i].finish);
  }
  ASSERT_EQ(a.placed.size(), b.placed.size());
  for (size_t i = 0; i < a.placed.size(); ++i) {
    EXPECT_EQ(a.placed[i].op, b.placed[i].op);
    EXPECT_EQ(a.placed[i].time, b.placed[i].time);
  }
  ASSERT_EQ(a.pauses.size(), b.pauses.size());
  for (size_t i = 0; i < a.pauses.size(); ++i) {
    EXPECT_EQ(a.pauses[i].start, b.pauses[i].start);
    EXPECT_EQ(a.pauses[i].finish, b.pauses[i].finish);
  }
}

TEST(TraceFile, ReadsBackWhatWasWritten) {
  const World world(small_graph(), small_machine());
  const Trace trace = full_trace(world.problem());
  const std::string text = written(world.problem(), trace);
  const Result<Trace> again = read(text, world.problem());
  ASSERT_TRUE(again) << again.error().message;
  expect_same(*again, trace);
  EXPECT_EQ(written(world.problem(), *again), text);
}

TEST(TraceFile, OfManyEventsIsWrittenPieceByPieceAndReadsBackTheSame) {
  const World world(small_graph(), small_machine());
  Trace trace = small_trace(world.problem());
  for (int i = 0; i < 20000; ++i) trace.placed.push_back({OpId{i % 5}, ns(i)});
  const Result<Trace> again = read(written(world.problem(), trace), world.problem());
  ASSERT_TRUE(again) << again.error().message;
  expect_same(*again, trace);
}

TEST(TraceFile, IsAChromeTraceWithMicrosecondsToThreeDecimals) {
  const World world(small_graph(), small_machine());
  const std::string text = written(world.problem(), small_trace(world.problem()));
  EXPECT_LT(text.find("\"format\":\"tutti-trace\""), 40u);  // known from its first bytes
  Source source = Source::from_text("trace.json", text);
  const Result<Document> root = read_json(source);
  ASSERT_TRUE(root) << root.error().message;
  EXPECT_EQ(root->find("displayTimeUnit")->text, "ns");
  EXPECT_NE(text.find("\"ts\":0.110,\"ph\":\"X\",\"dur\":0.100"), std::string::npos) << text;
  int op_events = 0;
  int shown_on_channels = 0;
  for (const Document& event : root->find("traceEvents")->items) {
    if (event.find("ph")->text == "M") continue;
    op_events += event.find("cat")->text == "op";
    shown_on_channels += event.find("cat")->text == "transfer";
  }
  EXPECT_EQ(op_events, 5);
  EXPECT_EQ(shown_on_channels, 6);
}

TEST(TraceFile, LeavesEventsOfOthersAlone) {
  const World world(small_graph(), small_machine());
  std::string text = written(world.problem(), small_trace(world.problem()));
  text.insert(text.find("\"traceEvents\":[") + 15, "{\"cat\":\"theirs\",\"args\":5,\"more\":[]},");
  const Result<Trace> trace = read(text, world.problem());
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_EQ(trace->ops.size(), 5u);
}

TEST(TraceFile, OfAnotherGraphSaysSo) {
  const World world(small_graph(), small_machine());
  const World other(GraphBuilder("other").build().value(), small_machine());
  const std::string text = written(world.problem(), small_trace(world.problem()));
  const Result<Trace> trace = read(text, other.problem());
  ASSERT_FALSE(trace);
  EXPECT_NE(trace.error().message.find("the trace is of another graph"), std::string::npos)
      << trace.error().message;
}

// Replaces the first `from` of a good trace file by `to`.
struct Wrong {
  const char* claim;
  std::string from;
  std::string to;
  const char* sentence;
};

class WrongTraceFile : public ::testing::TestWithParam<Wrong> {};

TEST_P(WrongTraceFile, IsRefusedWithItsLine) {
  const World world(small_graph(), small_machine());
  std::string text = written(world.problem(), full_trace(world.problem()));
  const size_t place = text.find(GetParam().from);
  ASSERT_NE(place, std::string::npos) << text;
  text.replace(place, GetParam().from.size(), GetParam().to);
  const Result<Trace> trace = read(text, world.problem());
  ASSERT_FALSE(trace);
  EXPECT_EQ(trace.error().kind, Error::Kind::invalid_input);
  EXPECT_EQ(trace.error().message.find("trace.json:"), 0u) << trace.error().message;
  EXPECT_NE(trace.error().message.find(GetParam().sentence), std::string::npos)
      << trace.error().message;
}

INSTANTIATE_TEST_SUITE_P(
    All, WrongTraceFile,
    ::testing::Values(
        Wrong{"OtherFormat", "tutti-trace", "tutti-plan", "this is not a trace"},
        Wrong{"OtherVersion", "\"schema_version\":3", "\"schema_version\":9",
              "schema_version 1 to 4"},
        Wrong{"NoHeader", "\"tutti\":", "\"other\":", "needs the key \"tutti\""},
        Wrong{"NoEvents", "\"traceEvents\":", "\"events\":", "needs the key \"traceEvents\""},
        Wrong{"EventsAreAText", "\"traceEvents\":[", "\"traceEvents\":\"\",\"rest\":[",
              "must be a list"},
        Wrong{"EventsTwice", "\"traceEvents\":[", "\"traceEvents\":[],\"traceEvents\":[",
              "stands twice"},
        Wrong{"UnknownKeyInHeader", "\"runtime\":", "\"why\":1,\"runtime\":", "no key \"why\""},
        Wrong{"NegativeMakespan", "\"makespan_ns\":", "\"makespan_ns\":-", "whole number from 0"},
        Wrong{"UnknownOrder", "\"order\":\"lifo\"", "\"order\":\"last\"",
              "\"order\" must be one of priority, fifo, lifo, random, not \"last\""},
        Wrong{"SampledIsANumber", "\"sampled\":true", "\"sampled\":1", "must be true or false"},
        Wrong{"UnknownOp", "\"op\":\"a\"", "\"op\":\"zz\"", "no op 'zz'"},
        Wrong{"UnknownDevice", "\"device\":\"gpu0\"", "\"device\":\"tpu\"", "no device 'tpu'"},
        Wrong{"UnknownMemory", "\"from\":\"host\"", "\"from\":\"attic\"", "no memory 'attic'"},
        Wrong{"UnknownValue", "\"value_id\":0", "\"value_id\":99", "no value 99"},
        Wrong{"ValueOfAnotherName", "\"value_id\":0", "\"value_id\":1",
              "value 1 of the graph is 'w', not 'x'"},
        Wrong{"NegativeStart", "\"start_ns\":110", "\"start_ns\":-110", "whole number from 0"},
        Wrong{"StartIsNan", "\"start_ns\":110", "\"start_ns\":NaN", "not valid JSON"},
        Wrong{"StartIsAFraction", "\"start_ns\":110", "\"start_ns\":0.5", "whole number"},
        Wrong{"EndlessFinish", "\"finish_ns\":210", "\"finish_ns\":9223372036854775807",
              "whole number from 0"},
        Wrong{"SlotTooLarge", "\"slot\":0", "\"slot\":4294967296", "whole number from 0"},
        Wrong{"GivenIsAText", "\"given\":true", "\"given\":\"yes\"", "must be true or false"},
        Wrong{"NoArguments", "\"args\":{\"op\"", "\"brgs\":{\"op\"", "needs the key \"args\""},
        Wrong{"ArgumentsAreAList", "\"args\":{\"op\":\"a\"", "\"args\":[],\"rest\":{\"op\":\"a\"",
              "must be a table of keys"},
        Wrong{"CategoryIsANumber", "\"cat\":\"op\"", "\"cat\":3", "must be a text"},
        Wrong{"EventIsAText", "{\"ph\":\"M\"", "\"event\",{\"ph\":\"M\"",
              "must be a table of keys"},
        Wrong{"NoUtf8", "\"op\":\"a\"", "\"op\":\"\xff\"", "not valid JSON"},
        Wrong{"DeepNesting", "\"op\":\"a\"", "\"op\":" + std::string(100000, '['), "nested deeper"},
        Wrong{"BinaryRubbish", "{", std::string("\x00\x01\x02", 3), "not valid JSON"}),
    [](const auto& instance) { return instance.param.claim; });

TEST(TraceFile, IsRefusedWhereverItIsCutOff) {
  const World world(small_graph(), small_machine());
  const std::string text = written(world.problem(), full_trace(world.problem()));
  for (size_t length = 0; length + 2 < text.size(); ++length) {
    const Result<Trace> trace = read(text.substr(0, length), world.problem());
    ASSERT_FALSE(trace) << "cut off after " << length;
    EXPECT_EQ(trace.error().kind, Error::Kind::invalid_input);
  }
}

}  // namespace
}  // namespace tutti
