#include "tutti/runtime/starpu/workers.h"

#include <fmt/format.h>

#include <algorithm>

#include "tutti/base/check.h"
#include "tutti/runtime/local/cpu/cores.h"
#include "tutti/runtime/local/cpu/team.h"

namespace tutti {

Workers::Workers(const Machine& machine, const std::vector<DeviceId>& devices,
                 const std::vector<int>& cores, int most)
    : machine_(machine), workers_of_(static_cast<size_t>(machine.size())) {
  CoreBinding binding = bind_cores(machine, devices, cores);
  wanted_cores_ = binding.wanted;
  cores_ = binding.there;
  if (wanted_cores_ < cores_) spare_.assign(cores.begin() + wanted_cores_, cores.end());
  for (const DeviceId device : devices) slots_ += machine.device(device).slots;
  const auto count = static_cast<size_t>(std::clamp(slots_, 1, most));
  served_.resize(count);
  devices_.resize(count);
  size_t next = 0;
  for (const DeviceId device : devices) {
    for (int slot = 0; slot < machine.device(device).slots; ++slot, ++next) {
      const size_t worker = next % count;
      auto& teams = binding.teams[static_cast<size_t>(device.index)];
      std::vector<DeviceId>& served = devices_[worker];
      // A second slot of one device on one worker would never run at the same time as the first.
      if (!served.empty() && served.back() == device) continue;
      served.push_back(device);
      workers_of_[static_cast<size_t>(device.index)].push_back(static_cast<int>(worker));
      served_[worker].push_back({device, slot, std::move(teams[static_cast<size_t>(slot)])});
    }
  }
}

Workers::ServedSlot& Workers::served(int worker, DeviceId device) {
  for (ServedSlot& slot : served_[static_cast<size_t>(worker)]) {
    if (slot.device == device) return slot;
  }
  TUTTI_CHECK(false);
  return served_[0][0];
}

int Workers::slot(int worker, DeviceId device) const {
  return served(worker, device).slot;
}

void Workers::forget_threads() {
  for (std::vector<ServedSlot>& slots : served_) {
    for (ServedSlot& slot : slots) {
      slot.runner.reset();
      slot.entered = false;
    }
  }
}

Result<void> Workers::run(int worker, DeviceId device, const OpTable::Entry& entry, OpCall& call) {
  ServedSlot& mine = served(worker, device);
  if (mine.runner == nullptr) mine.runner = std::make_unique<Team>(mine.cores);
  if (!mine.entered) {
    if (Result<void> entered = mine.runner->enter(); !entered) return entered;
    mine.entered = true;
  }
  return mine.runner->run(entry, call);
}

std::string Workers::note() const {
  if (!one_each()) {
    return fmt::format(
        "the {} slots of a host share {} workers, as many as this StarPU was built for: devices "
        "wait for each other; use devices of several cores (units), or start more ranks",
        slots_, count());
  }
  if (wanted_cores_ <= cores_) return {};
  return fmt::format(
      "the machine's CPUs ask for {} cores of a rank that has {}: devices share cores, and run "
      "times are not those of devices that work side by side",
      wanted_cores_, cores_);
}

}  // namespace tutti
