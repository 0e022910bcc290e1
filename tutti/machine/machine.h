// A Machine is the hardware: devices that run ops, memories that hold values, links that move
// them. It says nothing about the work; how long things take is in tutti/costs.
//
// Every device works on one memory: its own, or its host's (a CPU). Values travel from memory to
// memory over routes. A route is a list of hops, done one after another (store and forward: each
// hop ends in a memory); a hop holds all of its channels at the same time. A channel is one
// direction of a link, a whole half-duplex link, a switch with limited bandwidth, or a copy engine.
//
// A Machine is immutable once built, so any number of threads may read it.

#ifndef TUTTI_MACHINE_MACHINE_H_
#define TUTTI_MACHINE_MACHINE_H_

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tutti/base/id.h"
#include "tutti/base/result.h"
#include "tutti/base/time.h"

namespace tutti {

using ChannelId = Id<struct ChannelTag>;

inline constexpr int64_t kUnlimitedBytes = std::numeric_limits<int64_t>::max();

struct Host {
  std::string name;
  MemoryId memory;
  double root_bytes_per_s = 0;   // of its root complex; 0: never the bottleneck
  double cache_bytes_per_s = 0;  // of the last cache of its CPUs; 0: never the bottleneck
};

struct Memory {
  std::string name;  // the device's or host's it belongs to
  HostId host;
  int64_t capacity_bytes = kUnlimitedBytes;
};

struct Device {
  std::string name;
  std::string kind;  // "cpu", "gpu", "fpga", or any word that given times and cost tables use
  HostId host{};
  MemoryId memory{};
  int slots = 1;  // ops that may run at the same time
  // How much of the hardware it is, for runtimes that bind it: cores of a CPU, multiprocessors of a
  // GPU. 0: a core for each slot, a whole GPU.
  int units = 0;
  double flops_per_s = 0;  // peak, 32-bit floating point; 0: unknown
  std::vector<std::pair<std::string, double>> flops_per_s_by_dtype{};
  double bytes_per_s = 0;  // peak of its own memory; 0: unknown
  Duration launch_overhead{0};
  // Of an FPGA: parts that run one op each, of the kind they are configured for. As many as slots,
  // or 0: runs every kind at any time.
  int contexts = 0;
  Duration reconfiguration_time{0};  // of one context
  DeviceId proxy{};                  // the CPU that works for it while it runs ops; or none
};

enum class Sharing : uint8_t {
  exclusive,  // up to `capacity` transfers at once, each at full bandwidth; others wait, first come
  shared,     // all at once, bandwidth divided max-min fairly
  unlimited,  // all at once, each at full bandwidth
};
const char* to_text(Sharing sharing);

// Names: "l>" and "l<" for link l towards its second and its first end, "l" if it is half-duplex,
// "s" for switch s, "d.copy-out", "d.copy-in" or "d.copy" for the copy engines of device d.
struct Channel {
  std::string name;
  Sharing sharing = Sharing::exclusive;
  int capacity = 1;        // for exclusive
  double bytes_per_s = 0;  // 0: as fast as the others of the hop
  Duration latency{0};
};

struct Hop {
  MemoryId to{};  // where it ends
  std::vector<ChannelId> channels;
  Duration latency{0};         // sum over the channels
  double ns_per_byte = 0;      // of the slowest channel, alone on the hop
  bool has_exclusive = false;  // some channel makes others wait
  // The channels that divide their bandwidth, and what the others let through.
  std::vector<ChannelId> shared;
  double unshared_bytes_per_ns = std::numeric_limits<double>::infinity();
};

struct Route {
  std::vector<Hop> hops;  // none: both ends are one memory
};

// What a machine file says, before routes are worked out. See docs/formats/machine.md. A line of 0
// means that the part came from no file.
struct MachineSpec {
  struct HostSpec {
    std::string name;
    int64_t memory_bytes = kUnlimitedBytes;
    int line = 0;
    double root_bytes_per_s = 0;
    double cache_bytes_per_s = 0;
  };
  struct DeviceSpec {
    Device device;       // its host, memory and proxy are worked out by build and ignored here
    std::string host{};  // empty: the first host
    bool uses_host_memory = false;
    int64_t memory_bytes = kUnlimitedBytes;  // of its own memory
    int copy_engines = 0;  // 0: not modelled; 1: one for both directions; 2: one each way
    int line = 0;
    std::string proxy{};  // the name of a device on its host's memory; empty: none
  };
  struct SwitchSpec {
    std::string name;
    double bytes_per_s = 0;  // 0: never the bottleneck
    Sharing sharing = Sharing::shared;
    int capacity = 1;
    int line = 0;
  };
  struct LinkSpec {
    std::string name;
    std::string ends[2];  // a device, host or switch each
    Duration latency{0};
    double bytes_per_s = 0;  // each way; 0: never the bottleneck
    Sharing sharing = Sharing::exclusive;
    int capacity = 1;
    bool full_duplex = true;
    int line = 0;
  };
  // Overrides the shortest path in one direction. Each hop is the list of the links it goes over,
  // in order; the switches between them may be named too.
  struct RouteSpec {
    std::string from;  // a device or host, as is `to`
    std::string to;
    std::vector<std::vector<std::string>> hops;
    int line = 0;
  };

  std::string name{};
  std::vector<HostSpec> hosts{};  // none: one called "host"
  std::vector<DeviceSpec> devices{};
  std::vector<SwitchSpec> switches{};
  std::vector<LinkSpec> links{};
  std::vector<RouteSpec> routes{};
  std::string file{};  // where it was read from, for sentences about its lines
};

class Machine {
 public:
  // Works out the routes: the fewest links, then the least latency, then the order of the file.
  // Links that meet in a switch are one hop; a host's memory on the way ends a hop; a device's own
  // memory is never on the way. Fails with a sentence on names that are absent or stand twice, on
  // values out of range, and on two devices that nothing connects.
  static Result<Machine> build(MachineSpec spec);

  const std::string& name() const { return spec_.name; }
  // As given to build, with what was left open filled in.
  const MachineSpec& spec() const { return spec_; }
  uint64_t fingerprint() const { return fingerprint_; }

  int32_t size() const { return static_cast<int32_t>(devices_.size()); }
  IdRange<DeviceId> devices() const { return {0, size()}; }
  int32_t memory_count() const { return static_cast<int32_t>(memories_.size()); }
  int32_t channel_count() const { return static_cast<int32_t>(channels_.size()); }

  const Device& device(DeviceId id) const { return devices_[id.index]; }
  const Memory& memory(MemoryId id) const { return memories_[id.index]; }
  const Channel& channel(ChannelId id) const { return channels_[id.index]; }
  const std::vector<Host>& hosts() const { return hosts_; }
  MemoryId memory_of(DeviceId id) const { return devices_[id.index].memory; }
  // Where graph inputs "on the host" are: the first host's memory.
  MemoryId host_memory() const { return hosts_[0].memory; }

  std::optional<DeviceId> find_device(std::string_view name) const;

  // Null if nothing connects the two (only a host whose memory no device uses can be cut off).
  const Route* route(MemoryId from, MemoryId to) const {
    const Route& found = routes_[static_cast<size_t>(from.index) * memories_.size() + to.index];
    return found.hops.empty() && from != to ? nullptr : &found;
  }

 private:
  friend class MachineBuilder;

  MachineSpec spec_;
  uint64_t fingerprint_ = 0;
  std::vector<Host> hosts_;
  std::vector<Memory> memories_;
  std::vector<Device> devices_;
  std::vector<Channel> channels_;
  std::vector<Route> routes_;
};

}  // namespace tutti

#endif  // TUTTI_MACHINE_MACHINE_H_
