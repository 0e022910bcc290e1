// Which rank serves which host of a machine, with all of its devices and memories.
//
// A rank serves the host that bears the name of the one it is on, if the machine's hosts are those
// of the ranks by name, each once; otherwise hosts and ranks are paired in order. One rank alone
// serves all hosts.

#ifndef TUTTI_RUNTIME_STARPU_LAYOUT_H_
#define TUTTI_RUNTIME_STARPU_LAYOUT_H_

#include <string>
#include <vector>

#include "tutti/base/result.h"
#include "tutti/machine/machine.h"

namespace tutti {

class Layout {
 public:
  // Keeps a reference to the machine. Fails (invalid_input) if there are several ranks and not as
  // many hosts, or a device is no CPU.
  static Result<Layout> make(const Machine& machine, const std::vector<std::string>& host_names);

  int rank_of(HostId host) const { return rank_of_host_[static_cast<size_t>(host.index)]; }
  int rank_of(DeviceId device) const { return rank_of(machine_->device(device).host); }
  int rank_of(MemoryId memory) const { return rank_of(machine_->memory(memory).host); }

  // In order.
  std::vector<DeviceId> devices_of(int rank) const;
  // Whether all devices of each rank work on one memory.
  bool one_memory_each() const;

 private:
  explicit Layout(const Machine& machine) : machine_(&machine) {}

  const Machine* machine_;
  std::vector<int> rank_of_host_;
};

}  // namespace tutti

#endif  // TUTTI_RUNTIME_STARPU_LAYOUT_H_
