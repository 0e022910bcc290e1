#include "tutti/costs/assumed.h"

#include <gtest/gtest.h>

#include "tutti/base/file/source.h"
#include "tutti/graph/file.h"

namespace tutti {
namespace {

Graph commands(const std::string& ops) {
  Source source(Source::from_text(
      "commands.json",
      R"({"format": "tutti-graph", "schema_version": 2, "name": "w", "ops": [)" + ops + "]}"));
  return read_graph(source).value();
}

TEST(AssumedTimes, CommandsWithoutAnyAreEqual) {
  const Graph graph = commands(R"({"name": "a", "kind": "sh", "command": {"argv": ["true"]}},
                                  {"name": "b", "kind": "sh", "command": {"argv": ["false"]}})");
  CostSpec spec;
  const AssumedTimes assumed = assume_equal_commands(graph, spec);
  EXPECT_EQ(assumed.commands, 2);
  EXPECT_EQ(assumed.each, std::chrono::seconds(1));
  ASSERT_EQ(spec.op_times.size(), 2U);
  EXPECT_EQ(spec.op_times[0].op, "a");
  EXPECT_EQ(spec.op_times[1].time_ns, 1e9);
}

TEST(AssumedTimes, TheOthersTellWhatToAssume) {
  // 3, 5 and 100: the median is 5.
  const Graph graph = commands(
      R"({"name": "a", "run_time_ns": 100, "command": {"argv": ["true"]}},
         {"name": "b", "run_time_ns": 3, "command": {"argv": ["true"]}},
         {"name": "c", "run_time_ns": 5, "command": {"argv": ["true"]}},
         {"name": "d", "command": {"argv": ["true"]}})");
  CostSpec spec;
  const AssumedTimes assumed = assume_equal_commands(graph, spec);
  EXPECT_EQ(assumed.commands, 1);
  EXPECT_EQ(assumed.each, Duration(5));
}

TEST(AssumedTimes, WhatIsKnownStaysAsItIs) {
  const Graph graph = commands(
      R"({"name": "timed", "run_time_ns": 0, "command": {"argv": ["true"]}},
         {"name": "by kind", "kind": "sort", "command": {"argv": ["sort"]}},
         {"name": "by name", "command": {"argv": ["true"]}},
         {"name": "no command"})");
  CostSpec spec;
  spec.run_times = {{.kind = "sort", .device_kind = "", .time_ns_by_size = {{0, 7}}}};
  spec.op_times = {{.op = "by name", .device_kind = "", .time_ns = 9}};
  EXPECT_EQ(assume_equal_commands(graph, spec).commands, 0);
  EXPECT_EQ(spec.op_times.size(), 1U);
}

}  // namespace
}  // namespace tutti
