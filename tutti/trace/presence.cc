#include "tutti/trace/presence.h"

#include <algorithm>
#include <tuple>

namespace tutti {

Presence::Presence(const Problem& problem, const Trace& trace, const Options& options)
    : problem_(problem), trace_(trace), options_(options) {
  index_ops();
  index_transfers();
  if (trace.weights.stated()) count_readers_of_copies();
  const Graph& graph = problem.graph;
  ready_.assign(static_cast<size_t>(graph.size()), kNever);
  for (const OpId op : graph.ops()) {
    if (span(op) == nullptr) continue;
    Duration ready = placed(op);
    for (const EdgeId edge : graph.edges(op)) ready = std::max(ready, could_read(edge));
    ready_[op.index] = ready;
  }
}

void Presence::index_ops() {
  const auto ops = static_cast<size_t>(problem_.graph.size());
  span_of_.assign(ops, -1);
  for (size_t i = 0; i < trace_.ops.size(); ++i) {
    int32_t& first = span_of_[trace_.ops[i].op.index];
    if (first < 0) first = static_cast<int32_t>(i);
  }
  if (trace_.placed.empty()) return;
  placed_.assign(ops, kNever);
  for (const PlacedAt& placed : trace_.placed) {
    placed_[placed.op.index] = std::min(placed_[placed.op.index], placed.time);
  }
}

void Presence::index_transfers() {
  // Spans by value first: a value has few, so that sorting them within it is cheap.
  const std::vector<TransferSpan>& spans = trace_.transfers;
  const auto values = static_cast<size_t>(problem_.graph.value_count());
  std::vector<int32_t> begin(values + 1, 0);
  for (const TransferSpan& span : spans) ++begin[span.value.index + 1];
  for (size_t i = 0; i < values; ++i) begin[i + 1] += begin[i];
  span_order_.resize(spans.size());
  std::vector<int32_t> next(begin.begin(), begin.end() - 1);
  for (size_t i = 0; i < spans.size(); ++i) {
    span_order_[next[spans[i].value.index]++] = static_cast<int32_t>(i);
  }

  const auto key = [&](int32_t i) {
    // The copies of a streamed weight follow one another in time.
    if (is_set_aside(spans[i].value)) return std::tuple(spans[i].to, 0, spans[i].start, i);
    return std::tuple(spans[i].to, spans[i].hop, spans[i].start, i);
  };
  first_transfer_.assign(values + 1, 0);
  for (size_t value = 0; value < values; ++value) {
    const auto last = span_order_.begin() + begin[value + 1];
    auto first = span_order_.begin() + begin[value];
    std::sort(first, last, [&](int32_t a, int32_t b) { return key(a) < key(b); });
    while (first != last) {
      const TransferSpan& head = spans[*first];
      const auto end = std::find_if(
          first + 1, last, [&](int32_t i) { return spans[i].to != head.to || begins_a_copy(i); });
      Transfer transfer;
      transfer.value = head.value;
      transfer.from = head.from;
      transfer.to = head.to;
      transfer.given = head.given;
      transfer.start = head.start;
      for (auto it = first; it != end; ++it) {
        transfer.finish = std::max(transfer.finish, spans[*it].finish);
      }
      transfer.spans = {&*first, static_cast<size_t>(end - first)};
      transfers_.push_back(transfer);
      first = end;
    }
    first_transfer_[value + 1] = static_cast<int32_t>(transfers_.size());
  }
}

bool Presence::begins_a_copy(int32_t span) const {
  const TransferSpan& one = trace_.transfers[span];
  return one.hop == 0 && is_set_aside(one.value) && !keeps(one.value, one.to);
}

void Presence::count_readers_of_copies() {
  for (Transfer& transfer : transfers_) transfer.last_read = transfer.finish;
  for (const ValueId weight : problem_.homed_weights()) {
    for (const EdgeId edge : problem_.graph.consumers(weight)) {
      const OpId op = problem_.graph.edge_to(edge);
      const Transfer* read = span(op) == nullptr ? nullptr : copy_read(weight, op);
      if (read == nullptr) continue;
      Transfer& copy = transfers_[static_cast<size_t>(read - transfers_.data())];
      ++copy.readers;
      copy.last_read = std::max(copy.last_read, span(op)->finish);
    }
    find_readers_at_an_instant(weight);
  }
}

// If a weight is sent again at the instant at which ops of no time read it, times do not tell which
// of them read which copy: any may have read the one that came last.
void Presence::find_readers_at_an_instant(ValueId weight) {
  for (const Transfer& transfer : transfers(weight)) {
    if (transfer.readers > 0) continue;
    for (const EdgeId edge : problem_.graph.consumers(weight)) {
      const OpSpan* reader = span(problem_.graph.edge_to(edge));
      if (reader == nullptr || reader->start != transfer.finish ||
          reader->finish != reader->start ||
          problem_.machine.memory_of(reader->device) != transfer.to) {
        continue;
      }
      transfers_[static_cast<size_t>(&transfer - transfers_.data())].readers = 1;
      break;
    }
  }
}

const Transfer* Presence::copy_read(ValueId weight, OpId op) const {
  const OpSpan& reader = *span(op);
  const MemoryId memory = problem_.machine.memory_of(reader.device);
  const Transfer* first = nullptr;
  const Transfer* last = nullptr;
  for (const Transfer& transfer : transfers(weight)) {
    if (transfer.to != memory || transfer.finish > reader.start) continue;
    if (first == nullptr) first = &transfer;
    // A copy that set out when an op of no time was over is not the one that the op read.
    if (transfer.start < reader.finish) last = &transfer;
  }
  return last != nullptr ? last : first;
}

// The same as the arrival, but an op that shared a streamed copy may have had to wait for its turn
// although the copy was there: then, when it started.
Duration Presence::could_read(EdgeId edge) const {
  const OpId op = problem_.graph.edge_to(edge);
  const ValueId value = problem_.graph.edge_value(edge);
  if (is_set_aside(value)) {
    const Transfer* copy = copy_read(value, op);
    if (copy != nullptr && copy->readers > 1 && !keeps(value, copy->to)) return span(op)->start;
  }
  return arrival(edge);
}

MemoryId Presence::home(ValueId value) const {
  const OpId producer = problem_.graph.producer(value);
  if (!producer.valid()) return problem_.home(value);
  const OpSpan* made = span(producer);
  return made == nullptr ? MemoryId{} : problem_.machine.memory_of(made->device);
}

Duration Presence::arrival(ValueId value, MemoryId memory) const {
  const OpId producer = problem_.graph.producer(value);
  const MemoryId begins = home(value);
  if (producer.valid() && !begins.valid()) return kNever;
  if (!begins.valid()) return Duration{0};
  if (begins == memory || is_of_files(trace_))
    return producer.valid() ? span(producer)->finish : Duration{0};
  if (is_set_aside(value) && !problem_.cold() && keeps(value, memory)) return Duration{0};
  for (const Transfer& transfer : transfers(value)) {
    if (transfer.to == memory) return transfer.finish;
  }
  return kNever;
}

Duration Presence::arrival(EdgeId edge) const {
  const Graph& graph = problem_.graph;
  const DeviceId to = span(graph.edge_to(edge))->device;
  const ValueId value = graph.edge_value(edge);
  if (!options_.released && is_set_aside(value)) {
    if (const Transfer* copy = copy_read(value, graph.edge_to(edge))) return copy->finish;
  }
  if (!options_.released) return arrival(value, problem_.machine.memory_of(to));
  const OpId producer = graph.edge_from(edge);
  if (!producer.valid()) return Duration{0};
  const OpSpan* made = span(producer);
  if (made == nullptr) return kNever;
  if (made->device == to) return made->finish;
  return made->finish + problem_.costs.transfer_time(edge, made->device, to);
}

void Presence::find_readers(ValueId value, std::vector<Readers>& readers) const {
  readers.clear();
  const Graph& graph = problem_.graph;
  const OpId producer = graph.producer(value);
  const OpSpan* made = producer.valid() ? span(producer) : nullptr;
  for (const EdgeId edge : graph.consumers(value)) {
    const OpId op = graph.edge_to(edge);
    const OpSpan* read = span(op);
    if (read == nullptr) continue;
    const MemoryId memory = problem_.machine.memory_of(read->device);
    auto entry = std::find_if(readers.begin(), readers.end(),
                              [&](const Readers& known) { return known.memory == memory; });
    if (entry == readers.end()) {
      entry = readers.insert(entry, {.memory = memory, .first_placed = kNever});
    }
    entry->first_placed = std::min(entry->first_placed, placed(op));
    entry->last_finish = std::max(entry->last_finish, read->finish);
    std::optional<Duration> given;
    if (made != nullptr && problem_.costs.has_given_transfers()) {
      given = problem_.costs.given_transfer(edge, made->device, read->device);
    }
    if (given) {
      entry->longest_given = std::max(entry->longest_given.value_or(*given), *given);
    } else {
      entry->all_given = false;
    }
  }
}

const Readers* find_in(std::span<const Readers> readers, MemoryId memory) {
  for (const Readers& entry : readers) {
    if (entry.memory == memory) return &entry;
  }
  return nullptr;
}

}  // namespace tutti
