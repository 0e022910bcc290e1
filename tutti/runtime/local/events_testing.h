// For tests: judges the local engine by the events of a run alone. No slot is idle while an op is
// ready, and the first by priority goes first.
//
// Most rules are of the order of the decider's own steps, whose ticks are taken where they
// happen, so that they hold on a host that delays threads for long. One is of the clock: how long
// an op may wait while a slot does nothing at all.

#ifndef TUTTI_RUNTIME_LOCAL_EVENTS_TESTING_H_
#define TUTTI_RUNTIME_LOCAL_EVENTS_TESTING_H_

#include <algorithm>
#include <queue>
#include <span>
#include <string>
#include <vector>

#include "tutti/plan/check/verdict.h"
#include "tutti/plan/plan.h"
#include "tutti/plan/problem.h"
#include "tutti/runtime/local/events.h"

namespace tutti {

struct EventRules {
  const Plan* plan = nullptr;  // whose priorities are checked; null: an online run, by turn
  // How long an op may wait while a slot is idle: the threads of a busy host may not run at once.
  Duration patience = std::chrono::milliseconds(100);
};

using Spans = std::vector<const OpEvents*>;

inline std::vector<Spans> by_device(const Problem& problem, std::span<const OpEvents> events) {
  std::vector<Spans> spans(static_cast<size_t>(problem.machine.size()));
  for (const OpEvents& one : events) spans[static_cast<size_t>(one.device.index)].push_back(&one);
  for (Spans& some : spans) {
    std::sort(some.begin(), some.end(), [](const OpEvents* a, const OpEvents* b) {
      return std::pair(a->start, a->op) < std::pair(b->start, b->op);
    });
  }
  return spans;
}

// How long a slot of the device was idle until any moment: at least one of its slots, at each time.
class IdleTime {
 public:
  IdleTime(const Spans& spans, int slots) {
    std::vector<std::pair<Duration, int>> changes;
    for (const OpEvents* one : spans) {
      changes.emplace_back(one->start, 1);
      changes.emplace_back(one->finish, -1);
    }
    std::sort(changes.begin(), changes.end());
    int busy = 0;
    Duration idle{0};
    times_.push_back({Duration{0}, idle, /*counting=*/true});
    for (const auto& [time, change] : changes) {
      if (times_.back().counting) idle += time - times_.back().time;
      busy += change;
      times_.push_back({time, idle, busy < slots});
    }
  }
  Duration until(Duration time) const {
    const auto after = std::upper_bound(times_.begin(), times_.end(), time,
                                        [](Duration t, const Point& p) { return t < p.time; });
    if (after == times_.begin()) return Duration{0};
    const Point& last = *std::prev(after);
    return last.counting ? last.idle + (time - last.time) : last.idle;
  }

 private:
  struct Point {
    Duration time;
    Duration idle;
    bool counting;
  };
  std::vector<Point> times_;
};

// An op that waits while a slot idles is work that was not conserved, whatever the other slots do
// meanwhile.
inline void check_idle(const Problem& problem, const Spans& spans, int slots, Duration patience,
                       Verdict& verdict) {
  const IdleTime idle(spans, slots);
  for (const OpEvents* one : spans) {
    if (verdict.full()) return;
    const Duration waited = idle.until(one->start) - idle.until(one->ready);
    if (waited <= patience) continue;
    verdict.add("from {} ns on op '{}' was ready on '{}' and waited for {} ns beside an idle slot",
                one->ready.count(), problem.graph.op_name(one->op),
                problem.machine.device(one->device).name, waited.count());
  }
}

inline std::pair<int64_t, int32_t> key(const OpEvents& one, const EventRules& rules) {
  const int64_t priority =
      rules.plan != nullptr ? rules.plan->priority[static_cast<size_t>(one.op.index)] : one.turn;
  return {priority, one.op.index};
}

// Each start is held against the best of those that are ready and start later.
inline void check_order(const Problem& problem, const Spans& spans, const EventRules& rules,
                        Verdict& verdict) {
  Spans by_ready = spans;
  std::sort(by_ready.begin(), by_ready.end(),
            [](const OpEvents* a, const OpEvents* b) { return a->ready < b->ready; });
  const auto later = [&](const OpEvents* a, const OpEvents* b) {
    return key(*b, rules) < key(*a, rules);
  };
  std::priority_queue<const OpEvents*, Spans, decltype(later)> waiting(later);
  size_t next = 0;
  for (const OpEvents* one : spans) {
    while (next < by_ready.size() && by_ready[next]->ready < one->start) {
      waiting.push(by_ready[next++]);
    }
    // Those that have started by then wait no more.
    while (!waiting.empty() && waiting.top()->start <= one->start) waiting.pop();
    if (waiting.empty() || key(*one, rules) < key(*waiting.top(), rules)) continue;
    verdict.add(
        "op '{}' started on '{}' at {} ns, though '{}', which goes before it, was ready at "
        "{} ns and started at {} ns",
        problem.graph.op_name(one->op), problem.machine.device(one->device).name,
        one->start.count(), problem.graph.op_name(waiting.top()->op), waiting.top()->ready.count(),
        waiting.top()->start.count());
    if (verdict.full()) return;
  }
}

// A processor may read a little before its clock, and others see what it wrote a little after.
inline constexpr Duration kProcessorSlack = std::chrono::microseconds(1);

// Slots look at each other's queues every ten microseconds, as the clock was measured when the run
// began; here as when it ended.
inline constexpr Duration kBetweenLooks = std::chrono::microseconds(11);

inline bool was_there(const OpEvents& op, Duration from, Duration to) {
  return op.queued + kProcessorSlack < from && op.start > to + kProcessorSlack;
}

inline void check_look(const Problem& problem, const Spans& spans, const OpEvents& one,
                       const EventRules& rules, Verdict& verdict) {
  const std::string& device = problem.machine.device(one.device).name;
  if (!one.looked) {
    const Duration since = one.start - one.look_from;
    if (problem.machine.device(one.device).slots > 1 && since <= kBetweenLooks) return;
    verdict.add("op '{}' was taken on '{}' at {} ns without a look at other slots since {} ns",
                problem.graph.op_name(one.op), device, one.start.count(), one.look_from.count());
    return;
  }
  for (const OpEvents* other : spans) {
    if (!was_there(*other, one.look_from, one.look_to)) continue;
    if (!(key(*other, rules) < key(one, rules))) continue;
    verdict.add(
        "op '{}' was taken on '{}' by a look from {} to {} ns, though '{}', which goes before it, "
        "was in a queue from {} to {} ns",
        problem.graph.op_name(one.op), device, one.look_from.count(), one.look_to.count(),
        problem.graph.op_name(other->op), other->queued.count(), other->start.count());
    return;
  }
}

inline void check_sleep(const Problem& problem, const Spans& spans, const SleepEvent& sleep,
                        Verdict& verdict) {
  for (const OpEvents* other : spans) {
    if (!was_there(*other, sleep.look_from, sleep.look_to)) continue;
    verdict.add(
        "slot {} of '{}' went to sleep by a look from {} to {} ns, though op '{}' was in a queue "
        "from {} to {} ns",
        sleep.slot, problem.machine.device(sleep.device).name, sleep.look_from.count(),
        sleep.look_to.count(), problem.graph.op_name(other->op), other->queued.count(),
        other->start.count());
    return;
  }
}

inline void check_times(const Problem& problem, std::span<const OpEvents> events,
                        Verdict& verdict) {
  for (const OpEvents& one : events) {
    if (one.ready <= one.start && one.start <= one.finish) continue;
    verdict.add("op '{}' was ready at {} ns, started at {} ns and finished at {} ns",
                problem.graph.op_name(one.op), one.ready.count(), one.start.count(),
                one.finish.count());
    if (verdict.full()) return;
  }
}

// Every rule that the steps of the decider break, one sentence each, whatever the clock says.
// No slot goes to sleep by a look during all of which an op was in a queue of its device. None
// takes an op by a look during all of which one was there that goes before it. None takes an op
// without a look, but within ten microseconds of its last one and where the device has other slots.
inline std::vector<std::string> step_faults(const Problem& problem,
                                            std::span<const OpEvents> events,
                                            std::span<const SleepEvent> sleeps,
                                            const EventRules& rules) {
  Verdict verdict(20);
  const std::vector<Spans> spans = by_device(problem, events);
  for (const OpEvents& one : events) {
    if (verdict.full()) break;
    check_look(problem, spans[static_cast<size_t>(one.device.index)], one, rules, verdict);
  }
  for (const SleepEvent& sleep : sleeps) {
    if (verdict.full()) break;
    check_sleep(problem, spans[static_cast<size_t>(sleep.device.index)], sleep, verdict);
  }
  return verdict.take();
}

// Every rule of time that the events break. No op is ready for longer than the patience while a
// slot of its device idles, in all, whatever other slots do meanwhile. On a device of one slot no
// op starts while one that goes before it is ready.
inline std::vector<std::string> events_faults(const Problem& problem,
                                              std::span<const OpEvents> events,
                                              const EventRules& rules) {
  Verdict verdict(20);
  check_times(problem, events, verdict);
  const std::vector<Spans> spans = by_device(problem, events);
  for (const DeviceId device : problem.machine.devices()) {
    const Spans& here = spans[static_cast<size_t>(device.index)];
    const int slots = problem.machine.device(device).slots;
    // What a strict order keeps back is not ready.
    check_idle(problem, here, slots, rules.patience, verdict);
    if (slots == 1) check_order(problem, here, rules, verdict);
  }
  return verdict.take();
}

// From when an op is ready and its slot is free until it starts, for each op, ascending.
inline std::vector<Duration> dispatch_delays(const Problem& problem,
                                             std::span<const OpEvents> events) {
  std::vector<Duration> delays;
  for (const Spans& spans : by_device(problem, events)) {
    std::vector<Duration> free;  // by slot
    for (const OpEvents* one : spans) {
      const auto slot = static_cast<size_t>(one->slot);
      if (free.size() <= slot) free.resize(slot + 1, Duration{0});
      delays.push_back(one->start - std::max(one->ready, free[slot]));
      free[slot] = one->finish;
    }
  }
  std::sort(delays.begin(), delays.end());
  return delays;
}

}  // namespace tutti

#endif  // TUTTI_RUNTIME_LOCAL_EVENTS_TESTING_H_
