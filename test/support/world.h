// A problem from parts that make one, for a test.

#ifndef TUTTI_TEST_SUPPORT_WORLD_H_
#define TUTTI_TEST_SUPPORT_WORLD_H_

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tutti/base/file/source.h"
#include "tutti/graph/file.h"
#include "tutti/machine/file.h"
#include "tutti/machine/preset.h"
#include "tutti/plan/problem.h"

namespace tutti {

// The value, or the end of the test program with the sentence.
template <class T>
T must(Result<T> result) {
  if (!result) ADD_FAILURE() << result.error().message;
  return std::move(*result);
}

inline Graph graph_from(const std::string& ops) {
  Source source = Source::from_text(
      "test", R"({"format":"tutti-graph","schema_version":1,"name":"test",)" + ops + "}");
  return must(read_graph(source));
}

inline Machine machine_from(const std::string& json) {
  Source source = Source::from_text("test", json);
  return must(read_machine(source));
}

struct World {
  std::shared_ptr<const Problem> problem;
  const Graph& graph = problem->graph;
  const Machine& machine = problem->machine;
  const Costs& costs = problem->costs;

  World(Graph made_graph, Machine made_machine, const CostSpec& spec = {},
        const Constraints& constraints = {})
      : problem(std::make_shared<const Problem>(must(
            Problem::make(std::move(made_graph), std::move(made_machine), spec, constraints)))) {}

  World(Graph made_graph, const char* preset)
      : World(std::move(made_graph), must(make_preset(preset))) {}
};

}  // namespace tutti

#endif  // TUTTI_TEST_SUPPORT_WORLD_H_
