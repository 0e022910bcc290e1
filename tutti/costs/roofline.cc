#include "tutti/costs/roofline.h"

#include <algorithm>

namespace tutti {
namespace {

// A row that names the device's kind beats one for all kinds; among equals the last one wins.
template <class Entry>
const Entry* best_row(const std::vector<Entry>& rows, std::string_view kind,
                      std::string_view device_kind) {
  const Entry* best = nullptr;
  for (const Entry& row : rows) {
    if (row.kind != kind || (!row.device_kind.empty() && row.device_kind != device_kind)) continue;
    if (best == nullptr || !row.device_kind.empty() || best->device_kind.empty()) best = &row;
  }
  return best;
}

// All points for that kind and the row's kind of device. Rows of several variants are one surface.
std::unique_ptr<Surface> surface_of(const CostSpec& spec, const CostSpec::RunTime& best) {
  std::vector<MeasuredPoint> points;
  for (const CostSpec::RunTime& row : spec.run_times) {
    if (row.kind != best.kind || row.device_kind != best.device_kind) continue;
    points.insert(points.end(), row.points.begin(), row.points.end());
  }
  return std::make_unique<Surface>(std::move(points));
}

Duration bounded(double ns) {
  return ns < static_cast<double>(kLongestTimeNs) ? nanoseconds_of(ns) : Duration(kLongestTimeNs);
}

}  // namespace

KindCosts::KindCosts(const Graph& graph, const Device& device, const CostSpec& spec)
    : graph_(graph), device_(device) {
  for (const OpId op : graph.ops()) {
    if (graph.flops(op) <= 0) continue;
    graph_states_flops_ = true;
    break;
  }
  for (const std::string& kind : graph.op_kinds()) {
    Row row;
    row.table = best_row(spec.run_times, kind, device.kind);
    if (row.table != nullptr && !row.table->points.empty()) {
      row.surface = surface_of(spec, *row.table);
    }
    row.overhead_ns = static_cast<double>(device.launch_overhead.count());
    const CostSpec::Efficiency* efficiency = best_row(spec.efficiencies, kind, device.kind);
    if (efficiency != nullptr) {
      row.efficiency = efficiency->efficiency;
      row.overhead_ns = efficiency->launch_overhead_ns.value_or(row.overhead_ns);
    }
    rows_.push_back(std::move(row));
  }
}

double KindCosts::touched_bytes(OpId op) const {
  double bytes = 0;
  for (const ValueId value : graph_.operands(op)) bytes += static_cast<double>(graph_.bytes(value));
  for (const ValueId value : graph_.outputs(op)) bytes += static_cast<double>(graph_.bytes(value));
  return bytes;
}

double KindCosts::peak_flops_per_s(OpId op) const {
  if (!device_.flops_per_s_by_dtype.empty() && !graph_.outputs(op).empty()) {
    const char* dtype = to_text(graph_.dtype(graph_.outputs(op).front()));
    for (const auto& [name, rate] : device_.flops_per_s_by_dtype) {
      if (name == dtype) return rate;
    }
  }
  return device_.flops_per_s;
}

KindCosts::Cost KindCosts::cost(OpId op) {
  Row& row = rows_[static_cast<size_t>(graph_.op_kind(op).index)];
  const double flops = graph_.flops(op);
  if (row.surface != nullptr) {
    const auto [known, is_new] = row.known.try_emplace(work_of(graph_, op));
    if (is_new) known->second = row.surface->at(known->first);
    return {bounded(known->second.time_ns), known->second.spread};
  }
  if (row.table != nullptr) {
    return {bounded(interpolate_ns(*row.table, flops > 0 ? flops : touched_bytes(op)))};
  }
  const double peak = peak_flops_per_s(op);
  if (flops > 0 && peak <= 0) return {kNever};
  // A device that states no rates at all says nothing about ops that come without times.
  if (peak <= 0 && device_.bytes_per_s <= 0) return {kNever};
  const double bytes = device_.bytes_per_s > 0 ? touched_bytes(op) : 0;
  double seconds = flops > 0 ? flops / peak : 0;
  if (bytes > 0) seconds = std::max(seconds, bytes / device_.bytes_per_s);
  return {.run_time = bounded(row.overhead_ns + seconds / row.efficiency * 1e9),
          .knows_work = flops > 0 || (bytes > 0 && graph_states_flops_)};
}

double interpolate_ns(const CostSpec::RunTime& row, double size) {
  const auto& points = row.time_ns_by_size;
  if (points.size() == 1 && points[0].first == 0) return points[0].second;
  if (size <= points.front().first) return points.front().second * size / points.front().first;
  if (size >= points.back().first) return points.back().second * size / points.back().first;
  const auto above = std::upper_bound(points.begin(), points.end(), size,
                                      [](double s, const auto& point) { return s < point.first; });
  const auto below = above - 1;
  const double share = (size - below->first) / (above->first - below->first);
  return below->second + share * (above->second - below->second);
}

}  // namespace tutti
