#include "tutti/graph/import/dnn_partitioning.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "test/support/shared_data.h"

namespace tutti {
namespace {

Result<Imported> parse(const std::string& text) {
  Source source = Source::from_text("g.json", text);
  return read_dnn_partitioning(source, {});
}

std::string with(const std::string& second_node, const std::string& edge) {
  return R"({"maxFPGAs": 2, "nodes": [
    {"id": 7, "name": "a", "cpuLatency": 3, "fpgaLatency": 0.5, "supportedOnFpga": true,
     "colorClass": 1, "size": 1000.0}, )" +
         second_node + "],\n\"edges\": [" + edge + "]}";
}

const char kSecond[] = R"({"id": 2, "name": "a", "cpuLatency": 4, "fpgaLatency": 9,
  "supportedOnFpga": 0, "colorClass": 1})";
const char kEdge[] = R"({"sourceId": 7, "destId": 2, "cost": 0.25, "size": 64})";

TEST(DnnPartitioning, GivesTimesByCpuAndAccelerator) {
  const auto imported = parse(with(kSecond, kEdge));
  ASSERT_TRUE(imported) << imported.error().message;
  const Graph& graph = imported->graph;
  ASSERT_EQ(graph.size(), 2);
  EXPECT_EQ(graph.op_name(OpId{0}), "a");
  EXPECT_EQ(graph.op_name(OpId{1}), "a#2");
  EXPECT_EQ(graph.given_run_time(OpId{0}, "cpu"), Duration(3'000'000));
  EXPECT_EQ(graph.given_run_time(OpId{0}, "fpga"), Duration(500'000));
  EXPECT_EQ(graph.given_run_time(OpId{1}, "gpu"), std::nullopt);
  const auto attributes = graph.attributes(OpId{1});
  ASSERT_EQ(attributes.size(), 2u);
  EXPECT_EQ(attributes[0], (std::pair<std::string_view, std::string_view>("only_on", "cpu")));
  EXPECT_EQ(attributes[1], (std::pair<std::string_view, std::string_view>("colocate", "1")));
  const EdgeId edge = *graph.edges(OpId{1}).begin();
  EXPECT_EQ(graph.given_transfer(edge, "cpu", "cpu"), Duration(0));
  EXPECT_EQ(graph.given_transfer(edge, "cpu", "gpu"), Duration(250'000));
  EXPECT_EQ(graph.given_transfer(edge, "gpu", "cpu"), Duration(250'000));
  EXPECT_EQ(graph.given_transfer(edge, "gpu", "gpu"), Duration(500'000));
  EXPECT_EQ(graph.bytes(graph.edge_value(edge)), 64);
  EXPECT_EQ(graph.bytes(graph.operands(OpId{0})[0]), 1000);
  EXPECT_TRUE(graph.is_weight(graph.operands(OpId{0})[0]));
}

TEST(DnnPartitioning, NamesTheDevicesThatTheFileIsAbout) {
  const auto devices = [](const std::string& header) {
    const auto imported = parse("{" + header + R"("nodes": [], "edges": []})");
    EXPECT_TRUE(imported) << imported.error().message;
    return imported->devices;
  };
  const auto all = devices(R"("maxFPGAs": 6, "maxCPUs": 2, "maxSizePerFPGA": 17185374208.0, )");
  ASSERT_TRUE(all);
  EXPECT_EQ(all->accelerators, 6);
  EXPECT_EQ(all->cpus, 2);
  EXPECT_EQ(all->accelerator_bytes, 17'185'374'208);
  const auto some = devices(R"("maxFPGAs": 3, )");
  ASSERT_TRUE(some);
  EXPECT_EQ(some->cpus, 1);
  EXPECT_EQ(some->accelerator_bytes, 0);
  EXPECT_FALSE(devices(""));
  EXPECT_FALSE(devices(R"("maxFPGAs": 0, )"));
}

TEST(DnnPartitioning, RefusesHostileInputWithOneSentence) {
  const struct {
    std::string text;
    std::string expected;
  } cases[] = {
      {with(kSecond, R"({"sourceId": 7, "destId": 3, "cost": 1})"),
       "g.json:5: there is no node with the id 3"},
      {with(kSecond, R"({"sourceId": 7, "destId": 7, "cost": 1})"),
       "g.json: op 'a' is on or behind a cycle"},
      {with(R"({"id": 7, "cpuLatency": 1, "fpgaLatency": 1})", ""), "the id 7 stands twice"},
      {with(kSecond, R"({"sourceId": 7, "destId": 2, "cost": 1e300})"),
       "\"cost\" of edge must be a finite number"},
      {with(R"({"id": 1, "cpuLatency": 1, "fpgaLatency": -1})", ""),
       "\"fpgaLatency\" of node must be a finite number"},
      {with(R"({"id": 1, "cpuLatency": 1, "fpgaLatency": 1, "supportedOnFpga": 2})", ""),
       "supportedOnFpga"},
      {with(R"({"id": 1, "cpuLatency": 1})", ""), "node needs the key \"fpgaLatency\""},
      {R"({"nodes": 3})", "must be a list"},
      {R"({"maxFPGAs": 100000, "nodes": []})", "\"maxFPGAs\" of graph must be"},
      {R"({"maxFPGAs": 2, "maxCPUs": -1, "nodes": []})", "\"maxCPUs\" of graph must be"},
      {R"({"maxFPGAs": 2, "maxSizePerFPGA": "4", "nodes": []})", "\"maxSizePerFPGA\" of graph"},
  };
  for (const auto& [text, expected] : cases) {
    const auto imported = parse(text);
    ASSERT_FALSE(imported) << text;
    EXPECT_NE(imported.error().message.find(expected), std::string::npos)
        << imported.error().message;
  }
}

// Counts by a script over the same files. The sum of accelerator times is what REFERENCE_RESULTS
// gives as oneFpga, in ms: everything on one accelerator.
TEST(DnnPartitioning, ReadsThePlacementInputs) {
  TUTTI_NEEDS_SHARED_DATA("dnn_partitioning/throughput-inputs");
  const struct {
    const char* name;
    int ops;
    int edges;
    int shared_colours;
    double one_accelerator_ms;
  } known[] = {
      {"latency-inputs/LayerGraphs/bert24_inference", 32, 55, 0, 92.406},
      {"latency-inputs/LayerGraphs/resnet50_inference", 177, 193, 0, 201.45},
      {"latency-inputs/OperatorGraphs/bert_l-3_inference", 235, 250, 63, 49.3526},
      {"throughput-inputs/LayerGraphs/bert24_inference", 32, 55, 0, 92.406},
      {"throughput-inputs/LayerGraphs/bert24_training", 64, 110, 32, 217.813},
      {"throughput-inputs/LayerGraphs/resnet50_inference", 177, 193, 0, 201.45},
      {"throughput-inputs/LayerGraphs/resnet50_training", 354, 386, 177, 462.381},
      {"throughput-inputs/OperatorGraphs/bert_l-3_inference", 235, 250, 63, 49.3526},
      {"throughput-inputs/OperatorGraphs/bert_l-3_training", 600, 817, 121, 122.987},
  };
  for (const auto& [name, ops, edges, shared_colours, one_accelerator_ms] : known) {
    const auto imported =
        load_graph(shared_data("dnn_partitioning/" + std::string(name) + ".json"));
    ASSERT_TRUE(imported) << imported.error().message;
    EXPECT_EQ(imported->format, "dnn_partitioning");
    const Graph& graph = imported->graph;
    EXPECT_EQ(graph.size(), ops) << name;
    int between = 0;
    double sum = 0;
    std::map<std::string_view, int> colours;
    for (const OpId op : graph.ops()) {
      for (const EdgeId edge : graph.edges(op)) between += graph.edge_from(edge).valid();
      for (const auto& [key, value] : graph.attributes(op)) colours[value] += key == "colocate";
      sum += static_cast<double>(graph.given_run_time(op, "gpu")->count()) / 1e6;
    }
    int shared = 0;
    for (const auto& [colour, members] : colours) shared += members > 1;
    EXPECT_EQ(between, edges) << name;
    EXPECT_EQ(shared, shared_colours) << name;
    EXPECT_NEAR(sum, one_accelerator_ms, 1e-3) << name;
  }
}

}  // namespace
}  // namespace tutti
