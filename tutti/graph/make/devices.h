// The number of devices that a workload is made for. It decides no more than the `shard` of each
// op.

#ifndef TUTTI_GRAPH_MAKE_DEVICES_H_
#define TUTTI_GRAPH_MAKE_DEVICES_H_

#include <fmt/format.h>

#include <cstdint>

#include "tutti/base/result.h"

namespace tutti {

inline Result<void> check_devices(int32_t devices) {
  constexpr int32_t kMost = 65536;
  if (devices >= 1 && devices <= kMost) return {};
  return invalid_input(
      fmt::format("a workload is made for 1 to {} devices, not {}", kMost, devices));
}

}  // namespace tutti

#endif  // TUTTI_GRAPH_MAKE_DEVICES_H_
