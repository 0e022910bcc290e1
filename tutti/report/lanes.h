// The lanes of a run as the page shows them: one for each slot of each device, then for each
// channel that carried anything as many as it needs, then those of transfers that held no channel.

#ifndef TUTTI_REPORT_LANES_H_
#define TUTTI_REPORT_LANES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tutti/plan/problem.h"
#include "tutti/trace/trace.h"

namespace tutti {

struct Lane {
  std::string name;          // of the device or channel
  int row = 0;               // which of its lanes: a slot, for a device
  int rows = 1;              // how many it has
  DeviceId device{};         // invalid: spans are transfers
  bool overlapping = false;  // some spans overlap: no more rows were given
  // Indices into Trace::ops or Trace::transfers, by start. A transfer stands on the lanes of all
  // channels that it held.
  std::vector<int32_t> spans{};
};

// Of a device with very many slots those that were used; of a channel no more than this.
inline constexpr int kMostIdleSlots = 16;
inline constexpr int kMostRows = 6;

// Requires what critical_path_of_run requires, and slots that exist.
std::vector<Lane> lay_out_lanes(const Problem& problem, const Trace& trace);

}  // namespace tutti

#endif  // TUTTI_REPORT_LANES_H_
