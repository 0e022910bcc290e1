#include "tutti/plan/export/numbering.h"

#include <map>
#include <utility>

namespace tutti {

std::vector<DeviceNumber> number_devices(const Machine& machine) {
  std::map<std::pair<HostId, bool>, DeviceNumber> next;
  std::vector<DeviceNumber> numbers;
  for (const DeviceId id : machine.devices()) {
    const Device& device = machine.device(id);
    const bool on_host_memory = machine.hosts()[device.host.index].memory == device.memory;
    DeviceNumber& number = next[{device.host, on_host_memory}];
    number.on_host_memory = on_host_memory;
    numbers.push_back(number);
    ++number.index;
    number.slots_before += device.slots;
  }
  return numbers;
}

}  // namespace tutti
