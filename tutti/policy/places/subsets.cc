#include "tutti/policy/places/subsets.h"

#include <algorithm>

namespace tutti {
namespace {

int64_t mean_bytes(const Graph& graph) {
  double sum = 0;
  for (const ValueId value : graph.values()) sum += static_cast<double>(graph.bytes(value));
  return graph.value_count() == 0 ? 0 : static_cast<int64_t>(sum / graph.value_count());
}

Duration way_there_and_back(const Machine& machine, DeviceId a, DeviceId b, int64_t bytes) {
  Duration sum{0};
  const auto add = [&](DeviceId from, DeviceId to) {
    const Route* route = machine.route(machine.memory_of(from), machine.memory_of(to));
    for (const Hop& hop : route->hops) sum += Costs::hop_time(hop, bytes);
  };
  add(a, b);
  add(b, a);
  return sum;
}

}  // namespace

std::vector<double> device_speeds(const Problem& problem) {
  // Devices of one class are equally fast, so each class is added up once.
  std::vector<double> by_class(static_cast<size_t>(problem.costs.device_class_count()), -1);
  double all = 0;
  for (const OpId op : problem.graph.ops()) {
    all += static_cast<double>(problem.costs.least_run_time(op).count());
  }
  std::vector<double> speeds;
  for (const DeviceId device : problem.machine.devices()) {
    double& speed = by_class[static_cast<size_t>(problem.costs.device_class(device))];
    if (speed < 0) {
      speed = 0;
      for (const OpId op : problem.graph.ops()) {
        const Duration time = problem.costs.run_time(op, device);
        const auto least = static_cast<double>(problem.costs.least_run_time(op).count());
        if (time >= kNever || time.count() == 0) continue;
        speed += least * (least / static_cast<double>(time.count()));
      }
      if (all > 0) speed /= all;
    }
    speeds.push_back(speed * problem.machine.device(device).slots);
  }
  return speeds;
}

std::vector<DeviceId> devices_by_speed_and_closeness(const Problem& problem,
                                                     const std::vector<double>& speed) {
  const Machine& machine = problem.machine;
  const int64_t bytes = mean_bytes(problem.graph);
  std::vector<DeviceId> taken;
  std::vector<Duration> distance(speed.size(), Duration{0});  // to those taken, summed
  std::vector<bool> is_taken(speed.size(), false);
  while (taken.size() < speed.size()) {
    DeviceId best{};
    for (const DeviceId device : machine.devices()) {
      if (is_taken[static_cast<size_t>(device.index)]) continue;
      if (!best.valid()) {
        best = device;
        continue;
      }
      const double mine = speed[device.index];
      const double other = speed[best.index];
      const bool equal = std::max(mine, other) <= 1.01 * std::min(mine, other);
      if (equal ? distance[device.index] < distance[best.index] : mine > other) best = device;
    }
    is_taken[static_cast<size_t>(best.index)] = true;
    taken.push_back(best);
    for (const DeviceId device : machine.devices()) {
      distance[device.index] += way_there_and_back(machine, best, device, bytes);
    }
  }
  return taken;
}

}  // namespace tutti
