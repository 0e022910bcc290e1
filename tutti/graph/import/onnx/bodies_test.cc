// Models with bodies, made by test/make_onnx_corpus.py, which says what they hold.

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "tutti/graph/import/onnx/onnx.h"
#include "tutti/graph/names.h"

namespace tutti {
namespace {

#define TUTTI_NEEDS_ONNX_BODIES() \
  if (!can_read_onnx()) GTEST_SKIP() << "this build reads no ONNX"

Result<Imported> load_body(const std::string& name, const ImportOptions& options = {}) {
  return load_graph(TUTTI_SOURCE_DIR "/test/corpus/onnx/" + name + ".onnx", options);
}

std::set<std::string> names_of(const Graph& graph) {
  std::set<std::string> names;
  for (const OpId op : graph.ops()) names.insert(std::string(graph.op_name(op)));
  return names;
}

std::set<std::string> operands_of(const Graph& graph, std::string_view name) {
  std::set<std::string> names;
  for (const ValueId value : graph.operands(NameIndex(graph).find(name).value())) {
    names.insert(std::string(graph.value_name(value)));
  }
  return names;
}

double all_flops(const Graph& graph) {
  double flops = 0;
  for (const OpId op : graph.ops()) flops += graph.flops(op);
  return flops;
}

using Names = std::set<std::string>;

// Three rounds; the weights are one array, the value made late comes from outside, and what is
// stacked is read from all rounds.
TEST(OnnxBodies, UnrollALoopOfKnownLength) {
  TUTTI_NEEDS_ONNX_BODIES();
  const auto imported = load_body("good_loop");
  ASSERT_TRUE(imported) << imported.error().message;
  EXPECT_TRUE(imported->warnings.empty());
  const Graph& graph = imported->graph;
  EXPECT_EQ(names_of(graph),
            (Names{"late", "end", "again/n.rounds", "again[0]/product", "again[0]/sum",
                   "again[1]/product", "again[1]/sum", "again[2]/product", "again[2]/sum"}));
  EXPECT_EQ(operands_of(graph, "again[0]/product"), (Names{"h0", "w"}));
  EXPECT_EQ(operands_of(graph, "again[1]/product"), (Names{"again[0]/n", "w"}));
  EXPECT_EQ(operands_of(graph, "again[1]/sum"), (Names{"again[1]/hw", "x"}));
  EXPECT_EQ(operands_of(graph, "end"), (Names{"again[2]/n"}));
  EXPECT_EQ(all_flops(graph), 3 * (2 * 8 * 8 * 8 + 64) + 64 + 64);
  const OpId stacked = NameIndex(graph).find("again/n.rounds").value();
  EXPECT_EQ(graph.bytes(*graph.outputs(stacked).begin()), 3 * 8 * 8 * 4);
}

TEST(OnnxBodies, CountOnceWhatNobodyKnowsAndSaySo) {
  TUTTI_NEEDS_ONNX_BODIES();
  const auto once = load_body("good_open_loop");
  ASSERT_TRUE(once) << once.error().message;
  ASSERT_EQ(once->warnings.size(), 1u);
  EXPECT_NE(once->warnings[0].find("how often the body of 'again' runs: it counts once; give the "
                                   "rounds with --dim again=N"),
            std::string::npos)
      << once->warnings[0];
  EXPECT_EQ(once->graph.size(), 5);
  // Its product cannot start before the number of rounds is there.
  EXPECT_EQ(operands_of(once->graph, "again/product"), (Names{"h0", "w", "trips"}));
  const auto four = load_body("good_open_loop", {.dims = {{"again", 4}}});
  ASSERT_TRUE(four) << four.error().message;
  EXPECT_TRUE(four->warnings.empty());
  EXPECT_EQ(four->graph.size(), 4 * 2 + 3);
  const auto fewer = load_body("good_loop", {.dims = {{"again", 2}}});
  ASSERT_TRUE(fewer);
  EXPECT_EQ(fewer->graph.size(), 2 * 2 + 3);
  const auto strange = load_body("good_loop", {.dims = {{"agian", 2}}});
  ASSERT_FALSE(strange);
  EXPECT_NE(strange.error().message.find("no dimension called 'agian'; it has again"),
            std::string::npos);
}

// Five rows. Weights of a body are one array for all rounds; a row is not copied to be read.
TEST(OnnxBodies, UnrollAScanOverItsRows) {
  TUTTI_NEEDS_ONNX_BODIES();
  const auto imported = load_body("good_scan");
  ASSERT_TRUE(imported) << imported.error().message;
  const Graph& graph = imported->graph;
  EXPECT_EQ(graph.size(), 5 * 4 + 1);
  EXPECT_EQ(operands_of(graph, "over[3]/add"), (Names{"over[2]/next", "over[3]/p"}));
  int weights = 0;
  for (const ValueId value : graph.values()) {
    weights += !graph.producer(value).valid() && graph.is_weight(value);
  }
  EXPECT_EQ(weights, 1);
  const OpId row = NameIndex(graph).find("over[4]/row").value();
  EXPECT_EQ(graph.given_run_time(row, "cpu"), Duration(0));
  EXPECT_EQ(graph.bytes(*graph.outputs(row).begin()), 4 * 4);
}

// The larger branch, unless it is known which one is taken. Names are those of the branch, even if
// the graph around it has the same.
TEST(OnnxBodies, TakeTheLargerBranch) {
  TUTTI_NEEDS_ONNX_BODIES();
  const auto open = load_body("good_branches");
  ASSERT_TRUE(open) << open.error().message;
  EXPECT_TRUE(open->warnings.empty());
  EXPECT_EQ(names_of(open->graph), (Names{"choose/act", "choose/out", "act"}));
  EXPECT_EQ(operands_of(open->graph, "choose/act"), (Names{"x", "flag"}));
  EXPECT_EQ(all_flops(open->graph), 2 * 512 + 64 + 64);
  const auto known = load_body("good_known_branch");
  ASSERT_TRUE(known) << known.error().message;
  EXPECT_EQ(names_of(known->graph), (Names{"choose/act", "act"}));
  EXPECT_EQ(operands_of(known->graph, "choose/act"), (Names{"x"}));
}

TEST(OnnxBodies, NestAndMayBeEmpty) {
  TUTTI_NEEDS_ONNX_BODIES();
  const auto nested = load_body("good_nested_loops");
  ASSERT_TRUE(nested) << nested.error().message;
  EXPECT_EQ(names_of(nested->graph),
            (Names{"wide[0]/maybe/deep[0]/exp", "wide[0]/maybe/deep[1]/exp",
                   "wide[1]/maybe/deep[0]/exp", "wide[1]/maybe/deep[1]/exp"}));
  const auto longer = load_body("good_nested_loops", {.dims = {{"wide/maybe/deep", 5}}});
  ASSERT_TRUE(longer) << longer.error().message;
  EXPECT_EQ(longer->graph.size(), 10);
  const auto empty = load_body("good_empty_bodies");
  ASSERT_TRUE(empty) << empty.error().message;
  EXPECT_EQ(operands_of(empty->graph, "end"), (Names{"x"}));
}

TEST(OnnxBodies, ReadTheModelInsideASearch) {
  TUTTI_NEEDS_ONNX_BODIES();
  const auto once = load_body("good_greedy_search", {.dims = {{"past_len", 3}, {"seq", 1}}});
  ASSERT_TRUE(once) << once.error().message;
  EXPECT_EQ(names_of(once->graph),
            (Names{"search/begin", "search/embed", "search/cache", "search/head", "search"}));
  EXPECT_NE(once->warnings[0].find("body of 'search' runs: it counts once"), std::string::npos);
  EXPECT_EQ(operands_of(once->graph, "search/head"), (Names{"search/x", "head"}));
  EXPECT_EQ(operands_of(once->graph, "search"), (Names{"search/logits", "search/present"}));
  const auto more = load_body("good_greedy_search", {.dims = {{"search", 16}}});
  ASSERT_TRUE(more) << more.error().message;
  EXPECT_EQ(more->graph.size(), 16 * 4 + 1);
  EXPECT_EQ(operands_of(more->graph, "search[7]/step"),
            (Names{"search[6]/logits", "search[6]/present"}));
  const auto open = load_body("good_beam_search");
  ASSERT_TRUE(open) << open.error().message;
  EXPECT_NE(open->warnings[0].find("open dimensions of bodies count as 1: past_len, seq"),
            std::string::npos)
      << open->warnings[0];
  EXPECT_EQ(names_of(open->graph),
            (Names{"search/encoder/begin", "search/encoder/embed", "search/step", "search/embed",
                   "search/cache", "search/head", "search"}));
}

TEST(OnnxBodies, StayWithTheirOpWhereTheyAreNotRead) {
  TUTTI_NEEDS_ONNX_BODIES();
  const auto imported = load_body("good_sequence_map");
  ASSERT_TRUE(imported) << imported.error().message;
  EXPECT_EQ(operands_of(imported->graph, "map"), (Names{"x", "w"}));
}

TEST(OnnxBodies, MayRepeatAConstantButNotChangeIt) {
  TUTTI_NEEDS_ONNX_BODIES();
  const auto same = load_body("good_same_constants");
  ASSERT_TRUE(same) << same.error().message;
  EXPECT_EQ(operands_of(same->graph, "add"), (Names{"x", "c"}));
}

TEST(OnnxBodies, AreRefusedWithOneSentence) {
  TUTTI_NEEDS_ONNX_BODIES();
  const struct {
    const char* name;
    const char* expected;
  } cases[] = {
      {"bad_other_constants", "two nodes or inputs make the value 'c'"},
      {"bad_loop_body", "loop 'again' hands on 1 values, and its body takes 2 and makes 3"},
      {"bad_body_result", "the body of 'again' should make 'nowhere', and nothing in it does"},
      {"bad_many_rounds",
       "the rounds of 'deep' would make more than 131072 nodes and values; give "
       "it fewer with --dim wide/maybe/deep=N"},
      {"bad_dimension", "dimension 1 of value 'x' is -7; only -1 can stand for one that is open"},
      {"bad_tensor_dimension", "tensor 'k' has a dimension of -4"},
      {"bad_deep", "is damaged, or nested too deep"},
  };
  for (const auto& [name, expected] : cases) {
    const auto imported = load_body(name);
    ASSERT_FALSE(imported) << name;
    EXPECT_EQ(imported.error().kind, Error::Kind::invalid_input);
    EXPECT_NE(imported.error().message.find(expected), std::string::npos)
        << imported.error().message;
  }
}

}  // namespace
}  // namespace tutti
