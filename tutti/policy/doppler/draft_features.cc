#include "tutti/policy/doppler/draft_features.h"

#include <algorithm>
#include <cmath>

#include "tutti/base/check.h"
#include "tutti/policy/doppler/features.h"

namespace tutti {
namespace {

double ns(Duration time) {
  return static_cast<double>(time.count());
}

}  // namespace

DraftFacts::DraftFacts(const Problem& problem)
    : problem_(&problem), groups_(groups_of(problem.graph)) {
  const Graph& graph = problem.graph;
  const Machine& machine = problem.machine;
  const auto devices = static_cast<size_t>(machine.size());
  std::vector<double> time(devices, 0);
  std::vector<double> alternative(devices, 0);
  total_run_time_ns_ = 0;
  for (const OpId op : graph.ops()) {
    const double mean = problem.costs.mean_run_time_ns(op);
    total_run_time_ns_ += mean;
    int64_t bytes = 0;
    for (const ValueId value : graph.outputs(op)) bytes += graph.bytes(value);
    out_bytes_.push_back(bytes);
    for (const DeviceId device : machine.devices()) {
      if (!problem.costs.can_run(op, device)) continue;
      time[static_cast<size_t>(device.index)] += ns(problem.costs.run_time(op, device));
      alternative[static_cast<size_t>(device.index)] += ns(problem.costs.least_run_time(op));
    }
  }
  mean_run_time_ns_ = std::max(1.0, total_run_time_ns_ / std::max(1, graph.size()));
  total_run_time_ns_ = std::max(1.0, total_run_time_ns_);
  for (size_t d = 0; d < devices; ++d) {
    slowness_.push_back(std::log(std::max(1.0, time[d]) / std::max(1.0, alternative[d])));
  }
  wires_.resize(devices);
  for (const DeviceId a : machine.devices()) {
    for (const DeviceId b : machine.devices()) {
      const Route* route = machine.route(machine.memory_of(a), machine.memory_of(b));
      if (a == b || route == nullptr) continue;
      const double share = 1.0 / static_cast<double>(devices - 1);
      for (const Hop& hop : route->hops) {
        Wires& out = wires_[static_cast<size_t>(a.index)];
        Wires& in = wires_[static_cast<size_t>(b.index)];
        out.out_ns_per_byte += share * hop.ns_per_byte;
        out.out_latency_ns += share * ns(hop.latency);
        in.in_ns_per_byte += share * hop.ns_per_byte;
        in.in_latency_ns += share * ns(hop.latency);
      }
    }
  }
}

void DraftFacts::static_columns(OpId op, DeviceId device, float* columns) const {
  const Problem& problem = *problem_;
  const double run_time = ns(problem.costs.run_time(op, device));
  const double least = std::max(1.0, ns(problem.costs.least_run_time(op)));
  const Wires& wires = wires_[static_cast<size_t>(device.index)];
  const auto bytes = static_cast<double>(out_bytes_[static_cast<size_t>(op.index)]);
  const int64_t limit = problem.memory_limit(problem.machine.memory_of(device));
  columns[0] = static_cast<float>(std::min(4.0, std::log(std::max(1.0, run_time) / least)));
  columns[1] = log_of(run_time / mean_run_time_ns_);
  columns[2] = static_cast<float>(std::min(4.0, slowness_[static_cast<size_t>(device.index)]));
  columns[3] = log_of((wires.out_latency_ns + bytes * wires.out_ns_per_byte) / mean_run_time_ns_);
  columns[4] = log_of((wires.in_latency_ns + bytes * wires.in_ns_per_byte) / mean_run_time_ns_);
  columns[5] = log_of((wires.out_latency_ns + wires.in_latency_ns) / mean_run_time_ns_);
  columns[6] = static_cast<float>(std::log2(problem.machine.device(device).slots));
  columns[7] = limit == kUnlimitedBytes
                   ? 0.0F
                   : log_of(10.0 * bytes / static_cast<double>(std::max<int64_t>(1, limit)));
}

DraftFeatures::DraftFeatures(const DraftFacts& facts, Estimate estimate, double memory_share)
    : facts_(facts), problem_(facts.problem()), estimate_(estimate) {
  if (estimate == Estimate::with_contention) {
    contention_.emplace(problem_, memory_share);
  } else {
    draft_.emplace(problem_, memory_share);
  }
  const auto devices = static_cast<size_t>(problem_.machine.size());
  load_ns_.assign(devices, 0);
  if (facts.groups_.named) {
    group_on_.assign(facts.groups_.members.size() * devices, 0);
    group_placed_.assign(facts.groups_.members.size(), 0);
  }
}

Duration DraftFeatures::run_time(OpId op, DeviceId device) const {
  return estimate_ == Estimate::start_alone ? Duration{0} : problem_.costs.run_time(op, device);
}

Duration DraftFeatures::finish_on(OpId op, DeviceId device) {
  if (contention_) return contention_->finish_on(op, device);
  return draft_->earliest_start(op, device) + run_time(op, device);
}

void DraftFeatures::locate_operands(OpId op) {
  const Graph& graph = problem_.graph;
  operand_bytes_ = 0;
  local_bytes_.assign(static_cast<size_t>(problem_.machine.size()), 0);
  for (const EdgeId edge : graph.edges(op)) {
    const OpId producer = graph.edge_from(edge);
    if (!producer.valid()) continue;
    const auto bytes = static_cast<double>(graph.bytes(graph.edge_value(edge)));
    operand_bytes_ += bytes;
    local_bytes_[static_cast<size_t>(state().placement(producer).index)] += bytes;
  }
}

void DraftFeatures::locate_siblings(OpId op) {
  constexpr int kMost = 8;  // readers, and operands of each: so that hubs stay cheap
  const Graph& graph = problem_.graph;
  all_sibling_bytes_ = 0;
  sibling_bytes_.assign(static_cast<size_t>(problem_.machine.size()), 0);
  int readers = 0;
  for (const EdgeId out : graph.out_edges(op)) {
    if (++readers > kMost) return;
    int operands = 0;
    for (const EdgeId edge : graph.edges(graph.edge_to(out))) {
      if (++operands > kMost) break;
      const OpId sibling = graph.edge_from(edge);
      if (!sibling.valid() || sibling == op) continue;
      const DeviceId device = state().placement(sibling);
      const auto bytes = static_cast<double>(graph.bytes(graph.edge_value(edge)));
      all_sibling_bytes_ += bytes;
      if (device.valid()) sibling_bytes_[static_cast<size_t>(device.index)] += bytes;
    }
  }
}

void DraftFeatures::observe(OpId op, std::span<const DeviceId> devices, Columns columns,
                            float* rows) {
  const double unit = std::max(1.0, problem_.costs.mean_run_time_ns(op));
  finishes_.clear();
  for (const DeviceId device : devices) finishes_.push_back(finish_on(op, device));
  const Duration best = *std::min_element(finishes_.begin(), finishes_.end());
  for (size_t i = 0; i < devices.size(); ++i) {
    rows[i * kDeviceFeatures + kSlack] =
        static_cast<float>(std::min(20.0, ns(finishes_[i] - best) / unit));
  }
  if (columns == Columns::slack_only) return;
  locate_operands(op);
  locate_siblings(op);
  arrivals_.clear();
  for (const DeviceId device : devices) arrivals_.push_back(state().arrival(op, device));
  Duration soonest = kNever;
  Duration freest = kNever;
  for (size_t i = 0; i < devices.size(); ++i) {
    soonest = std::min(soonest, arrivals_[i]);
    freest = std::min(freest, state().free_at(devices[i]));
  }
  const double mean_unit = facts_.mean_run_time_ns_;
  const auto device_count = static_cast<double>(problem_.machine.size());
  const size_t group = static_cast<size_t>(facts_.groups_.of_op[static_cast<size_t>(op.index)]);
  for (size_t i = 0; i < devices.size(); ++i) {
    const DeviceId device = devices[i];
    const auto d = static_cast<size_t>(device.index);
    float* row = rows + i * kDeviceFeatures;
    facts_.static_columns(op, device, row + kFirstStaticColumn);
    float* dynamic = row + kFirstDynamicColumn;
    const Duration free = state().free_at(device);
    const double start = ns(finishes_[i] - run_time(op, device));
    dynamic[0] = log_of(row[kSlack]);
    dynamic[1] = finishes_[i] == best ? 1.0F : 0.0F;
    dynamic[2] = log_of(ns(arrivals_[i] - soonest) / mean_unit);
    dynamic[3] = log_of(ns(free - freest) / mean_unit);
    dynamic[4] = log_of((start - ns(free)) / mean_unit);                          // idle before it
    dynamic[5] = log_of((start - ns(std::max(free, arrivals_[i]))) / mean_unit);  // for links
    dynamic[6] = operand_bytes_ > 0 ? static_cast<float>(local_bytes_[d] / operand_bytes_) : 0.0F;
    dynamic[7] =
        all_sibling_bytes_ > 0 ? static_cast<float>(sibling_bytes_[d] / all_sibling_bytes_) : 0.0F;
    dynamic[8] =
        loads_ns_ > 0 ? static_cast<float>(load_ns_[d] * device_count / loads_ns_ - 1) : 0.0F;
    dynamic[9] = group_placed_.empty() || group_placed_[group] == 0
                     ? 0.0F
                     : static_cast<float>(group_on_[group * load_ns_.size() + d]) /
                           static_cast<float>(group_placed_[group]);
    const int64_t limit = problem_.memory_limit(problem_.machine.memory_of(device));
    dynamic[10] = limit == kUnlimitedBytes
                      ? 1.0F
                      : static_cast<float>(static_cast<double>(state().memory_left(device)) /
                                           static_cast<double>(std::max<int64_t>(1, limit)));
  }
}

void DraftFeatures::place(OpId op, DeviceId device) {
  if (contention_) {
    contention_->place(op, device);
  } else {
    draft_->apply(op, device);
  }
  const auto d = static_cast<size_t>(device.index);
  const double time = ns(problem_.costs.run_time(op, device));
  load_ns_[d] += time;
  loads_ns_ += time;
  if (group_placed_.empty()) return;
  const size_t group = static_cast<size_t>(facts_.groups_.of_op[static_cast<size_t>(op.index)]);
  ++group_on_[group * load_ns_.size() + d];
  ++group_placed_[group];
}

}  // namespace tutti
