#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "tutti/trace/check/job_rules.h"

namespace tutti {
namespace job_rules {
namespace {

// A run whose identity or shape is wrong is judged no further: the rest would be about nothing.
constexpr std::array kJobsRules = {
    Rule{"identity", "the record is of these jobs and this machine"},     // jobs_shape.cc
    Rule{"shape", "ids, slots and times make sense; every op ran once"},  // jobs_shape.cc
    Rule{"jobs", "jobs begin, run and end between arrival and end"},      // jobs_shape.cc
    Rule{"placement", "ops ran where they are allowed"},                  // jobs_placing.cc
    Rule{"placing", "ops were given to a device once, ready, before they started"},
    Rule{"take-backs", "ops that were taken back had not started"},            // jobs_placing.cc
    Rule{"operands", "no op started before its operands were there"},          // jobs_values.cc
    Rule{"transfers", "values were sent from where they were, on routes"},     // jobs_values.cc
    Rule{"slots", "no two ops share a slot at one time"},                      // jobs_devices.cc
    Rule{"queues", "no device was given more than its slots and queue hold"},  // jobs_devices.cc
    Rule{"waiting ops", "no op waited with its operands while a slot was free"},
    Rule{"contexts", "contexts ran what they were configured for"},  // jobs_contexts.cc
    Rule{"run times", "nothing took less time than alone"},          // jobs_shares.cc
    Rule{"shares", "shared resources were divided max-min fairly"},  // jobs_shares.cc
    Rule{"memory", "no memory held more than its limit"},            // nowhere yet
};

JobFacts facts_of(const Machine& machine, const JobRecord& record) {
  const Graph& graph = record.job->graph();
  JobFacts facts{.record = &record, .ended = has_ended(record)};
  facts.spans.assign(static_cast<size_t>(graph.size()), nullptr);
  facts.placed.assign(static_cast<size_t>(graph.size()), kNever);
  const auto memories = static_cast<size_t>(machine.memory_count());
  facts.present.assign(static_cast<size_t>(graph.value_count()) * memories, kNever);
  const auto comes = [&](ValueId value, MemoryId memory, Duration time) {
    Duration& since = facts.present[static_cast<size_t>(value.index) * memories + memory.index];
    since = std::min(since, time);
  };
  for (const PlacedAt& placed : record.trace.placed) facts.placed[placed.op.index] = placed.time;
  for (const OpSpan& span : record.trace.ops) {
    facts.spans[span.op.index] = &span;
    for (const ValueId value : graph.outputs(span.op))
      comes(value, machine.memory_of(span.device), span.finish);
  }
  for (const ValueId value : graph.values()) {
    if (graph.producer(value).valid()) continue;
    const MemoryId home = record.job->problem().home(value);
    for (int32_t m = 0; m < machine.memory_count(); ++m) {
      if (!home.valid() || home.index == m) comes(value, MemoryId{m}, record.arrival);
    }
  }
  for (const TransferSpan& span : record.trace.transfers) {
    const size_t hops =
        is_one_span(record.trace, span) ? 1 : machine.route(span.from, span.to)->hops.size();
    if (static_cast<size_t>(span.hop) + 1 == hops) comes(span.value, span.to, span.finish);
  }
  return facts;
}

}  // namespace

std::string JobFacts::name(OpId op) const {
  return fmt::format("op '{}' of job {}", graph().op_name(op), record->id.index);
}

Duration Case::operands_present(const JobFacts& job, OpId op, MemoryId memory) const {
  Duration last{0};
  for (const EdgeId edge : job.graph().edges(op))
    last = std::max(last, present(job, job.graph().edge_value(edge), memory));
  return last;
}

}  // namespace job_rules

std::span<const Rule> jobs_rule_table() {
  return job_rules::kJobsRules;
}

Judgement judge_jobs(const Cluster& cluster, const JobsRecord& run, const JobsRules& rules) {
  Verdict verdict(rules.limit, jobs_rule_table());
  job_rules::check_shape(cluster, run, rules, verdict);
  if (!verdict.good()) return verdict.take_judgement();

  job_rules::Case trial{cluster, run, rules};
  trial.has_placements = !rules.measured;
  for (const JobRecord& record : run.jobs) {
    trial.jobs.push_back(job_rules::facts_of(cluster.machine(), record));
    trial.has_placements = trial.has_placements || !record.trace.placed.empty();
    trial.of_files = trial.of_files || is_of_files(record.trace);
    if (!trial.jobs.back().ended) trial.known_until = std::min(trial.known_until, record.arrival);
  }
  job_rules::check_jobs_times(trial, verdict);
  job_rules::check_placement(trial, verdict);
  job_rules::check_take_backs(trial, verdict);
  job_rules::check_operands(trial, verdict);
  job_rules::check_transfers(trial, verdict);
  job_rules::check_slots(trial, verdict);
  job_rules::check_queues(trial, verdict);
  job_rules::check_waiting(trial, verdict);
  job_rules::check_contexts(trial, verdict);
  job_rules::check_run_times(trial, verdict);
  job_rules::check_shares(trial, verdict);
  verdict.set_aside("memory", "a record of jobs does not say when copies of values were deleted");
  return verdict.take_judgement();
}

std::vector<std::string> check_jobs(const Cluster& cluster, const JobsRecord& run,
                                    const JobsRules& rules) {
  return judge_jobs(cluster, run, rules).sentences();
}

}  // namespace tutti
