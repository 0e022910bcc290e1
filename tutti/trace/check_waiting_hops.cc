#include <algorithm>
#include <optional>
#include <tuple>

#include "tutti/trace/check_rules.h"
#include "tutti/trace/free_times.h"

namespace tutti::trace_rules {
namespace {

// One hop that started later than it could.
struct Waiting {
  const TransferSpan* span;
  const Hop* hop;  // null: given, so that it needs no channel
  Interval time;
};

std::vector<Waiting> find_waiting(const Case& trial) {
  std::vector<Waiting> waiting;
  std::vector<Readers> readers;
  for (const ValueId value : trial.problem.graph.values()) {
    if (trial.presence.transfers(value).empty()) continue;
    trial.presence.find_readers(value, readers);
    for (const Transfer& transfer : trial.presence.transfers(value)) {
      Duration could = trial.presence.arrival(value, transfer.from);
      if (const Readers* there = find_in(readers, transfer.to)) {
        could = std::max(could, there->first_placed);
      }
      for (const int32_t index : transfer.spans) {
        const TransferSpan& span = trial.trace.transfers[index];
        const Hop* hop = hop_of(trial.problem.machine, span);
        const bool known = hop != nullptr || span.given;
        if (known && could < span.start) waiting.push_back({&span, hop, {could, span.start}});
        could = span.finish;
      }
    }
  }
  return waiting;
}

}  // namespace

void check_waiting_hops(const Case& trial, FullTimes& full_times, const LeastUses& memories,
                        Verdict& verdict) {
  verdict.begin("waiting hops");
  std::vector<Waiting> waiting = find_waiting(trial);
  // Those that wait for the same hop of the machine together, in the order of the trace.
  const auto key = [](const Waiting& one) {
    return std::tuple(one.span->given, one.span->from, one.span->to, one.span->hop, one.span);
  };
  std::sort(waiting.begin(), waiting.end(),
            [&](const Waiting& a, const Waiting& b) { return key(a) < key(b); });
  std::optional<FreeTimes> room;
  for (size_t i = 0; i < waiting.size() && !verdict.full(); ++i) {
    const Waiting& one = waiting[i];
    // Room for the copy is taken before the first hop; those that follow have it already.
    const bool needs_memory = one.span->hop == 0;
    if (i == 0 || waiting[i - 1].hop != one.hop || waiting[i - 1].span->to != one.span->to) {
      room.emplace(full_times.room_on(one.hop), needs_memory ? memories.of(one.span->to) : nullptr);
    }
    const int64_t limit = trial.problem.memory_limit(one.span->to);
    const std::optional<Duration> could =
        room->first_in(one.time, limit - trial.problem.graph.bytes(one.span->value));
    if (!could) continue;
    verdict.add(
        "hop {} of the transfer of '{}' to '{}' could start at {} ns, when its channels had room, "
        "but started at {} ns",
        one.span->hop, trial.problem.graph.value_name(one.span->value),
        trial.problem.machine.memory(one.span->to).name, could->count(), one.span->start.count());
  }
}

}  // namespace tutti::trace_rules
