#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <numeric>

#include "tutti/plan/export/export.h"
#include "tutti/plan/export/numbering.h"

namespace tutti {
namespace {

// StarPU numbers the workers of a node from 0: first those of accelerators, then the CPUs'. A
// device has one worker for each slot. By device.
std::vector<std::vector<int>> workers_of(const Machine& machine) {
  const std::vector<DeviceNumber> numbers = number_devices(machine);
  std::vector<int> accelerators(machine.hosts().size(), 0);
  for (const DeviceId id : machine.devices()) {
    const Device& device = machine.device(id);
    if (!numbers[static_cast<size_t>(id.index)].on_host_memory) {
      accelerators[static_cast<size_t>(device.host.index)] += device.slots;
    }
  }
  std::vector<std::vector<int>> workers;
  for (const DeviceId id : machine.devices()) {
    const Device& device = machine.device(id);
    const DeviceNumber& number = numbers[static_cast<size_t>(id.index)];
    std::vector<int> own(static_cast<size_t>(device.slots));
    std::iota(
        own.begin(), own.end(),
        number.slots_before +
            (number.on_host_memory ? accelerators[static_cast<size_t>(device.host.index)] : 0));
    workers.push_back(std::move(own));
  }
  return workers;
}

// There the largest goes first: the number of ops behind this one. By op.
std::vector<int64_t> starpu_priorities(const Plan& plan, const Graph& graph) {
  std::vector<OpId> order;
  for (const OpId op : graph.ops()) order.push_back(op);
  std::stable_sort(order.begin(), order.end(),
                   [&](OpId a, OpId b) { return plan.priority[a.index] < plan.priority[b.index]; });
  std::vector<int64_t> priorities(order.size());
  int64_t behind = graph.size();
  for (const OpId op : order) priorities[static_cast<size_t>(op.index)] = --behind;
  return priorities;
}

// A record ends at the end of its line.
std::string one_field(std::string_view name) {
  std::string text(name);
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return text;
}

}  // namespace

std::string plan_to_sched_rec(const Plan& plan, const Problem& problem) {
  const std::vector<std::vector<int>> workers = workers_of(problem.machine);
  const std::vector<int64_t> priorities = starpu_priorities(plan, problem.graph);
  std::string text;
  int64_t submitted = 0;
  for (const OpId op : problem.graph.topological_order()) {
    const DeviceId device = plan.placement[op.index];
    const std::vector<int>& own = workers[static_cast<size_t>(device.index)];
    fmt::format_to(std::back_inserter(text),
                   "SubmitOrder: {}\nName: {}\nNode: {}\n{}: {}\nPriority: {}\n\n", ++submitted,
                   one_field(problem.graph.op_name(op)), problem.machine.device(device).host.index,
                   own.size() == 1 ? "SpecificWorker" : "Workers", fmt::join(own, " "),
                   priorities[static_cast<size_t>(op.index)]);
  }
  return text;
}

}  // namespace tutti
