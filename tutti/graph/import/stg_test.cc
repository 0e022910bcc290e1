#include "tutti/graph/import/stg.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "test/support/shared_data.h"
#include "tutti/graph/analysis.h"

namespace tutti {
namespace {

Result<Imported> parse(const std::string& text) {
  Source source = Source::from_text("g.stg", text);
  return read_stg(source, {});
}

TEST(Stg, KeepsTheDummiesAsOpsOfNoTime) {
  const auto imported =
      parse(" 2\n 0 0 0\n 1 9 1 0 # a comment\n\n 2 4 1 0\n 3 0 2 1 2\n# the end\n");
  ASSERT_TRUE(imported) << imported.error().message;
  const Graph& graph = imported->graph;
  EXPECT_EQ(graph.size(), 4);
  EXPECT_EQ(graph.edge_count(), 4);
  EXPECT_EQ(graph.given_run_time(OpId{0}, "cpu"), Duration(0));
  EXPECT_EQ(graph.given_run_time(OpId{1}, "cpu"), Duration(9));
  EXPECT_EQ(graph.edge_from(graph.edges(OpId{3}).front()), OpId{1});
}

TEST(Stg, RefusesHostileInputWithOneSentence) {
  const struct {
    std::string text;
    std::string expected;
  } cases[] = {
      {"", "must begin with the count of tasks"},
      {"2 3\n", "g.stg:1: the file must begin with the count of tasks alone"},
      {"-2\n", "g.stg:1: the count of tasks must be a whole number"},
      {"9999999999\n0 0 0\n", "g.stg:1: the count of tasks must be a whole number"},
      {"2147483645\n0 0 0\n", "g.stg:3: the file ends after 1 rows"},
      {"1\n0 0 0\n1 5 1 0\n", "g.stg:4: the file ends after 2 rows, but 1 tasks and 2 dummies"},
      {"0\n0 0 0\n1 0 1 0\n2 0 1 0\n", "g.stg:4: there are more than 2 rows"},
      {"0\n0 0\n", "g.stg:2: a row is an id"},
      {"0\n0 0 0\n0 0 0\n", "g.stg:3: id 0 stands where 1 is due"},
      {"0\n0 0 0\n1 0 2 0\n", "g.stg:3: 2 predecessors are announced and 1 are listed"},
      {"0\n0 0 0\n1 0 4000000000 0\n", "g.stg:3: a count of predecessors must be"},
      {"0\n0 0 0\n1 0 1 2\n",
       "g.stg:3: the id of a predecessor must be a whole number from 0 to 1"},
      {"0\n0 0 1 1\n1 0 1 0\n", "g.stg: op 'op0' is on or behind a cycle"},
      {"0\n0 -1 0\n1 0 1 0\n", "g.stg:2: a time must be a finite number"},
      {"0\n0 nan 0\n1 0 1 0\n", "g.stg:2: a time must be a finite number"},
      {"0\n0 0 0\n1 0 1 \xc0\n", "g.stg:3: the line is not UTF-8"},
  };
  for (const auto& [text, expected] : cases) {
    const auto imported = parse(text);
    ASSERT_FALSE(imported) << text;
    EXPECT_NE(imported.error().message.find(expected), std::string::npos)
        << imported.error().message;
  }
}

// Each file states the length of its own critical path in a comment.
TEST(Stg, FindsTheCriticalPathThatEachFileStates) {
  TUTTI_NEEDS_SHARED_DATA("stg/50");
  int checked = 0;
  for (const auto& [folder, rows] : {std::pair{"stg/50", 52}, std::pair{"stg/100", 102}}) {
    for (const auto& entry : std::filesystem::directory_iterator(shared_data(folder))) {
      const auto imported = load_graph(entry.path().string());
      ASSERT_TRUE(imported) << imported.error().message;
      EXPECT_EQ(imported->format, "stg");
      EXPECT_EQ(imported->graph.size(), rows) << entry.path();
      const CriticalPath path = critical_path(
          imported->graph, [&](OpId op) { return *imported->graph.given_run_time(op, ""); },
          [](EdgeId) { return Duration(0); });
      std::ifstream file(entry.path());
      std::string line;
      while (std::getline(file, line)) {
        if (line.rfind("# CP Length", 0) != 0) continue;
        EXPECT_EQ(path.length.count(), std::stoll(line.substr(line.find(':') + 1))) << entry.path();
        ++checked;
      }
    }
  }
  EXPECT_EQ(checked, 180);
}

}  // namespace
}  // namespace tutti
