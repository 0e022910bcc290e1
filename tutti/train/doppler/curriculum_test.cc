#include "tutti/train/doppler/curriculum.h"

#include <gtest/gtest.h>

#include <set>

namespace tutti {
namespace {

TEST(Curriculum, DrawsTheSameProblemForTheSameNumber) {
  const auto one = draw_problem({}, Rng(5));
  const auto other = draw_problem({}, Rng(5));
  EXPECT_EQ(one->problem().graph.fingerprint(), other->problem().graph.fingerprint());
  EXPECT_EQ(one->problem().machine.fingerprint(), other->problem().machine.fingerprint());
}

TEST(Curriculum, KeepsToItsSizesAndLeavesTheTestFamiliesAlone) {
  std::set<std::string> families;
  std::set<int> devices;
  for (uint64_t i = 0; i < 200; ++i) {
    const auto problem = draw_problem({.most_ops = 120}, Rng(i));
    const Graph& graph = problem->problem().graph;
    EXPECT_LE(graph.size(), 120);
    EXPECT_GE(graph.size(), 2);
    families.insert(graph.name().substr(0, graph.name().find_first_of("-_ 0123456789")));
    devices.insert(problem->problem().machine.size());
    for (const char* held_out : {"fft", "cholesky", "llama", "all"}) {
      EXPECT_EQ(graph.name().find(held_out), std::string::npos) << graph.name();
    }
  }
  EXPECT_GE(families.size(), 5u);
  EXPECT_GE(devices.size(), 6u);
}

}  // namespace
}  // namespace tutti
