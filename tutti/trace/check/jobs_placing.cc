#include <algorithm>

#include "tutti/trace/check/job_rules.h"

namespace tutti::job_rules {
namespace {

// When the last producer of the op's operands ended; kNever: one did not.
Duration ready_time(const JobFacts& job, OpId op) {
  Duration ready = job.record->arrival;
  for (const EdgeId edge : job.graph().edges(op)) {
    const OpId producer = job.graph().edge_from(edge);
    if (!producer.valid()) continue;
    const OpSpan* span = job.spans[producer.index];
    ready = std::max(ready, span == nullptr ? kNever : span->finish);
  }
  return ready;
}

void check_ready(const JobFacts& job, OpId op, Duration given, Verdict& verdict) {
  const Duration ready = ready_time(job, op);
  if (given >= ready) return;
  verdict.add("{} was given to a device at {} ns, but its producers ended only at {} ns",
              job.name(op), given.count(), ready.count());
}

}  // namespace

void check_placement(const Case& trial, Verdict& verdict) {
  verdict.begin("placement");
  for (const JobFacts& job : trial.jobs) {
    for (const OpSpan& span : job.record->trace.ops) {
      if (job.record->job->problem().allows(span.op, span.device)) continue;
      verdict.add("{} ran on '{}', where it is not allowed", job.name(span.op),
                  trial.device_name(span.device));
    }
  }
  if (!trial.has_placements) return verdict.set_aside("placing", kNoPlacements);
  verdict.begin("placing");
  for (const JobFacts& job : trial.jobs) {
    for (const OpSpan& span : job.record->trace.ops) {
      const Duration placed = job.placed[span.op.index];
      if (placed == kNever) {
        verdict.add("{} ran on '{}', but was not given to it", job.name(span.op),
                    trial.device_name(span.device));
        continue;
      }
      if (span.start < placed) {
        verdict.add("{} started at {} ns, but was given to '{}' only at {} ns", job.name(span.op),
                    span.start.count(), trial.device_name(span.device), placed.count());
      }
      check_ready(job, span.op, placed, verdict);
    }
  }
}

void check_take_backs(const Case& trial, Verdict& verdict) {
  verdict.begin("take-backs");
  for (const JobFacts& job : trial.jobs) {
    const std::vector<TakenBack>& all = job.record->taken_back;
    for (size_t i = 0; i < all.size(); ++i) {
      const TakenBack& taken = all[i];
      const std::string& device = trial.device_name(taken.device);
      const OpSpan* span = job.spans[taken.op.index];
      if (!job.record->job->problem().allows(taken.op, taken.device))
        verdict.add("{} was given to '{}', where it is not allowed", job.name(taken.op), device);
      check_ready(job, taken.op, taken.from, verdict);
      if (span != nullptr && span->start < taken.until) {
        verdict.add("{} was taken back from '{}' at {} ns, but had started at {} ns",
                    job.name(taken.op), device, taken.until.count(), span->start.count());
      }
      const auto is_given = [&](Duration from, Duration until) {
        return from < taken.until && taken.from < until;
      };
      const Duration placed = job.placed[taken.op.index];
      bool twice = placed != kNever && is_given(placed, kNever);
      for (size_t k = 0; k < i; ++k)
        twice = twice || (all[k].op == taken.op && is_given(all[k].from, all[k].until));
      if (twice) {
        verdict.add("{} was given to another device before it was taken back from '{}' at {} ns",
                    job.name(taken.op), device, taken.until.count());
      }
    }
  }
}

}  // namespace tutti::job_rules
