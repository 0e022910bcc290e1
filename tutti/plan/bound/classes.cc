#include "tutti/plan/bound/classes.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

namespace tutti::bound {
namespace {

constexpr size_t kMostClasses = 16;  // told apart by pins

bool same_run_times(const Problem& problem, DeviceId a, DeviceId b) {
  const Costs& costs = problem.costs;
  if (costs.device_class(a) == costs.device_class(b)) return true;
  for (const OpId op : problem.graph.ops()) {
    if (costs.run_time(op, a) != costs.run_time(op, b)) return false;
  }
  return true;
}

// Devices of equal slots and run times.
std::vector<DeviceClass> classes_by_speed(const Problem& problem) {
  std::vector<DeviceClass> classes;
  for (const DeviceId device : problem.machine.devices()) {
    const int slots = problem.machine.device(device).slots;
    auto found = std::find_if(classes.begin(), classes.end(), [&](const DeviceClass& other) {
      return other.slots_each == slots && same_run_times(problem, other.devices.front(), device);
    });
    if (found == classes.end()) found = classes.insert(found, DeviceClass{.slots_each = slots});
    found->devices.push_back(device);
  }
  return classes;
}

// Calls visit(list) once for each different list of devices that ops may run on.
template <class Visit>
void for_each_choice(const Problem& problem, Visit visit) {
  std::unordered_set<const DeviceId*> seen;  // the Problem keeps each list once
  const DeviceId* last = nullptr;
  for (const OpId op : problem.graph.ops()) {
    const std::span<const DeviceId> devices = problem.devices_for(op);
    if (devices.data() == last) continue;
    last = devices.data();
    if (seen.insert(last).second) visit(devices);
  }
}

// Divides each class into the devices that are on the list and those that are not.
std::vector<DeviceClass> divided(const std::vector<DeviceClass>& classes,
                                 std::span<const DeviceId> list) {
  std::vector<DeviceClass> parts;
  for (const DeviceClass& whole : classes) {
    DeviceClass listed = whole;
    DeviceClass others = whole;
    const auto on_list = [&](DeviceId device) {
      return std::binary_search(list.begin(), list.end(), device);
    };
    std::erase_if(listed.devices, [&](DeviceId device) { return !on_list(device); });
    std::erase_if(others.devices, on_list);
    if (!listed.devices.empty()) parts.push_back(std::move(listed));
    if (!others.devices.empty()) parts.push_back(std::move(others));
  }
  return parts;
}

}  // namespace

std::vector<DeviceClass> device_classes(const Problem& problem) {
  std::vector<DeviceClass> classes = classes_by_speed(problem);
  for_each_choice(problem, [&](std::span<const DeviceId> list) {
    if (classes.size() == static_cast<size_t>(problem.machine.size())) return;
    std::vector<DeviceClass> parts = divided(classes, list);
    if (parts.size() == classes.size() || parts.size() > kMostClasses) return;
    classes = std::move(parts);
  });
  std::sort(classes.begin(), classes.end(), [](const DeviceClass& a, const DeviceClass& b) {
    return a.devices.front() < b.devices.front();
  });
  return classes;
}

std::vector<Ticks> run_times_of(const Problem& problem, const std::vector<DeviceClass>& classes) {
  std::vector<Ticks> times;
  times.reserve(static_cast<size_t>(problem.graph.size()) * classes.size());
  std::vector<bool> allowed(classes.size());  // by the list that `last` points to
  const DeviceId* last = nullptr;
  for (const OpId op : problem.graph.ops()) {
    const std::span<const DeviceId> list = problem.devices_for(op);
    if (list.data() != last) {
      last = list.data();
      for (size_t c = 0; c < classes.size(); ++c) {
        allowed[c] = std::any_of(
            classes[c].devices.begin(), classes[c].devices.end(),
            [&](DeviceId device) { return std::binary_search(list.begin(), list.end(), device); });
      }
    }
    for (size_t c = 0; c < classes.size(); ++c) {
      times.push_back(allowed[c] ? problem.costs.run_time(op, classes[c].devices.front()).count()
                                 : kImpossible);
    }
  }
  return times;
}

}  // namespace tutti::bound
