#include "tutti/graph/make/perturb.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "tutti/graph/make/layered.h"

namespace tutti {
namespace {

// Who reads whom, by name.
std::multiset<std::pair<std::string, std::string>> reads(const Graph& graph) {
  std::multiset<std::pair<std::string, std::string>> pairs;
  for (const OpId op : graph.ops()) {
    for (const EdgeId edge : graph.edges(op)) {
      pairs.emplace(graph.op_name(graph.edge_from(edge)), graph.op_name(op));
    }
  }
  return pairs;
}

TEST(Shake, KeepsWhoReadsWhomAndChangesTheRestALittle) {
  const Graph graph = make_layered({.ops = 200, .width = 10}).value();
  const Graph other = perturbed(graph, {.seed = 3}).value();
  EXPECT_EQ(reads(other), reads(graph));
  EXPECT_NE(other.op_name(OpId{0}), graph.op_name(OpId{0}));
  std::map<std::string, double> flops;
  for (const OpId op : graph.ops()) flops[std::string(graph.op_name(op))] = graph.flops(op);
  bool any_changed = false;
  for (const OpId op : other.ops()) {
    const double before = flops.at(std::string(other.op_name(op)));
    EXPECT_NEAR(other.flops(op), before, 0.05 * before);
    any_changed = any_changed || other.flops(op) != before;
  }
  EXPECT_TRUE(any_changed);
}

TEST(Shake, GivesTheSameForTheSameSeed) {
  const Graph graph = make_layered({.ops = 50, .width = 5}).value();
  EXPECT_EQ(perturbed(graph, {.seed = 3}).value().fingerprint(),
            perturbed(graph, {.seed = 3}).value().fingerprint());
  EXPECT_NE(perturbed(graph, {.seed = 3}).value().fingerprint(),
            perturbed(graph, {.seed = 4}).value().fingerprint());
  EXPECT_FALSE(perturbed(graph, {.spread = 1.5}));
}

TEST(Shake, MultipliesTheBytesOfAllValues) {
  const Graph graph = make_layered({.ops = 50, .width = 5}).value();
  const Graph more = perturbed(graph, {.spread = 0, .bytes_times = 10}).value();
  int64_t before = 0;
  int64_t after = 0;
  for (const ValueId value : graph.values()) before += graph.bytes(value);
  for (const ValueId value : more.values()) after += more.bytes(value);
  EXPECT_EQ(after, 10 * before);
  EXPECT_FALSE(perturbed(graph, {.bytes_times = 0}));
}

}  // namespace
}  // namespace tutti
