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
void check_idle(const Problem& problem, const Spans& spans, int slots, Duration patience,
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
