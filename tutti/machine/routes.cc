// The routes of a machine: the shortest paths, and those that its file writes down instead.

#include <fmt/format.h>

#include <algorithm>

#include "tutti/machine/builder.h"
#include "tutti/machine/spec.h"

namespace tutti {

Result<void> MachineBuilder::find_routes() {
  const int memories = machine_.memory_count();
  machine_.routes_.resize(static_cast<size_t>(memories) * memories);
  for (int from = 0; from < memories; ++from) {
    const auto arrivals = network_.search(from);
    for (int to = 0; to < memories; ++to) {
      if (arrivals[to].links <= 0) continue;
      if (arrivals[to].links > kMostLinksOfRoute) {
        return spec_error(spec(), 0,
                          fmt::format("the way from '{}' to '{}' takes {} links; tutti takes at "
                                      "most {}",
                                      machine_.memories_[from].name, machine_.memories_[to].name,
                                      arrivals[to].links, kMostLinksOfRoute));
      }
      route_between(from, to) = route_along(from, LinkGraph::path_to(arrivals, to));
    }
  }
  return {};
}

Route MachineBuilder::route_along(int from, const std::vector<Step>& path) const {
  Route route;
  bool at_memory = true;
  int place = from;
  const auto hold = [&](ChannelId channel) {
    if (channel.valid()) route.hops.back().channels.push_back(channel);
  };
  for (const Step& step : path) {
    if (at_memory) {
      route.hops.emplace_back();
      hold(engines_[place].forward);
    }
    const Pair& link = link_channels_[step.link];
    hold(step.forward ? link.forward : link.backward);
    place = step.to;
    at_memory = is_memory(place);
    hold(at_memory ? engines_[place].backward : switch_channel_[place - machine_.memory_count()]);
    if (!at_memory) continue;
    route.hops.back().to = MemoryId{place};
    finish(route.hops.back());
  }
  return route;
}

void MachineBuilder::finish(Hop& hop) const {
  for (const ChannelId id : hop.channels) {
    const Channel& channel = machine_.channel(id);
    hop.latency += channel.latency;
    hop.has_exclusive = hop.has_exclusive || channel.sharing == Sharing::exclusive;
    if (channel.sharing == Sharing::shared) hop.shared.push_back(id);
    if (channel.bytes_per_s == 0) continue;  // no limit
    hop.ns_per_byte = std::max(hop.ns_per_byte, 1e9 / channel.bytes_per_s);
    if (channel.sharing != Sharing::shared) {
      hop.unshared_bytes_per_ns = std::min(hop.unshared_bytes_per_ns, channel.bytes_per_s * 1e-9);
    }
  }
  hop.channels.shrink_to_fit();
  hop.shared.shrink_to_fit();
}

Result<void> MachineBuilder::take_written_routes() {
  std::vector<bool> taken(machine_.routes_.size());
  for (const auto& route : spec().routes) {
    int places[2];
    for (const int end : {0, 1}) {
      const std::string& name = end == 0 ? route.from : route.to;
      const auto found = place_by_name_.find(name);
      if (found == place_by_name_.end() || !is_memory(found->second)) {
        return spec_error(spec(), route.line,
                          fmt::format("a route ends at '{}', which is no device or host", name));
      }
      places[end] = found->second;
    }
    const auto [from, to] = places;
    if (from == to) {
      return spec_error(spec(), route.line,
                        fmt::format("the route from '{}' to '{}' stays in one memory; remove it",
                                    route.from, route.to));
    }
    const size_t pair = static_cast<size_t>(from) * machine_.memories_.size() + to;
    if (taken[pair]) {
      return spec_error(spec(), route.line,
                        fmt::format("the route from '{}' to '{}' stands twice; remove one",
                                    route.from, route.to));
    }
    taken[pair] = true;
    const auto path = written_path(route, from);
    if (!path) return path.error();
    if (path->empty() || path->back().to != to) {
      return spec_error(spec(), route.line,
                        fmt::format("the route from '{}' to '{}' does not end there; add the "
                                    "links that are missing",
                                    route.from, route.to));
    }
    route_between(from, to) = route_along(from, *path);
  }
  return {};
}

Result<std::vector<LinkGraph::Step>> MachineBuilder::written_path(
    const MachineSpec::RouteSpec& route, int from) const {
  const auto wrong = [&](const std::string& sentence) {
    return spec_error(
        spec(), route.line,
        fmt::format("the route from '{}' to '{}' {}", route.from, route.to, sentence));
  };
  std::vector<Step> path;
  int place = from;
  for (const auto& hop : route.hops) {
    std::vector<int> passed = {place};  // by this hop, which holds each channel once
    bool in_hop = false;
    for (const std::string& name : hop) {
      if (in_hop && is_memory(place)) {
        return wrong(
            fmt::format("goes on with '{}' where a memory ends the hop; begin a new hop "
                        "there",
                        name));
      }
      const auto step = written_step(route, name, place);
      if (!step) return step.error();
      if (step->link < 0) continue;  // the switch we are at
      in_hop = true;
      place = step->to;
      if (std::find(passed.begin(), passed.end(), place) != passed.end()) {
        return wrong(fmt::format("comes back with '{}' to where the hop was before", name));
      }
      passed.push_back(place);
      path.push_back(*step);
      if (path.size() > kMostLinksOfRoute) {
        return wrong(fmt::format("has more than {} links", kMostLinksOfRoute));
      }
    }
    if (!in_hop) return wrong("has a hop without a link");
    if (!is_memory(place)) {
      return wrong(
          fmt::format("has a hop that ends with '{}' at a switch, which holds no values; "
                      "go on to a memory",
                      hop.back()));
    }
  }
  return path;
}

// The step that a name in a written route stands for; its link is -1 if it is the switch we are at.
Result<LinkGraph::Step> MachineBuilder::written_step(const MachineSpec::RouteSpec& route,
                                                     const std::string& name, int place) const {
  if (const auto link = link_by_name_.find(name); link != link_by_name_.end()) {
    const Step step = network_.step_from(place, link->second);
    if (step.to >= 0) return step;
  } else if (const auto here = place_by_name_.find(name);
             here != place_by_name_.end() && here->second == place && !is_memory(place)) {
    return Step{};
  }
  return spec_error(spec(), route.line,
                    fmt::format("the route from '{}' to '{}' cannot go on with '{}': name a link "
                                "that begins where the one before ends",
                                route.from, route.to, name));
}

Result<void> MachineBuilder::check_connected() const {
  for (const Device& from : machine_.devices_) {
    for (const Device& to : machine_.devices_) {
      if (machine_.route(from.memory, to.memory) != nullptr) continue;
      return spec_error(spec(), 0,
                        fmt::format("nothing connects device '{}' to device '{}'; add a link, or "
                                    "a switch with a link to each",
                                    from.name, to.name));
    }
  }
  return {};
}

}  // namespace tutti
