#include "tutti/machine/link_graph.h"

#include <gtest/gtest.h>

namespace tutti {
namespace {

// The links of the best path, in order.
std::vector<int> links_to(const LinkGraph& network, int from, int to) {
  std::vector<int> links;
  for (const auto& step : LinkGraph::path_to(network.search(from), to)) links.push_back(step.link);
  return links;
}

LinkGraph with_places(int count) {
  LinkGraph network;
  for (int i = 0; i < count; ++i) network.add_place(/*passable=*/true);
  return network;
}

TEST(LinkGraph, PrefersFewerLinksToLessLatency) {
  LinkGraph network = with_places(3);
  network.add_link(0, 1, Duration(1));
  network.add_link(1, 2, Duration(1));
  const int direct = network.add_link(0, 2, Duration(100));
  EXPECT_EQ(links_to(network, 0, 2), std::vector<int>{direct});
}

TEST(LinkGraph, PrefersLessLatencyAmongEquallyManyLinks) {
  // 0 - 1 - 3 and 0 - 2 - 3; the second way is found later and is quicker.
  LinkGraph network = with_places(4);
  network.add_link(0, 1, Duration(10));
  network.add_link(1, 3, Duration(10));
  const int first = network.add_link(0, 2, Duration(15));
  const int second = network.add_link(2, 3, Duration(4));
  EXPECT_EQ(links_to(network, 0, 3), (std::vector<int>{first, second}));
}

TEST(LinkGraph, PrefersEarlierLinksAmongEqualWays) {
  LinkGraph network = with_places(2);
  const int earlier = network.add_link(0, 1, Duration(5));
  network.add_link(0, 1, Duration(5));
  EXPECT_EQ(links_to(network, 0, 1), std::vector<int>{earlier});
  EXPECT_EQ(links_to(network, 1, 0), std::vector<int>{earlier});
}

TEST(LinkGraph, LeadsOnThroughPassablePlacesOnly) {
  LinkGraph network = with_places(2);
  const int closed = network.add_place(/*passable=*/false);
  network.add_link(0, closed, Duration(0));
  network.add_link(closed, 1, Duration(0));
  EXPECT_EQ(network.search(0)[closed].links, 1);
  EXPECT_EQ(network.search(0)[1].links, -1);
  EXPECT_EQ(network.search(closed)[1].links, 1) << "a path may start anywhere";
}

TEST(LinkGraph, StepsOverALinkFromEitherEnd) {
  LinkGraph network = with_places(3);
  const int link = network.add_link(0, 1, Duration(0));
  EXPECT_EQ(network.step_from(0, link).to, 1);
  EXPECT_TRUE(network.step_from(0, link).forward);
  EXPECT_EQ(network.step_from(1, link).to, 0);
  EXPECT_FALSE(network.step_from(1, link).forward);
  EXPECT_EQ(network.step_from(2, link).to, -1);
}

}  // namespace
}  // namespace tutti
