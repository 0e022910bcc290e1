#include "tutti/machine/link_graph.h"

#include <algorithm>
#include <utility>

#include "tutti/base/check.h"

namespace tutti {

int LinkGraph::add_place(bool passable) {
  passable_.push_back(passable);
  steps_from_.emplace_back();
  return static_cast<int>(passable_.size()) - 1;
}

int LinkGraph::add_link(int first_end, int second_end, Duration latency) {
  TUTTI_CHECK(first_end != second_end);
  const int link = static_cast<int>(links_.size());
  links_.push_back({{first_end, second_end}, latency});
  steps_from_[first_end].push_back({.link = link, .forward = true, .to = second_end});
  steps_from_[second_end].push_back({.link = link, .forward = false, .to = first_end});
  return link;
}

// Breadth first, one number of links after the other: all places of one level are known before any
// of them leads on, so the least latency among the fewest links is found without a queue.
std::vector<LinkGraph::Arrival> LinkGraph::search(int start) const {
  std::vector<Arrival> arrivals(passable_.size());
  arrivals[start].links = 0;
  std::vector<int> level = {start};
  for (int links = 1; !level.empty(); ++links) {
    std::vector<int> next;
    for (const int place : level) {
      if (place != start && !passable_[place]) continue;
      for (const Step& step : steps_from_[place]) {
        Arrival& there = arrivals[step.to];
        const Duration latency = arrivals[place].latency + links_[step.link].latency;
        const bool first = there.links < 0;
        if (!first && (there.links < links || there.latency <= latency)) continue;
        there = {.links = links, .latency = latency, .from = place, .step = step};
        if (first) next.push_back(step.to);
      }
    }
    level = std::move(next);
  }
  return arrivals;
}

std::vector<LinkGraph::Step> LinkGraph::path_to(const std::vector<Arrival>& arrivals, int place) {
  TUTTI_CHECK(arrivals[place].links >= 0);
  std::vector<Step> path;
  path.reserve(arrivals[place].links);
  for (; arrivals[place].links > 0; place = arrivals[place].from) {
    path.push_back(arrivals[place].step);
  }
  std::reverse(path.begin(), path.end());
  return path;
}

LinkGraph::Step LinkGraph::step_from(int place, int link) const {
  const auto& ends = links_[link].ends;
  if (ends[0] == place) return {.link = link, .forward = true, .to = ends[1]};
  if (ends[1] == place) return {.link = link, .forward = false, .to = ends[0]};
  return {};
}

}  // namespace tutti
