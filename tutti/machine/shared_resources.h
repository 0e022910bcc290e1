// The resources of a machine that ops and transfers share, each with what it carries: cores and
// accelerators, memories, the last caches, the directions of links, switches, root complexes. They
// are what a belief is about (tutti/belief/machine_network.h) and what a simulated cluster has as
// its truth (tutti/runtime/sim/jobs).
//
//   core         1, shared by the ops of its hardware threads and by what it does as a proxy
//   device       1, of an accelerator
//   memory       bytes per second, of a host or of an accelerator; the most that a device on it has
//   cache        bytes per second, if the host says so
//   channel      bytes per second, if the link or switch says so; a NIC is a link or a switch
//   host         its root complex, bytes per second, if the host says so
//
// What is not limited is not here.

#ifndef TUTTI_MACHINE_SHARED_RESOURCES_H_
#define TUTTI_MACHINE_SHARED_RESOURCES_H_

#include <map>
#include <vector>

#include "tutti/machine/counter.h"

namespace tutti {

struct SharedResource {
  Resource resource{};
  double capacity = 0;  // as the machine states it
};

// An amount of the shared resource with that index.
struct Draw {
  int32_t resource = 0;
  double amount = 0;
};

class SharedResources {
 public:
  explicit SharedResources(const Machine& machine);

  int32_t size() const { return static_cast<int32_t>(list_.size()); }
  const SharedResource& operator[](int32_t index) const { return list_[index]; }
  const std::vector<SharedResource>& list() const { return list_; }
  int32_t find(const Resource& resource) const;  // -1: not limited

  // Adds what one byte per second over a hop draws: its channels, the memories at its ends, the
  // root complexes that it passes. What is there already is added up.
  void add_hop(MemoryId from, const Hop& hop, double bytes_per_s, std::vector<Draw>& draws) const;
  // The same for all hops from one memory to another at once, as an op that streams does it.
  void add_stream(MemoryId from, MemoryId to, double bytes_per_s, std::vector<Draw>& draws) const;
  void add(const Resource& resource, double amount, std::vector<Draw>& draws) const;

 private:
  void state(const Resource& resource, double capacity);

  const Machine* machine_;
  std::vector<SharedResource> list_;
  std::map<Resource, int32_t> index_;
  std::vector<std::vector<HostId>> hosts_of_channel_;  // whose root complex the channel ends at
};

// True if the device works on its host's memory.
bool is_cpu(const Machine& machine, DeviceId device);

// The cores of a CPU that one of its slots uses. More slots than cores: hardware threads, slot s
// on core s modulo the cores. Fewer: each slot has several cores to itself.
std::vector<int> cores_of_slot(const Device& device, int slot);

}  // namespace tutti

#endif  // TUTTI_MACHINE_SHARED_RESOURCES_H_
