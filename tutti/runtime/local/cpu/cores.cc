#include "tutti/runtime/local/cpu/cores.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>

namespace tutti {

bool is_cpu(const Device& device) {
  return device.kind.substr(0, device.kind.find('-')) == "cpu";
}

std::vector<int> cores_of_this_process() {
  std::vector<int> cores;
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) == 0) {
    for (int core = 0; core < CPU_SETSIZE; ++core) {
      if (CPU_ISSET(core, &set)) cores.push_back(core);
    }
  }
  if (cores.empty()) cores.push_back(0);
  return cores;
}

CoreBinding bind_cores(const Machine& machine, const std::vector<int>& cores) {
  std::vector<DeviceId> all;
  for (const DeviceId device : machine.devices()) all.push_back(device);
  return bind_cores(machine, all, cores);
}

CoreBinding bind_cores(const Machine& machine, const std::vector<DeviceId>& devices,
                       const std::vector<int>& cores) {
  CoreBinding binding;
  binding.there = static_cast<int>(cores.size());
  binding.teams.resize(static_cast<size_t>(machine.size()));
  for (const DeviceId id : devices) {
    const Device& device = machine.device(id);
    if (!is_cpu(device)) continue;
    const int units = device.units > 0 ? device.units : device.slots;
    const int team = std::max(1, units / device.slots);
    for (int slot = 0; slot < device.slots; ++slot) {
      std::vector<int>& mine = binding.teams[static_cast<size_t>(id.index)].emplace_back();
      for (int i = 0; i < team; ++i) {
        const auto core = static_cast<size_t>(binding.wanted + (slot * team + i) % units);
        mine.push_back(cores[core % cores.size()]);
      }
    }
    binding.wanted += units;
  }
  return binding;
}

void pin_this_thread(int core) {
  pin_this_thread(std::vector<int>{core});
}

void pin_this_thread(const std::vector<int>& cores) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int core : cores) {
    if (core < CPU_SETSIZE) CPU_SET(core, &set);
  }
  (void)pthread_setaffinity_np(pthread_self(), sizeof(set), &set);
}

}  // namespace tutti
