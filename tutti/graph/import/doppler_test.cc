#include "tutti/graph/import/doppler.h"

#include <gtest/gtest.h>

#include <string>

#include "test/support/shared_data.h"
#include "tutti/graph/analysis.h"

namespace tutti {
namespace {

Result<Imported> parse(const std::string& text) {
  Source source = Source::from_text("g.txt", text);
  return read_doppler(source, {});
}

TEST(Doppler, TakesRowsAsOpsAndLeavesInputsOut) {
  // Five ops of which two are inputs; op0 -> op1 -> op2 and op0 -> op2.
  const auto imported = parse("5\n0, 1, \n0,1, 0\n1, 2,2\n10,40,fill\n20,80,matmul\n30,120\n");
  ASSERT_TRUE(imported) << imported.error().message;
  const Graph& graph = imported->graph;
  EXPECT_EQ(graph.size(), 3);
  EXPECT_EQ(graph.name(), "g");
  EXPECT_EQ(graph.op_name(OpId{2}), "op2");
  EXPECT_EQ(graph.op_kind_name(OpId{1}), "matmul");
  EXPECT_EQ(graph.op_kind_name(OpId{2}), "op");
  EXPECT_EQ(graph.given_run_time(OpId{1}, "anything"), Duration(20));
  // Op 2 reads op 1 first, as the list does; the transfer is its producer's.
  EXPECT_EQ(graph.edge_from(graph.edges(OpId{2}).front()), OpId{1});
  EXPECT_EQ(graph.given_transfer(graph.edges(OpId{2}).front(), "a", "b"), Duration(80));
  EXPECT_EQ(graph.bytes(ValueId{0}), 0);
}

TEST(Doppler, KeepsEdgesThatAreListedTwice) {
  const auto imported = parse("2\n\n0, 0\n1, 1\n1,1\n1,1\n");
  ASSERT_TRUE(imported) << imported.error().message;
  EXPECT_EQ(imported->graph.edge_count(), 2);
}

TEST(Doppler, RefusesHostileInputWithOneSentence) {
  const struct {
    std::string text;
    std::string expected;
  } cases[] = {
      {"x\n", "g.txt:1: the count of ops must be a whole number"},
      {"-3\n\n\n\n", "g.txt:1: the count of ops"},
      {"99999999999999999999\n\n\n\n", "g.txt:1: the count of ops"},
      {"2\n", "g.txt:2: the file ends where the ids of the inputs should stand"},
      {"2\n0\n0\n", "g.txt:4: the file ends where the destinations of the edges should stand"},
      {"2147483647\n\n\n\n1,1\n", "there are 1 rows of costs, but 2147483647 ops less 0 inputs"},
      {"2\n\n0\n1\n1,1\n", "there are 1 rows of costs, but 2 ops less 0 inputs are 2"},
      {"1\n0, 1\n\n\n", "there are 0 rows of costs, but 1 ops less 2 inputs are -1"},
      {"2\n\n0, 1\n1\n1,1\n1,1\n", "g.txt:4: line 3 lists 2 edges and line 4 lists 1"},
      {"2\n\n0\n2\n1,1\n1,1\n", "g.txt:4: id 2 is out of range"},
      {"2\n\n7\n0\n1,1\n1,1\n", "g.txt:3: id 7 is out of range"},
      {"2\n\n-1\n0\n1,1\n1,1\n", "g.txt:3: an id must be a whole number"},
      {"2\n\n0, 1\n1, 0\n1,1\n1,1\n", "g.txt: op 'op0' is on or behind a cycle"},
      {"1\n\n\n\n-1,1\n", "g.txt:5: comp must be a finite number"},
      {"1\n\n\n\n1,nan\n", "g.txt:5: comm must be a finite number"},
      {"1\n\n\n\n1,inf\n", "g.txt:5: comm must be a finite number"},
      {"1\n\n\n\n1e30,1\n", "g.txt:5: comp must be a finite number"},
      {"1\n\n\n\n1\n", "g.txt:5: a row is \"comp,comm\""},
      {"1\n\n\n\n1,1,a,b\n", "g.txt:5: a row is \"comp,comm\""},
      {"1\n\n\n\n1,1,\xff\n", "g.txt:5: the line is not UTF-8"},
      {"1\n\n\n\n" + std::string(100000, '9') + ",1\n", "999..."},
  };
  for (const auto& [text, expected] : cases) {
    const auto imported = parse(text);
    ASSERT_FALSE(imported) << text.substr(0, 100);
    EXPECT_NE(imported.error().message.find(expected), std::string::npos)
        << imported.error().message;
    EXPECT_LT(imported.error().message.size(), 300U);
  }
}

TEST(Doppler, ReadsThePapersGraphs) {
  const struct {
    const char* file;
    int ops;
    int edges;
    int depth;
    int parts;
  } known[] = {
      {"gdp_chain_mm_112nodes", 76, 80, 5, 2},
      {"gdp_ffnn_192nodes", 180, 208, 12, 4},
      {"ffnn_192nodes", 180, 208, 12, 4},
      {"gdp_transformer_block_215nodes", 182, 234, 49, 1},
      {"gdp_full_transformer_layer_261nodes", 229, 284, 63, 1},
      {"8gpu_transformer_block", 302, 398, 49, 1},
      {"8gpu_full_transformer", 367, 470, 63, 1},
  };
  TUTTI_NEEDS_SHARED_DATA("doppler");
  for (const auto& [file, ops, edges, depth, parts] : known) {
    const auto imported = load_graph(shared_data(std::string("doppler/") + file + ".txt"));
    ASSERT_TRUE(imported) << imported.error().message;
    EXPECT_EQ(imported->format, "doppler");
    EXPECT_EQ(imported->graph.size(), ops) << file;
    EXPECT_EQ(imported->graph.edge_count(), edges) << file;
    EXPECT_EQ(levels(imported->graph).depth, depth) << file;
    EXPECT_EQ(components(imported->graph).count, parts) << file;
  }
}

}  // namespace
}  // namespace tutti
