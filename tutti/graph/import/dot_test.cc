#include "tutti/graph/import/dot.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>

#include "test/support/shared_data.h"

namespace tutti {
namespace {

Result<Imported> parse(const std::string& text) {
  Source source = Source::from_text("g.dot", text);
  return read_dot(source, {});
}

TEST(Dot, ReadsSizesAsFlopsAndBytes) {
  const auto imported = parse(
      "digraph G {\n root [size=\"1.5e3\"];\n root -> end [size=\"1e6\"];\n root -> mid "
      "[size=\"1.000000e-12\"];\n root -> last [size=\"1e6\"]\n}\n");
  ASSERT_TRUE(imported) << imported.error().message;
  const Graph& graph = imported->graph;
  EXPECT_EQ(graph.size(), 4);
  EXPECT_EQ(graph.flops(OpId{0}), 1500);
  EXPECT_EQ(graph.op_name(OpId{1}), "end");
  // Edges of one size share a value; a size below 1 is none.
  ASSERT_EQ(graph.outputs(OpId{0}).size(), 2);
  EXPECT_EQ(graph.bytes(graph.operands(OpId{1})[0]), 1000000);
  EXPECT_EQ(graph.operands(OpId{1})[0], graph.operands(OpId{3})[0]);
  EXPECT_EQ(graph.bytes(graph.operands(OpId{2})[0]), 0);
}

TEST(Dot, ReadsTheWholeOfTheLanguageItClaims) {
  const auto imported = parse(
      "// a comment\n# another\n/* and\n a third */ STRICT Digraph \"my graph\" {\n"
      "  graph [rankdir=LR]; node [shape=box] edge [size=7]\n  rankdir = TB\n"
      "  \"a \\\"b\\\"\":port:n -> c -> -1.5 [kernel=ignored,\n\t\ty=0]\n"
      "  c [kernel=gemm][color=\"red\"; size=3] c [label=\"two\\\nlines\"];;\n}\n");
  ASSERT_TRUE(imported) << imported.error().message;
  const Graph& graph = imported->graph;
  ASSERT_EQ(graph.size(), 3);
  EXPECT_EQ(graph.op_name(OpId{0}), "a \"b\"");
  EXPECT_EQ(graph.op_name(OpId{2}), "-1.5");
  EXPECT_EQ(graph.op_kind_name(OpId{1}), "gemm");
  EXPECT_EQ(graph.op_kind_name(OpId{0}), "op");
  EXPECT_EQ(graph.flops(OpId{1}), 3);
  EXPECT_EQ(graph.edge_count(), 2);
  EXPECT_EQ(graph.name(), "g");
}

TEST(Dot, RefusesHostileInputWithOneSentence) {
  const struct {
    std::string text;
    std::string expected;
  } cases[] = {
      {"", "expected digraph"},
      {"graph { a -- b }", "g.dot:1: an undirected graph has no order"},
      {"digraph {\n a -- b }", "g.dot:2: '--' has no direction"},
      {"digraph { a -> b", "has no closing '}'"},
      {"digraph { a [size=", "expected a text behind '='"},
      {"digraph { a [size=1", "expected an attribute or ']'"},
      {"digraph {\n a [label=\"open", "g.dot:2: the text that begins here has no closing quote"},
      {"digraph { /* open", "has no end"},
      {"digraph {\n\n subgraph c { a } }", "g.dot:3: subgraphs are not read"},
      {"digraph { { a } }", "subgraphs are not read"},
      {"digraph { a -> { b c } }", "expected a node behind '->'"},
      {"digraph { a -> }", "expected a node behind '->'"},
      {"digraph { -> a }", "expected a node"},
      {"digraph { a [size=-1] }", "the size of a node must be a finite number"},
      {"digraph { a [size=nan] }", "the size of a node must be a finite number"},
      {"digraph { a [size=\"1e400\"] }", "the size of a node must be a finite number"},
      {"digraph { a -> b [size=inf] }", "the size of an edge must be a finite number"},
      {"digraph { a -> b [size=\"2e18\"] }", "the size of an edge must be a finite number"},
      {"digraph {\na -> b\nb -> a }", "g.dot: op 'a' is on or behind a cycle"},
      {"digraph { a -> a }", "is on or behind a cycle"},
      {"digraph { \"\" }", "a node has an empty name"},
      {"digraph { a\xff }", "not UTF-8"},
      {"digraph { a \x01 }", "the byte 0x01 has no meaning"},
      {"digraph { a [label=<b>] }", "HTML texts are not read"},
      {"digraph { a - b }", "'-' stands alone"},
      {"digraph { a / b }", "'/' begins no comment"},
      {"digraph { a } digraph { b }", "goes on behind the graph"},
      {"digraph " + std::string(100000, '{'), "subgraphs are not read"},
      {"digraph { " + std::string(2000000, 'a') + " }", "longer than 1 MiB"},
  };
  for (const auto& [text, expected] : cases) {
    const auto imported = parse(text);
    ASSERT_FALSE(imported) << text.substr(0, 100);
    EXPECT_NE(imported.error().message.find(expected), std::string::npos)
        << imported.error().message;
  }
}

TEST(Dot, ReadsAsManyEdgesAsTheFilesHaveArrows) {
  TUTTI_NEEDS_SHARED_DATA("dslab_dags/dags");
  int files = 0;
  for (const char* folder : {"dslab_dags/dags", "starpu_rl/graphs"}) {
    for (const auto& entry : std::filesystem::directory_iterator(shared_data(folder))) {
      const std::string ending = entry.path().extension();
      if (ending != ".dot" && ending != ".txt") continue;
      const auto imported = load_graph(entry.path().string());
      ASSERT_TRUE(imported) << imported.error().message;
      EXPECT_EQ(imported->format, "dot");
      std::ifstream file(entry.path());
      const std::string text{std::istreambuf_iterator<char>(file), {}};
      EXPECT_EQ(imported->graph.edge_count(), std::count(text.begin(), text.end(), '>'));
      ++files;
    }
  }
  EXPECT_EQ(files, 21);
}

TEST(Dot, ReadsTiledCholeskyOfEightTiles) {
  TUTTI_NEEDS_SHARED_DATA("starpu_rl/graphs");
  const auto imported = load_graph(shared_data("starpu_rl/graphs/cholesky_8.txt"));
  ASSERT_TRUE(imported) << imported.error().message;
  // n(n+1)(n+2)/6 kernels: n potrf, n(n-1)/2 each of trsm and syrk, the rest gemm.
  EXPECT_EQ(imported->graph.size(), 8 * 9 * 10 / 6);
  int gemms = 0;
  for (const OpId op : imported->graph.ops()) gemms += imported->graph.op_kind_name(op) == "gemm";
  EXPECT_EQ(gemms, 120 - 8 - 28 - 28);
  EXPECT_FALSE(imported->graph.has_given_run_times());
}

}  // namespace
}  // namespace tutti
