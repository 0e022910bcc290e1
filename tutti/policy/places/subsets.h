// Which devices to use when not all are worth using: how fast each is for a graph, and in which
// order to take them, the fastest first and then what is fast and close to those taken.

#ifndef TUTTI_POLICY_PLACES_SUBSETS_H_
#define TUTTI_POLICY_PLACES_SUBSETS_H_

#include <vector>

#include "tutti/plan/problem.h"

namespace tutti {

// By device: the share of the graph's work that it does in the time in which a device that were
// the fastest for every op would do all of it with one slot; its slots add up.
std::vector<double> device_speeds(const Problem& problem);

// All devices that an op may use. The first is the fastest; each next one is the fastest of those
// left, where speeds within 1 % count as equal, then the one to which a value of the graph's mean
// size travels soonest from those taken, then the one with the smallest id.
std::vector<DeviceId> devices_by_speed_and_closeness(const Problem& problem,
                                                     const std::vector<double>& speed);

// Parts of the machine that may do better than all of it, each less than all devices and sorted by
// id: devices that are closer to each other than to the rest, at every distance at which the
// machine falls apart (hosts, fast links), and the first few of devices_by_speed_and_closeness. Of
// parts that look alike, such as equal hosts, the first, unless the problem tells devices apart.
std::vector<std::vector<DeviceId>> sub_machines(const Problem& problem);

// Some devices for each op: ops of team t may use devices[t], a flag for each device. An op that
// may run on none of its team may use all that the problem allows.
struct Teams {
  std::vector<int32_t> of_op;
  std::vector<std::vector<bool>> devices;
};

}  // namespace tutti

#endif  // TUTTI_POLICY_PLACES_SUBSETS_H_
