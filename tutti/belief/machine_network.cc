#include "tutti/belief/machine_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "tutti/belief/relation.h"

namespace tutti {
namespace {

using Range = Constant::Range;

// The starting points of learning. A weight says how much one variable depends on another; no data
// sheet gives them.
constexpr double kNoise = 0.05;
constexpr double kReadingNoise = 0.05;
constexpr double kIssuedInBackend = 0.3;
constexpr double kMemoryInBackend = 0.7;
constexpr double kBackendInCore = 0.2;
constexpr double kRootInMemory = 0.1;
constexpr double kThreshold = 8;
constexpr double kWaitingPower = 2;

class Builder {
 public:
  Builder(const Machine& machine, std::span<const Counter> counters)
      : machine_(machine), counters_(counters) {
    for (int32_t i = 0; i < machine.channel_count(); ++i)
      channel_by_name_.emplace(machine.channel(ChannelId{i}).name, ChannelId{i});
  }

  MachineNetwork build() && {
    for (const auto& link : machine_.spec().links) add_link(link);
    for (const auto& item : machine_.spec().switches) add_switch(item);
    std::vector<VariableId> roots;
    for (size_t h = 0; h < machine_.hosts().size(); ++h) {
      const HostId host{static_cast<int32_t>(h)};
      const std::optional<VariableId> root = add_root_complex(host);
      if (root) roots.push_back(*root);
      add_host_memory(host, root);
    }
    if (roots.size() > 1) {
      believe({Resource::Kind::machine}, "interconnect", roots, {noise("interconnect")}, mean_of());
    }
    for (const DeviceId id : machine_.devices()) {
      if (is_cpu(id)) {
        add_cpu(id);
      } else {
        add_accelerator(id);
      }
    }
    return std::move(made_);
  }

 private:
  bool is_cpu(DeviceId id) const {
    const Device& device = machine_.device(id);
    return device.memory == machine_.hosts()[device.host.index].memory;
  }

  // Constants of the same name are shared.
  ConstantId constant(const std::string& name, Range range, double start) {
    const auto found = constants_.find(name);
    if (found != constants_.end()) return found->second;
    const ConstantId id = made_.network.add(Constant{name, range, start});
    constants_.emplace(name, id);
    return id;
  }
  ConstantId noise(const std::string& of) {
    return constant("noise." + of, Range::positive, kNoise);
  }
  ConstantId capacity(const std::string& of) {
    return constant("capacity." + of, Range::positive, 1);
  }
  ConstantId share(const std::string& name, double start) {
    return constant("weight." + name, Range::share, start);
  }
  ConstantId weight(const std::string& name, double start) {
    return constant("weight." + name, Range::positive, start);
  }

  int counter_of(Quantity quantity, const Resource& resource, int threshold = 0) const {
    for (size_t i = 0; i < counters_.size(); ++i) {
      const Counter& counter = counters_[i];
      if (counter.quantity == quantity && counter.resource == resource &&
          counter.threshold == threshold) {
        return static_cast<int>(i);
      }
    }
    return -1;
  }

  VariableId add_root(const std::string& what, const Resource& resource, int counter, double unit,
                      std::vector<InputVariable>& list) {
    const VariableId id =
        made_.network.add(Variable{fmt::format("{}[{}]", what, resource_name(machine_, resource))});
    list.push_back({id, resource, counter, unit});
    return id;
  }
  VariableId add_measured(Quantity quantity, const std::string& what, const Resource& resource,
                          double unit) {
    return add_root(what, resource, counter_of(quantity, resource), unit, made_.measured);
  }
  VariableId add_launched(const Resource& resource, double unit) {
    return add_root("launched", resource, -1, unit, made_.launched);
  }

  VariableId believe(const Resource& resource, std::string name, std::vector<VariableId> parents,
                     std::vector<ConstantId> constants, std::shared_ptr<const Law> law) {
    const VariableId id =
        made_.network.add(Variable{name, std::move(parents), std::move(constants), std::move(law)});
    made_.resources.push_back({resource, std::move(name), id});
    return id;
  }

  // If a counter tells how often ops or transfers wait for it, that is an observation with noise.
  void observe_waiting(const Resource& resource, const std::string& sort, VariableId use) {
    const int counter = counter_of(Quantity::waiting, resource);
    if (counter < 0) return;
    const VariableId id = made_.network.add(
        Variable{fmt::format("waiting[{}]", resource_name(machine_, resource)),
                 {use},
                 {constant("power.waiting." + sort, Range::positive, kWaitingPower),
                  constant("noise.waiting." + sort, Range::positive, kReadingNoise)},
                 power_of()});
    made_.observed.push_back({id, resource, counter, 1});
  }

  // A channel as switches and hosts see it: what it carries in bytes per second is its variable
  // times its unit.
  struct Carried {
    VariableId variable;
    double unit;
  };

  Carried add_channel(ChannelId id, double bytes_per_s) {
    const Resource resource = resource_of(id);
    const VariableId traffic = add_measured(Quantity::traffic, "traffic", resource, bytes_per_s);
    const VariableId launched = add_launched(resource, bytes_per_s);
    const std::string name = machine_.channel(id).name;
    const VariableId use = believe(resource, fmt::format("link[{}]", name), {traffic, launched},
                                   {capacity(name), noise("link")}, saturating_load({1, 1}));
    observe_waiting(resource, "link", use);
    return {use, bytes_per_s};
  }

  void add_link(const MachineSpec::LinkSpec& link) {
    for (const int towards : {1, 0}) {
      if (!link.full_duplex && towards == 0) continue;
      const std::string name =
          link.full_duplex ? link.name + (towards == 1 ? ">" : "<") : link.name;
      const ChannelId id = channel_by_name_.at(name);
      std::optional<Carried> carried;
      if (link.bytes_per_s > 0) carried = add_channel(id, link.bytes_per_s);
      for (const int end : {0, 1}) {
        // A half-duplex link leads both into and out of its ends.
        const bool into = end == towards || !link.full_duplex;
        ends_[link.ends[end]].push_back(
            {id, carried, into ? (link.full_duplex ? 1.0 : 0.5) : 0.0, link.ends[1 - end]});
      }
    }
  }

  void add_switch(const MachineSpec::SwitchSpec& item) {
    if (item.bytes_per_s <= 0) return;  // never the bottleneck
    std::vector<VariableId> parents;
    std::vector<double> factors;
    std::vector<bool> scaled;
    std::vector<ConstantId> constants{capacity(item.name)};
    for (const End& end : ends_[item.name]) {
      if (end.into == 0) continue;
      const Resource channel = resource_of(end.channel);
      // The use of a link is a share of its true capacity. One without a bandwidth of its own still
      // brings traffic.
      scaled.push_back(end.carried.has_value());
      if (end.carried) constants.push_back(capacity(machine_.channel(end.channel).name));
      parents.push_back(
          end.carried ? end.carried->variable
                      : add_measured(Quantity::traffic, "traffic", channel, item.bytes_per_s));
      factors.push_back(end.into * (end.carried ? end.carried->unit / item.bytes_per_s : 1));
    }
    if (parents.empty()) return;
    constants.push_back(noise("switch"));
    const Resource resource = resource_of(channel_by_name_.at(item.name));
    const VariableId use =
        believe(resource, fmt::format("switch[{}]", item.name), parents, std::move(constants),
                saturating_load(std::move(factors), scaled));
    observe_waiting(resource, "switch", use);
    switches_.emplace(item.name, use);
  }

  // None for a host that no link with a bandwidth and no limited switch leads to.
  std::optional<VariableId> add_root_complex(HostId host) {
    const std::string& name = machine_.hosts()[host.index].name;
    std::vector<VariableId> parents;
    std::vector<ConstantId> constants;
    const auto add = [&](VariableId parent, ConstantId weight_of) {
      if (std::find(parents.begin(), parents.end(), parent) != parents.end()) return;
      parents.push_back(parent);
      constants.push_back(weight_of);
    };
    for (const End& end : ends_[name]) {
      const auto found = switches_.find(end.other);
      if (found != switches_.end()) add(found->second, share("root.switch", 0.7));
      if (end.carried) add(end.carried->variable, share("root.link", 0.3));
    }
    if (parents.empty()) return std::nullopt;
    constants.push_back(noise("root"));
    return believe(resource_of(host), fmt::format("root[{}]", name), std::move(parents),
                   std::move(constants), any_of());
  }

  // What the CPUs of a host say about its memory's bandwidth; 0: nothing.
  double memory_bytes_per_s(MemoryId memory) const {
    double most = 0;
    for (const DeviceId id : machine_.devices()) {
      const Device& device = machine_.device(id);
      if (device.memory == memory) most = std::max(most, device.bytes_per_s);
    }
    return most;
  }

  void add_host_memory(HostId host, std::optional<VariableId> root) {
    const MemoryId memory = machine_.hosts()[host.index].memory;
    const std::string& name = machine_.hosts()[host.index].name;
    const Resource resource = resource_of(memory);
    const std::optional<VariableId> dram = add_dram(resource, name);
    const double bytes_per_s = memory_bytes_per_s(memory);
    std::vector<VariableId> parents;
    std::vector<ConstantId> constants;
    // Two views of one thing count half each.
    const double start = dram && bytes_per_s > 0 ? 0.5 : 1;
    if (dram) {
      parents.push_back(*dram);
      constants.push_back(weight("memory.dram", start));
    }
    if (bytes_per_s > 0) {
      const VariableId traffic = add_measured(Quantity::traffic, "traffic", resource, bytes_per_s);
      const VariableId launched = add_launched(resource, bytes_per_s);
      parents.push_back(made_.network.add(Variable{fmt::format("load[{}]", name),
                                                   {traffic, launched},
                                                   {capacity(name + ".memory"), noise("load")},
                                                   saturating_load({1, 1})}));
      constants.push_back(weight("memory.load", start));
    }
    if (parents.empty()) return;
    if (root) {
      parents.push_back(*root);
      constants.push_back(weight("memory.root", kRootInMemory));
    }
    constants.push_back(noise("memory"));
    const VariableId use = believe(resource, fmt::format("memory[{}]", name), std::move(parents),
                                   std::move(constants), saturating_mixture());
    observe_waiting(resource, "memory", use);
    memories_.emplace(memory, use);
  }

  // The thresholds that are counted; they must begin at 1 and be at least two.
  std::optional<VariableId> add_dram(const Resource& resource, const std::string& name) {
    std::vector<int> thresholds;
    for (const Counter& counter : counters_) {
      if (counter.quantity == Quantity::outstanding && counter.resource == resource)
        thresholds.push_back(counter.threshold);
    }
    std::sort(thresholds.begin(), thresholds.end());
    thresholds.erase(std::unique(thresholds.begin(), thresholds.end()), thresholds.end());
    if (thresholds.size() < 2 || thresholds[0] != 1) return std::nullopt;
    std::vector<VariableId> parents;
    for (const int threshold : thresholds) {
      parents.push_back(add_root(fmt::format("outstanding{}", threshold), resource,
                                 counter_of(Quantity::outstanding, resource, threshold), 1,
                                 made_.measured));
    }
    return made_.network.add(
        Variable{fmt::format("dram[{}]", name),
                 std::move(parents),
                 {constant("threshold." + name, Range::positive, kThreshold), noise("dram")},
                 share_above_threshold(std::move(thresholds))});
  }

  void add_cpu(DeviceId id) {
    const Device& device = machine_.device(id);
    const VariableId launched = add_launched(resource_of(id), 1);
    const auto memory = memories_.find(device.memory);
    std::vector<VariableId> cores;
    for (int c = 0; c < cores_of(device); ++c) {
      const Resource core = core_of(id, c);
      const std::string name = resource_name(machine_, core);
      const VariableId issued = add_measured(Quantity::busy, "issued", core, 1);
      std::vector<VariableId> parents{issued};
      std::vector<ConstantId> constants{share("backend.issued", kIssuedInBackend)};
      if (memory != memories_.end()) {
        parents.push_back(memory->second);
        constants.push_back(share("backend.memory", kMemoryInBackend));
      }
      constants.push_back(noise("backend"));
      const VariableId backend = made_.network.add(Variable{
          fmt::format("backend[{}]", name), std::move(parents), std::move(constants), any_of()});
      cores.push_back(believe(core, fmt::format("core[{}]", name), {issued, backend, launched},
                              {weight("core.issued", 1), weight("core.backend", kBackendInCore),
                               weight("core.launched", 1), noise("core")},
                              saturating_mixture()));
    }
    believe(resource_of(id), fmt::format("device[{}]", device.name), std::move(cores),
            {noise("device")}, mean_of());
  }

  void add_accelerator(DeviceId id) {
    const Resource resource = resource_of(id);
    const VariableId busy = add_measured(Quantity::busy, "busy", resource, 1);
    const VariableId launched = add_launched(resource, 1);
    const std::string& name = machine_.device(id).name;
    believe(resource, fmt::format("device[{}]", name), {busy, launched},
            {capacity(name), noise("device")}, saturating_load({1, 1}));
  }

  // One channel at one end of its link.
  struct End {
    ChannelId channel;
    std::optional<Carried> carried;  // if it has a bandwidth
    double into;                     // the part of its traffic that arrives here
    std::string other;               // what stands at the other end
  };

  const Machine& machine_;
  std::span<const Counter> counters_;
  MachineNetwork made_;
  std::map<std::string, ChannelId> channel_by_name_;
  std::map<std::string, ConstantId> constants_;
  std::map<std::string, std::vector<End>> ends_;
  std::map<std::string, VariableId> switches_;
  std::map<MemoryId, VariableId> memories_;
};

}  // namespace

MachineNetwork build_machine_network(const Machine& machine, std::span<const Counter> counters) {
  return Builder(machine, counters).build();
}

}  // namespace tutti
