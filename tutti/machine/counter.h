// A Counter is something about a machine that can be read again and again while it works: how busy
// a core is, how many bytes a link carries. A CounterReading is what several readings of one
// counter say. tutti/telemetry reads counters, tutti/belief reasons from them; neither knows the
// other.

#ifndef TUTTI_MACHINE_COUNTER_H_
#define TUTTI_MACHINE_COUNTER_H_

#include <compare>
#include <cstdint>
#include <string>

#include "tutti/machine/machine.h"

namespace tutti {

// What a counter or a belief is about.
struct Resource {
  enum class Kind : uint8_t {
    machine,  // all of it
    host,     // its root complex: where the links of its devices meet
    memory,   // its bandwidth
    device,
    core,     // one core of the device `index`
    channel,  // a direction of a link, a switch, a copy engine
    cache,    // the last cache of a host's CPUs: its bandwidth
  };
  Kind kind = Kind::machine;
  int32_t index = 0;  // of the host (for a cache too), memory, device or channel
  int32_t core = 0;

  friend auto operator<=>(const Resource&, const Resource&) = default;
};

inline Resource resource_of(DeviceId id) {
  return {Resource::Kind::device, id.index};
}
inline Resource resource_of(MemoryId id) {
  return {Resource::Kind::memory, id.index};
}
inline Resource resource_of(ChannelId id) {
  return {Resource::Kind::channel, id.index};
}
inline Resource resource_of(HostId id) {
  return {Resource::Kind::host, id.index};
}
inline Resource cache_of(HostId id) {
  return {Resource::Kind::cache, id.index};
}
inline Resource core_of(DeviceId id, int core) {
  return {Resource::Kind::core, id.index, core};
}

// How many cores a CPU is, for counters and beliefs that look at each.
inline int cores_of(const Device& device) {
  return device.units > 0 ? device.units : device.slots;
}

// "cpu.core3", "bridge", "host": the names of the machine.
std::string resource_name(const Machine& machine, const Resource& resource);

// What is counted. Shares are of the time and lie in [0, 1].
enum class Quantity : uint8_t {
  busy,         // share in which the resource did anything
  traffic,      // bytes per second
  outstanding,  // share in which at least `threshold` memory requests were outstanding
  waiting,  // share in which a transfer waited for the channel, or a core for the memory, because
            // it was asked for more than it carries
  other,    // for people; no belief is drawn from it
};

struct Counter {
  std::string name;  // unique in its source
  std::string unit;
  Resource resource{};
  Quantity quantity = Quantity::other;
  int threshold = 0;  // of outstanding
};

// What `count` readings say: their mean and their standard deviation (divided by count - 1).
// No readings: nothing is known.
struct CounterReading {
  double mean = 0;
  double spread = 0;
  int count = 0;
};

// What ops that were launched since the counters were read are expected to ask of a resource: bytes
// per second of a channel or host memory, a share of its time of a device (for a CPU the mean over
// its cores).
struct Launched {
  Resource resource{};
  double mean = 0;
  double spread = 0;
};

}  // namespace tutti

#endif  // TUTTI_MACHINE_COUNTER_H_
