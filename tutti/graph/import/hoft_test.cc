#include "tutti/graph/import/hoft.h"

#include <gtest/gtest.h>

#include <string>

#include "test/support/shared_data.h"

namespace tutti {
namespace {

Result<Imported> parse(const std::string& text) {
  Source source = Source::from_text("g.json", text);
  return read_hoft(source, {});
}

const char kNodes[] =
    R"("nodes": [{"id": 0, "kernel": "POTRF", "cpu_us": 141.074, "gpu_us": 84.810752},
    {"id": 1, "kernel": "TRSM", "cpu_us": 75.1, "gpu_us": 0.0005}])";

std::string with_edge(const std::string& edge) {
  return std::string("{") + kNodes + ",\n\"edges\": [" + edge + "]}";
}

TEST(Hoft, GivesTimesByKindToTheNearestNanosecond) {
  const auto imported =
      parse(with_edge(R"({"src": 0, "dst": 1, "CC": 0.0, "CG": 110.8, "GC": 1.5, "GG": 2e-3})"));
  ASSERT_TRUE(imported) << imported.error().message;
  const Graph& graph = imported->graph;
  EXPECT_EQ(graph.op_kind_name(OpId{0}), "POTRF");
  EXPECT_EQ(graph.given_run_time(OpId{0}, "cpu"), Duration(141074));
  EXPECT_EQ(graph.given_run_time(OpId{0}, "gpu"), Duration(84811));
  EXPECT_EQ(graph.given_run_time(OpId{1}, "gpu"), Duration(1));
  EXPECT_EQ(graph.given_run_time(OpId{0}, "fpga"), std::nullopt);
  EXPECT_EQ(graph.given_transfer(EdgeId{0}, "cpu", "cpu"), Duration(0));
  EXPECT_EQ(graph.given_transfer(EdgeId{0}, "cpu", "gpu"), Duration(110800));
  EXPECT_EQ(graph.given_transfer(EdgeId{0}, "gpu", "cpu"), Duration(1500));
  EXPECT_EQ(graph.given_transfer(EdgeId{0}, "gpu", "gpu"), Duration(2));
}

TEST(Hoft, RefusesHostileInputWithOneSentence) {
  const struct {
    std::string text;
    std::string expected;
  } cases[] = {
      {with_edge(R"({"src": 0, "dst": 2, "CC": 0, "CG": 0, "GC": 0, "GG": 0})"),
       "g.json:3: the edge from 0 to 2 is out of range: there are 2 nodes"},
      {with_edge(R"({"src": -1, "dst": 1, "CC": 0, "CG": 0, "GC": 0, "GG": 0})"),
       "\"src\" of edge must be a whole number"},
      {with_edge(R"({"src": 0, "dst": 4000000000, "CC": 0, "CG": 0, "GC": 0, "GG": 0})"),
       "\"dst\" of edge must be a whole number"},
      {with_edge(R"({"src": 0, "dst": 1, "CC": 0, "CG": -1, "GC": 0, "GG": 0})"),
       "\"CG\" of edge must be a finite number"},
      {with_edge(R"({"src": 0, "dst": 1, "CC": 0, "CG": 1e18, "GC": 0, "GG": 0})"),
       "\"CG\" of edge must be a finite number"},
      {with_edge(R"({"src": 0, "dst": 1})"), "edge needs the key \"CC\""},
      {with_edge(R"({"src": 0, "dst": 1, "CC": 0, "CG": 0, "GC": 0, "GG": 0},
                    {"src": 1, "dst": 0, "CC": 0, "CG": 0, "GC": 0, "GG": 0})"),
       "g.json: op 'op0' is on or behind a cycle"},
      {R"({"nodes": [{"id": 1, "kernel": "k", "cpu_us": 1, "gpu_us": 1}]})",
       "node 1 stands where 0 is due"},
      {R"({"nodes": [{"id": 0, "kernel": "k", "cpu_us": NaN, "gpu_us": 1}]})", "not valid JSON"},
      {R"({"nodes": [{"id": 0, "kernel": "k", "cpu_us": 1, "gpu_us": 1})", "not valid JSON"},
      {R"({"nodes": {"cpu_us": 1}})", "must be a list"},
      {"{\"nodes\": [{\"id\": 0, \"kernel\": \"\xff\"}]}", "not valid JSON"},
      {"{\"nodes\": " + std::string(1000, '['), "nested deeper"},
  };
  for (const auto& [text, expected] : cases) {
    const auto imported = parse(text);
    ASSERT_FALSE(imported) << text;
    EXPECT_NE(imported.error().message.find(expected), std::string::npos)
        << imported.error().message;
  }
}

TEST(Hoft, ReadsTheThreeCholeskyGraphs) {
  TUTTI_NEEDS_SHARED_DATA("hoft_cholesky/dags_json");
  const struct {
    int ops;
    int edges;
  } known[] = {{35, 60}, {220, 495}, {680, 1680}};
  for (const auto& [ops, edges] : known) {
    const auto imported =
        load_graph(shared_data("hoft_cholesky/dags_json/nb128_" + std::to_string(ops) + ".json"));
    ASSERT_TRUE(imported) << imported.error().message;
    EXPECT_EQ(imported->format, "hoft");
    EXPECT_EQ(imported->graph.name(), "cholesky_nb128_" + std::to_string(ops));
    EXPECT_EQ(imported->graph.size(), ops);
    EXPECT_EQ(imported->graph.edge_count(), edges);
    EXPECT_EQ(imported->graph.device_kinds(), (std::vector<std::string>{"cpu", "gpu"}));
  }
}

}  // namespace
}  // namespace tutti
