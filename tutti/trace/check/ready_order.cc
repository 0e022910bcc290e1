#include <algorithm>
#include <set>
#include <utility>

#include "tutti/trace/check/rules.h"

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
class OrderJudge {
 public:
  OrderJudge(const Case& trial, const LeastUse* memory, int64_t limit,
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
        if ((*next)->start > now) waiting_.emplace(key((*next)->op), (*next)->op);
      }
      for (auto it = first; it != end; ++it) waiting_.erase({key((*it)->op), (*it)->op});
      for (auto it = first; it != end && !verdict_.full(); ++it) judge_start(**it, unsure);
      first = end;
    }
  }

 private:
  // The smallest goes first. If times tie, no trace shows which op was first.
  int64_t key(OpId op) const {
    const int64_t ready = trial_.presence.ready(op).count();
    if (trial_.trace.order == ReadyOrder::fifo) return ready;
    if (trial_.trace.order == ReadyOrder::lifo) return -ready;
    return trial_.rules.plan->priority[op.index];
  }
  int64_t need(OpId op) const { return bytes_at_start(trial_.problem.graph, op); }

  void judge_start(const OpSpan& span, bool unsure) {
    for (const auto& [first, op] : waiting_) {
      if (first >= key(span.op)) return;
      if (!would_fit(op, span, unsure)) continue;
      return tell(span, op);
    }
  }

  void tell(const OpSpan& span, OpId waiting) {
    const Graph& graph = trial_.problem.graph;
    const std::string& device = trial_.problem.machine.device(span.device).name;
    if (trial_.trace.order == ReadyOrder::priority) {
      return verdict_.add(
          "op '{}' of priority {} started on '{}' at {} ns, while '{}' of priority {} was ready "
          "there and had room",
          graph.op_name(span.op), key(span.op), device, span.start.count(), graph.op_name(waiting),
          key(waiting));
    }
    verdict_.add(
        "op '{}', ready at {} ns, started on '{}' at {} ns, while '{}', ready at {} ns, was to go "
        "first by the order '{}' and had room",
        graph.op_name(span.op), trial_.presence.ready(span.op).count(), device, span.start.count(),
        graph.op_name(waiting), trial_.presence.ready(waiting).count(),
        to_text(*trial_.trace.order));
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
  std::set<std::pair<int64_t, OpId>> waiting_;  // (key, op): ready, and starts later
};

// Why the order cannot be judged; null if it can.
const char* unknown_order(const Case& trial) {
  const std::optional<ReadyOrder> order = trial.trace.order;
  if (!order) return "the trace does not record in which order ready ops went";
  if (order == ReadyOrder::random) return "the order is recorded as random";
  if (order == ReadyOrder::priority && trial.rules.plan == nullptr) {
    return "the order is the plan's, and no plan was given";
  }
  return nullptr;
}

}  // namespace

void check_ready_order(const Case& trial, const LeastUses& memories, Verdict& verdict) {
  verdict.begin("ready order");
  const Plan* plan = trial.rules.plan;
  if (plan != nullptr && !plan->strict_order.empty()) return;
  if (trial.rules.timeless) {
    return verdict.set_aside("ready order", "in a run of no time none goes first");
  }
  if (const char* reason = unknown_order(trial)) {
    return verdict.set_aside("ready order", reason);
  }
  const Machine& machine = trial.problem.machine;
  std::vector<std::vector<const OpSpan*>> spans(static_cast<size_t>(machine.size()));
  for (const OpSpan& span : trial.trace.ops) spans[span.device.index].push_back(&span);
  const std::vector<Duration> unsure = instants(trial);
  for (const DeviceId device : machine.devices()) {
    const MemoryId memory = machine.memory_of(device);
    OrderJudge(trial, memories.of(memory), trial.problem.memory_limit(memory), unsure, verdict)
        .judge(std::move(spans[device.index]));
  }
}

}  // namespace tutti::trace_rules
