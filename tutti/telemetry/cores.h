// Which logical processors of this host stand for which cores of the machine's CPUs.

#ifndef TUTTI_TELEMETRY_CORES_H_
#define TUTTI_TELEMETRY_CORES_H_

#include <string>
#include <vector>

#include "tutti/machine/counter.h"

namespace tutti {

struct HostCore {
  Resource resource{};
  std::vector<int> processors;  // its hardware threads, as the kernel numbers them
};

// What a core of the machine is: a core of the host, whose hardware threads count together; or one
// of its logical processors, as the local engine binds devices.
enum class CoresAre : uint8_t { cores, processors };

// The cores this process may use, in the order of their first processor, given to the machine's
// CPUs (the word before the first '-' of their kind is "cpu") in order until either runs out.
std::vector<HostCore> host_cores(const Machine& machine, const std::string& root,
                                 CoresAre what = CoresAre::cores);

}  // namespace tutti

#endif  // TUTTI_TELEMETRY_CORES_H_
