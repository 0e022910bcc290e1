// StarPU's CPU workers of this rank as the slots of its devices: which worker serves which slot,
// and the code that runs an op there, the same as the local engine's.
//
// StarPU is built for so many CPU workers and no more (four in Debian's). Where a rank has more
// slots than that, some share a worker and never run at the same time.

#ifndef TUTTI_RUNTIME_STARPU_WORKERS_H_
#define TUTTI_RUNTIME_STARPU_WORKERS_H_

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tutti/machine/machine.h"
#include "tutti/runtime/local/hardware.h"

namespace tutti {

class Workers {
 public:
  // Keeps a reference to the machine. Requires a device, and at least one core.
  Workers(const Machine& machine, const std::vector<DeviceId>& devices,
          const std::vector<int>& cores, int most);

  int count() const { return static_cast<int>(devices_.size()); }
  // Those that a worker serves, ascending; those that serve a device.
  const std::vector<DeviceId>& devices(int worker) const {
    return devices_[static_cast<size_t>(worker)];
  }
  const std::vector<int>& of(DeviceId device) const {
    return workers_of_[static_cast<size_t>(device.index)];
  }
  // The slot that a worker serves on one of its devices.
  int slot(int worker, DeviceId device) const;
  // True if no worker serves two slots.
  bool one_each() const { return slots_ <= count(); }

  // Whether slots have to share cores.
  bool share_cores() const { return wanted_cores_ > cores_; }
  // The rank's cores that no slot uses.
  const std::vector<int>& spare_cores() const { return spare_; }

  // StarPU's threads are new: each must enter its cores again.
  void forget_threads();
  // Runs an op on a worker's slot of the device. Called by that worker's thread.
  Result<void> run(int worker, DeviceId device, const OpTable::Entry& entry, OpCall& call);

  // What a person should know of the binding, in one sentence; empty: nothing.
  std::string note() const;

 private:
  struct ServedSlot {
    DeviceId device{};
    int slot = 0;
    std::vector<int> cores{};
    std::unique_ptr<SlotRunner> runner{};
    bool entered = false;
  };
  ServedSlot& served(int worker, DeviceId device);
  const ServedSlot& served(int worker, DeviceId device) const {
    return const_cast<Workers*>(this)->served(worker, device);
  }

  const Machine& machine_;
  int slots_ = 0;
  int wanted_cores_ = 0;
  int cores_ = 0;
  std::vector<int> spare_;
  std::vector<std::vector<ServedSlot>> served_;  // by worker
  std::vector<std::vector<DeviceId>> devices_;   // by worker
  std::vector<std::vector<int>> workers_of_;     // by device of the machine
};

}  // namespace tutti

#endif  // TUTTI_RUNTIME_STARPU_WORKERS_H_
