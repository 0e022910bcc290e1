#include "tutti/graph/file.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <vector>

#include "tutti/base/fingerprint.h"
#include "tutti/graph/builder.h"
#include "tutti/graph/make/layered.h"

namespace tutti {
namespace {

Result<Graph> parse(const std::string& text) {
  Source source = Source::from_text("g.json", text);
  return read_graph(source);
}

// The head of a file and its ops.
std::string with_ops(const std::string& ops) {
  return "{\"format\": \"tutti-graph\", \"schema_version\": 1,\n\"inputs\": [{\"name\": \"x\"}],\n"
         "\"ops\": [\n" +
         ops + "\n]}";
}

std::string written(const Graph& graph) {
  const std::string path = testing::TempDir() + "/tutti_graph_file_test.json";
  Result<Output> output = Output::open(path);
  write_graph(graph, *output);
  EXPECT_TRUE(output->commit());
  Result<Source> source = Source::open(path);
  std::string text = *source->read_all();
  std::remove(path.c_str());
  return text;
}

// A graph that uses every part of the format, with inputs between ops.
Graph rich_graph() {
  GraphBuilder builder("rich \"quoted\"");
  const ValueId x =
      builder.add_input({.value = {.name = "x", .bytes = 256, .shape = {8, 8}, .dtype = DType::f32},
                         .residence = {.where = Residence::Where::host}});
  const std::vector<ValueSpec> two = {{.bytes = 10},
                                      {.name = "second", .bytes = 20, .dtype = DType::i8}};
  const std::vector<ValueSpec> one(1);
  const std::vector<GivenTime> times = {{"gpu", Duration(7)}, {"", Duration(90)}};
  const std::vector<std::pair<std::string, std::string>> attributes = {{"axis", "1"},
                                                                       {"note", "\xe2\x82\xac"}};
  const std::vector<ValueId> from_x = {x, x};
  const OpId a = builder.add_op({.name = "a",
                                 .kind = "matmul",
                                 .operands = from_x,
                                 .outputs = two,
                                 .flops = 1.0 / 3,
                                 .transient_bytes = 64,
                                 .run_times = times,
                                 .attributes = attributes});
  const ValueId w =
      builder.add_input({.value = {.name = "w", .bytes = 5},
                         .residence = {.where = Residence::Where::device, .device = "gpu0"},
                         .weight = true});
  const std::vector<ValueId> operands = {w, builder.outputs(a).front(),
                                         ValueId{builder.outputs(a).front().index + 1}};
  const int32_t first_edge = builder.edge_count();
  builder.add_op({.name = "b", .kind = "add", .operands = operands, .outputs = one});
  builder.give_transfer(EdgeId{first_edge + 1}, {"cpu", "gpu", Duration(3)});
  builder.give_transfer(EdgeId{first_edge + 1}, {"", "", Duration(4)});
  builder.give_transfer(EdgeId{first_edge + 2}, {"", "", Duration(0)});
  builder.add_op({.name = "sink", .kind = "add", .operands = from_x});  // makes nothing
  Result<Graph> graph = std::move(builder).build();
  EXPECT_TRUE(graph);
  return std::move(*graph);
}

TEST(GraphFile, KeepsTheFingerprintAndEverythingElseOverARoundTrip) {
  const Graph graph = rich_graph();
  const std::string text = written(graph);
  const Result<Graph> again = parse(text);
  ASSERT_TRUE(again) << again.error().message << "\n" << text;
  EXPECT_EQ(again->fingerprint(), graph.fingerprint());
  EXPECT_EQ(again->name(), graph.name());
  EXPECT_EQ(written(*again), text);
  EXPECT_EQ(again->outputs(OpId{2}).size(), 0);
  EXPECT_EQ(again->attributes(OpId{0})[1].second, "\xe2\x82\xac");
  EXPECT_EQ(again->given_run_time(OpId{0}, "cpu"), Duration(90));
  EXPECT_EQ(again->given_transfer(EdgeId{3}, "cpu", "gpu"), Duration(3));
  EXPECT_EQ(again->given_transfer(EdgeId{3}, "gpu", "cpu"), Duration(4));
  EXPECT_EQ(again->given_transfer(EdgeId{2}, "gpu", "cpu"), std::nullopt);
}

TEST(GraphFile, KeepsTheFingerprintOfAGeneratedGraph) {
  const Result<Graph> graph = make_layered({.ops = 3000});
  ASSERT_TRUE(graph);
  const Result<Graph> again = parse(written(*graph));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->fingerprint(), graph->fingerprint());
}

std::string with_command(const std::string& command, int version = 2) {
  return fmt::format(R"({{"format": "tutti-graph", "schema_version": {},
"ops": [{{"name": "a"}},
{{"name": "b", "command": {}}}]}})",
                     version, command);
}

TEST(GraphFile, KeepsCommandsAndTheirFingerprintOverARoundTrip) {
  const std::string rich = R"({"argv": ["sort", "", "a b"], "environment": {"LC_ALL": "C"},
      "directory": "d", "input_files": ["i"], "output_files": ["o", "p"], "timeout_ns": 1,
      "cpu_time_ns": 2, "memory_bytes": 3})";
  const Result<Graph> graph = parse(with_command(rich));
  ASSERT_TRUE(graph) << graph.error().message;
  EXPECT_EQ(graph->command(OpId{0}), nullptr);
  const Command expected{.argv = {"sort", "", "a b"},
                         .environment = {{"LC_ALL", "C"}},
                         .directory = "d",
                         .input_files = {"i"},
                         .output_files = {"o", "p"},
                         .timeout = Duration(1),
                         .cpu_time = Duration(2),
                         .memory_bytes = 3};
  ASSERT_NE(graph->command(OpId{1}), nullptr);
  EXPECT_EQ(*graph->command(OpId{1}), expected);
  const Result<Graph> again = parse(written(*graph));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(*again->command(OpId{1}), expected);
  EXPECT_EQ(again->commands_fingerprint(), graph->commands_fingerprint());
}

TEST(GraphFile, HasAFingerprintThatCommandsDoNotChange) {
  const Result<Graph> one = parse(with_command(R"({"argv": ["one"]})"));
  const Result<Graph> two = parse(with_command(R"({"argv": ["two"]})"));
  const Result<Graph> none = parse(with_command("null"));
  ASSERT_TRUE(one && two && none);
  EXPECT_EQ(one->fingerprint(), two->fingerprint());
  EXPECT_EQ(one->fingerprint(), none->fingerprint());
  EXPECT_NE(one->commands_fingerprint(), two->commands_fingerprint());
  EXPECT_NE(written(*one).find("\"schema_version\":2"), std::string::npos);
  EXPECT_NE(written(*none).find("\"schema_version\":1"), std::string::npos);
}

TEST(GraphFile, RefusesCommandsThatNoProcessCouldBe) {
  const struct {
    std::string text;
    const char* expected;
  } cases[] = {
      {with_command(R"({"argv": []})"), "g.json:3: its command cannot be run: it names no program"},
      {with_command(R"({"argv": [""]})"), "it names no program"},
      {with_command(R"({})"), "it names no program"},
      {with_command(R"({"argv": ["a", 1]})"), "\"argv\" of the command must be a list of texts"},
      {with_command(R"({"argv": ["a\u0000b"]})"), "a text of it holds a zero byte"},
      {with_command(R"({"argv": ["a"], "environment": {"": "x"}})"), "has no name"},
      {with_command(R"({"argv": ["a"], "environment": {"x": 1}})"), "must be a text; quote it"},
      {with_command(R"({"argv": ["a"], "input_files": [""]})"), "a file of it has no name"},
      {with_command(R"({"argv": ["a"], "shell": true})"), "the command has no key \"shell\""},
      {with_command(R"(["a"])"), "g.json:3: "},
      {with_command(R"({"argv": ["a"]})", 1), "ops with commands need schema_version 2"},
      {with_command(R"({"argv": ["a"]})", 3), "reads schema_version 1 to 2 of graph"},
  };
  for (const auto& [text, expected] : cases) {
    const Result<Graph> graph = parse(text);
    ASSERT_FALSE(graph) << text;
    EXPECT_NE(graph.error().message.find(expected), std::string::npos) << graph.error().message;
  }
}

TEST(GraphFile, ReadsOpsInAnyOrder) {
  const Result<Graph> graph = parse(with_ops(R"({"name": "c", "operands": ["b", "a:1", "x"]},
      {"name": "b", "operands": ["a:0"]}, {"name": "a", "outputs": [{}, {}]})"));
  ASSERT_TRUE(graph) << graph.error().message;
  EXPECT_EQ(graph->op_name(graph->topological_order().front()), "a");
  EXPECT_EQ(graph->edge_from(EdgeId{0}), OpId{1});
  EXPECT_EQ(graph->edge_from(EdgeId{1}), OpId{2});
  EXPECT_FALSE(graph->edge_from(EdgeId{2}).valid());
}

TEST(GraphFile, TakesBytesFromShapeAndDtypeWhereTheyAreNotGiven) {
  const Result<Graph> graph = parse(with_ops(R"({"name": "a", "outputs": [
      {"shape": [3, 5], "dtype": "f32"}, {"shape": [3, 5], "dtype": "f32", "bytes": 64},
      {"shape": [1152921504606846976, 1152921504606846976, 0], "dtype": "f64"}, {"shape": [7]}]})"));
  ASSERT_TRUE(graph) << graph.error().message;
  std::vector<int64_t> bytes;
  for (const ValueId value : graph->outputs(OpId{0})) bytes.push_back(graph->bytes(value));
  EXPECT_EQ(bytes, (std::vector<int64_t>{60, 64, 0, 0}));
}

TEST(GraphFile, GivesAnOpWithoutOutputsOneValueOfNoBytes) {
  const Result<Graph> graph = parse(with_ops(R"({"name": "a"}, {"name": "b", "operands": ["a"]})"));
  ASSERT_TRUE(graph) << graph.error().message;
  EXPECT_EQ(graph->outputs(OpId{0}).size(), 1);
  EXPECT_EQ(graph->bytes(graph->outputs(OpId{0}).front()), 0);
  EXPECT_EQ(graph->op_kind_name(OpId{0}), "op");
}

TEST(GraphFile, TellsWhenItWasEditedUnderItsFingerprint) {
  std::string text = written(rich_graph());
  const size_t at = text.find("\"flops\":");
  ASSERT_NE(at, std::string::npos);
  text.insert(at + 8, 1, '1');
  const Result<Graph> graph = parse(text);
  ASSERT_FALSE(graph);
  EXPECT_NE(graph.error().message.find("g.json:5: the fingerprint is " +
                                       fingerprint_text(rich_graph().fingerprint())),
            std::string::npos)
      << graph.error().message;
  EXPECT_NE(graph.error().message.find("remove the line if the edit was meant"), std::string::npos);
}

TEST(GraphFile, RefusesHostileInputWithOneSentence) {
  const std::string huge = std::string(100000, '[');
  const struct {
    std::string text;
    std::string expected;
  } cases[] = {
      {"", "g.json:1: not valid JSON"},
      {"[]", "must be a table"},
      {"{}", "needs the key \"format\""},
      {"{\"format\": \"tutti-plan\", \"ops\": []}", "format must be \"tutti-graph\""},
      {"{\"format\": \"tutti-graph\", \"schema_version\": 3, \"ops\": []}",
       "reads schema_version 1 to 2"},
      {"{\"format\": \"tutti-graph\", \"schema_version\": 1}", "needs a list \"ops\""},
      {"{\"format\": \"tutti-graph\", \"schema_version\": 1, \"ops\": {}}", "needs a list \"ops\""},
      {"{\"format\": \"tutti-graph\", \"schema_version\": 1, \"ops\": [], \"opps\": 1}",
       "no key \"opps\""},
      {"{\"format\": \"tutti-graph\", \"schema_version\": 1, \"inputs\": [{}], \"ops\": []}",
       "needs the key \"name\""},
      {with_ops(R"({"name": "a"}, )"), "g.json:5: not valid JSON"},
      {with_ops(R"({"name": "a", "operands": ["x", "y"]})"), "g.json:4: operand 'y' is no input"},
      {with_ops("{\"name\": \"a\"},\n{\"name\": \"a\"}"), "g.json:5: op 'a' stands twice"},
      {with_ops(R"({"name": "a", "outputs": [{"name": "x"}]})"),
       "g.json:4: value 'x' stands twice"},
      {with_ops(R"({"name": "a:0"}, {"name": "a", "outputs": [{}, {}]})"),
       "value 'a:0' stands twice"},
      {with_ops(R"({"name": "a", "operands": ["b"]}, {"name": "b", "operands": ["a"]})"),
       "g.json: op 'a' is on or behind a cycle"},
      {with_ops(R"({"name": ""})"), "must be a text that is not empty"},
      {with_ops(R"({"kind": "k"})"), "needs the key \"name\""},
      {with_ops(R"(7)"), "must be a table"},
      {with_ops(R"({"name": "a", "operands": [1]})"), "an operand must be the name of a value"},
      {with_ops(R"({"name": "a", "flops": -1})"),
       "\"flops\" of op 'a' must be a finite number from 0"},
      {with_ops(R"({"name": "a", "flops": NaN})"), "g.json:4: not valid JSON"},
      {with_ops(R"({"name": "a", "flops": 1e999})"), "number overflow"},
      {with_ops(R"({"name": "a", "run_time_ns": -1})"), "whole number from 0 to"},
      {with_ops(R"({"name": "a", "run_time_ns": 144115188075855872})"), "whole number from 0 to"},
      {with_ops(R"({"name": "a", "run_time_ns": {"": 1}})"), "device kind has no name"},
      {with_ops(R"({"name": "a", "run_time_ns": {"cpu": "1"}})"), "whole number from 0 to"},
      {with_ops(R"({"name": "a", "operands": ["x"], "transfer_time_ns": [1, 2]})"),
       "2 entries for 1 operands"},
      {with_ops(R"({"name": "a", "operands": ["x"], "transfer_time_ns": [{"cpu": 2}]})"),
       "'cpu' is not a pair"},
      {with_ops(R"({"name": "a", "operands": ["x"], "transfer_time_ns": [{"cpu>gpu": -2}]})"),
       "whole number"},
      {with_ops(R"({"name": "a", "transient_bytes": 1152921504606846977})"),
       "whole number from 0 to"},
      {with_ops(R"({"name": "a", "outputs": [{"bytes": 2e18}]})"), "whole number from 0 to"},
      {with_ops(
           R"({"name": "a", "outputs": [{"shape": [4294967296, 4294967296], "dtype": "f32"}]})"),
       "more than 2^60 bytes"},
      {with_ops(R"({"name": "a", "outputs": [{"shape": [-1]}]})"), "whole number from 0 to"},
      {with_ops(R"({"name": "a", "outputs": [{"dtype": "f128"}]})"), "dtype 'f128' is not known"},
      {with_ops(R"({"name": "a", "attributes": {"k": 1}})"), "attribute 'k' must be a text"},
      {with_ops(R"({"name": "a", "outputs": {}})"), "outputs must be a list"},
      {with_ops(R"({"name": "a", "attributes": []})"), "attributes must be a table"},
      {with_ops(R"({"name": "a", "flosp": 1})"), "op 'a' has no key \"flosp\""},
      {with_ops("{\"name\": \"\xff\"}"), "not valid JSON"},
      {with_ops("{\"name\": \"a\", \"attributes\": " + huge), "nested deeper than 64 levels"},
  };
  for (const auto& [text, expected] : cases) {
    const Result<Graph> graph = parse(text);
    ASSERT_FALSE(graph) << text.substr(0, 200);
    EXPECT_NE(graph.error().message.find(expected), std::string::npos)
        << graph.error().message << "\n"
        << text.substr(0, 200);
    EXPECT_EQ(graph.error().message.rfind("g.json:", 0), 0U) << graph.error().message;
    EXPECT_EQ(graph.error().kind, Error::Kind::invalid_input);
  }
}

TEST(GraphFile, RefusesEveryTruncationOfItself) {
  const std::string text = written(rich_graph());
  for (size_t length = 0; length + 2 < text.size(); ++length) {
    EXPECT_FALSE(parse(text.substr(0, length))) << "cut at " << length;
  }
}

TEST(GraphFile, RefusesMoreDeviceKindsThanColumnsAreFor) {
  std::string times;
  for (int i = 0; i < 17; ++i) times += fmt::format("{}\"kind{}\": 1", i > 0 ? "," : "", i);
  const Result<Graph> graph =
      parse(with_ops("{\"name\": \"a\", \"run_time_ns\": {" + times + "}}"));
  ASSERT_FALSE(graph);
  EXPECT_NE(graph.error().message.find("more than 16 kinds"), std::string::npos);
}

TEST(GraphFile, IsRecognisedByItsFirstKey) {
  EXPECT_TRUE(looks_like_graph_file(" {\n \"format\" : \"tutti-graph\""));
  EXPECT_FALSE(looks_like_graph_file("{\"format\": \"tutti-plan\""));
  EXPECT_FALSE(looks_like_graph_file("{\"schema_version\": 1"));
  EXPECT_FALSE(looks_like_graph_file(""));
}

}  // namespace
}  // namespace tutti
