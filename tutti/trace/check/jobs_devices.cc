#include <algorithm>
#include <optional>
#include <tuple>

#include "tutti/plan/intervals.h"
#include "tutti/trace/check/job_rules.h"

namespace tutti::job_rules {
namespace {

struct Ran {
  const JobFacts* job = nullptr;
  const OpSpan* span = nullptr;
};

// By device, whatever the job; by slot and start.
std::vector<std::vector<Ran>> ran_by_device(const Case& trial) {
  std::vector<std::vector<Ran>> all(static_cast<size_t>(trial.machine().size()));
  for (const JobFacts& job : trial.jobs) {
    for (const OpSpan& span : job.record->trace.ops)
      all[span.device.index].push_back({&job, &span});
  }
  for (std::vector<Ran>& ran : all) {
    std::stable_sort(ran.begin(), ran.end(), [](const Ran& a, const Ran& b) {
      return std::tuple(a.span->slot, a.span->start, a.span->finish) <
             std::tuple(b.span->slot, b.span->start, b.span->finish);
    });
  }
  return all;
}

// The first time in the window, longer than `patience`, that is in none of the intervals, which are
// apart.
std::optional<Interval> first_gap(std::span<const Interval> apart, Interval window,
                                  Duration patience) {
  auto next = std::upper_bound(apart.begin(), apart.end(), window.start,
                               [](Duration t, const Interval& i) { return t < i.finish; });
  for (Duration time = window.start; time < window.finish; ++next) {
    const bool any = next != apart.end();
    const Duration until = any ? std::min(next->start, window.finish) : window.finish;
    if (until - time > patience) return Interval{time, until};
    if (!any) break;
    time = next->finish;
  }
  return std::nullopt;
}

// By device: when all of its slots ran ops. Of one with contexts at no time: an op has its context
// to itself from when it is given to the device.
std::vector<std::vector<Interval>> all_slots_busy(const Case& trial) {
  const auto by_device = ran_by_device(trial);
  std::vector<std::vector<Interval>> busy(by_device.size());
  for (const DeviceId id : trial.machine().devices()) {
    const Device& device = trial.machine().device(id);
    std::vector<Interval> spans;
    for (const Ran& ran : by_device[id.index]) spans.push_back({ran.span->start, ran.span->finish});
    if (device.contexts == 0) busy[id.index] = busy_intervals(spans, device.slots);
  }
  return busy;
}

// Of one context; returns them by start.
std::vector<const Reconfiguration*> check_reconfigurations(const Case& trial, DeviceId id,
                                                           int context, Verdict& verdict) {
  const Device& device = trial.machine().device(id);
  std::vector<const Reconfiguration*> mine;
  for (const Reconfiguration& one : trial.run.reconfigurations) {
    if (one.device == id && one.context == context) mine.push_back(&one);
  }
  std::stable_sort(mine.begin(), mine.end(),
                   [](const auto* a, const auto* b) { return a->start < b->start; });
  for (size_t i = 0; i < mine.size(); ++i) {
    const Reconfiguration& one = *mine[i];
    if (!trial.rules.measured && one.finish - one.start != device.reconfiguration_time) {
      verdict.add("context {} of '{}' was configured in {} ns at {} ns; it takes {} ns", context,
                  device.name, (one.finish - one.start).count(), one.start.count(),
                  device.reconfiguration_time.count());
    }
    if (i > 0 && one.start < mine[i - 1]->finish) {
      verdict.add("context {} of '{}' was configured at {} ns, while it was being configured",
                  context, device.name, one.start.count());
    }
  }
  return mine;
}

// The context is the op's from when it is given to the device, and must be configured then.
void check_context_of(const Case& trial, const Ran& ran,
                      const std::vector<const Reconfiguration*>& configured, Verdict& verdict) {
  const OpSpan& span = *ran.span;
  const std::string& device = trial.device_name(span.device);
  const Duration given = std::min(ran.job->placed[span.op.index], span.start);
  OpKindId now{};
  for (const Reconfiguration* one : configured) {
    if (one->finish <= given) {
      now = one->kind;
    } else if (one->start < span.finish) {
      verdict.add("context {} of '{}' was configured at {} ns, while it had {}", span.slot, device,
                  one->start.count(), ran.job->name(span.op));
    }
  }
  const OpKindId kind = ran.job->record->job->kind(span.op);
  if (now == kind) return;
  const auto& kinds = trial.cluster.kinds();
  verdict.add("{} of kind '{}' ran in context {} of '{}', which was configured for {}",
              ran.job->name(span.op), kinds[kind.index], span.slot, device,
              now.valid() ? "'" + kinds[now.index] + "'" : "nothing");
}

}  // namespace

void check_slots(const Case& trial, Verdict& verdict) {
  verdict.begin("slots");
  for (const std::vector<Ran>& ran : ran_by_device(trial)) {
    for (size_t i = 1; i < ran.size(); ++i) {
      const OpSpan& before = *ran[i - 1].span;
      const OpSpan& after = *ran[i].span;
      if (before.slot != after.slot || after.start >= before.finish) continue;
      verdict.add("{} and {} both ran in slot {} of '{}' at {} ns", ran[i - 1].job->name(before.op),
                  ran[i].job->name(after.op), after.slot, trial.device_name(after.device),
                  after.start.count());
    }
  }
}

void check_queues(const Case& trial, Verdict& verdict) {
  if (!trial.has_placements) return verdict.set_aside("queues", kNoPlacements);
  verdict.begin("queues");
  // What ends at one time makes room for what is given at that time.
  std::vector<std::vector<std::pair<Duration, int>>> changes(
      static_cast<size_t>(trial.machine().size()));
  const auto is_given = [&](DeviceId device, Duration from, Duration until) {
    if (from >= until) return;
    changes[device.index].emplace_back(from, 1);
    changes[device.index].emplace_back(until, -1);
  };
  for (const JobFacts& job : trial.jobs) {
    for (const OpSpan& span : job.record->trace.ops)
      is_given(span.device, job.placed[span.op.index], span.finish);
    for (const TakenBack& taken : job.record->taken_back)
      is_given(taken.device, taken.from, taken.until);
  }
  for (const DeviceId id : trial.machine().devices()) {
    auto& mine = changes[id.index];
    std::sort(mine.begin(), mine.end());
    const Device& device = trial.machine().device(id);
    const int depth = device.contexts > 0 ? 0 : trial.rules.queue_depth;
    int given = 0;
    for (const auto& [time, change] : mine) {
      given += change;
      if (given <= device.slots + depth) continue;
      verdict.add("'{}' had {} ops at {} ns, but it has {} slots and {} places in its queue",
                  device.name, given, time.count(), device.slots, depth);
      break;
    }
  }
}

void check_waiting(const Case& trial, Verdict& verdict) {
  const auto aside = [&](const std::string& reason) { verdict.set_aside("waiting ops", reason); };
  const bool measured = trial.rules.measured;
  if (!trial.has_placements) return aside(kNoPlacements);
  if (trial.of_files) return aside(kFiles);
  for (const JobFacts& job : trial.jobs) {
    if (measured && job.record->job->problem().has_memory_limits())
      return aside("ops may have waited for memory, whose use is not recorded");
  }
  verdict.begin("waiting ops");
  if (trial.known_until < kNever) {
    aside(
        fmt::format("from {} ns on there is a job that has not ended, and not all that its ops "
                    "did is recorded",
                    trial.known_until.count()));
  }
  const Duration patience = measured ? trial.rules.patience : Duration(0);
  const std::vector<std::vector<Interval>> busy = all_slots_busy(trial);
  const auto check = [&](const JobFacts& job, OpId op, DeviceId device, Duration given,
                         Duration until) {
    const MemoryId memory = trial.machine().memory_of(device);
    const Interval window{std::max(given, trial.operands_present(job, op, memory)),
                          std::min(until, trial.known_until)};
    const auto gap = first_gap(busy[device.index], window, patience);
    if (!gap) return;
    verdict.add(
        "{} waited on '{}' until {} ns with its operands there, but a slot ran nothing "
        "from {} ns on",
        job.name(op), trial.device_name(device), until.count(), gap->start.count());
  };
  for (const JobFacts& job : trial.jobs) {
    for (const OpSpan& span : job.record->trace.ops)
      check(job, span.op, span.device, job.placed[span.op.index], span.start);
    for (const TakenBack& taken : job.record->taken_back)
      check(job, taken.op, taken.device, taken.from, taken.until);
  }
}

void check_contexts(const Case& trial, Verdict& verdict) {
  verdict.begin("contexts");
  if (!trial.cluster.has_contexts()) return;
  if (trial.rules.measured)
    verdict.set_aside("contexts", "times are measured: how long configuring takes is not known");
  const auto by_device = ran_by_device(trial);
  for (const DeviceId id : trial.machine().devices()) {
    for (int context = 0; context < trial.machine().device(id).contexts; ++context) {
      const auto mine = check_reconfigurations(trial, id, context, verdict);
      for (const Ran& ran : by_device[id.index]) {
        if (ran.span->slot == context) check_context_of(trial, ran, mine, verdict);
      }
    }
  }
}

}  // namespace tutti::job_rules
