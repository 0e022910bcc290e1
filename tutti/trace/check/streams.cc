// Weights with homes, where the run's plan says which are kept.

#include <algorithm>
#include <utility>

#include "tutti/trace/check/rules.h"

namespace tutti::trace_rules {
namespace {

bool streams_any(const Problem& problem, const Plan& plan) {
  const std::vector<WeightUse> use = weight_use(problem, plan.weights, plan.placement);
  return std::any_of(use.begin(), use.end(), [](const WeightUse& one) { return one.streamed > 0; });
}

// Judges the copies of one weight in one memory, which follow one another.
void judge_copies(const Case& trial, ValueId weight, std::span<const Transfer> copies,
                  Verdict& verdict) {
  const Problem& problem = trial.problem;
  const std::string name = problem.graph.value_name(weight);
  const std::string& to = problem.machine.memory(copies.front().to).name;
  if (trial.presence.keeps(weight, copies.front().to)) {
    if (problem.cold()) return;
    return verdict.add("'{}' was sent to '{}', which keeps it", name, to);
  }
  for (size_t i = 0; i < copies.size(); ++i) {
    const Transfer& copy = copies[i];
    if (copy.readers == 0) {
      verdict.add("'{}' was streamed to '{}' from {} ns on, but no op read that copy", name, to,
                  copy.start.count());
    }
    if (i > 0 && copies[i - 1].last_read > copy.start) {
      verdict.add(
          "'{}' was streamed to '{}' at {} ns, although the copy before was in use until {} ns",
          name, to, copy.start.count(), copies[i - 1].last_read.count());
    }
  }
}

void check_buffer(const Case& trial, MemoryId memory,
                  std::vector<std::pair<Duration, int64_t>>& changes, Verdict& verdict) {
  const int64_t buffer = trial.trace.weights.stream_buffer_bytes[static_cast<size_t>(memory.index)];
  std::sort(changes.begin(), changes.end());  // at one instant what is dropped goes first
  int64_t held = 0;
  for (const auto& [when, bytes] : changes) {
    held += bytes;
    if (held <= buffer) continue;
    return verdict.add(
        "streamed weights took {} bytes in memory '{}' at {} ns, but its stream buffer has {}",
        held, trial.problem.machine.memory(memory).name, when.count(), buffer);
  }
}

}  // namespace

void check_streams(const Case& trial, Verdict& verdict) {
  const Problem& problem = trial.problem;
  if (trial.rules.plan == nullptr && problem.has_homed_weights()) {
    verdict.set_aside("streams", "no plan was given: what the trace says is kept is believed");
  }
  verdict.begin("streams");
  const WeightKeeping& keeping = trial.trace.weights;
  if (trial.rules.plan != nullptr && trial.rules.plan->weights != keeping) {
    if (keeping.stated() || streams_any(problem, *trial.rules.plan)) {
      return verdict.add("the trace is not of this plan: they keep other weights");
    }
    verdict.set_aside("streams", "the run brought every weight that the plan keeps itself");
  }
  if (!keeping.stated()) return;
  std::vector<std::vector<std::pair<Duration, int64_t>>> changes(keeping.kept.size());
  for (const ValueId weight : problem.homed_weights()) {
    if (verdict.full()) return;
    const std::span<const Transfer> all = trial.presence.transfers(weight);
    for (auto first = all.begin(); first != all.end();) {
      const auto end = std::find_if(
          first, all.end(), [&](const Transfer& transfer) { return transfer.to != first->to; });
      judge_copies(trial, weight, {first, end}, verdict);
      for (; first != end; ++first) {
        if (trial.presence.keeps(weight, first->to)) continue;
        auto& there = changes[static_cast<size_t>(first->to.index)];
        there.emplace_back(first->start, problem.graph.bytes(weight));
        there.emplace_back(first->last_read, -problem.graph.bytes(weight));
      }
    }
  }
  for (int32_t i = 0; i < problem.machine.memory_count(); ++i) {
    check_buffer(trial, MemoryId{i}, changes[static_cast<size_t>(i)], verdict);
  }
}

}  // namespace tutti::trace_rules
