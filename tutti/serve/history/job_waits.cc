#include "tutti/serve/history/job_waits.h"

#include <algorithm>
#include <map>

#include "tutti/graph/analysis.h"

namespace tutti {
namespace {

Duration not_negative(Duration span) {
  return std::max(span, Duration(0));
}

// When each op was ready, placed and had its operands, as far as the trace says.
std::vector<OpPhases> phases_of_trace(const RunRecord& run) {
  const Graph& graph = run.problem->graph;
  const Machine& machine = run.problem->machine;
  const auto size = static_cast<size_t>(graph.size());
  std::vector<Duration> finish(size, Duration(0));
  std::vector<Duration> placed(size, Duration(-1));
  for (const OpSpan& span : run.trace.ops) finish[span.op.index] = span.finish;
  for (const PlacedAt& one : run.trace.placed) placed[one.op.index] = one.time;
  std::map<std::pair<int32_t, int32_t>, Duration> arrived;  // by value and memory
  for (const TransferSpan& span : run.trace.transfers) {
    Duration& last = arrived[{span.value.index, span.to.index}];
    last = std::max(last, span.finish);
  }
  std::vector<OpPhases> phases;
  for (const OpSpan& span : run.trace.ops) {
    OpPhases one{.op = span.op, .started = span.start};
    for (const EdgeId edge : graph.edges(span.op)) {
      const OpId from = graph.edge_from(edge);
      if (from.valid()) one.ready = std::max(one.ready, finish[from.index]);
    }
    one.placed = placed[span.op.index] < Duration(0) ? one.ready : placed[span.op.index];
    one.fetched = one.placed;
    for (const EdgeId edge : graph.edges(span.op)) {
      const auto found =
          arrived.find({graph.edge_value(edge).index, machine.memory_of(span.device).index});
      if (found != arrived.end()) one.fetched = std::max(one.fetched, found->second);
    }
    one.fetched = std::min(one.fetched, span.start);
    one.taken = span.start;
    phases.push_back(one);
  }
  return phases;
}

}  // namespace

RunRecord run_record(const JobRecord& record) {
  RunRecord run{.problem = {record.job, &record.job->problem()},
                .trace = record.trace,
                .phases = record.phases,
                .entered = not_negative(record.entered - record.arrival),
                .completion = record.completion()};
  const Duration arrival = record.arrival;
  run.trace.makespan = Duration(0);
  const auto shift = [&](auto& span) {
    span.start -= arrival;
    span.finish -= arrival;
    run.trace.makespan = std::max(run.trace.makespan, span.finish);
  };
  for (OpSpan& span : run.trace.ops) shift(span);
  for (TransferSpan& span : run.trace.transfers) shift(span);
  for (PlacedAt& one : run.trace.placed) one.time -= arrival;
  for (Pause& pause : run.trace.pauses) {
    pause.start -= arrival;
    pause.finish -= arrival;
  }
  for (OpPhases& one : run.phases) {
    for (Duration* time : {&one.ready, &one.placed, &one.fetched, &one.taken, &one.started})
      *time -= arrival;
  }
  return run;
}

Duration critical_path(const Problem& problem) {
  const auto on_fastest = [&](OpId op) {
    Duration least = kNever;
    for (const DeviceId device : problem.devices_for(op))
      least = std::min(least, problem.costs.run_time(op, device));
    return least == kNever ? Duration(0) : least;
  };
  return critical_path(problem.graph, on_fastest, [](EdgeId) { return Duration(0); }).length;
}

Waits& Waits::operator+=(const Waits& other) {
  deciding += other.deciding;
  device += other.device;
  operands += other.operands;
  memory += other.memory;
  return *this;
}

std::vector<OpWait> op_waits(const RunRecord& run) {
  const std::vector<OpPhases> phases = run.phases.empty() ? phases_of_trace(run) : run.phases;
  std::vector<const OpSpan*> span_of(static_cast<size_t>(run.problem->graph.size()), nullptr);
  for (const OpSpan& span : run.trace.ops) span_of[span.op.index] = &span;
  std::vector<OpWait> waits;
  for (const OpPhases& one : phases) {
    const OpSpan* const span = span_of[one.op.index];
    if (span == nullptr) continue;
    const Duration no_room = std::min(one.no_room, not_negative(one.placed - one.ready));
    waits.push_back({.op = one.op,
                     .device = span->device,
                     .ready = one.ready,
                     .started = span->start,
                     .finished = span->finish,
                     .waits = {.deciding = not_negative(one.placed - one.ready - no_room),
                               .device = no_room + not_negative(one.taken - one.fetched),
                               .operands = not_negative(one.fetched - one.placed),
                               .memory = not_negative(one.started - one.taken)}});
  }
  std::stable_sort(waits.begin(), waits.end(),
                   [](const OpWait& a, const OpWait& b) { return a.started < b.started; });
  return waits;
}

}  // namespace tutti
