#include "tutti/graph/import/wfformat.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "test/support/shared_data.h"

namespace tutti {
namespace {

Result<Imported> parse(const std::string& text, const ImportOptions& options = {}) {
  Source source = Source::from_text("w.json", text);
  return read_wfformat(source, options);
}

std::string workflow(const std::string& tasks, const std::string& files,
                     const std::string& execution = "{}") {
  return "{\"name\": \"w\", \"schemaVersion\": \"1.5\", \"workflow\": {\"specification\": "
         "{\n\"tasks\": [" +
         tasks + "],\n\"files\": [" + files + "]},\n\"execution\": " + execution + "}}";
}

const char kSplitAndMerge[] = R"(
    {"name": "split_ID01", "id": "split_ID01", "inputFiles": ["in"], "outputFiles": ["part"],
     "children": ["merge_ID02"], "parents": []},
    {"name": "merge_ID02", "id": "merge_ID02", "inputFiles": ["part", "in"], "outputFiles": ["out"],
     "children": [], "parents": ["split_ID01"]})";
const char kFiles[] = R"({"id": "in", "sizeInBytes": 100}, {"id": "part", "sizeInBytes": 40},
                         {"id": "out", "sizeInBytes": 7}, {"id": "unused", "sizeInBytes": 9})";
const char kExecution[] = R"({"makespanInSeconds": 12.5,
    "machines": [{"nodeName": "slow", "cpu": {"coreCount": 4, "speedInMHz": 1000}},
                 {"nodeName": "fast", "cpu": {"coreCount": 8, "speedInMHz": 2000}, "memoryInBytes": 64}],
    "tasks": [{"id": "split_ID01", "runtimeInSeconds": 1.5, "memoryInBytes": 33, "machines": ["slow"]},
              {"id": "merge_ID02", "runtimeInSeconds": 2, "machines": ["fast"], "command": {"program": "cat"}}]})";

TEST(WfFormat, TakesTasksAsOpsAndFilesAsValues) {
  const auto imported = parse(workflow(kSplitAndMerge, kFiles, kExecution));
  ASSERT_TRUE(imported) << imported.error().message;
  const Graph& graph = imported->graph;
  EXPECT_EQ(graph.name(), "w");
  EXPECT_EQ(graph.size(), 2);
  EXPECT_EQ(graph.value_count(), 3);
  EXPECT_EQ(graph.op_name(OpId{0}), "split_ID01");
  EXPECT_EQ(graph.op_kind_name(OpId{0}), "split");
  EXPECT_EQ(graph.op_kind_name(OpId{1}), "cat");
  EXPECT_EQ(graph.transient_bytes(OpId{0}), 33);
  EXPECT_EQ(graph.given_run_time(OpId{0}, "cpu"), Duration(1500000000));
  const ValueId part = graph.operands(OpId{1})[0];
  EXPECT_EQ(graph.producer(part), OpId{0});
  EXPECT_EQ(graph.bytes(part), 40);
  EXPECT_EQ(graph.value_name(part), "part");
  const ValueId in = graph.operands(OpId{1})[1];
  EXPECT_EQ(graph.residence(in).where, Residence::Where::host);
  EXPECT_EQ(graph.bytes(in), 100);
}

TEST(WfFormat, TakesProgramsAndTheirArgumentsAsCommands) {
  const auto imported = parse(workflow(kSplitAndMerge, kFiles, R"({"tasks": [
      {"id": "split_ID01", "command": {"program": "split", "arguments": ["-n 2", "in", ""]}},
      {"id": "merge_ID02", "command": {"program": "set -e\ncat part > out", "arguments": []}}]})"));
  ASSERT_TRUE(imported) << imported.error().message;
  const Command* split = imported->graph.command(OpId{0});
  ASSERT_NE(split, nullptr);
  EXPECT_EQ(split->argv, (std::vector<std::string>{"split", "-n 2", "in", ""}));
  EXPECT_EQ(split->input_files, std::vector<std::string>{"in"});
  EXPECT_EQ(split->output_files, std::vector<std::string>{"part"});
  EXPECT_EQ(imported->graph.command(OpId{1}), nullptr) << "a script is no program";
  EXPECT_EQ(imported->graph.command_count(), 1);
}

TEST(WfFormat, TellsWhereAndHowLongTheWorkRan) {
  const auto imported = parse(workflow(kSplitAndMerge, kFiles, kExecution));
  ASSERT_TRUE(imported) << imported.error().message;
  EXPECT_EQ(imported->measured_makespan, Duration(12500000000));
  ASSERT_EQ(imported->hosts.size(), 2U);
  EXPECT_EQ(imported->hosts[1].name, "fast");
  EXPECT_EQ(imported->hosts[1].cores, 8);
  EXPECT_EQ(imported->hosts[1].speed_mhz, 2000);
  EXPECT_EQ(imported->hosts[1].memory_bytes, 64);
  EXPECT_EQ(imported->host_of_op, (std::vector<int>{0, 1}));
  EXPECT_TRUE(imported->warnings.empty());
}

TEST(WfFormat, ScalesRunTimesToTheFastestMachineOnlyWhenAsked) {
  const auto imported =
      parse(workflow(kSplitAndMerge, kFiles, kExecution), {.scale_by_machine_speed = true});
  ASSERT_TRUE(imported) << imported.error().message;
  EXPECT_EQ(imported->graph.given_run_time(OpId{0}, "cpu"), Duration(750000000));
  EXPECT_EQ(imported->graph.given_run_time(OpId{1}, "cpu"), Duration(2000000000));
}

TEST(WfFormat, CarriesAParentWithoutAFileOverAValueOfNoBytes) {
  // b and c wait for a but read nothing of it; only c says so, and a says it of b.
  const auto imported = parse(workflow(R"({"id": "a", "children": ["b"]}, {"id": "b"},
                                          {"id": "c", "parents": ["a", "a"]})",
                                       R"({"id": "a:done", "sizeInBytes": 3})"));
  ASSERT_TRUE(imported) << imported.error().message;
  const Graph& graph = imported->graph;
  EXPECT_EQ(graph.edge_count(), 2);
  ASSERT_EQ(graph.outputs(OpId{0}).size(), 1);
  const ValueId done = graph.outputs(OpId{0}).front();
  EXPECT_EQ(graph.operands(OpId{1})[0], done);
  EXPECT_EQ(graph.operands(OpId{2})[0], done);
  EXPECT_EQ(graph.bytes(done), 0);
  EXPECT_EQ(graph.value_name(done), "a:done+");
  EXPECT_EQ(graph.outputs(OpId{1}).size(), 0);
}

TEST(WfFormat, WarnsOnceOfEachOddity) {
  const auto imported = parse(workflow(
      R"({"id": "a", "inputFiles": ["own", "x", "y"], "outputFiles": ["own"]}, {"id": "b"})",
      R"({"id": "own", "sizeInBytes": 3})",
      R"({"tasks": [{"id": "a", "runtimeInSeconds": 0.0}], "machines": [{"nodeName": "m"}]})"));
  ASSERT_TRUE(imported) << imported.error().message;
  ASSERT_EQ(imported->warnings.size(), 3U);
  EXPECT_NE(imported->warnings[0].find("2 tasks have no run time"), std::string::npos);
  EXPECT_NE(imported->warnings[1].find("2 files have no size"), std::string::npos);
  EXPECT_NE(imported->warnings[2].find("1 files are read by the task that makes them"),
            std::string::npos);
  EXPECT_EQ(imported->graph.given_run_time(OpId{1}, "cpu"), Duration(0));
  EXPECT_EQ(imported->graph.edge_count(), 2);
  EXPECT_EQ(imported->host_of_op, (std::vector<int>{0, 0}));  // there is but one
}

// Neither a time that is absent nor one of zero was measured: no command takes none. What to assume
// is left to the costs.
TEST(WfFormat, CommandsThatWereNeverTimedHaveNoTime) {
  const auto imported =
      parse(workflow(R"({"id": "a"}, {"id": "b"})", "",
                     R"({"tasks": [{"id": "a", "command": {"program": "sleep", "arguments": ["1"]}},
                    {"id": "b", "runtimeInSeconds": 0, "command": {"program": "true"}}]})"));
  ASSERT_TRUE(imported) << imported.error().message;
  EXPECT_EQ(imported->graph.given_run_time(OpId{0}, "cpu"), std::nullopt);
  EXPECT_EQ(imported->graph.given_run_time(OpId{1}, "cpu"), std::nullopt);
  EXPECT_TRUE(imported->warnings.empty());
}

TEST(WfFormat, NamesTheKindAfterTheTaskWhereTheProgramIsAScript) {
  const auto imported =
      parse(workflow(R"({"id": "x_3", "name": "FLOW.CHECK"})", "",
                     R"({"tasks": [{"id": "x_3", "command": {"program": "echo 1\n  echo 2"}}]})"));
  ASSERT_TRUE(imported) << imported.error().message;
  EXPECT_EQ(imported->graph.op_kind_name(OpId{0}), "FLOW.CHECK");
}

TEST(WfFormat, RefusesHostileInputWithOneSentence) {
  const struct {
    std::string text;
    std::string expected;
  } cases[] = {
      {"{\"workflow\": {}}", "w.json:1: there is no workflow.specification.tasks"},
      {"{\"workflow\": {\"tasks\": []}}", "there is no workflow.specification.tasks"},
      {"{\"workflow\": 7}", "there is no workflow.specification.tasks"},
      {"{\"workflow\": {\"specification\": {\"tasks\": 3}}}", "must be a list"},
      {workflow(kSplitAndMerge, kFiles).substr(0, 300), "not valid JSON"},
      {workflow("{}", ""), "task needs the key \"id\""},
      {workflow(R"({"id": "a"}, {"id": "a"})", ""), "w.json:2: task 'a' stands twice"},
      {workflow("", R"({"id": "f"}, {"id": "f"})"), "w.json:3: file 'f' stands twice"},
      {workflow("", R"({"id": "f", "sizeInBytes": -1})"), "whole number from 0 to"},
      {workflow("", R"({"id": "f", "sizeInBytes": 2e18})"), "whole number from 0 to"},
      {workflow(R"({"id": "a", "parents": ["b"]})", ""), "there is no task 'b'"},
      {workflow(R"({"id": "a", "children": ["b"]})", ""), "there is no task 'b'"},
      {workflow(R"({"id": "a", "inputFiles": [1]})", ""), "must be a list of texts"},
      {workflow(R"({"id": "a", "outputFiles": ["f"]}, {"id": "b", "outputFiles": ["f"]})", ""),
       "file 'f' is made by task 'a' and by task 'b'"},
      {workflow(R"({"id": "a", "parents": ["b"]}, {"id": "b", "parents": ["a"]})", ""),
       "w.json: op 'a' is on or behind a cycle"},
      {workflow(R"({"id": "a", "parents": ["a"]})", ""), "is on or behind a cycle"},
      {workflow(R"({"id": "a"})", "", R"({"tasks": [{"id": "b"}]})"), "there is no task 'b'"},
      {workflow(R"({"id": "a"})", "", R"({"tasks": [{"id": "a", "runtimeInSeconds": -1}]})"),
       "\"runtimeInSeconds\" of task must be a finite number"},
      {workflow(R"({"id": "a"})", "", R"({"tasks": [{"id": "a", "runtimeInSeconds": 1e12}]})"),
       "\"runtimeInSeconds\" of task must be a finite number"},
      {workflow(R"({"id": "a"})", "", R"({"tasks": [{"id": "a", "runtimeInSeconds": NaN}]})"),
       "not valid JSON"},
      {workflow(R"({"id": "a"})", "", R"({"makespanInSeconds": -1})"), "must be a finite number"},
      {workflow(R"({"id": "a"})", "", R"({"machines": [{"nodeName": "m"}, {"nodeName": "m"}]})"),
       "machine 'm' stands twice"},
      {workflow("{\"id\": \"\xff\"}", ""), "not valid JSON"},
      {workflow(std::string(1000, '['), ""), "nested deeper"},
  };
  for (const auto& [text, expected] : cases) {
    const auto imported = parse(text);
    ASSERT_FALSE(imported) << text;
    EXPECT_NE(imported.error().message.find(expected), std::string::npos)
        << imported.error().message << "\n"
        << text;
  }
}

TEST(WfFormat, ReadsEveryRealExecution) {
  TUTTI_NEEDS_SHARED_DATA("wfinstances");
  const struct {
    const char* file;
    int tasks;
    int task_edges;  // distinct parent and child pairs
    double makespan_seconds;
    size_t warnings;
  } known[] = {
      {"helloworld/helloworld-chain-5-chameleon", 5, 4, 661, 0},
      {"helloworld/helloworld-forkjoin-10-chameleon", 10, 16, 437, 0},
      {"makeflow/blast/blast-chameleon-medium-001", 303, 900, 5074.08, 0},
      {"makeflow/blast/blast-chameleon-small-001", 43, 120, 1279.3, 0},
      {"nextflow/airrflow-dirt02-001", 212, 327, 4706, 0},
      {"nextflow/chipseq-dirt02-001", 210, 437, 5689, 1},
      {"nextflow/hic-dirt02-001", 38, 47, 1507, 1},
      {"nextflow/rnaseq-dirt02-001", 197, 451, 3131, 1},
      {"nextflow/smrnaseq-dirt02-001", 197, 344, 9404, 1},
      {"pegasus/1000genome/1000genome-chameleon-16ch-100k-001", 416, 608, 2498, 0},
      {"pegasus/1000genome/1000genome-chameleon-16ch-250k-001", 656, 848, 7879, 0},
      {"pegasus/1000genome/1000genome-chameleon-2ch-100k-001", 52, 76, 776, 0},
      {"pegasus/1000genome/1000genome-chameleon-6ch-250k-001", 246, 318, 3348, 0},
      {"pegasus/epigenomics/epigenomics-chameleon-hep-1seq-100k-001", 41, 48, 594, 0},
      {"pegasus/epigenomics/epigenomics-chameleon-hep-6seq-50k-001", 983, 1218, 1346, 0},
      {"pegasus/epigenomics/epigenomics-chameleon-ilmn-2seq-100k-001", 263, 324, 834, 0},
      {"pegasus/epigenomics/epigenomics-chameleon-ilmn-4seq-100k-001", 559, 691, 1116, 0},
      {"pegasus/seismology/seismology-chameleon-100p-001", 101, 100, 354, 0},
      {"pegasus/seismology/seismology-chameleon-300p-001", 301, 300, 518, 0},
      {"pegasus/srasearch/srasearch-chameleon-10a-001", 22, 30, 3488, 0},
      {"pegasus/srasearch/srasearch-chameleon-20a-003", 42, 60, 7853, 0},
      {"pegasus/srasearch/srasearch-chameleon-30a-005", 64, 92, 10492, 0},
      {"pegasus/srasearch/srasearch-chameleon-50a-002", 104, 152, 12339, 0},
  };
  for (const auto& [file, tasks, task_edges, makespan_seconds, warnings] : known) {
    const auto imported = load_graph(shared_data(std::string("wfinstances/") + file + ".json"));
    ASSERT_TRUE(imported) << imported.error().message;
    const Graph& graph = imported->graph;
    EXPECT_EQ(imported->format, "wfformat");
    EXPECT_EQ(graph.size(), tasks) << file;
    EXPECT_EQ(imported->measured_makespan, nanoseconds_of(makespan_seconds * 1e9)) << file;
    EXPECT_EQ(imported->warnings.size(), warnings) << file;
    EXPECT_EQ(imported->host_of_op.size(), static_cast<size_t>(tasks));
    for (const int host : imported->host_of_op) EXPECT_GE(host, 0) << file;
    std::vector<std::pair<OpId, OpId>> pairs;
    for (int32_t edge = 0; edge < graph.edge_count(); ++edge) {
      const OpId from = graph.edge_from(EdgeId{edge});
      if (from.valid()) pairs.emplace_back(from, graph.edge_to(EdgeId{edge}));
    }
    std::sort(pairs.begin(), pairs.end());
    pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
    EXPECT_EQ(pairs.size(), static_cast<size_t>(task_edges)) << file;
  }
}

}  // namespace
}  // namespace tutti
