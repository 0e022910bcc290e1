// MachineBuilder makes a Machine of what a machine file says: first the memories, channels and
// links (builder.cc), then the routes over them (routes.cc). Only Machine::build uses it, once.

#ifndef TUTTI_MACHINE_BUILDER_H_
#define TUTTI_MACHINE_BUILDER_H_

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tutti/base/result.h"
#include "tutti/machine/link_graph.h"
#include "tutti/machine/machine.h"

namespace tutti {

// Memories are the first places of the network, in the order of their ids; switches follow.
class MachineBuilder {
 public:
  explicit MachineBuilder(MachineSpec spec) { machine_.spec_ = std::move(spec); }

  Result<Machine> build();

 private:
  using Step = LinkGraph::Step;
  struct Pair {
    ChannelId forward{};  // out of a memory, or from a link's first end to its second
    ChannelId backward{};
  };

  const MachineSpec& spec() const { return machine_.spec_; }
  bool is_memory(int place) const { return place < machine_.memory_count(); }

  Result<void> add_hosts_and_devices();
  Result<void> find_proxies();
  MemoryId add_memory(std::string name, HostId host, int64_t bytes, bool passable);
  void add_copy_engines(const MachineSpec::DeviceSpec& device);
  void add_switches();
  Result<void> add_links();
  Result<void> find_routes();
  Result<void> take_written_routes();
  Result<std::vector<Step>> written_path(const MachineSpec::RouteSpec& route, int from) const;
  Result<Step> written_step(const MachineSpec::RouteSpec& route, const std::string& name,
                            int place) const;
  Result<void> check_connected() const;

  ChannelId add_channel(Channel channel);
  Route route_along(int from, const std::vector<Step>& path) const;
  void finish(Hop& hop) const;
  Route& route_between(int from, int to) {
    return machine_.routes_[static_cast<size_t>(from) * machine_.memories_.size() + to];
  }

  Machine machine_;
  LinkGraph network_;
  std::unordered_map<std::string, int> place_by_name_;  // of hosts, devices and switches
  std::unordered_map<std::string, int> link_by_name_;
  std::vector<Pair> engines_;              // by memory
  std::vector<ChannelId> switch_channel_;  // none: never the bottleneck
  std::vector<Pair> link_channels_;
};

}  // namespace tutti

#endif  // TUTTI_MACHINE_BUILDER_H_
