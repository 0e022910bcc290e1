#include <algorithm>
#include <optional>
#include <tuple>

#include "tutti/trace/check_rules.h"

namespace tutti::trace_rules {
namespace {

// One hop that started later than it could.
struct Waiting {
  const TransferSpan* span;
  const Hop* hop;  // null: given, so that it needs no channel
  Interval time;
};

// The first hop into a memory with a limit is left out: it may have waited for room.
std::vector<Waiting> find_waiting(const Case& trial) {
  std::vector<Waiting> waiting;
  std::vector<Readers> readers;
  for (const ValueId value : trial.problem.graph.values()) {
    if (trial.presence.transfers(value).empty()) continue;
    trial.presence.find_readers(value, readers);
    for (const Transfer& transfer : trial.presence.transfers(value)) {
      const bool limited = trial.problem.memory_limit(transfer.to) != kUnlimitedBytes;
      Duration could = trial.presence.arrival(value, transfer.from);
      if (const Readers* there = find_in(readers, transfer.to)) {
        could = std::max(could, there->first_placed);
      }
      for (const int32_t index : transfer.spans) {
        const TransferSpan& span = trial.trace.transfers[index];
        const Hop* hop = hop_of(trial.problem.machine, span);
        const bool known = hop != nullptr || span.given;
        const bool for_room = limited && span.hop == 0;
        if (known && !for_room && could < span.start)
          waiting.push_back({&span, hop, {could, span.start}});
        could = span.finish;
      }
    }
  }
  return waiting;
}

// When each exclusive channel was full; worked out once per channel.
class FullTimes {
 public:
  FullTimes(const Machine& machine, const std::vector<ChannelUse>& channels)
      : machine_(machine), channels_(channels), full_(channels.size()) {}

  // When every exclusive channel of the hop had room.
  std::vector<Interval> room_on(const Hop* hop) {
    std::vector<Interval> full;
    if (hop != nullptr) {
      for (const ChannelId id : hop->channels) {
        if (machine_.channel(id).sharing != Sharing::exclusive) continue;
        full = unite(full, full_times(id));
      }
    }
    return gaps_between(full);
  }

 private:
  const std::vector<Interval>& full_times(ChannelId id) {
    std::optional<std::vector<Interval>>& known = full_[id.index];
    if (!known) known = busy_intervals(channels_[id.index].spans, machine_.channel(id).capacity);
    return *known;
  }

  const Machine& machine_;
  const std::vector<ChannelUse>& channels_;
  std::vector<std::optional<std::vector<Interval>>> full_;  // by channel
};

}  // namespace

void check_waiting_hops(const Case& trial, const std::vector<ChannelUse>& channels,
                        Verdict& verdict) {
  std::vector<Waiting> waiting = find_waiting(trial);
  // Those that wait for the same hop of the machine together, in the order of the trace.
  const auto key = [](const Waiting& one) {
    return std::tuple(one.span->given, one.span->from, one.span->to, one.span->hop, one.span);
  };
  std::sort(waiting.begin(), waiting.end(),
            [&](const Waiting& a, const Waiting& b) { return key(a) < key(b); });
  FullTimes full_times(trial.problem.machine, channels);
  std::vector<Interval> room;
  for (size_t i = 0; i < waiting.size() && !verdict.full(); ++i) {
    const Waiting& one = waiting[i];
    if (i == 0 || waiting[i - 1].hop != one.hop) room = full_times.room_on(one.hop);
    const std::optional<Interval> wasted = first_overlap(room, one.time);
    if (!wasted) continue;
    verdict.add(
        "hop {} of the transfer of '{}' to '{}' could start at {} ns, when its channels had room, "
        "but started at {} ns",
        one.span->hop, trial.problem.graph.value_name(one.span->value),
        trial.problem.machine.memory(one.span->to).name, wasted->start.count(),
        one.span->start.count());
  }
}

}  // namespace tutti::trace_rules
