#include "studies/doppler/released/critical_path_released.h"

#include <algorithm>
#include <vector>

#include "tutti/base/random.h"
#include "tutti/policy/schedule/memory.h"
#include "tutti/policy/schedule/ranks.h"

namespace tutti {
namespace {

class ReleasedBookkeeping {
 public:
  explicit ReleasedBookkeeping(const Problem& problem)
      : problem_(problem),
        booked_(static_cast<size_t>(problem.machine.size()), Duration{0}),
        finish_(static_cast<size_t>(problem.graph.size()), Duration{0}),
        placement_(static_cast<size_t>(problem.graph.size())),
        group_device_(static_cast<size_t>(problem.colocation_group_count())) {}

  Duration earliest_start(OpId op, DeviceId device) const {
    Duration start = booked_[device.index];
    for (const EdgeId edge : problem_.graph.edges(op)) {
      const OpId producer = problem_.graph.edge_from(edge);
      if (!producer.valid()) continue;
      start =
          std::max(start, finish_[producer.index] + problem_.costs.transfer_time(
                                                        edge, placement_[producer.index], device));
    }
    return start;
  }

  std::vector<DeviceId> choices(OpId op) const {
    const int group = problem_.colocation_group(op);
    if (group >= 0 && group_device_[static_cast<size_t>(group)].valid()) {
      return {group_device_[static_cast<size_t>(group)]};
    }
    const auto devices = problem_.devices_for(op);
    return {devices.begin(), devices.end()};
  }

  void place(OpId op, DeviceId device) {
    placement_[op.index] = device;
    booked_[device.index] += problem_.costs.run_time(op, device);
    finish_[op.index] = booked_[device.index];
    if (const int group = problem_.colocation_group(op); group >= 0) {
      group_device_[static_cast<size_t>(group)] = device;
    }
  }

  std::vector<DeviceId> take_placement() { return std::move(placement_); }

 private:
  const Problem& problem_;
  std::vector<Duration> booked_;
  std::vector<Duration> finish_;
  std::vector<DeviceId> placement_;
  std::vector<DeviceId> group_device_;
};

// Defect 1: the index among the ties is used among all.
size_t released_choice(const std::vector<OpId>& ready, const std::vector<double>& rank, Rng& rng) {
  double best = -1;
  uint64_t ties = 0;
  for (const OpId op : ready) {
    if (rank[op.index] > best) {
      best = rank[op.index];
      ties = 0;
    }
    ties += rank[op.index] == best;
  }
  return rng.below(ties);
}

DeviceId released_device(const ReleasedBookkeeping& books, OpId op, Rng& rng) {
  Duration best = kNever;
  std::vector<DeviceId> ties;
  for (const DeviceId device : books.choices(op)) {
    const Duration start = books.earliest_start(op, device);
    if (start < best) ties.clear();
    best = std::min(best, start);
    if (start == best) ties.push_back(device);
  }
  return ties[rng.below(ties.size())];
}

}  // namespace

Result<Plan> plan_critical_path_released(const Problem& problem, const Budget& /*budget*/,
                                         uint64_t seed) {
  const Graph& graph = problem.graph;
  const std::vector<double> rank = upward_ranks(problem, EdgeWeight::distinct_pairs);
  Rng rng(seed);
  std::vector<int32_t> missing(static_cast<size_t>(graph.size()), 0);
  std::vector<OpId> ready;  // oldest first
  for (const OpId op : graph.ops()) {
    missing[op.index] += graph.made_operands(op);
    if (missing[op.index] == 0) ready.push_back(op);
  }
  ReleasedBookkeeping books(problem);
  Plan plan;
  plan.priority.resize(static_cast<size_t>(graph.size()));
  int64_t turn = 0;
  while (!ready.empty()) {
    const size_t index = released_choice(ready, rank, rng);
    const OpId op = ready[index];
    ready.erase(ready.begin() + static_cast<int64_t>(index));
    books.place(op, released_device(books, op, rng));
    plan.priority[op.index] = turn++;
    for (const EdgeId edge : graph.out_edges(op)) {
      const OpId reader = graph.edge_to(edge);
      if (--missing[reader.index] == 0) ready.push_back(reader);
    }
  }
  plan.placement = books.take_placement();
  if (Result<void> room = require_room(problem, plan.placement); !room) return room.error();
  return plan;
}

}  // namespace tutti
