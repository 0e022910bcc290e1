// Knowledge::machine: what was found about hops, told to the links they go over.

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "tutti/calibrate/knowledge.h"
#include "tutti/calibrate/observe.h"
#include "tutti/machine/spec.h"

namespace tutti {
namespace {

// What several hops say of one link.
struct LinkFigures {
  double latency_sum = 0;
  int latencies = 0;
  double log_bandwidth_sum = 0;
  int bandwidths = 0;
  double least_bandwidth = 0;  // it carried this much, though something else held it back
};

// The link that a channel is a direction of, or -1: switches and copy engines keep their figures.
int link_of(const MachineSpec& spec, const std::string& channel) {
  for (size_t i = 0; i < spec.links.size(); ++i) {
    const std::string& name = spec.links[i].name;
    if (channel == name || channel == name + ">" || channel == name + "<") {
      return static_cast<int>(i);
    }
  }
  return -1;
}

Duration bounded(double ns) {
  return nanoseconds_of(std::min(ns, static_cast<double>(kLongestLatencyNs)));
}

// A hop's latency is divided over its links as the machine file has it, or evenly where that says
// 0; its bandwidth is that of its narrowest links.
void tell_links(const Machine& machine, const Hop& hop, const WorkLaw& law,
                std::vector<LinkFigures>& figures) {
  std::vector<std::pair<int, const Channel*>> links;
  double nominal = 0;
  for (const ChannelId id : hop.channels) {
    const int link = link_of(machine.spec(), machine.channel(id).name);
    if (link < 0) continue;
    links.emplace_back(link, &machine.channel(id));
    nominal += static_cast<double>(links.back().second->latency.count());
  }
  for (const auto& [link, channel] : links) {
    LinkFigures& figure = figures[static_cast<size_t>(link)];
    const double share = nominal > 0 ? static_cast<double>(channel->latency.count()) / nominal
                                     : 1 / static_cast<double>(links.size());
    figure.latency_sum += law.overhead_ns * share;
    ++figure.latencies;
    if (law.ns_per_byte <= 0) continue;
    const double measured = std::clamp(1e9 / law.ns_per_byte, 1.0, 1e18);
    const bool narrowest = channel->bytes_per_s <= 0 || hop.ns_per_byte <= 0 ||
                           channel->bytes_per_s <= 1.001e9 / hop.ns_per_byte;
    if (narrowest) {
      figure.log_bandwidth_sum += std::log(measured);
      ++figure.bandwidths;
    } else {
      figure.least_bandwidth = std::max(figure.least_bandwidth, measured);
    }
  }
}

}  // namespace

void scale_transfers(MachineSpec& spec, const Scales& scales) {
  for (MachineSpec::LinkSpec& link : spec.links) {
    link.latency = bounded(static_cast<double>(link.latency.count()) * scales.latency);
    link.bytes_per_s /= scales.transfers;
  }
  for (MachineSpec::SwitchSpec& item : spec.switches) item.bytes_per_s /= scales.transfers;
}

MachineSpec Knowledge::machine(const Machine& machine) const {
  std::vector<LinkFigures> figures(machine.spec().links.size());
  std::set<std::string> told;
  for (int32_t from = 0; from < machine.memory_count(); ++from) {
    for (int32_t to = 0; to < machine.memory_count(); ++to) {
      const Route* route = from == to ? nullptr : machine.route(MemoryId{from}, MemoryId{to});
      if (route == nullptr) continue;
      for (const Hop& hop : route->hops) {
        const std::string name = hop_name(machine, hop);
        const std::vector<MeasuredPoint> measured = points("", name);
        if (measured.empty() || !told.insert(name).second) continue;
        tell_links(machine, hop, WorkLaw::fit(measured), figures);
      }
    }
  }
  MachineSpec spec = machine.spec();
  for (size_t i = 0; i < figures.size(); ++i) {
    const LinkFigures& figure = figures[i];
    MachineSpec::LinkSpec& link = spec.links[i];
    if (figure.latencies > 0) {
      link.latency = bounded(figure.latency_sum / figure.latencies);
    }
    if (figure.bandwidths > 0) {
      link.bytes_per_s = std::exp(figure.log_bandwidth_sum / figure.bandwidths);
    } else if (link.bytes_per_s > 0) {
      link.bytes_per_s = std::max(link.bytes_per_s, figure.least_bandwidth);
    }
  }
  // What an op takes before its work counts: the median over the kinds that tell.
  std::map<std::string, std::vector<double>> overheads;
  std::set<std::pair<std::string, std::string>> kinds;
  for (const auto& [key, posterior] : cells_) {
    if (key.kind.empty() || !kinds.emplace(key.kind, key.where).second) continue;
    const std::vector<MeasuredPoint> measured = points(key.kind, key.where);
    if (measured.size() < 3) continue;
    overheads[key.where].push_back(WorkLaw::fit(measured).overhead_ns);
  }
  for (MachineSpec::DeviceSpec& item : spec.devices) {
    const auto found = overheads.find(item.device.kind);
    if (found == overheads.end()) continue;
    std::vector<double>& some = found->second;
    std::sort(some.begin(), some.end());
    item.device.launch_overhead = bounded(some[some.size() / 2]);
  }
  scale_transfers(spec, scales_);
  return spec;
}

}  // namespace tutti
