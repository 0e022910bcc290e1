#include <algorithm>

#include "tutti/trace/check/rules.h"

namespace tutti::trace_rules {
namespace {

// Judges one value's way to one memory.
class TransferJudge {
 public:
  TransferJudge(const Case& trial, const Transfer& transfer, const Readers* readers,
                Verdict& verdict)
      : trial_(trial),
        transfer_(transfer),
        readers_(readers),
        verdict_(verdict),
        value_(trial.problem.graph.value_name(transfer.value)),
        to_(memory_name(transfer.to)) {}

  void judge() {
    if (!is_wanted() || !is_single()) return;
    // An online run may start a transfer before it knows of a reader whose edge has a given time. A
    // real one takes the time it takes.
    const bool must_be_given = readers_->longest_given && !trial_.rules.measured &&
                               (readers_->all_given || !trial_.presence.online());
    if (transfer_.given || must_be_given) {
      judge_given();
    } else {
      judge_hops();
    }
    judge_beginning();
  }

 private:
  const std::string& memory_name(MemoryId memory) const {
    return trial_.problem.machine.memory(memory).name;
  }

  // It leaves its home for another memory in which something reads it.
  bool is_wanted() {
    verdict_.begin("transfers");
    const MemoryId home = trial_.presence.home(transfer_.value);
    if (!home.valid() || home == transfer_.to) {
      verdict_.add("'{}' was transferred to '{}', where it already was", value_, to_);
      return false;
    }
    if (readers_ == nullptr) {
      verdict_.add("'{}' was transferred to '{}', where no op reads it", value_, to_);
      return false;
    }
    for (const int32_t index : transfer_.spans) {
      const MemoryId from = trial_.trace.transfers[index].from;
      if (from == home) continue;
      verdict_.add("'{}' was transferred to '{}' from '{}', but its home is '{}'", value_, to_,
                   memory_name(from), memory_name(home));
      return false;
    }
    return true;
  }

  bool is_single() {
    for (size_t i = 1; i < transfer_.spans.size(); ++i) {
      const TransferSpan& before = trial_.trace.transfers[transfer_.spans[i - 1]];
      const TransferSpan& span = trial_.trace.transfers[transfer_.spans[i]];
      if (before.hop != span.hop && before.given == span.given) continue;
      verdict_.add("'{}' was transferred to '{}' twice", value_, to_);
      return false;
    }
    return true;
  }

  void judge_beginning() {
    verdict_.begin("transfers");
    const Duration made = trial_.presence.arrival(transfer_.value, transfer_.from);
    if (transfer_.start < made) {
      verdict_.add("the transfer of '{}' to '{}' started at {} ns, but the value existed at {} ns",
                   value_, to_, transfer_.start.count(), made.count());
    }
    if (transfer_.start < readers_->first_placed) {
      verdict_.add(
          "the transfer of '{}' to '{}' started at {} ns, but an op that reads it there was placed "
          "only at {} ns",
          value_, to_, transfer_.start.count(), readers_->first_placed.count());
    }
  }

  void judge_given() {
    if (!readers_->longest_given) {
      verdict_.add("the transfer of '{}' to '{}' is recorded as given, but no time is given",
                   value_, to_);
      return;
    }
    if (!transfer_.given) {
      verdict_.add("the transfer of '{}' to '{}' went over links, but its time is given", value_,
                   to_);
      return;
    }
    if (trial_.rules.timeless || trial_.rules.measured) return;
    verdict_.begin("transfer times");
    const Duration lasted = transfer_.finish - transfer_.start;
    const TimeRange possible = possible_times(*readers_->longest_given);
    if (possible.holds(lasted) || is_given(lasted)) return;
    if (is_drawn()) {
      verdict_.add(
          "the transfer of '{}' to '{}' took {} ns, but its noise reaches from {} ns to {} ns",
          value_, to_, lasted.count(), possible.least.count(), possible.most.count());
    } else {
      verdict_.add("the transfer of '{}' to '{}' took {} ns, but its given time is {} ns", value_,
                   to_, lasted.count(), readers_->longest_given->count());
    }
  }

  bool is_drawn() const { return trial_.drawn(trial_.problem.costs.transfer_noise()); }
  TimeRange possible_times(Duration mean) const {
    return trace_rules::possible_times(trial_, mean, trial_.problem.costs.transfer_noise());
  }

  // An online run may start the transfer before it knows of the reader with the longest time.
  bool is_given(Duration lasted) const {
    if (!trial_.presence.online()) return false;
    const Graph& graph = trial_.problem.graph;
    const OpSpan* made = trial_.presence.span(graph.producer(transfer_.value));
    const std::span<const EdgeId> edges = graph.consumers(transfer_.value);
    return std::any_of(edges.begin(), edges.end(), [&](EdgeId edge) {
      const DeviceId to = trial_.presence.span(graph.edge_to(edge))->device;
      if (trial_.problem.machine.memory_of(to) != transfer_.to) return false;
      const auto given = trial_.problem.costs.given_transfer(edge, made->device, to);
      return given && possible_times(*given).holds(lasted);
    });
  }

  void judge_hops() {
    const Route* route = trial_.problem.machine.route(transfer_.from, transfer_.to);
    if (route == nullptr) {
      verdict_.add("'{}' was transferred from '{}' to '{}', which nothing connects", value_,
                   memory_name(transfer_.from), to_);
      return;
    }
    for (size_t i = 0; i < transfer_.spans.size(); ++i) {
      const TransferSpan& span = trial_.trace.transfers[transfer_.spans[i]];
      if (hop_of(trial_.problem.machine, span) == nullptr) {
        verdict_.add("the transfer of '{}' to '{}' has a hop {}, but its route has {} hops", value_,
                     to_, span.hop, route->hops.size());
        return;
      }
      judge_time(span, route->hops[static_cast<size_t>(span.hop)]);
      verdict_.begin("transfers");
      if (i == 0) continue;
      const TransferSpan& before = trial_.trace.transfers[transfer_.spans[i - 1]];
      if (span.start < before.finish) {
        verdict_.add(
            "hop {} of the transfer of '{}' to '{}' started at {} ns, but hop {} ended at "
            "{} ns",
            span.hop, value_, to_, span.start.count(), before.hop, before.finish.count());
      }
    }
    // A real one may go from end to end directly.
    const bool direct = trial_.rules.measured && transfer_.spans.size() == 1;
    if (transfer_.spans.size() != route->hops.size() && !direct) {
      verdict_.add("the transfer of '{}' to '{}' has {} of the {} hops of its route", value_, to_,
                   transfer_.spans.size(), route->hops.size());
    }
  }

  void judge_time(const TransferSpan& span, const Hop& hop) {
    if (trial_.rules.timeless || trial_.rules.measured) return;
    const int64_t bytes = trial_.problem.graph.bytes(span.value);
    const TimeRange alone = possible_times(Costs::hop_time(hop, bytes));
    const Duration lasted = span.finish - span.start;
    const bool meets_others = !hop.shared.empty() && bytes > 0 && hop.ns_per_byte > 0;
    if (alone.holds(lasted) || (meets_others && lasted > alone.most)) return;
    verdict_.begin("transfer times");
    if (meets_others) {
      verdict_.add(
          "hop {} of the transfer of '{}' to '{}' took {} ns, but even alone it takes {} ns",
          span.hop, value_, to_, lasted.count(), alone.least.count());
    } else if (is_drawn()) {
      verdict_.add(
          "hop {} of the transfer of '{}' to '{}' took {} ns, but its noise reaches from {} ns to "
          "{} ns",
          span.hop, value_, to_, lasted.count(), alone.least.count(), alone.most.count());
    } else {
      verdict_.add("hop {} of the transfer of '{}' to '{}' took {} ns, but it takes {} ns",
                   span.hop, value_, to_, lasted.count(), alone.least.count());
    }
  }

  const Case& trial_;
  const Transfer& transfer_;
  const Readers* readers_;
  Verdict& verdict_;
  std::string value_;
  std::string to_;
};

// In no busy period did the channel carry more than its bandwidth allows, with a nanosecond of
// rounding for each transfer.
void check_bandwidth(const Channel& channel, const ChannelUse& use, Verdict& verdict) {
  const std::vector<Interval> periods = busy_intervals(use.spans, /*level=*/1);
  std::vector<double> bytes(periods.size(), 0);
  std::vector<int64_t> count(periods.size(), 0);
  for (size_t i = 0; i < use.spans.size(); ++i) {
    if (use.spans[i].start == use.spans[i].finish) continue;
    const auto after =
        std::upper_bound(periods.begin(), periods.end(), use.spans[i].start,
                         [](Duration time, const Interval& period) { return time < period.start; });
    const auto period = static_cast<size_t>(after - periods.begin()) - 1;
    bytes[period] += static_cast<double>(use.bytes[i]);
    ++count[period];
  }
  for (size_t i = 0; i < periods.size(); ++i) {
    const auto length = static_cast<double>((periods[i].finish - periods[i].start).count());
    const double most = channel.bytes_per_s * (length + static_cast<double>(count[i])) / 1e9;
    if (bytes[i] <= most * (1 + 1e-9)) continue;
    verdict.add(
        "channel '{}' carried {:.0f} bytes from {} ns to {} ns, but its bandwidth allows {:.0f}",
        channel.name, bytes[i], periods[i].start.count(), periods[i].finish.count(), most);
    return;
  }
}

}  // namespace

void check_transfers(const Case& trial, Verdict& verdict) {
  verdict.begin("transfers");
  if (trial.rules.timeless) {
    verdict.set_aside("transfer times", "a run of the null runtime takes no time");
  } else if (trial.rules.measured) {
    verdict.set_aside("transfer times",
                      "times are measured: costs predict them and do not prescribe them");
  } else {
    verdict.begin("transfer times");
  }
  if (trial.drawn(trial.problem.costs.transfer_noise())) {
    verdict.set_aside("transfer times",
                      "durations were drawn: they are held to what noise can reach, not to means");
  }
  std::vector<Readers> readers;
  for (const ValueId value : trial.problem.graph.values()) {
    if (verdict.full()) return;
    if (trial.presence.transfers(value).empty()) continue;
    trial.presence.find_readers(value, readers);
    for (const Transfer& transfer : trial.presence.transfers(value)) {
      TransferJudge(trial, transfer, find_in(readers, transfer.to), verdict).judge();
    }
  }
}

void check_channels(const Case& trial, const std::vector<ChannelUse>& channels, Verdict& verdict) {
  verdict.begin("channels");
  for (int32_t index = 0; index < trial.problem.machine.channel_count(); ++index) {
    const Channel& channel = trial.problem.machine.channel(ChannelId{index});
    if (channel.sharing != Sharing::exclusive) continue;
    const std::vector<Interval> crowded =
        busy_intervals(channels[index].spans, channel.capacity + 1);
    if (crowded.empty()) continue;
    verdict.add("channel '{}' carried more than its {} transfers at once from {} ns to {} ns",
                channel.name, channel.capacity, crowded[0].start.count(),
                crowded[0].finish.count());
  }
}

void check_bandwidths(const Case& trial, const std::vector<ChannelUse>& channels,
                      Verdict& verdict) {
  verdict.begin("bandwidth");
  for (int32_t index = 0; index < trial.problem.machine.channel_count(); ++index) {
    const Channel& channel = trial.problem.machine.channel(ChannelId{index});
    if (channel.sharing != Sharing::shared || channel.bytes_per_s <= 0) continue;
    check_bandwidth(channel, channels[index], verdict);
  }
}

}  // namespace tutti::trace_rules
