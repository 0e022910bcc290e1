#include <algorithm>
#include <tuple>

#include "tutti/trace/check/fair_shares.h"
#include "tutti/trace/check/rules.h"

namespace tutti::trace_rules {
namespace {

// A hop over shared channels begins to move bytes, or ends.
struct Change {
  Duration time;
  bool ends;
  int32_t flow;  // into the list of flows
};

struct Flow {
  const TransferSpan* span;
  const Hop* hop;
  double at_start = 0;  // of the sum of its hop
};

std::vector<Flow> find_flows(const Case& trial) {
  std::vector<Flow> flows;
  for (const TransferSpan& span : trial.trace.transfers) {
    const Hop* hop = hop_of(trial.problem.machine, span);
    if (hop == nullptr || hop->shared.empty() || hop->ns_per_byte == 0) continue;
    // One that ends before its latency is over is told to be too quick elsewhere.
    if (trial.problem.graph.bytes(span.value) == 0 || span.finish < span.start + hop->latency) {
      continue;
    }
    flows.push_back({.span = &span, .hop = hop});
  }
  return flows;
}

std::vector<Change> in_order(const std::vector<Flow>& flows) {
  std::vector<Change> changes;
  for (size_t i = 0; i < flows.size(); ++i) {
    const auto index = static_cast<int32_t>(i);
    changes.push_back({flows[i].span->start + flows[i].hop->latency, /*ends=*/false, index});
    changes.push_back({flows[i].span->finish, /*ends=*/true, index});
  }
  std::sort(changes.begin(), changes.end(), [](const Change& a, const Change& b) {
    return std::tuple(a.time, a.ends, a.flow) < std::tuple(b.time, b.ends, b.flow);
  });
  return changes;
}

// A hop ends at the first whole nanosecond at which its bytes are moved. Beyond that one, a few are
// forgiven: sums of many small parts lose digits.
void judge(const Case& trial, const Flow& flow, const FairShares::Progress& progress,
           Verdict& verdict) {
  const int64_t bytes = trial.problem.graph.bytes(flow.span->value);
  const auto needed = static_cast<double>(bytes);
  const double moved = progress.bytes - flow.at_start;
  const double slack = 3 * progress.bytes_per_ns + 1e-6 / flow.hop->ns_per_byte + 1e-9 * needed +
                       1e-12 * progress.bytes;
  if (moved < needed - slack) {
    verdict.add(
        "hop {} of the transfer of '{}' to '{}' ended at {} ns, but its fair share of the channels "
        "moved {:.0f} of its {} bytes by then",
        flow.span->hop, trial.problem.graph.value_name(flow.span->value),
        trial.problem.machine.memory(flow.span->to).name, flow.span->finish.count(), moved, bytes);
  } else if (moved > needed + progress.bytes_per_ns + slack) {
    verdict.add(
        "hop {} of the transfer of '{}' to '{}' ended only at {} ns, when its fair share of the "
        "channels could have moved {:.0f} bytes and it has {}",
        flow.span->hop, trial.problem.graph.value_name(flow.span->value),
        trial.problem.machine.memory(flow.span->to).name, flow.span->finish.count(), moved, bytes);
  }
}

}  // namespace

void check_shares(const Case& trial, Verdict& verdict) {
  verdict.begin("shares");
  std::vector<Flow> flows = find_flows(trial);
  FairShares shares(trial.problem.machine);
  for (const Change& change : in_order(flows)) {
    if (verdict.full()) return;
    Flow& flow = flows[change.flow];
    if (change.ends) {
      judge(trial, flow, shares.progress(change.time, *flow.hop), verdict);
      shares.leave(change.time, *flow.hop);
    } else {
      shares.join(change.time, *flow.hop);
      flow.at_start = shares.progress(change.time, *flow.hop).bytes;
    }
  }
}

}  // namespace tutti::trace_rules
