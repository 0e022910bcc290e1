#include "tutti/trace/memory.h"

#include <algorithm>
#include <utility>

namespace tutti {
namespace {

// Gathers changes by memory in any order, then adds them up in order of time.
class Ledger {
 public:
  // `full_times` is null for the least use.
  Ledger(const Problem& problem, const Trace& trace, const Presence& presence,
         FullTimes* full_times)
      : problem_(problem),
        trace_(trace),
        presence_(presence),
        full_times_(full_times),
        changes_(static_cast<size_t>(problem.machine.memory_count())) {}

  std::vector<MemoryUse> add_up() {
    if (trace_.weights.stated()) enter_reserved();
    for (const OpSpan& span : trace_.ops) enter_op(span);
    for (const ValueId value : problem_.graph.values()) enter_value(value);
    std::vector<MemoryUse> uses;
    for (std::vector<Change>& changes : changes_) uses.push_back(sum(changes));
    return uses;
  }

 private:
  using Change = std::pair<Duration, int64_t>;

  void take(MemoryId memory, Duration when, int64_t bytes) {
    if (bytes != 0 && when < kNever) changes_[memory.index].emplace_back(when, bytes);
  }
  void give_back(MemoryId memory, Duration when, int64_t bytes) { take(memory, when, -bytes); }

  void enter_reserved() {
    const std::vector<int64_t> reserved = reserved_bytes(problem_, trace_.weights);
    for (size_t i = 0; i < reserved.size(); ++i) {
      take(MemoryId{static_cast<int32_t>(i)}, Duration{0}, reserved[i]);
    }
  }

  void enter_op(const OpSpan& span) {
    const MemoryId memory = problem_.machine.memory_of(span.device);
    take(memory, span.start, bytes_at_start(problem_.graph, span.op));
    give_back(memory, span.finish, problem_.graph.transient_bytes(span.op));
  }

  void enter_value(ValueId value) {
    if (presence_.is_set_aside(value)) return;  // its room is reserved
    presence_.find_readers(value, readers_);
    if (readers_.empty()) return;
    const OpId producer = problem_.graph.producer(value);
    const bool weight = !producer.valid() && problem_.graph.is_weight(value);
    const int64_t bytes = problem_.graph.bytes(value);
    const MemoryId home = presence_.home(value);
    const Duration held = full_times_ != nullptr ? last_placed(value) : Duration{0};
    for (const Transfer& transfer : presence_.transfers(value)) {
      const Readers* there = find_in(readers_, transfer.to);
      take(transfer.to, copy_begins(transfer, there), bytes);
      const Duration read = there == nullptr ? transfer.finish : there->last_finish;
      if (!weight) give_back(transfer.to, std::max(read, held), bytes);
    }
    if (producer.valid()) {
      if (home.valid()) give_back(home, made_copy_ends(value, home), bytes);
      return;
    }
    for (const Readers& there : readers_) {
      if (home.valid() && there.memory != home) continue;
      take(there.memory, there.first_placed, bytes);
      if (!weight) give_back(there.memory, std::max(there.last_finish, held), bytes);
    }
  }

  Duration copy_begins(const Transfer& transfer, const Readers* readers) const {
    if (full_times_ == nullptr || readers == nullptr) return transfer.start;
    const Hop* hop = hop_of(problem_.machine, trace_.transfers[transfer.spans.front()]);
    const Duration made = presence_.arrival(transfer.value, transfer.from);
    const Duration could = std::max(made, readers->first_placed);
    if (hop == nullptr || could >= transfer.start) return transfer.start;
    return full_times_->full_since(*hop, {could, transfer.start});
  }

  Duration made_copy_ends(ValueId value, MemoryId home) const {
    Duration end = last_placed(value);
    for (const Transfer& transfer : presence_.transfers(value)) {
      end = std::max(end, transfer.finish);
    }
    const Readers* there = find_in(readers_, home);
    return there == nullptr ? end : std::max(end, there->last_finish);
  }

  Duration last_placed(ValueId value) const {
    Duration last{0};
    if (!presence_.online()) return last;
    for (const EdgeId edge : problem_.graph.consumers(value)) {
      last = std::max(last, presence_.placed(problem_.graph.edge_to(edge)));
    }
    return last;
  }

  static MemoryUse sum(std::vector<Change>& changes) {
    std::sort(changes.begin(), changes.end());
    MemoryUse use{.time = {Duration{0}}, .bytes = {0}};
    for (const auto& [when, bytes] : changes) {
      if (when > use.time.back()) {
        use.time.push_back(when);
        use.bytes.push_back(use.bytes.back());
      }
      use.bytes.back() += bytes;
    }
    return use;
  }

  const Problem& problem_;
  const Trace& trace_;
  const Presence& presence_;
  FullTimes* full_times_;
  std::vector<std::vector<Change>> changes_;  // by memory
  std::vector<Readers> readers_;
};

}  // namespace

int64_t MemoryUse::peak() const {
  return *std::max_element(bytes.begin(), bytes.end());
}

std::vector<MemoryUse> memory_use(const Problem& problem, const Trace& trace,
                                  const Presence& presence) {
  return Ledger(problem, trace, presence, /*full_times=*/nullptr).add_up();
}

std::vector<MemoryUse> most_memory_use(const Problem& problem, const Trace& trace,
                                       const Presence& presence, FullTimes& full_times) {
  return Ledger(problem, trace, presence, &full_times).add_up();
}

int64_t bytes_at_start(const Graph& graph, OpId op) {
  int64_t bytes = graph.transient_bytes(op);
  for (const ValueId value : graph.outputs(op)) bytes += graph.bytes(value);
  return bytes;
}

size_t LeastUse::at(Duration time) const {
  return static_cast<size_t>(std::upper_bound(use_.time.begin(), use_.time.end(), time) -
                             use_.time.begin() - 1);
}

int64_t LeastUse::during(Interval interval) const {
  return least_.over(at(interval.start), at(interval.finish - Duration{1}) + 1);
}

LeastUses::LeastUses(const Problem& problem, const std::vector<MemoryUse>& memories)
    : least_(memories.size()) {
  for (size_t i = 0; i < memories.size(); ++i) {
    const MemoryId memory{static_cast<int32_t>(i)};
    if (problem.memory_limit(memory) != kUnlimitedBytes) least_[i].emplace(memories[i]);
  }
}

std::optional<Duration> LeastUse::first_at_most(Interval interval, int64_t bytes) const {
  const size_t last = at(interval.finish - Duration{1});
  for (size_t i = at(interval.start); i <= last; ++i) {
    if (use_.bytes[i] <= bytes) return std::max(use_.time[i], interval.start);
  }
  return std::nullopt;
}

}  // namespace tutti
