#include "tutti/trace/diff.h"

#include <algorithm>

#include "tutti/trace/stats.h"

namespace tutti {

TraceDiff diff_traces(const Problem& problem, const Trace& first, const Trace& second) {
  TraceDiff diff;
  const Trace* traces[2] = {&first, &second};
  std::vector<const OpSpan*> spans[2];
  for (const int side : {0, 1}) {
    const TraceStats stats = trace_stats(problem, *traces[side]);
    diff.makespan[side] = stats.makespan;
    diff.bytes_moved[side] = stats.bytes_moved;
    diff.transfers[side] = stats.transfer_count;
    for (const DeviceStats& device : stats.devices) {
      diff.busy_share[side].push_back(device.busy_share);
    }
    spans[side].resize(static_cast<size_t>(problem.graph.size()), nullptr);
    for (const OpSpan& span : traces[side]->ops) spans[side][span.op.index] = &span;
  }
  for (const OpId op : problem.graph.ops()) {
    const OpSpan* a = spans[0][op.index];
    const OpSpan* b = spans[1][op.index];
    if (a == nullptr || b == nullptr) continue;
    const OpDifference difference{op, {a->device, b->device}, {a->finish, b->finish}};
    if (a->device != b->device) {
      diff.moved.push_back(difference);
    } else if (a->finish != b->finish) {
      diff.retimed.push_back(difference);
    }
  }
  const auto length = [&](const OpDifference& d) {
    return problem.costs.run_time(d.op, d.device[0]);
  };
  const auto change = [](const OpDifference& d) {
    return std::max(d.finish[0] - d.finish[1], d.finish[1] - d.finish[0]);
  };
  std::stable_sort(diff.moved.begin(), diff.moved.end(),
                   [&](const auto& a, const auto& b) { return length(a) > length(b); });
  std::stable_sort(diff.retimed.begin(), diff.retimed.end(),
                   [&](const auto& a, const auto& b) { return change(a) > change(b); });
  return diff;
}

}  // namespace tutti
