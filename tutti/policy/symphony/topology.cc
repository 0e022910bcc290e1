#include "tutti/policy/symphony/topology.h"

#include <algorithm>
#include <cmath>

namespace tutti {
namespace {

using Kind = Resource::Kind;

// Columns of the facts: which sort it is, then its size.
enum Sort { cpu, accelerator, reconfigurable, memory, cache, link, switched, root, core };
constexpr int kCapacityColumn = 9;
constexpr int kSlotsColumn = 10;

Sort sort_of(const Machine& machine, const Resource& resource) {
  switch (resource.kind) {
    case Kind::memory:
      return memory;
    case Kind::cache:
      return cache;
    case Kind::host:
    case Kind::machine:
      return root;
    case Kind::channel: {
      const std::string& name = machine.channel(ChannelId{resource.index}).name;
      const auto& switches = machine.spec().switches;
      return std::any_of(switches.begin(), switches.end(),
                         [&](const auto& item) { return item.name == name; })
                 ? switched
                 : link;
    }
    case Kind::core:
      return core;
    case Kind::device:
      break;
  }
  const DeviceId device{resource.index};
  if (is_cpu(machine, device)) return cpu;
  return machine.device(device).contexts > 0 ? reconfigurable : accelerator;
}

}  // namespace

Topology::Topology(const Cluster& cluster) {
  const Machine& machine = cluster.machine();
  const SharedResources& shared = cluster.resources();
  devices_ = machine.size();
  for (const DeviceId device : machine.devices()) add_vertex(resource_of(device));
  for (const SharedResource& item : shared.list()) {
    add_vertex(item.resource);
    shared_.push_back(vertex_of(item.resource));
  }
  for (int vertex = 0; vertex < size(); ++vertex) add_facts(cluster, vertex);
  for (const DeviceId device : machine.devices()) {
    connect(device.index, vertex_of(resource_of(machine.memory_of(device))));
    if (is_cpu(machine, device)) {
      connect(device.index, vertex_of(cache_of(machine.device(device).host)));
      for (int c = 0; c < cores_of(machine.device(device)); ++c)
        connect(device.index, vertex_of(core_of(device, c)));
    }
    const DeviceId proxy = machine.device(device).proxy;
    if (proxy.valid()) connect(device.index, proxy.index);
  }
  for (int32_t a = 0; a < machine.memory_count(); ++a) {
    for (int32_t b = 0; b < machine.memory_count(); ++b) {
      const Route* route = a == b ? nullptr : machine.route(MemoryId{a}, MemoryId{b});
      if (route == nullptr) continue;
      MemoryId from{a};
      for (const Hop& hop : route->hops) {
        connect_hop(cluster, from, hop);
        from = hop.to;
      }
    }
  }
}

int Topology::vertex_of(const Resource& resource) const {
  const auto found = vertex_of_.find(resource);
  return found == vertex_of_.end() ? -1 : found->second;
}

void Topology::add_vertex(const Resource& resource) {
  if (vertex_of_.emplace(resource, size()).second) resources_.push_back(resource);
}

void Topology::add_facts(const Cluster& cluster, int vertex) {
  const Machine& machine = cluster.machine();
  const Resource& about = resource(vertex);
  float row[kVertexFacts] = {};
  row[sort_of(machine, about)] = 1;
  if (about.kind == Kind::device) {
    const Device& device = machine.device(DeviceId{about.index});
    row[kSlotsColumn] = static_cast<float>(std::log2(1.0 + device.slots) / 4);
  } else if (about.kind != Kind::core) {
    const double capacity = cluster.resources()[cluster.resources().find(about)].capacity;
    row[kCapacityColumn] = static_cast<float>(std::log10(capacity) - 10);
  }
  facts_.insert(facts_.end(), row, row + kVertexFacts);
}

void Topology::connect(int a, int b) {
  if (a < 0 || b < 0 || a == b) return;
  for (size_t e = 0; e < from_.size(); ++e) {
    if (from_[e] == a && to_[e] == b) return;
  }
  for (const auto& [x, y] : {std::pair(a, b), std::pair(b, a)}) {
    from_.push_back(x);
    to_.push_back(y);
  }
}

// The memory, or where it has no limit the devices that work on it.
std::vector<int> Topology::ends_at(const Cluster& cluster, MemoryId memory) const {
  const int vertex = vertex_of(resource_of(memory));
  if (vertex >= 0) return {vertex};
  std::vector<int> ends;
  for (const DeviceId device : cluster.machine().devices()) {
    if (cluster.machine().memory_of(device) == memory) ends.push_back(device.index);
  }
  return ends;
}

void Topology::connect_hop(const Cluster& cluster, MemoryId from, const Hop& hop) {
  std::vector<int> last = ends_at(cluster, from);
  const auto pass = [&](const std::vector<int>& next) {
    for (const int a : last) {
      for (const int b : next) connect(a, b);
    }
    last = next;
  };
  std::vector<Draw> draws;
  cluster.resources().add_hop(from, hop, 1, draws);
  std::vector<int> roots;
  for (const Draw& draw : draws) {
    const Resource& about = cluster.resources()[draw.resource].resource;
    if (about.kind == Kind::host) roots.push_back(vertex_of(about));
  }
  for (const ChannelId channel : hop.channels) {
    const int vertex = vertex_of(resource_of(channel));
    if (vertex < 0) continue;
    pass({vertex});
    for (const int root : roots) connect(vertex, root);
  }
  pass(ends_at(cluster, hop.to));
}

}  // namespace tutti
