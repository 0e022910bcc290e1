#include "tutti/policy/schedule/contention.h"

#include <algorithm>

#include "tutti/base/check.h"

namespace tutti {

ContentionSchedule::ContentionSchedule(const Problem& problem, double memory_share)
    : problem_(problem), draft_(problem, memory_share), links_(problem.machine) {
  for (const DeviceId device : problem.machine.devices()) {
    slot_begin_.push_back(static_cast<int>(slots_.size()));
    slots_.resize(slots_.size() + static_cast<size_t>(problem.machine.device(device).slots));
  }
  slot_begin_.push_back(static_cast<int>(slots_.size()));
  arrived_.assign(static_cast<size_t>(problem.graph.value_count()) *
                      static_cast<size_t>(problem.machine.memory_count()),
                  Duration{-1});
}

Duration ContentionSchedule::arrival(OpId op, DeviceId device, Mode mode) {
  const Graph& graph = problem_.graph;
  const Machine& machine = problem_.machine;
  const MemoryId to = machine.memory_of(device);
  const auto memories = static_cast<size_t>(machine.memory_count());
  const auto arrived_at = [&](ValueId value) -> Duration& {
    return arrived_[static_cast<size_t>(value.index) * memories + static_cast<size_t>(to.index)];
  };
  Duration latest{0};
  fetches_.clear();
  for (const EdgeId edge : graph.edges(op)) {
    const ValueId value = graph.edge_value(edge);
    const OpId producer = graph.producer(value);
    Fetch fetch{.ready = Duration{0}, .value = value, .from = problem_.home(value)};
    if (producer.valid()) {
      const DeviceId maker = draft_.placement(producer);
      fetch.ready = draft_.finish(producer);
      fetch.from = machine.memory_of(maker);
      if (problem_.costs.has_given_transfers() && fetch.from != to) {
        if (const auto given = problem_.costs.given_transfer(edge, maker, device)) {
          latest = std::max(latest, fetch.ready + *given);  // a given time meets no other transfer
          continue;
        }
      }
    }
    if (!fetch.from.valid() || fetch.from == to) {
      latest = std::max(latest, fetch.ready);
    } else if (arrived_at(value) >= Duration{0}) {
      latest = std::max(latest, arrived_at(value));
    } else {
      fetches_.push_back(fetch);
    }
  }
  // Channels are handed out first come first served.
  std::sort(fetches_.begin(), fetches_.end());
  fetches_.erase(std::unique(fetches_.begin(), fetches_.end()), fetches_.end());
  if (mode == Mode::attempt) links_.begin_attempts();
  for (const Fetch& fetch : fetches_) {
    const Route* route = machine.route(fetch.from, to);
    TUTTI_CHECK(route != nullptr);
    const int64_t bytes = graph.bytes(fetch.value);
    const Duration there = mode == Mode::attempt ? links_.attempt(*route, bytes, fetch.ready)
                                                 : links_.book(*route, bytes, fetch.ready);
    if (mode == Mode::book) arrived_at(fetch.value) = there;
    latest = std::max(latest, there);
  }
  return latest;
}

ContentionSchedule::Slot ContentionSchedule::best_slot(OpId op, DeviceId device,
                                                       Duration ready) const {
  const Duration length = problem_.costs.run_time(op, device);
  Slot best{.index = -1, .start = kNever};
  for (int i = slot_begin_[device.index]; i < slot_begin_[device.index + 1]; ++i) {
    const Duration start = slots_[static_cast<size_t>(i)].earliest_start(ready, length);
    if (start < best.start) best = {.index = i, .start = start};
    if (start == ready) break;
  }
  return best;
}

Duration ContentionSchedule::finish_on(OpId op, DeviceId device) {
  const Duration ready = arrival(op, device, Mode::attempt);
  return best_slot(op, device, ready).start + problem_.costs.run_time(op, device);
}

Duration ContentionSchedule::least_finish_on(OpId op, DeviceId device) const {
  return best_slot(op, device, draft_.arrival(op, device)).start +
         problem_.costs.run_time(op, device);
}

void ContentionSchedule::place(OpId op, DeviceId device) {
  const Slot slot = best_slot(op, device, arrival(op, device, Mode::book));
  slots_[static_cast<size_t>(slot.index)].add(slot.start, problem_.costs.run_time(op, device));
  draft_.apply_at(op, device, slot.start);
}

}  // namespace tutti
