#include <algorithm>

#include "tutti/trace/check/rules.h"

namespace tutti::trace_rules {
namespace {

// What a plan's run cannot have, and what pauses without a policy would excuse.
void check_policy_records(const Case& trial, Verdict& verdict) {
  if (trial.trace.placed.empty() && !trial.trace.pauses.empty() && trial.rules.plan == nullptr) {
    verdict.add("the trace records pauses, but no op that an online policy placed");
  }
  if (trial.rules.plan == nullptr) return;
  if (!trial.trace.placed.empty()) {
    verdict.add("the trace records when ops were placed, but the plan placed them all beforehand");
  }
  if (!trial.trace.pauses.empty()) {
    verdict.add("the trace records pauses, but the run of a plan has none");
  }
}

void check_measured_records(const Case& trial, Verdict& verdict) {
  const Trace& trace = trial.trace;
  if (trace.measurement && !trial.rules.measured) {
    verdict.add("the trace says when it was measured, but the runtime '{}' measures nothing",
                to_text(trace.runtime));
  }
  if (!trial.rules.measured) return;
  if (!trace.measurement) {
    verdict.set_aside(
        "records",
        "the trace does not say by which process and when it was measured: whether it "
        "was is not known");
  }
  if (trace.sampled) {
    verdict.add("the trace is recorded as sampled, but the runtime '{}' draws nothing",
                to_text(trace.runtime));
  }
  if (!is_of_files(trace)) return;
  const Graph& graph = trial.problem.graph;
  for (const OpId op : graph.ops()) {
    if (graph.command(op) != nullptr) continue;
    return verdict.add(
        "the runtime '{}' runs commands, whose values are files, but op '{}' is none: its operands "
        "must be sent",
        to_text(trace.runtime), graph.op_name(op));
  }
}

}  // namespace

// What the run says of itself may excuse only what it can be true of.
void check_records(const Case& trial, Verdict& verdict) {
  verdict.begin("records");
  if (!is_of_known_runtime(trial.trace)) {
    verdict.set_aside("records", fmt::format("the runtime '{}' is none of tutti's: its trace is "
                                             "held to all rules of a simulated run",
                                             to_text(trial.trace.runtime)));
  }
  if (trial.trace.sampled && !trial.problem.costs.has_noise()) {
    verdict.add("the trace is recorded as sampled, but these costs have no noise");
  }
  check_policy_records(trial, verdict);
  check_measured_records(trial, verdict);
}

void check_barriers(const Case& trial, Verdict& verdict) {
  verdict.begin("barriers");
  if (!trial.trace.runtime.barriers) return;
  const Graph& graph = trial.problem.graph;
  std::vector<size_t> level_of(static_cast<size_t>(graph.size()), 0);
  std::vector<const OpSpan*> last;  // by level: the op that finished last
  for (const OpId op : graph.topological_order()) {
    size_t& level = level_of[static_cast<size_t>(op.index)];
    for (const EdgeId edge : graph.edges(op)) {
      const OpId producer = graph.edge_from(edge);
      if (producer.valid()) level = std::max(level, level_of[producer.index] + 1);
    }
    if (level == last.size()) last.push_back(nullptr);
    const OpSpan* span = trial.presence.span(op);
    if (last[level] == nullptr || last[level]->finish < span->finish) last[level] = span;
  }
  for (const OpSpan& span : trial.trace.ops) {
    if (verdict.full()) return;
    const size_t level = level_of[static_cast<size_t>(span.op.index)];
    if (level == 0 || span.start >= last[level - 1]->finish) continue;
    verdict.add("op '{}' started at {} ns, but '{}' of the level before finished at {} ns",
                graph.op_name(span.op), span.start.count(), graph.op_name(last[level - 1]->op),
                last[level - 1]->finish.count());
  }
}

}  // namespace tutti::trace_rules
