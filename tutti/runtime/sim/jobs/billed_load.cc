#include "tutti/runtime/sim/jobs/billed_load.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "tutti/base/check.h"

namespace tutti {
namespace {

// One way to run all ops of one kind and time: what a mean job's share of it does to each resource,
// in seconds of the resource's whole capacity.
struct Way {
  std::vector<Draw> seconds;
};

// The ways of one op. Slots are resources too: device d is number resources + d.
std::vector<Way> ways_of(const Cluster& cluster, const Job& job, OpId op) {
  std::vector<Way> ways;
  const SharedResources& resources = cluster.resources();
  for (const DeviceId device : job.devices_for(op)) {
    const double seconds = static_cast<double>(job.costs().run_time(op, device).count()) * 1e-9;
    const int slots = cluster.machine().device(device).slots;
    std::map<int32_t, double> sum;
    sum[resources.size() + device.index] = seconds / slots;
    for (int slot = 0; slot < slots; ++slot) {  // all slots alike
      for (const Draw& draw : cluster.draws(job.kind(op), cluster.first_slot(device) + slot)) {
        sum[draw.resource] += seconds * draw.amount / resources[draw.resource].capacity / slots;
      }
    }
    const Device& item = cluster.machine().device(device);
    std::vector<Draw> fetched;
    for (const ValueId value : job.graph().operands(op)) {
      resources.add_stream(cluster.machine().hosts()[item.host.index].memory, item.memory,
                           static_cast<double>(job.graph().bytes(value)), fetched);
    }
    for (const Draw& draw : fetched)
      sum[draw.resource] += draw.amount / resources[draw.resource].capacity;
    Way way;
    for (const auto& [resource, amount] : sum) way.seconds.push_back({resource, amount});
    ways.push_back(std::move(way));
  }
  return ways;
}

}  // namespace

double billed_jobs_per_s(const Cluster& cluster, std::span<const std::shared_ptr<const Job>> jobs) {
  TUTTI_CHECK(!jobs.empty());
  std::vector<std::vector<Way>> ops;
  for (const auto& job : jobs) {
    for (const OpId op : job->graph().ops()) ops.push_back(ways_of(cluster, *job, op));
  }
  const auto resources = static_cast<size_t>(cluster.resources().size() + cluster.machine().size());
  std::vector<double> busy(resources, 0.0);  // of this round
  std::vector<double> sum(resources, 0.0);   // of all rounds
  std::vector<double> weight(resources, 1.0);
  constexpr int kRounds = 400;
  constexpr double kStep = 0.1;
  double best = std::numeric_limits<double>::infinity();
  for (int round = 1; round <= kRounds; ++round) {
    std::fill(busy.begin(), busy.end(), 0.0);
    for (const std::vector<Way>& ways : ops) {
      const Way* cheapest = nullptr;
      double least = std::numeric_limits<double>::infinity();
      for (const Way& way : ways) {
        double price = 0;
        for (const Draw& part : way.seconds) price += weight[part.resource] * part.amount;
        if (price >= least) continue;
        least = price;
        cheapest = &way;
      }
      for (const Draw& part : cheapest->seconds) busy[part.resource] += part.amount;
    }
    const double width = *std::max_element(busy.begin(), busy.end());
    double all = 0;
    for (size_t r = 0; r < resources; ++r) {
      sum[r] += busy[r];
      weight[r] *= 1 + kStep * busy[r] / width;
      all += weight[r];
    }
    for (double& one : weight) one /= all;
    best = std::min(best, *std::max_element(sum.begin(), sum.end()) / round);
  }
  return static_cast<double>(jobs.size()) / best;
}

}  // namespace tutti
