#include "tutti/graph/analysis.h"

#include <algorithm>

namespace tutti {

Levels levels(const Graph& graph) {
  Levels found;
  found.of_op.resize(static_cast<size_t>(graph.size()), 0);
  for (const OpId op : graph.topological_order()) {
    int32_t& level = found.of_op[op.index];
    for (const ValueId value : graph.operands(op)) {
      const OpId from = graph.producer(value);
      if (from.valid()) level = std::max(level, found.of_op[from.index] + 1);
    }
    found.depth = std::max(found.depth, level + 1);
  }
  std::vector<int32_t> ops_on(static_cast<size_t>(found.depth), 0);
  for (const int32_t level : found.of_op) found.width = std::max(found.width, ++ops_on[level]);
  return found;
}

CriticalPath critical_path(const Graph& graph, const std::function<Duration(OpId)>& run_time,
                           const std::function<Duration(EdgeId)>& transfer_time) {
  const auto ops = static_cast<size_t>(graph.size());
  std::vector<Duration> finish(ops, Duration{0});
  std::vector<OpId> before(ops);  // the op before it on the longest way to it
  OpId last;
  for (const OpId op : graph.topological_order()) {
    Duration start{0};
    for (const EdgeId edge : graph.edges(op)) {
      const OpId from = graph.edge_from(edge);
      if (!from.valid()) continue;
      const Duration arrival = std::min(finish[from.index] + transfer_time(edge), kNever);
      OpId& best = before[op.index];
      if (!best.valid() || arrival > start || (arrival == start && from < best)) best = from;
      start = std::max(start, arrival);
    }
    finish[op.index] = std::min(start + run_time(op), kNever);
    if (!last.valid() || finish[op.index] > finish[last.index] ||
        (finish[op.index] == finish[last.index] && op < last)) {
      last = op;
    }
  }
  CriticalPath path;
  if (last.valid()) path.length = finish[last.index];
  for (OpId op = last; op.valid(); op = before[op.index]) path.ops.push_back(op);
  std::reverse(path.ops.begin(), path.ops.end());
  return path;
}

Components components(const Graph& graph) {
  constexpr int32_t kUnseen = -1;
  Components found;
  found.of_op.assign(static_cast<size_t>(graph.size()), kUnseen);
  std::vector<OpId> reached;
  const auto reach = [&](OpId op) {
    if (!op.valid() || found.of_op[op.index] != kUnseen) return;
    found.of_op[op.index] = found.count;
    reached.push_back(op);
  };
  for (const OpId first : graph.ops()) {
    if (found.of_op[first.index] != kUnseen) continue;
    reach(first);
    while (!reached.empty()) {
      const OpId op = reached.back();
      reached.pop_back();
      for (const ValueId value : graph.operands(op)) reach(graph.producer(value));
      for (const EdgeId edge : graph.out_edges(op)) reach(graph.edge_to(edge));
    }
    ++found.count;
  }
  return found;
}

}  // namespace tutti
