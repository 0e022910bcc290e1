#include "tutti/costs/assumed.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace tutti {
namespace {

constexpr Duration kAnyCommand = std::chrono::seconds(1);

// For all kinds of devices, else for the first kind that the graph names.
std::optional<Duration> given_time(const Graph& graph, OpId op) {
  if (const auto time = graph.given_run_time(op, "")) return time;
  for (const std::string& kind : graph.device_kinds()) {
    if (const auto time = graph.given_run_time(op, kind)) return time;
  }
  return std::nullopt;
}

}  // namespace

AssumedTimes assume_equal_commands(const Graph& graph, CostSpec& spec) {
  if (graph.command_count() == 0) return {};
  std::set<std::string> kinds;
  for (const CostSpec::RunTime& row : spec.run_times) kinds.insert(row.kind);
  std::set<std::string> names;
  for (const CostSpec::OpTime& row : spec.op_times) names.insert(row.op);
  std::vector<Duration> known;
  std::vector<OpId> without;
  for (const OpId op : graph.ops()) {
    if (graph.command(op) == nullptr) continue;
    const auto time = spec.ignore_given_times ? std::nullopt : given_time(graph, op);
    if (time) {
      known.push_back(*time);
    } else if (names.count(std::string(graph.op_name(op))) == 0 &&
               kinds.count(std::string(graph.op_kind_name(op))) == 0) {
      without.push_back(op);
    }
  }
  if (without.empty()) return {};
  AssumedTimes assumed{static_cast<int32_t>(without.size()), kAnyCommand};
  if (!known.empty()) {
    const auto middle = known.begin() + static_cast<std::ptrdiff_t>(known.size() / 2);
    std::nth_element(known.begin(), middle, known.end());
    if (middle->count() > 0) assumed.each = *middle;
  }
  for (const OpId op : without) {
    spec.op_times.push_back({.op = std::string(graph.op_name(op)),
                             .device_kind = "",
                             .time_ns = static_cast<double>(assumed.each.count())});
  }
  return assumed;
}

}  // namespace tutti
