#include "tutti/calibrate/observe.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace tutti {
namespace {

// False if a memory could hold all values at once: nothing then ever waits for room.
bool memory_can_be_short(const Problem& problem) {
  if (!problem.has_memory_limits()) return false;
  double bytes = 0;
  for (const ValueId value : problem.graph.values()) {
    bytes += static_cast<double>(problem.graph.bytes(value));
  }
  for (const OpId op : problem.graph.ops()) {
    bytes += static_cast<double>(problem.graph.transient_bytes(op));
  }
  for (int32_t i = 0; i < problem.machine.memory_count(); ++i) {
    if (bytes > static_cast<double>(problem.memory_limit(MemoryId{i}))) return true;
  }
  return false;
}

class Observer {
 public:
  Observer(const Problem& problem, const Trace& trace)
      : problem_(problem),
        trace_(trace),
        memory_can_be_short_(memory_can_be_short(problem)),
        made_(static_cast<size_t>(problem.graph.value_count()), Duration{0}),
        placed_(static_cast<size_t>(problem.graph.size()), Duration{0}) {
    for (const OpSpan& span : trace.ops) {
      for (const ValueId value : problem.graph.outputs(span.op)) made_[value.index] = span.finish;
    }
    for (const PlacedAt& placed : trace.placed) placed_[placed.op.index] = placed.time;
    for (const TransferSpan& span : trace.transfers) {
      Duration& there = arrived_[{span.value.index, span.to.index}];
      there = std::max(there, span.finish);
    }
  }

  Observed observe() {
    observe_ops();
    observe_hops();
    return std::move(observed_);
  }

 private:
  template <class Span>
  static std::vector<const Span*> by_start(const std::vector<Span>& spans) {
    std::vector<const Span*> sorted;
    sorted.reserve(spans.size());
    for (const Span& span : spans) sorted.push_back(&span);
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const Span* a, const Span* b) { return a->start < b->start; });
    return sorted;
  }

  // When all operands were in the memory that the op ran in.
  Duration data_ready(const OpSpan& span) const {
    Duration ready{0};
    const MemoryId memory = problem_.machine.memory_of(span.device);
    for (const ValueId value : problem_.graph.operands(span.op)) {
      const auto arrived = arrived_.find({value.index, memory.index});
      ready = std::max(ready, arrived == arrived_.end() ? made_[value.index] : arrived->second);
    }
    return ready;
  }

  void observe_ops() {
    std::map<std::pair<int32_t, int>, Duration> free_at;  // by device and slot
    std::vector<std::pair<Duration, ObservedOp>> found;
    for (const OpSpan* span : by_start(trace_.ops)) {
      Duration& slot_free = free_at[{span->device.index, span->slot}];
      Duration could = std::max({slot_free, data_ready(*span), placed_[span->op.index]});
      slot_free = span->finish;
      // The first op of a run waits for the run to start, and where memory is short any op may wait
      // for room: neither is its own time.
      if (could == Duration{0} || memory_can_be_short_) could = span->start;
      const Duration lasted = span->finish - std::min(could, span->start);
      if (lasted > Duration{0}) {
        const Duration waited = span->start - std::min(could, span->start);
        found.push_back({span->finish,
                         {span->op, span->device, static_cast<double>(lasted.count()),
                          static_cast<double>(waited.count())}});
      }
    }
    std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
      return std::tie(a.first, a.second.op.index) < std::tie(b.first, b.second.op.index);
    });
    for (const auto& [finish, op] : found) observed_.ops.push_back(op);
  }

  // True if another transfer used a channel of the hop meanwhile that divides its bandwidth. So do
  // those for one at a time, where the hardware lets two start.
  bool disturbed(const TransferSpan& span, const Hop& hop) const {
    for (const ChannelId channel : hop.channels) {
      const Channel& about = problem_.machine.channel(channel);
      if (about.sharing == Sharing::unlimited || about.capacity > 1) continue;
      for (const TransferSpan& other : trace_.transfers) {
        if (&other == &span || other.given || other.start >= span.finish ||
            span.start >= other.finish) {
          continue;
        }
        const auto& channels = hop_of(other).channels;
        if (std::find(channels.begin(), channels.end(), channel) != channels.end()) return true;
      }
    }
    return false;
  }

  const Hop& hop_of(const TransferSpan& span) const {
    return problem_.machine.route(span.from, span.to)->hops[static_cast<size_t>(span.hop)];
  }

  void observe_hops() {
    std::map<std::tuple<int32_t, int32_t, int32_t, int>, Duration> hop_end;
    for (const TransferSpan& span : trace_.transfers) {
      hop_end[{span.value.index, span.from.index, span.to.index, span.hop}] = span.finish;
    }
    std::map<int32_t, Duration> free_at;  // by channel
    std::vector<std::pair<Duration, ObservedHop>> found;
    for (const TransferSpan* span : by_start(trace_.transfers)) {
      if (span->given) continue;
      const Hop& hop = hop_of(*span);
      Duration could = made_[span->value.index];
      if (span->hop > 0) {
        could = hop_end[{span->value.index, span->from.index, span->to.index, span->hop - 1}];
      }
      bool several = false;  // a channel takes several at once: when it was free is not known
      for (const ChannelId channel : hop.channels) {
        const Channel& c = problem_.machine.channel(channel);
        several = several || (c.sharing == Sharing::exclusive && c.capacity > 1);
        if (c.sharing != Sharing::exclusive) continue;
        could = std::max(could, free_at[channel.index]);
        free_at[channel.index] = span->finish;
      }
      if (could == Duration{0} || several || memory_can_be_short_) could = span->start;
      const Duration lasted = span->finish - std::min(could, span->start);
      if (lasted > Duration{0} && !disturbed(*span, hop)) {
        found.push_back(
            {span->finish,
             {&hop, problem_.graph.bytes(span->value), static_cast<double>(lasted.count())}});
      }
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [finish, hop] : found) observed_.hops.push_back(hop);
  }

  const Problem& problem_;
  const Trace& trace_;
  bool memory_can_be_short_;
  std::vector<Duration> made_;                               // by value; 0 for graph inputs
  std::vector<Duration> placed_;                             // by op; 0 where a plan placed it
  std::map<std::pair<int32_t, int32_t>, Duration> arrived_;  // by value and memory
  Observed observed_;
};

}  // namespace

Observed observe(const Problem& problem, const Trace& trace) {
  return Observer(problem, trace).observe();
}

std::string hop_name(const Machine& machine, const Hop& hop) {
  std::string name;
  for (const ChannelId channel : hop.channels) {
    name += (name.empty() ? "" : "+") + machine.channel(channel).name;
  }
  return name;
}

}  // namespace tutti
