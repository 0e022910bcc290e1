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

// How far devices are from each other, for a value of the graph's mean size.
class Distances {
 public:
  explicit Distances(const Problem& problem)
      : devices_(static_cast<size_t>(problem.machine.size())), times_(devices_ * devices_) {
    const int64_t bytes = mean_bytes(problem.graph);
    for (const DeviceId a : problem.machine.devices()) {
      for (const DeviceId b : problem.machine.devices()) {
        at(a, b) = a == b ? Duration{0} : way_there_and_back(problem.machine, a, b, bytes);
      }
    }
  }
  Duration between(DeviceId a, DeviceId b) const {
    return times_[static_cast<size_t>(a.index) * devices_ + static_cast<size_t>(b.index)];
  }
  // All that occur, the shortest first.
  std::vector<Duration> levels() const {
    std::vector<Duration> levels = times_;
    std::sort(levels.begin(), levels.end());
    levels.erase(std::unique(levels.begin(), levels.end()), levels.end());
    return levels;
  }

 private:
  Duration& at(DeviceId a, DeviceId b) {
    return times_[static_cast<size_t>(a.index) * devices_ + static_cast<size_t>(b.index)];
  }

  size_t devices_;
  std::vector<Duration> times_;
};

// The devices that can be reached from each other in steps no longer than `most`.
std::vector<std::vector<DeviceId>> parts_within(const Machine& machine, const Distances& distances,
                                                Duration most) {
  std::vector<std::vector<DeviceId>> parts;
  std::vector<bool> taken(static_cast<size_t>(machine.size()), false);
  for (const DeviceId first : machine.devices()) {
    if (taken[static_cast<size_t>(first.index)]) continue;
    std::vector<DeviceId>& part = parts.emplace_back(1, first);
    taken[static_cast<size_t>(first.index)] = true;
    for (size_t i = 0; i < part.size(); ++i) {
      for (const DeviceId device : machine.devices()) {
        if (taken[static_cast<size_t>(device.index)]) continue;
        if (distances.between(part[i], device) > most) continue;
        taken[static_cast<size_t>(device.index)] = true;
        part.push_back(device);
      }
    }
    std::sort(part.begin(), part.end());
  }
  return parts;
}

// Parts with the same text are taken for alike: as many devices of each class, equally far apart.
std::vector<int64_t> looks_of(const Problem& problem, const Distances& distances,
                              const std::vector<DeviceId>& part) {
  std::vector<int64_t> classes;
  std::vector<int64_t> times;
  for (const DeviceId a : part) {
    classes.push_back(problem.costs.device_class(a));
    for (const DeviceId b : part) times.push_back(distances.between(a, b).count());
  }
  std::sort(classes.begin(), classes.end());
  std::sort(times.begin(), times.end());
  classes.insert(classes.end(), times.begin(), times.end());
  return classes;
}

// Pins, forbidden pairs and inputs with a home make equal devices unequal.
bool tells_devices_apart(const Problem& problem) {
  for (const OpId op : problem.graph.ops()) {
    size_t can = 0;
    for (const DeviceId device : problem.machine.devices()) {
      can += problem.costs.can_run(op, device);
    }
    if (problem.devices_for(op).size() != can) return true;
  }
  for (const ValueId value : problem.graph.values()) {
    if (!problem.graph.producer(value).valid() && problem.home(value).valid()) return true;
  }
  return false;
}

// By device. None if no op may run anywhere: there are no ops then.
std::vector<bool> used_by_no_op(const Problem& problem) {
  std::vector<bool> unused(static_cast<size_t>(problem.machine.size()), problem.graph.size() > 0);
  for (const OpId op : problem.graph.ops()) {
    for (const DeviceId device : problem.devices_for(op)) unused[device.index] = false;
  }
  return unused;
}

}  // namespace

std::vector<std::vector<DeviceId>> sub_machines(const Problem& problem) {
  constexpr int32_t kMostDevices = 64;  // distances take the square of it
  constexpr size_t kEverySize = 4;
  const Machine& machine = problem.machine;
  if (machine.size() < 2 || machine.size() > kMostDevices) return {};
  const Distances distances(problem);
  const bool apart = tells_devices_apart(problem);
  std::vector<std::vector<DeviceId>> parts;
  std::vector<std::vector<int64_t>> looks;
  const auto add = [&](std::vector<DeviceId> part) {
    if (part.size() == static_cast<size_t>(machine.size())) return;
    if (std::find(parts.begin(), parts.end(), part) != parts.end()) return;
    std::vector<int64_t> look = looks_of(problem, distances, part);
    if (!apart && std::find(looks.begin(), looks.end(), look) != looks.end()) return;
    looks.push_back(std::move(look));
    parts.push_back(std::move(part));
  };
  for (const Duration level : distances.levels()) {
    for (std::vector<DeviceId>& part : parts_within(machine, distances, level)) {
      if (part.size() > 1) add(std::move(part));
    }
  }
  const std::vector<DeviceId> order =
      devices_by_speed_and_closeness(problem, device_speeds(problem));
  for (size_t size = 1; size < order.size(); size = size < kEverySize ? size + 1 : 2 * size) {
    std::vector<DeviceId> first(order.begin(), order.begin() + static_cast<int64_t>(size));
    std::sort(first.begin(), first.end());
    add(std::move(first));
  }
  return parts;
}

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
  std::vector<bool> is_taken = used_by_no_op(problem);
  const auto count = static_cast<size_t>(std::count(is_taken.begin(), is_taken.end(), false));
  while (taken.size() < count) {
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
