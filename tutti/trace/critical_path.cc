#include "tutti/trace/critical_path.h"

#include <algorithm>
#include <optional>
#include <tuple>

#include "tutti/trace/channels.h"
#include "tutti/trace/presence.h"

namespace tutti {
namespace {

struct SpanRef {
  bool is_op = true;
  int32_t index = -1;
};

struct Ending {
  Duration time{0};
  SpanRef span;
};

// Spans by when they end.
class Endings {
 public:
  void add(Duration time, SpanRef span) { endings_.push_back({time, span}); }
  void sort() {
    std::stable_sort(endings_.begin(), endings_.end(),
                     [](const Ending& a, const Ending& b) { return a.time < b.time; });
  }
  // The last that ends no later than `time` and that `fits`.
  template <class Fits>
  std::optional<Ending> last_until(Duration time, const Fits& fits) const {
    auto it = std::upper_bound(endings_.begin(), endings_.end(), time,
                               [](Duration t, const Ending& ending) { return t < ending.time; });
    while (it != endings_.begin()) {
      if (fits((--it)->span)) return *it;
    }
    return std::nullopt;
  }

 private:
  std::vector<Ending> endings_;
};

class Walk {
 public:
  Walk(const Problem& problem, const Trace& trace)
      : problem_(problem),
        trace_(trace),
        released_(is_released(trace)),
        presence_(problem, trace, {.released = released_}),
        before_on_slot_(trace.ops.size(), -1),
        hop_before_(trace.transfers.size(), -1),
        seen_op_(trace.ops.size()),
        seen_transfer_(trace.transfers.size()),
        on_channel_(static_cast<size_t>(problem.machine.channel_count())),
        in_memory_(static_cast<size_t>(problem.machine.memory_count())) {
    index_slots();
    index_hops();
    index_endings();
  }

  RunCriticalPath path() {
    RunCriticalPath path;
    SpanRef span = last_op();
    while (span.index >= 0) {
      (span.is_op ? seen_op_ : seen_transfer_)[static_cast<size_t>(span.index)] = true;
      find_cause(span);
      path.steps.push_back({span.is_op, span.index, cause_});
      (span.is_op ? path.in_ops : path.in_transfers) += finish(span) - start(span);
      if (before_.index >= 0) path.in_transfers += effect_ - finish(before_);
      path.waiting += start(span) - effect_;
      span = before_;
    }
    std::reverse(path.steps.begin(), path.steps.end());
    return path;
  }

  Decision decision(int32_t op_span) {
    seen_op_[static_cast<size_t>(op_span)] = true;
    find_cause({true, op_span});
    return {cause_, before_.is_op, before_.index, presence_.ready(trace_.ops[op_span].op)};
  }

 private:
  void index_slots() {
    std::vector<int32_t> order(trace_.ops.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int32_t>(i);
    const auto key = [&](int32_t i) {
      const OpSpan& span = trace_.ops[i];
      return std::tuple(span.device, span.slot, span.start, span.finish, i);
    };
    std::sort(order.begin(), order.end(), [&](int32_t a, int32_t b) { return key(a) < key(b); });
    for (size_t i = 1; i < order.size(); ++i) {
      const OpSpan& before = trace_.ops[order[i - 1]];
      const OpSpan& span = trace_.ops[order[i]];
      const bool same = before.device == span.device && before.slot == span.slot;
      if (same && before.finish <= span.start) before_on_slot_[order[i]] = order[i - 1];
    }
  }

  void index_hops() {
    for (const ValueId value : problem_.graph.values()) {
      for (const Transfer& transfer : presence_.transfers(value)) {
        for (size_t i = 1; i < transfer.spans.size(); ++i) {
          hop_before_[transfer.spans[i]] = transfer.spans[i - 1];
        }
      }
    }
  }

  void index_endings() {
    const Machine& machine = problem_.machine;
    for (size_t i = 0; i < trace_.ops.size(); ++i) {
      const OpSpan& span = trace_.ops[i];
      in_memory_[machine.memory_of(span.device).index].add(span.finish,
                                                           {true, static_cast<int32_t>(i)});
    }
    for (size_t i = 0; i < trace_.transfers.size(); ++i) {
      const TransferSpan& span = trace_.transfers[i];
      const SpanRef ref{false, static_cast<int32_t>(i)};
      in_memory_[span.from.index].add(span.finish, ref);
      const Hop* hop = hop_of(machine, span);
      if (hop == nullptr) continue;
      for (const ChannelId channel : hop->channels) {
        // Only exclusive channels make others wait.
        if (machine.channel(channel).sharing != Sharing::exclusive) continue;
        on_channel_[channel.index].add(span.finish, ref);
      }
    }
    for (Endings& endings : on_channel_) endings.sort();
    for (Endings& endings : in_memory_) endings.sort();
  }

  SpanRef last_op() const {
    SpanRef last;
    for (size_t i = 0; i < trace_.ops.size(); ++i) {
      const OpSpan& span = trace_.ops[i];
      const OpSpan* best = last.index < 0 ? nullptr : &trace_.ops[last.index];
      const bool later = best == nullptr || span.finish > best->finish ||
                         (span.finish == best->finish && span.op < best->op);
      if (later) last.index = static_cast<int32_t>(i);
    }
    return last;
  }

  Duration start(SpanRef span) const {
    return span.is_op ? trace_.ops[span.index].start : trace_.transfers[span.index].start;
  }
  Duration finish(SpanRef span) const {
    return span.is_op ? trace_.ops[span.index].finish : trace_.transfers[span.index].finish;
  }
  bool seen(SpanRef span) const {
    return (span.is_op ? seen_op_ : seen_transfer_)[static_cast<size_t>(span.index)];
  }
  SpanRef ref_of(const OpSpan* span) const {
    return {true, static_cast<int32_t>(span - trace_.ops.data())};
  }

  // Takes the candidate if it ended in time and later than all before it.
  void offer(SpanRef candidate, Cause cause, Duration begin) {
    if (candidate.index >= 0) offer(candidate, cause, begin, finish(candidate));
  }
  // The same for one whose end was felt only at `effect`.
  void offer(SpanRef candidate, Cause cause, Duration begin, Duration effect) {
    if (seen(candidate) || effect > begin) return;
    if (before_.index >= 0 && effect <= effect_) return;
    before_ = candidate;
    cause_ = cause;
    effect_ = effect;
  }

  // Sets before_ and cause_ for a span. Where two causes ended together the data goes first.
  void find_cause(SpanRef span) {
    const Duration begin = start(span);
    before_ = {};
    cause_ = Cause::none;
    effect_ = Duration{0};
    unrecorded_ = {};
    if (span.is_op) {
      offer_operands(trace_.ops[span.index]);
      offer({true, before_on_slot_[span.index]}, Cause::slot, begin);
    } else {
      offer_for_transfer(span.index);
    }
    if (before_.index >= 0 && effect_ == begin) return;
    if (begin > Duration{0}) offer_memory(span);
    if (before_.index >= 0 && effect_ == begin) return;
    // A producer elsewhere whose transfer was not recorded explains the rest.
    if (unrecorded_.index >= 0) {
      before_ = unrecorded_;
      cause_ = Cause::data;
      effect_ = finish(unrecorded_);
    } else if (before_.index >= 0) {
      cause_ = Cause::unknown;
    }
  }

  void offer_operands(const OpSpan& span) {
    const MemoryId memory = problem_.machine.memory_of(span.device);
    for (const EdgeId edge : problem_.graph.edges(span.op)) {
      const ValueId value = problem_.graph.edge_value(edge);
      const OpId producer = problem_.graph.edge_from(edge);
      const OpSpan* made = producer.valid() ? presence_.span(producer) : nullptr;
      if (released_) {
        if (made != nullptr) offer(ref_of(made), Cause::data, span.start, presence_.arrival(edge));
        continue;
      }
      if (made != nullptr && problem_.machine.memory_of(made->device) == memory) {
        offer(ref_of(made), Cause::data, span.start);
        continue;
      }
      const SpanRef arrival = last_hop(value, memory, span.start);
      if (arrival.index >= 0) {
        offer(arrival, Cause::data, span.start);
      } else if (made != nullptr) {
        const SpanRef candidate = ref_of(made);
        offer(candidate, Cause::data, span.start);
        const bool later = unrecorded_.index < 0 || finish(candidate) > finish(unrecorded_);
        if (later && made->finish <= span.start && !seen(candidate)) unrecorded_ = candidate;
      }
    }
  }

  // Of a weight that was streamed several times, of the copy that was read at that time.
  SpanRef last_hop(ValueId value, MemoryId memory, Duration when) const {
    SpanRef last{false, -1};
    for (const Transfer& transfer : presence_.transfers(value)) {
      if (transfer.to != memory || (last.index >= 0 && transfer.finish > when)) continue;
      last.index = transfer.spans.back();
    }
    return last;
  }

  void offer_for_transfer(int32_t index) {
    const TransferSpan& span = trace_.transfers[index];
    if (hop_before_[index] >= 0) {
      offer({false, hop_before_[index]}, Cause::data, span.start);
    } else {
      const OpId producer = problem_.graph.producer(span.value);
      const OpSpan* made = producer.valid() ? presence_.span(producer) : nullptr;
      if (made != nullptr) offer(ref_of(made), Cause::data, span.start);
    }
    const Hop* hop = hop_of(problem_.machine, span);
    if (hop == nullptr) return;
    for (const ChannelId channel : hop->channels) {
      const auto before = on_channel_[channel.index].last_until(
          span.start, [&](SpanRef other) { return !seen(other); });
      if (before) offer(before->span, Cause::channel, span.start);
    }
  }

  // What ended in the span's memory at the very moment it began.
  void offer_memory(SpanRef span) {
    const MemoryId memory = span.is_op ? problem_.machine.memory_of(trace_.ops[span.index].device)
                                       : trace_.transfers[span.index].to;
    const auto freed = in_memory_[memory.index].last_until(
        start(span), [&](SpanRef other) { return !seen(other); });
    if (freed && freed->time == start(span)) offer(freed->span, Cause::memory, start(span));
  }

  const Problem& problem_;
  const Trace& trace_;
  bool released_;  // transfers take time and leave no spans
  Presence presence_;
  std::vector<int32_t> before_on_slot_;  // by op span
  std::vector<int32_t> hop_before_;      // by transfer span
  std::vector<bool> seen_op_;            // spans of no length could make the walk go in circles
  std::vector<bool> seen_transfer_;
  std::vector<Endings> on_channel_;
  std::vector<Endings> in_memory_;
  SpanRef before_;  // of the span at hand
  Cause cause_ = Cause::none;
  Duration effect_{0};  // when the end of before_ was felt; 0 if there is none
  SpanRef unrecorded_;
};

}  // namespace

RunCriticalPath critical_path_of_run(const Problem& problem, const Trace& trace) {
  return Walk(problem, trace).path();
}

Decision what_decided(const Problem& problem, const Trace& trace, int32_t op_span) {
  return Walk(problem, trace).decision(op_span);
}

}  // namespace tutti
