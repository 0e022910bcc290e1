#include "tutti/report/command_output.h"

#include <gtest/gtest.h>

namespace tutti {
namespace {

CommandOutput output_from(const std::string& text) {
  EXPECT_TRUE(looks_like_command_output(text)) << text;
  Source source = Source::from_text("out.json", text);
  auto output = read_command_output(source);
  if (!output) {
    ADD_FAILURE() << output.error().message;
    return {};
  }
  return std::move(*output);
}

const OutputCell& fact(const CommandOutput& output, const std::string& key) {
  for (const OutputFact& one : output.facts) {
    if (one.key == key) return one.value;
  }
  ADD_FAILURE() << "no fact " << key;
  static const OutputCell kNone;
  return kNone;
}

TEST(CommandOutput, SingleFiguresAreFactsAlsoThoseOfInnerObjects) {
  const CommandOutput output =
      output_from(R"({"schema_version": 1, "graph": "g", "lower_bound_ns": 200,
      "work_conserving": {"makespan_ns": 210, "proven": true}, "any_schedule": null,
      "makespans_ns": [1, 2, 3], "faults": []})");
  EXPECT_EQ(output.title, "Exact schedules");
  EXPECT_EQ(fact(output, "graph"), OutputCell(std::string("g")));
  EXPECT_EQ(fact(output, "work_conserving.makespan_ns"), OutputCell(210.0));
  EXPECT_EQ(fact(output, "work_conserving.proven"), OutputCell(true));
  EXPECT_EQ(fact(output, "any_schedule"), OutputCell());
  EXPECT_EQ(fact(output, "makespans_ns"), OutputCell(std::string("1, 2, 3")));
  EXPECT_EQ(fact(output, "faults"), OutputCell(std::string("none")));
  EXPECT_EQ(output.facts.size(), 7U);
  EXPECT_FALSE(output.chart);
}

// As tutti cluster --runtime local writes them: rows with lists of their own.
TEST(CommandOutput, ListsOfObjectsAreTablesAndTheChiefFigureIsDrawn) {
  const CommandOutput output = output_from(R"({"schema_version": 1, "machine": "m", "results": [
      {"policy": "fifo", "mean_slowdown": 3.5, "mean_slowdown_half_interval": 0.5,
       "runs": [{"turn": 1, "makespan_ns": 7, "slowdowns": [1, 2, 3, 4, 5, 6, 7, 8, 9]}]},
      {"policy": "heft", "mean_slowdown": 2.5, "decisions": 9,
       "runs": [{"turn": 1, "makespan_ns": 8}, {"turn": 2, "makespan_ns": 9}]}]})");
  EXPECT_EQ(output.title, "Jobs that arrive");
  ASSERT_EQ(output.tables.size(), 2U);
  const OutputTable& results = output.tables[0];
  EXPECT_EQ(results.columns,
            (std::vector<std::string>{"policy", "mean_slowdown", "mean_slowdown_half_interval",
                                      "decisions"}));
  ASSERT_EQ(results.rows.size(), 2U);
  EXPECT_EQ(results.rows[1][2], OutputCell());
  EXPECT_EQ(results.rows[1][3], OutputCell(9.0));
  EXPECT_EQ(results.rows[0][3], OutputCell());
  const OutputTable& runs = output.tables[1];
  EXPECT_EQ(runs.title, "results / runs");
  ASSERT_EQ(runs.rows.size(), 3U);
  EXPECT_EQ(runs.rows[2][0], OutputCell(std::string("heft")));
  EXPECT_EQ(runs.rows[0][3], OutputCell(std::string("9 values from 1 to 9")));
  ASSERT_TRUE(output.chart);
  EXPECT_EQ(output.chart->table, 0);
  EXPECT_EQ(output.chart->value, 1);
  EXPECT_EQ(output.chart->more, 2);
}

TEST(CommandOutput, ALogOfAServerIsATableOfRunsWithTheirTimes) {
  const CommandOutput output = output_from(
      R"({"job":"a","attempt":1,"event":"start","unix_ns":1000}
{"job":"b","attempt":1,"event":"start","unix_ns":1500}
{"job":"a","attempt":1,"event":"end","unix_ns":3000,"state":"done","makespan_ns":1900}
{"job":"b","attempt":1,"event":"end","unix_ns":3500,"state":"failed","message":"no room"}
{"job":"c","attempt":1,"event":"start","unix_ns":4000}
{"job":"c","att)");
  EXPECT_EQ(output.title, "Runs of a server");
  EXPECT_EQ(fact(output, "runs"), OutputCell(3.0));
  EXPECT_EQ(fact(output, "done"), OutputCell(1.0));
  EXPECT_EQ(fact(output, "failed"), OutputCell(1.0));
  ASSERT_EQ(output.tables.size(), 1U);
  const auto& rows = output.tables[0].rows;
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0][3], OutputCell(2000.0));
  EXPECT_EQ(rows[1][2], OutputCell(500.0));
  EXPECT_EQ(rows[1][5], OutputCell(std::string("no room")));
  EXPECT_EQ(rows[2][3], OutputCell());
  EXPECT_EQ(rows[2][4], OutputCell(std::string("running")));
  ASSERT_TRUE(output.chart);
  EXPECT_EQ(output.chart->kind, OutputChart::Kind::spans);
}

TEST(CommandOutput, OtherLinesOfJsonAreATable) {
  const CommandOutput output = output_from("{\"a\": 1}\n{\"a\": 2, \"b\": \"x\"}\n");
  ASSERT_EQ(output.tables.size(), 1U);
  EXPECT_EQ(output.tables[0].columns, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(output.tables[0].rows[0][1], OutputCell());
}

TEST(CommandOutput, RowsWithoutFiguresAreShownAsTheyAre) {
  const CommandOutput output =
      output_from(R"({"schema_version": 1, "a": [{"b": [{"c": 1}]}, {}], "d": [{}]})");
  ASSERT_EQ(output.tables.size(), 3U);
  EXPECT_EQ(output.tables[0].rows.size(), 2U);
  EXPECT_EQ(output.tables[1].title, "a / b");
  EXPECT_FALSE(output.chart);
}

TEST(CommandOutput, LongTablesAreCut) {
  std::string text = R"({"schema_version": 1, "rows": [)";
  for (size_t i = 0; i < kMostOutputRows + 5; ++i)
    text += (i == 0 ? "" : ",") + std::string("{\"a\":1}");
  const CommandOutput output = output_from(text + "]}");
  EXPECT_EQ(output.tables[0].rows.size(), kMostOutputRows);
  EXPECT_EQ(output.tables[0].left_out, 5);
}

TEST(CommandOutput, IsKnownByItsBeginning) {
  EXPECT_TRUE(looks_like_command_output("{\n \"schema_version\":1,\n \"good\":true"));
  EXPECT_TRUE(looks_like_command_output(R"({"format": "tutti-device-map", "schema_version": 1})"));
  EXPECT_TRUE(looks_like_command_output(R"({"jobs": [{"id": "a", "attempts": 1}], "next": ""})"));
  EXPECT_TRUE(looks_like_command_output(R"({"id": "a", "state": "done", "attempts": 1})"));
  // What tutti graph info prints, and a graph.
  EXPECT_TRUE(looks_like_command_output(
      R"({"schema_version": 1, "name": "g", "format": "tutti-graph", "ops": 40})"));
  EXPECT_FALSE(looks_like_command_output(
      R"({"schema_version": 1, "format": "tutti-graph", "name": "g", "ops": [{"name": "a"}]})"));
  EXPECT_FALSE(looks_like_command_output(R"({"name": "w", "schemaVersion": "1.5"})"));
  EXPECT_FALSE(looks_like_command_output("digraph { a -> b }"));
  EXPECT_FALSE(looks_like_command_output(""));
}

TEST(CommandOutput, SaysWhereItIsNoJson) {
  for (const char* text :
       {"{\"schema_version\": 1,\n \"a\": }", "{\"a\":1}\n{\"b\"}\n{\"c\":1}\n"}) {
    Source source = Source::from_text("out.json", text);
    const auto output = read_command_output(source);
    ASSERT_FALSE(output) << text;
    EXPECT_NE(output.error().message.find("out.json:2"), std::string::npos)
        << output.error().message;
  }
}

}  // namespace
}  // namespace tutti
