#include <algorithm>
#include <set>
#include <utility>

#include "tutti/trace/check_rules.h"

namespace tutti::trace_rules {
namespace {

// The times at which something began and ended at once. What else happened at such a time may have
// happened before or after it, which no trace shows.
std::vector<Duration> instants(const Case& trial) {
  std::vector<Duration> times;
  for (const OpSpan& span : trial.trace.ops) {
    if (span.start == span.finish) times.push_back(span.finish);
  }
  for (const TransferSpan& span : trial.trace.transfers) {
    const Hop* hop = hop_of(trial.problem.machine, span);
    const auto bytes = static_cast<double>(trial.problem.graph.bytes(span.value));
    const bool moves_at_once =
        hop != nullptr && !hop->shared.empty() && bytes * hop->ns_per_byte < 1e-3;
    if (span.start == span.finish || moves_at_once) times.push_back(span.finish);
  }
  std::sort(times.begin(), times.end());
  return times;
}

// Goes through the starts of one device in the order of time, and keeps those that wait.
class PriorityJudge {
 public:
  PriorityJudge(const Case& trial, const LeastUse* memory, int64_t limit,
                const std::vector<Duration>& instants, Verdict& verdict)
      : trial_(trial), memory_(memory), limit_(limit), instants_(instants), verdict_(verdict) {}

  void judge(std::vector<const OpSpan*> spans) {
    std::vector<const OpSpan*> by_ready = spans;
    std::sort(by_ready.begin(), by_ready.end(), [&](const OpSpan* a, const OpSpan* b) {
      return trial_.presence.ready(a->op) < trial_.presence.ready(b->op);
    });
    std::sort(spans.begin(), spans.end(),
              [](const OpSpan* a, const OpSpan* b) { return a->start < b->start; });
    auto next = by_ready.begin();
    for (auto first = spans.begin(); first != spans.end();) {
      const Duration now = (*first)->start;
      const auto end =
          std::find_if(first, spans.end(), [&](const OpSpan* span) { return span->start > now; });
      const bool unsure = std::binary_search(instants_.begin(), instants_.end(), now);
      for (; next != by_ready.end(); ++next) {
        const Duration ready = trial_.presence.ready((*next)->op);
        if (unsure ? ready >= now : ready > now) break;
        if ((*next)->start > now) waiting_.emplace(priority((*next)->op), (*next)->op);
      }
      for (auto it = first; it != end; ++it) waiting_.erase({priority((*it)->op), (*it)->op});
      for (auto it = first; it != end && !verdict_.full(); ++it) judge_start(**it, unsure);
      first = end;
    }
  }

 private:
  int64_t priority(OpId op) const { return trial_.rules.plan->priority[op.index]; }
  int64_t need(OpId op) const { return bytes_at_start(trial_.problem.graph, op); }

  void judge_start(const OpSpan& span, bool unsure) {
    for (const auto& [first, op] : waiting_) {
      if (first >= priority(span.op)) return;
      if (!would_fit(op, span, unsure)) continue;
      const Graph& graph = trial_.problem.graph;
      verdict_.add(
          "op '{}' of priority {} started on '{}' at {} ns, while '{}' of priority {} was ready "
          "there and had room",
          graph.op_name(span.op), priority(span.op),
          trial_.problem.machine.device(span.device).name, span.start.count(), graph.op_name(op),
          first);
      return;
    }
  }

  // Whether the op would have had room in the place of the one that started.
  bool would_fit(OpId op, const OpSpan& started, bool unsure) const {
    if (memory_ == nullptr) return true;
    if (unsure) return false;
    const int64_t used = memory_->during({started.start, started.start + Duration{1}});
    return used - need(started.op) + need(op) <= limit_;
  }

  const Case& trial_;
  const LeastUse* memory_;
  int64_t limit_;
  const std::vector<Duration>& instants_;
  Verdict& verdict_;
  std::set<std::pair<int64_t, OpId>> waiting_;  // (priority, op): ready, and starts later
};

}  // namespace

void check_priority(const Case& trial, const LeastUses& memories, Verdict& verdict) {
  const Plan* plan = trial.rules.plan;
  if (plan == nullptr || trial.trace.order != ReadyOrder::priority) return;
  if (!plan->strict_order.empty() || trial.presence.online()) return;
  const Machine& machine = trial.problem.machine;
  std::vector<std::vector<const OpSpan*>> spans(static_cast<size_t>(machine.size()));
  for (const OpSpan& span : trial.trace.ops) spans[span.device.index].push_back(&span);
  const std::vector<Duration> unsure = instants(trial);
  for (const DeviceId device : machine.devices()) {
    const MemoryId memory = machine.memory_of(device);
    PriorityJudge(trial, memories.of(memory), trial.problem.memory_limit(memory), unsure, verdict)
        .judge(std::move(spans[device.index]));
  }
}

}  // namespace tutti::trace_rules
