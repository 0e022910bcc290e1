#include "tutti/runtime/local/events.h"

#include <algorithm>
#include <queue>

#include "tutti/plan/verdict.h"

namespace tutti {
namespace {

using Spans = std::vector<const OpEvents*>;

std::vector<Spans> by_device(const Problem& problem, std::span<const OpEvents> events) {
  std::vector<Spans> spans(static_cast<size_t>(problem.machine.size()));
  for (const OpEvents& one : events) spans[static_cast<size_t>(one.device.index)].push_back(&one);
  for (Spans& some : spans) {
    std::sort(some.begin(), some.end(), [](const OpEvents* a, const OpEvents* b) {
      return std::pair(a->start, a->op) < std::pair(b->start, b->op);
    });
  }
  return spans;
}

// Idle slots and waiting ops at each moment: both at once for long is work that was not conserved.
void check_idle(const Problem& problem, const Spans& spans, int slots, Duration patience,
                Verdict& verdict) {
  struct Change {
    Duration time;
    int busy;
    int waiting;
    const OpEvents* of;
  };
  std::vector<Change> changes;
  for (const OpEvents* one : spans) {
    changes.push_back({one->ready, 0, 1, one});
    changes.push_back({one->start, 1, -1, one});
    changes.push_back({one->finish, -1, 0, one});
  }
  std::sort(changes.begin(), changes.end(),
            [](const Change& a, const Change& b) { return a.time < b.time; });
  int busy = 0;
  int waiting = 0;
  for (size_t i = 0; i < changes.size() && !verdict.full(); ++i) {
    busy += changes[i].busy;
    waiting += changes[i].waiting;
    if (i + 1 == changes.size() || waiting == 0 || busy >= slots) continue;
    const Duration idle = changes[i + 1].time - changes[i].time;
    if (idle <= patience) continue;
    verdict.add("from {} ns on a slot of '{}' idled for {} ns while {} ops were ready there",
                changes[i].time.count(), problem.machine.device(changes[i].of->device).name,
                idle.count(), waiting);
  }
}

// Each start is held against the best of those that are ready and start later.
void check_order(const Problem& problem, const Spans& spans, const EventRules& rules,
                 Duration slack, Verdict& verdict) {
  const auto key = [&](const OpEvents* one) {
    const int64_t priority = rules.plan != nullptr
                                 ? rules.plan->priority[static_cast<size_t>(one->op.index)]
                                 : one->turn;
    return std::pair(priority, one->op.index);
  };
  Spans by_ready = spans;
  std::sort(by_ready.begin(), by_ready.end(),
            [](const OpEvents* a, const OpEvents* b) { return a->ready < b->ready; });
  const auto later = [&](const OpEvents* a, const OpEvents* b) { return key(b) < key(a); };
  std::priority_queue<const OpEvents*, Spans, decltype(later)> waiting(later);
  size_t next = 0;
  for (const OpEvents* one : spans) {
    while (next < by_ready.size() && by_ready[next]->ready + slack < one->start) {
      waiting.push(by_ready[next++]);
    }
    // Those that have started by then wait no more.
    while (!waiting.empty() && waiting.top()->start <= one->start + slack) waiting.pop();
    if (waiting.empty() || key(one) < key(waiting.top())) continue;
    verdict.add(
        "op '{}' started on '{}' at {} ns, though '{}', which goes before it, was ready at "
        "{} ns and started at {} ns",
        problem.graph.op_name(one->op), problem.machine.device(one->device).name,
        one->start.count(), problem.graph.op_name(waiting.top()->op), waiting.top()->ready.count(),
        waiting.top()->start.count());
    if (verdict.full()) return;
  }
}

void check_times(const Problem& problem, std::span<const OpEvents> events, Verdict& verdict) {
  for (const OpEvents& one : events) {
    if (one.ready <= one.start && one.start <= one.finish) continue;
    verdict.add("op '{}' was ready at {} ns, started at {} ns and finished at {} ns",
                problem.graph.op_name(one.op), one.ready.count(), one.start.count(),
                one.finish.count());
    if (verdict.full()) return;
  }
}

}  // namespace

std::vector<std::string> events_faults(const Problem& problem, std::span<const OpEvents> events,
                                       const EventRules& rules) {
  Verdict verdict(20);
  check_times(problem, events, verdict);
  const std::vector<Spans> spans = by_device(problem, events);
  for (const DeviceId device : problem.machine.devices()) {
    const Spans& here = spans[static_cast<size_t>(device.index)];
    const int slots = problem.machine.device(device).slots;
    // What a strict order keeps back is not ready.
    check_idle(problem, here, slots, rules.patience, verdict);
    check_order(problem, here, rules, slots == 1 ? Duration{0} : rules.patience, verdict);
  }
  return verdict.take();
}

std::vector<Duration> dispatch_delays(const Problem& problem, std::span<const OpEvents> events) {
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
