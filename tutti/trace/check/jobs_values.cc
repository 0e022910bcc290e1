#include <algorithm>
#include <map>
#include <tuple>

#include "tutti/trace/check/job_rules.h"

namespace tutti::job_rules {
namespace {

// When the first op that reads the value was given to a device of that memory; kNever: none was.
Duration first_wanted(const Case& trial, const JobFacts& job, ValueId value, MemoryId memory) {
  Duration first = kNever;
  for (const EdgeId edge : job.graph().consumers(value)) {
    const OpId op = job.graph().edge_to(edge);
    const OpSpan* span = job.spans[op.index];
    if (span != nullptr && trial.machine().memory_of(span->device) == memory)
      first = std::min(first, job.placed[op.index]);
    for (const TakenBack& taken : job.record->taken_back) {
      if (taken.op == op && trial.machine().memory_of(taken.device) == memory)
        first = std::min(first, taken.from);
    }
  }
  return first;
}

// The hops of one transfer, by hop.
void check_transfer(const Case& trial, const JobFacts& job,
                    const std::vector<const TransferSpan*>& hops, Verdict& verdict) {
  const TransferSpan& first = *hops.front();
  const std::string name = fmt::format("value '{}' of job {}", job.graph().value_name(first.value),
                                       job.record->id.index);
  const std::string& to = trial.memory_name(first.to);
  const size_t count = is_one_span(job.record->trace, first)
                           ? 1
                           : trial.machine().route(first.from, first.to)->hops.size();
  for (size_t i = 0; i < hops.size(); ++i) {
    if (hops[i]->hop != static_cast<int>(i))
      return verdict.add("{} was sent to '{}' twice, or without hop {}", name, to, i);
    if (i == 0) continue;
    const Duration gap = hops[i]->start - hops[i - 1]->finish;
    if (gap.count() < 0 || (!trial.rules.measured && gap.count() > 0)) {
      verdict.add("{} began hop {} to '{}' at {} ns, but the hop before ended at {} ns", name, i,
                  to, hops[i]->start.count(), hops[i - 1]->finish.count());
    }
  }
  if (job.ended && hops.size() != count)
    verdict.add("{} went {} of the {} hops to '{}'", name, hops.size(), count, to);
  if (const Duration since = trial.present(job, first.value, first.from); first.start < since) {
    verdict.add(
        "{} was sent from '{}' at {} ns, but was {}", name, trial.memory_name(first.from),
        first.start.count(),
        since == kNever ? "never there" : fmt::format("there only at {} ns", since.count()));
  }
  if (trial.rules.measured || !job.ended) return;
  const Duration wanted = first_wanted(trial, job, first.value, first.to);
  if (first.start == wanted) return;
  verdict.add("{} was sent to '{}' at {} ns, but the first op that reads it there was given {}",
              name, to, first.start.count(),
              wanted == kNever ? "to no device" : fmt::format("at {} ns", wanted.count()));
}

}  // namespace

void check_operands(const Case& trial, Verdict& verdict) {
  if (trial.of_files) return verdict.set_aside("operands", kFiles);
  verdict.begin("operands");
  for (const JobFacts& job : trial.jobs) {
    for (const OpSpan& span : job.record->trace.ops) {
      const MemoryId memory = trial.machine().memory_of(span.device);
      for (const EdgeId edge : job.graph().edges(span.op)) {
        const ValueId value = job.graph().edge_value(edge);
        const Duration since = trial.present(job, value, memory);
        if (since <= span.start) continue;
        if (since == kNever) {
          verdict.add("{} read '{}', which was never sent to '{}'", job.name(span.op),
                      job.graph().value_name(value), trial.memory_name(memory));
        } else {
          verdict.add("{} started at {} ns, but its operand '{}' was in '{}' only at {} ns",
                      job.name(span.op), span.start.count(), job.graph().value_name(value),
                      trial.memory_name(memory), since.count());
        }
        break;  // one operand of an op is enough
      }
    }
  }
}

void check_transfers(const Case& trial, Verdict& verdict) {
  if (trial.of_files) return verdict.set_aside("transfers", kFiles);
  verdict.begin("transfers");
  for (const JobFacts& job : trial.jobs) {
    std::map<std::tuple<ValueId, MemoryId, MemoryId>, std::vector<const TransferSpan*>> transfers;
    for (const TransferSpan& span : job.record->trace.transfers)
      transfers[{span.value, span.to, span.from}].push_back(&span);
    const TransferSpan* last = nullptr;
    for (auto& [key, hops] : transfers) {
      std::sort(hops.begin(), hops.end(), [](const TransferSpan* a, const TransferSpan* b) {
        return std::pair(a->hop, a->start) < std::pair(b->hop, b->start);
      });
      check_transfer(trial, job, hops, verdict);
      if (last != nullptr && last->value == hops[0]->value && last->to == hops[0]->to) {
        verdict.add("value '{}' of job {} was sent to '{}' twice",
                    job.graph().value_name(last->value), job.record->id.index,
                    trial.memory_name(last->to));
      }
      last = hops[0];
    }
  }
}

}  // namespace tutti::job_rules
