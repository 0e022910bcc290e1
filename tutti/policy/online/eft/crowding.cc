#include "tutti/policy/online/eft/crowding.h"

#include <algorithm>

namespace tutti {
namespace {

// What is left of a resource for one more, next to `flows` others that draw `drawn`: what they
// leave, or an even share.
double left_for_one(double drawn, double flows) {
  return std::max(1 - drawn, 1 / (1 + std::max(0.0, flows)));
}

}  // namespace

void Crowding::begin(const Cluster& cluster) {
  cluster_ = &cluster;
  resources_.clear();
  for (const SharedResource& item : cluster.resources().list())
    resources_.push_back({.per_unit = 1 / item.capacity});
  const auto memories = static_cast<size_t>(cluster.machine().memory_count());
  routes_.assign(memories * memories, {});
}

void Crowding::clear() {
  for (OfResource& item : resources_) item.drawn = item.left = item.flows = 0;
}

void Crowding::add_running(std::span<const Draw> draws, double ns) {
  for (const Draw& draw : draws) {
    OfResource& item = resources_[draw.resource];
    const double share = draw.amount * item.per_unit;
    item.drawn += share;
    item.left += share * ns;
    item.flows += 1;
  }
}

void Crowding::add_waiting(std::span<const Draw> draws, double ns) {
  for (const Draw& draw : draws) {
    OfResource& item = resources_[draw.resource];
    item.left += draw.amount * item.per_unit * ns;
  }
}

double Crowding::slowdown(std::span<const Draw> draws, double wait, double run) const {
  double most = 1;
  for (const Draw& draw : draws) {
    const OfResource& item = resources_[draw.resource];
    if (item.left <= 0) continue;
    // No more than all of it is done until then.
    const double left = item.left - std::min(item.drawn, 1.0) * wait;
    if (left <= 0 || item.drawn <= 0) continue;
    const double met = std::min(item.drawn, left / std::max(run, 1.0));
    const double share = draw.amount * item.per_unit;
    most = std::max(most, share / left_for_one(met, item.flows * met / item.drawn));
  }
  return most;
}

double Crowding::slowdown_of_running(std::span<const Draw> draws) const {
  double most = 1;
  for (const Draw& draw : draws) {
    const OfResource& item = resources_[draw.resource];
    const double share = draw.amount * item.per_unit;
    most = std::max(most, share / left_for_one(item.drawn - share, item.flows - 1));
  }
  return most;
}

std::span<const Draw> Crowding::draws_of_route(MemoryId from, MemoryId to) {
  const Machine& machine = cluster_->machine();
  OfRoute& route =
      routes_[static_cast<size_t>(from.index) * static_cast<size_t>(machine.memory_count()) +
              static_cast<size_t>(to.index)];
  if (route.known) return route.draws;
  route.known = true;
  const Route* way = machine.route(from, to);
  if (way == nullptr) return route.draws;
  std::vector<Draw> of_hop;
  for (const Hop& hop : way->hops) {
    of_hop.clear();
    if (hop.ns_per_byte > 0)
      cluster_->resources().add_hop(from, hop, 1e9 / hop.ns_per_byte, of_hop);
    from = hop.to;
    for (const Draw& draw : of_hop) {
      const auto same = std::find_if(route.draws.begin(), route.draws.end(),
                                     [&](const Draw& d) { return d.resource == draw.resource; });
      if (same == route.draws.end()) {
        route.draws.push_back(draw);
      } else {
        same->amount = std::max(same->amount, draw.amount);
      }
    }
  }
  return route.draws;
}

}  // namespace tutti
