#include "tutti/runtime/sim/replay.h"

#include <algorithm>
#include <array>
#include <optional>
#include <tuple>

#include "tutti/runtime/null/null.h"
#include "tutti/runtime/sim/passes.h"
#include "tutti/runtime/sim/sim.h"

namespace tutti {
namespace {

constexpr std::array kPlanReplayRules = {
    Rule{"standstill", "a simulated run of the plan ends"},
    Rule{"timeline", "a timeline that is said to be simulated is that of the plan's run"},
    Rule{"steady state", "the time per pass of a plan for repeated passes is a simulated one"},
};
constexpr std::array kTraceReplayRules = {
    Rule{"replay", "a simulated run comes out the same when it is simulated again"},
};

void compare_timeline(const Problem& problem, const Plan& plan, const Trace& run,
                      Verdict& verdict) {
  for (const OpSpan& span : run.ops) {
    if (verdict.full()) return;
    if (plan.start[span.op.index] == span.start && plan.finish[span.op.index] == span.finish) {
      continue;
    }
    verdict.add(
        "op '{}' is planned from {} ns to {} ns, but in the simulated run of the plan, which the "
        "timeline is said to be of, it runs from {} ns to {} ns",
        problem.graph.op_name(span.op), plan.start[span.op.index].count(),
        plan.finish[span.op.index].count(), span.start.count(), span.finish.count());
  }
}

// A plan for one pass claims nothing.
void check_steady_state(const Problem& problem, const Plan& plan, Verdict& verdict) {
  verdict.begin("steady state");
  if (!plan.passes) return;
  Result<Passes> passes = Passes::make(problem, plan.passes->in_flight);
  if (!passes) return verdict.set_aside("steady state", passes.error().message);
  const Result<Duration> found = passes->time_per_pass(plan);
  if (!found) {
    verdict.add("with {} passes in flight, {}", plan.passes->in_flight, found.error().message);
  } else if (*found != plan.passes->time_per_pass) {
    verdict.add(
        "the plan says that a pass takes {} ns with {} passes in flight, and a simulated "
        "one takes {} ns",
        plan.passes->time_per_pass.count(), plan.passes->in_flight, found->count());
  }
}

std::vector<OpSpan> ops_by_id(const Trace& trace) {
  std::vector<OpSpan> ops = trace.ops;
  std::sort(ops.begin(), ops.end(), [](const OpSpan& a, const OpSpan& b) { return a.op < b.op; });
  return ops;
}

std::vector<TransferSpan> transfers_by_value(const Trace& trace) {
  std::vector<TransferSpan> transfers = trace.transfers;
  std::sort(transfers.begin(), transfers.end(), [](const TransferSpan& a, const TransferSpan& b) {
    return std::tuple(a.value, a.to, a.hop) < std::tuple(b.value, b.to, b.hop);
  });
  return transfers;
}

// Both traces are good, so that each has every op once and the transfers that its ops need.
void compare_runs(const Problem& problem, const Trace& trace, const Trace& again,
                  Verdict& verdict) {
  const std::vector<OpSpan> said = ops_by_id(trace);
  const std::vector<OpSpan> found = ops_by_id(again);
  for (size_t i = 0; i < said.size() && !verdict.full(); ++i) {
    const auto key = [](const OpSpan& span) {
      return std::tuple(span.device, span.slot, span.start, span.finish);
    };
    if (key(said[i]) == key(found[i])) continue;
    verdict.add(
        "op '{}' ran from {} ns to {} ns in slot {}, but the same plan, simulated again, runs it "
        "from {} ns to {} ns in slot {}",
        problem.graph.op_name(said[i].op), said[i].start.count(), said[i].finish.count(),
        said[i].slot, found[i].start.count(), found[i].finish.count(), found[i].slot);
  }
  const std::vector<TransferSpan> sent = transfers_by_value(trace);
  const std::vector<TransferSpan> resent = transfers_by_value(again);
  if (sent.size() != resent.size()) {
    return verdict.add("the trace has {} hops of transfers, but the same plan, simulated again, {}",
                       sent.size(), resent.size());
  }
  for (size_t i = 0; i < sent.size() && !verdict.full(); ++i) {
    const auto key = [](const TransferSpan& span) {
      return std::tuple(span.value, span.from, span.to, span.hop, span.given, span.start,
                        span.finish);
    };
    if (key(sent[i]) == key(resent[i])) continue;
    verdict.add(
        "hop {} of the transfer of '{}' to '{}' went from {} ns to {} ns, but in the same plan, "
        "simulated again, from {} ns to {} ns",
        sent[i].hop, problem.graph.value_name(sent[i].value),
        problem.machine.memory(sent[i].to).name, sent[i].start.count(), sent[i].finish.count(),
        resent[i].start.count(), resent[i].finish.count());
  }
}

// Why the run cannot be repeated; null if it can.
const char* unrepeatable(const Plan* plan, const Trace& trace) {
  const bool physical = is_physical(trace);
  if (!physical && !is_null(trace) && !is_released(trace)) return "the run was not simulated";
  if (is_released(trace) && !find_sim_model("released")) {
    return "this program does not have the released model; tutti-study has it";
  }
  if (!trace.placed.empty()) return "an online policy decided, and the trace does not say which";
  if (plan == nullptr) return "no plan was given";
  if (physical && !trace.order) return "the trace does not record in which order ready ops went";
  return nullptr;
}

Result<Trace> run_again(const Problem& problem, const Plan& plan, const Trace& trace) {
  if (is_null(trace)) return NullRuntime().run(problem, plan);
  const std::optional<SimModel> released = find_sim_model("released");
  SimRuntime runtime(is_released(trace) && released ? *released : SimModel::physical,
                     {.order = trace.order.value_or(ReadyOrder::priority),
                      .seed = trace.seed,
                      .sample = trace.sampled});
  return runtime.run(problem, plan);
}

}  // namespace

std::span<const Rule> plan_replay_rules() {
  return kPlanReplayRules;
}

std::span<const Rule> trace_replay_rules() {
  return kTraceReplayRules;
}

Judgement replay_plan(const Problem& problem, const Plan& plan) {
  Verdict verdict(20, kPlanReplayRules);
  verdict.begin("standstill");
  SimRuntime runtime;
  const Result<Trace> run = runtime.run(problem, plan);
  if (!run) {
    verdict.add("in a simulated run, {}", run.error().message);
  } else if (plan.start.empty()) {
    verdict.set_aside("timeline", "the plan has no timeline");
  } else if (!plan.simulated) {
    verdict.set_aside("timeline",
                      "the timeline is the policy's estimate: transfers need not wait for each "
                      "other in it");
  } else {
    verdict.begin("timeline");
    compare_timeline(problem, plan, *run, verdict);
  }
  if (run) check_steady_state(problem, plan, verdict);
  return verdict.take_judgement();
}

Judgement replay_trace(const Problem& problem, const Plan* plan, const Trace& trace) {
  Verdict verdict(20, kTraceReplayRules);
  if (const char* reason = unrepeatable(plan, trace)) {
    verdict.set_aside("replay", reason);
    return verdict.take_judgement();
  }
  verdict.begin("replay");
  const Result<Trace> again = run_again(problem, *plan, trace);
  if (!again) {
    verdict.add("the same plan, simulated again, does not end: {}", again.error().message);
  } else {
    compare_runs(problem, trace, *again, verdict);
  }
  return verdict.take_judgement();
}

}  // namespace tutti
