#include "tutti/graph/import/estee.h"

#include <gtest/gtest.h>

#include <string>

#include "test/support/shared_data.h"

namespace tutti {
namespace {

Result<Imported> parse(const std::string& text) {
  Source source = Source::from_text("g.json", text);
  return read_estee(source, {});
}

TEST(Estee, ReadsSecondsAndMegabytes) {
  const auto imported = parse(R"([
    {"d": 2.5, "e_d": 3, "cpus": 1, "outputs": [{"s": 100, "e_s": 90}, {"s": 0.5}], "inputs": []},
    {"d": 1, "e_d": 1, "cpus": 4, "outputs": [], "inputs": [[0, 1], [0, 0]]}])");
  ASSERT_TRUE(imported) << imported.error().message;
  const Graph& graph = imported->graph;
  ASSERT_EQ(graph.size(), 2);
  EXPECT_EQ(graph.op_name(OpId{1}), "task1");
  EXPECT_EQ(graph.given_run_time(OpId{0}, "cpu"), Duration(2'500'000'000));
  EXPECT_EQ(graph.bytes(ValueId{0}), 100'000'000);
  EXPECT_EQ(graph.bytes(ValueId{1}), 500'000);
  EXPECT_TRUE(graph.outputs(OpId{1}).empty());
  ASSERT_EQ(graph.operands(OpId{1}).size(), 2u);
  EXPECT_EQ(graph.operands(OpId{1})[0], ValueId{1});
  ASSERT_EQ(imported->warnings.size(), 1u);
  EXPECT_EQ(imported->warnings[0].find("1 tasks ask for more than one CPU"), 0u);
}

TEST(Estee, RefusesHostileInputWithOneSentence) {
  const std::string maker = R"({"d": 1, "outputs": [{"s": 1}], "inputs": []})";
  const struct {
    std::string text;
    std::string expected;
  } cases[] = {
      {"{}", "g.json:1: an Estee graph is a list of tasks"},
      {"[3]", "task must be"},
      {R"([{"d": -1}])", "\"d\" of task must be a finite number"},
      {R"([{"d": 1e300}])", "\"d\" of task must be a finite number"},
      {R"([{"d": 1, "outputs": [{"s": 1e300}]}])", "\"s\" of output must be a finite number"},
      {R"([{"d": 1, "cpus": 0}])", "\"cpus\" of task must be a whole number"},
      {"[" + maker + R"(, {"d": 1, "inputs": [[0]]}])", "an input is a list of a task and one"},
      {"[" + maker + R"(, {"d": 1, "inputs": [[2, 0]]}])", "a task"},
      {"[" + maker + R"(, {"d": 1, "inputs": [[0, 1]]}])", "an output"},
      {"[" + maker + R"(, {"d": 1, "inputs": [[1, 0]]}])", "task 1 makes no output to read"},
      {R"([{"d": 1, "outputs": [{"s": 1}], "inputs": [[0, 0]]}])",
       "op 'task0' is on or behind a cycle"},
  };
  for (const auto& [text, expected] : cases) {
    const auto imported = parse(text);
    ASSERT_FALSE(imported) << text;
    EXPECT_NE(imported.error().message.find(expected), std::string::npos)
        << imported.error().message;
  }
}

// Counts by a script over the same files: tasks, and inputs of all tasks.
TEST(Estee, ReadsTheBenchmarkGraphs) {
  TUTTI_NEEDS_SHARED_DATA("estee/json");
  const struct {
    const char* name;
    int ops;
    int edges;
    int values;
  } known[] = {
      {"elementary_bigmerge_9", 321, 320, 320},
      {"elementary_conflux_13", 255, 254, 255},
      {"elementary_duration_stairs_10", 380, 0, 0},
      {"elementary_fern_15", 401, 400, 401},
      {"elementary_fork1_7", 300, 200, 100},
      {"elementary_fork2_8", 300, 200, 200},
      {"elementary_grid_14", 361, 684, 361},
      {"elementary_triplets_3", 330, 220, 220},
      {"pegasus_cybershake_1", 104, 250, 106},
      {"pegasus_epigenomics_2", 204, 252, 305},
      {"pegasus_ligo_3", 186, 225, 186},
      {"pegasus_montage_0", 77, 195, 150},
      {"pegasus_sipht_4", 64, 96, 136},
  };
  for (const auto& [name, ops, edges, values] : known) {
    const auto imported = load_graph(shared_data("estee/json/" + std::string(name) + ".json"));
    ASSERT_TRUE(imported) << imported.error().message;
    EXPECT_EQ(imported->format, "estee");
    EXPECT_EQ(imported->graph.size(), ops) << name;
    EXPECT_EQ(imported->graph.edge_count(), edges) << name;
    EXPECT_EQ(imported->graph.value_count(), values) << name;
  }
}

}  // namespace
}  // namespace tutti
