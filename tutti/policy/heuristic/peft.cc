// Predict Earliest Finish Time (Arabnejad, Barbosa; TPDS 2014). The optimistic cost table holds,
// for each op and device, the least time from the op's end on that device to the end of the graph
// if every op behind it had its best device and no other op stood in its way. Ready ops go by the
// mean of their row, the largest first, each to the device with the least finish plus table entry,
// with insertion.
//
// So an op may take a device that finishes it later if that pays further on; HEFT never does.

#include <algorithm>
#include <limits>

#include "tutti/policy/heuristic/heuristics.h"
#include "tutti/policy/schedule/insertion.h"
#include "tutti/policy/schedule/ranks.h"
#include "tutti/policy/schedule/ready_queue.h"

namespace tutti {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

std::vector<double> mean_of_rows(const Problem& problem, const std::vector<double>& table) {
  const auto width = static_cast<size_t>(problem.machine.size());
  std::vector<double> mean(static_cast<size_t>(problem.graph.size()), 0);
  for (const OpId op : problem.graph.ops()) {
    const auto devices = problem.devices_for(op);
    for (const DeviceId device : devices) {
      mean[op.index] += table[static_cast<size_t>(op.index) * width + device.index];
    }
    mean[op.index] /= static_cast<double>(devices.size());
  }
  return mean;
}

}  // namespace

std::vector<double> optimistic_costs(const Problem& problem) {
  const Graph& graph = problem.graph;
  const auto width = static_cast<size_t>(problem.machine.size());
  const double factor = edge_factor(problem, EdgeWeight::distinct_pairs);
  std::vector<double> table(static_cast<size_t>(graph.size()) * width, 0);
  std::vector<double> from_start(width);  // table entry of the reader plus its run time
  const auto order = graph.topological_order();
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    double* const row = &table[static_cast<size_t>(it->index) * width];
    std::fill(from_start.begin(), from_start.end(), kInfinite);
    double least = kInfinite;
    for (const DeviceId device : problem.devices_for(*it)) {
      from_start[device.index] =
          row[device.index] + static_cast<double>(problem.costs.run_time(*it, device).count());
      least = std::min(least, from_start[device.index]);
    }
    for (const EdgeId edge : graph.edges(*it)) {
      const OpId producer = graph.edge_from(edge);
      if (!producer.valid()) continue;
      const double elsewhere = least + factor * problem.costs.mean_transfer_time_ns(edge);
      double* const producer_row = &table[static_cast<size_t>(producer.index) * width];
      for (size_t d = 0; d < width; ++d) {
        producer_row[d] = std::max(producer_row[d], std::min(from_start[d], elsewhere));
      }
    }
    for (size_t d = 0; d < width; ++d) {
      if (from_start[d] == kInfinite) row[d] = kInfinite;
    }
  }
  return table;
}

Result<Plan> plan_peft(const Problem& problem, const Budget& budget, uint64_t /*seed*/) {
  const auto width = static_cast<size_t>(problem.machine.size());
  const std::vector<double> table = optimistic_costs(problem);
  const std::vector<double> rank = mean_of_rows(problem, table);
  InsertionSchedule schedule(problem);
  for (ReadyQueue ready(problem.graph, rank); !ready.empty();) {
    if (budget.stop.now()) return out_of_time();
    const OpId op = ready.pop();
    InsertionSchedule::Option best;
    double best_estimate = kInfinite;
    for (const DeviceId device : schedule.devices_for(op)) {
      const InsertionSchedule::Option option = schedule.best_on(op, device);
      const double estimate = static_cast<double>(option.finish.count()) +
                              table[static_cast<size_t>(op.index) * width + device.index];
      if (estimate < best_estimate) {
        best_estimate = estimate;
        best = option;
      }
    }
    schedule.place(op, best);
  }
  return std::move(schedule).to_plan();
}

}  // namespace tutti
