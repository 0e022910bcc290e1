#include <fmt/format.h>

#include <algorithm>

#include "tutti/trace/check/job_rules.h"

namespace tutti::job_rules {
namespace {

template <class IdType>
bool exists(IdType id, int32_t count) {
  return id.index >= 0 && id.index < count;
}

template <class Span>
bool goes_forward(const Span& span) {
  return Duration(0) <= span.start && span.start <= span.finish;
}

void check_ops_shape(const Machine& machine, const JobRecord& record, Verdict& verdict) {
  const Graph& graph = record.job->graph();
  std::vector<int> runs(static_cast<size_t>(graph.size()), 0);
  for (const OpSpan& span : record.trace.ops) {
    if (!exists(span.op, graph.size()) || !exists(span.device, machine.size())) {
      verdict.add("job {} has a span of op {} on device {}, which do not both exist",
                  record.id.index, span.op.index, span.device.index);
      continue;
    }
    const Device& device = machine.device(span.device);
    if (span.slot < 0 || span.slot >= device.slots || !goes_forward(span)) {
      verdict.add("op '{}' of job {} ran in slot {} of '{}', which has {}, from {} ns to {} ns",
                  graph.op_name(span.op), record.id.index, span.slot, device.name, device.slots,
                  span.start.count(), span.finish.count());
    }
    if (++runs[span.op.index] == 2)
      verdict.add("op '{}' of job {} ran twice", graph.op_name(span.op), record.id.index);
  }
  for (const OpId op : graph.ops()) {
    if (runs[op.index] > 0 || !has_ended(record)) continue;
    verdict.add("op '{}' of job {}, which has ended, did not run", graph.op_name(op),
                record.id.index);
  }
}

void check_transfers_shape(const Machine& machine, const JobRecord& record, Verdict& verdict) {
  const Graph& graph = record.job->graph();
  for (const TransferSpan& span : record.trace.transfers) {
    if (!exists(span.value, graph.value_count()) || !exists(span.from, machine.memory_count()) ||
        !exists(span.to, machine.memory_count())) {
      verdict.add("job {} has a transfer of value {} from memory {} to {}, which do not all exist",
                  record.id.index, span.value.index, span.from.index, span.to.index);
      continue;
    }
    const Route* route = machine.route(span.from, span.to);
    const bool is_whole = is_one_span(record.trace, span);
    if ((route == nullptr && !is_whole) || span.from == span.to || span.hop < 0 ||
        static_cast<size_t>(span.hop) >= (is_whole ? 1 : route->hops.size())) {
      verdict.add(
          "value '{}' of job {} was sent from '{}' to '{}' over hop {}, which does not exist",
          graph.value_name(span.value), record.id.index, machine.memory(span.from).name,
          machine.memory(span.to).name, span.hop);
    } else if (!goes_forward(span)) {
      verdict.add("value '{}' of job {} was sent from {} ns to {} ns", graph.value_name(span.value),
                  record.id.index, span.start.count(), span.finish.count());
    }
  }
}

void check_placed_shape(const Machine& machine, const JobRecord& record, Verdict& verdict) {
  const Graph& graph = record.job->graph();
  std::vector<int> times(static_cast<size_t>(graph.size()), 0);
  for (const PlacedAt& placed : record.trace.placed) {
    if (!exists(placed.op, graph.size())) {
      verdict.add("job {} has no op {} that could be given to a device", record.id.index,
                  placed.op.index);
    } else if (++times[placed.op.index] == 2) {
      verdict.add("op '{}' of job {} was given to devices twice and not taken back",
                  graph.op_name(placed.op), record.id.index);
    }
  }
  for (const TakenBack& taken : record.taken_back) {
    if (!exists(taken.op, graph.size()) || !exists(taken.device, machine.size()) ||
        taken.until < taken.from) {
      verdict.add("op {} of job {} was taken back from device {} between {} ns and {} ns",
                  taken.op.index, record.id.index, taken.device.index, taken.from.count(),
                  taken.until.count());
    }
  }
}

void check_identity(const Cluster& cluster, const JobsRecord& run, bool measured,
                    Verdict& verdict) {
  verdict.begin("identity");
  for (size_t i = 0; i < run.jobs.size(); ++i) {
    const JobRecord& record = run.jobs[i];
    if (record.id.index != static_cast<int32_t>(i) || record.job == nullptr) {
      verdict.add("record {} is of job {}, or of none", i, record.id.index);
    } else if (&record.job->problem().machine != &cluster.machine()) {
      verdict.add("job {} was made for another machine", i);
    } else if (has_ended(record) && is_measured(record.trace) != measured) {
      verdict.add("the trace of job {} is {} real run", i, measured ? "not of a" : "of a");
    } else if (has_ended(record) &&
               (record.trace.graph_fingerprint != record.job->graph().fingerprint() ||
                record.trace.machine_fingerprint != cluster.machine().fingerprint())) {
      verdict.add("the trace of job {} is of another graph or machine", i);
    }
  }
}

void check_job_times(const JobRecord& record, Duration patience, Verdict& verdict) {
  const int32_t id = record.id.index;
  Duration given = kNever;  // the first op, to a device
  for (const PlacedAt& placed : record.trace.placed) given = std::min(given, placed.time);
  for (const TakenBack& taken : record.taken_back) given = std::min(given, taken.from);
  if (given < kNever && record.start != given) {
    verdict.add("job {} began at {} ns, but its first op was given to a device at {} ns", id,
                record.start.count(), given.count());
  }
  Duration first = given;
  Duration last{0};
  Duration last_op{0};
  for (const OpSpan& span : record.trace.ops) {
    first = std::min(first, span.start);
    last_op = last = std::max(last, span.finish);
  }
  for (const TransferSpan& span : record.trace.transfers) {
    first = std::min(first, span.start);
    last = std::max(last, span.finish);
  }
  if (first < record.arrival) {
    verdict.add("job {} arrived at {} ns, but something of it happened at {} ns", id,
                record.arrival.count(), first.count());
  }
  if (!has_ended(record)) return;
  if (last > record.finish) {
    verdict.add("job {} ended at {} ns, but something of it happened at {} ns", id,
                record.finish.count(), last.count());
  } else if (!record.trace.ops.empty() && record.finish > last_op + patience) {
    verdict.add("job {} ended at {} ns, but its last op at {} ns", id, record.finish.count(),
                last_op.count());
  }
}

}  // namespace

void check_shape(const Cluster& cluster, const JobsRecord& run, const JobsRules& rules,
                 Verdict& verdict) {
  check_identity(cluster, run, rules.measured, verdict);
  if (!verdict.good()) return;
  verdict.begin("shape");
  const Machine& machine = cluster.machine();
  for (const JobRecord& record : run.jobs) {
    check_ops_shape(machine, record, verdict);
    check_transfers_shape(machine, record, verdict);
    check_placed_shape(machine, record, verdict);
  }
  for (const Reconfiguration& one : run.reconfigurations) {
    if (!exists(one.device, machine.size()) || one.context < 0 ||
        one.context >= machine.device(one.device).contexts || !goes_forward(one) ||
        !exists(one.kind, static_cast<int32_t>(cluster.kinds().size()))) {
      verdict.add("context {} of device {} was configured for kind {}, which do not all exist",
                  one.context, one.device.index, one.kind.index);
    }
  }
}

void check_jobs_times(const Case& trial, Verdict& verdict) {
  verdict.begin("jobs");
  const bool measured = trial.rules.measured;
  Duration before{0};
  Duration makespan{0};
  for (const JobFacts& job : trial.jobs) {
    const JobRecord& record = *job.record;
    if (record.arrival < before)
      verdict.add("job {} arrived before job {}", record.id.index, record.id.index - 1);
    before = record.arrival;
    makespan = std::max(makespan, record.finish);
    check_job_times(record, measured ? trial.rules.patience : Duration(0), verdict);
  }
  if (trial.run.makespan < makespan || (!measured && trial.run.makespan > makespan)) {
    verdict.add("the run took {} ns, but its last job ended at {} ns", trial.run.makespan.count(),
                makespan.count());
  }
}

}  // namespace tutti::job_rules
