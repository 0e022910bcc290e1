// The half of PhysicalSimulator that moves values.

#include <algorithm>

#include "tutti/runtime/sim/draws.h"
#include "tutti/runtime/sim/physical.h"

namespace tutti {

Duration PhysicalSimulator::given_time(ValueId value, MemoryId to) const {
  const OpId producer = problem_.graph.producer(value);
  Duration longest{-1};
  if (!producer.valid()) return longest;
  for (const EdgeId edge : problem_.graph.consumers(value)) {
    const OpId reader = problem_.graph.edge_to(edge);
    if (memory_of(reader) != to) continue;
    const auto given =
        problem_.costs.given_transfer(edge, device_of_[producer.index], device_of_[reader.index]);
    if (given) longest = std::max(longest, *given);
  }
  return longest;
}

// Few are under way at once, so reusing them keeps them in the cache.
int32_t PhysicalSimulator::take_transfer() {
  if (free_transfers_.empty()) {
    transfers_.emplace_back();
    return static_cast<int32_t>(transfers_.size()) - 1;
  }
  const int32_t index = free_transfers_.back();
  free_transfers_.pop_back();
  return index;
}

// Streams have their room in the buffer: they wait for channels alone.
void PhysicalSimulator::issue_streams() {
  copies_.clear();
  served_.clear();
  streams_.issue(copies_, served_);
  for (const Streams::Copy& copy : copies_) {
    const MemoryId home = problem_.home(copy.weight);
    const int32_t index = new_transfer(copy.weight, home, copy.to);
    transfers_[index].route = problem_.machine.route(home, copy.to);
    request_hop(index);
  }
  serve(served_);
}

void PhysicalSimulator::serve(const std::vector<Streams::Served>& served) {
  for (const Streams::Served& one : served) reader_gets_operand(one.op, one.room_by);
}

int32_t PhysicalSimulator::new_transfer(ValueId value, MemoryId from, MemoryId to) {
  const int32_t index = take_transfer();
  Transfer& transfer = transfers_[index];
  transfer.value = value;
  transfer.from = from;
  transfer.to = to;
  transfer.route = nullptr;
  transfer.hop = 0;
  transfer.hop_start = now_;
  transfer.factor = 1;
  if (options_.sample) {
    const auto item =
        static_cast<uint64_t>(value.index) * memories_ + static_cast<uint64_t>(to.index);
    Rng rng = stream(options_.seed, Stream::transfers, item);
    transfer.factor = problem_.costs.transfer_noise().draw(rng);
  }
  return index;
}

void PhysicalSimulator::request_transfer(ValueId value, MemoryId from, MemoryId to) {
  presence(value, to) = Presence::on_its_way;
  const int32_t index = new_transfer(value, from, to);
  Transfer& transfer = transfers_[index];
  Duration given{-1};
  if (problem_.costs.has_given_transfers()) given = given_time(value, to);
  if (given.count() < 0) transfer.route = problem_.machine.route(from, to);
  if (ledger_.enforced()) {
    waiting_for_room_[to.index].push_back(index);
    ++room_waiters_;
    return;
  }
  if (transfer.route == nullptr) {
    events_.push(now_ + scaled(given, transfer.factor), EventKind::hop_done, index);
  } else {
    request_hop(index);
  }
}

void PhysicalSimulator::request_hop(int32_t index) {
  const Transfer& transfer = transfers_[index];
  const Hop& hop = transfer.route->hops[static_cast<size_t>(transfer.hop)];
  if (hop.has_exclusive) {
    channels_.request(index, hop);
  } else {
    start_hop(index);  // nothing to wait for
  }
}

// Transfers take their room in the order they were asked for; one that fits may overtake one that
// does not.
void PhysicalSimulator::retry_for_room() {
  for (size_t memory = 0; memory < memories_; ++memory) {
    std::vector<int32_t>& waiting = waiting_for_room_[memory];
    size_t kept = 0;
    for (const int32_t index : waiting) {
      Transfer& transfer = transfers_[index];
      if (!ledger_.fits_copy(transfer.value, transfer.to)) {
        was_tight_ = true;
        waiting[kept++] = index;
        continue;
      }
      ledger_.start_copy(transfer.value, transfer.to);
      transfer.hop_start = now_;
      --room_waiters_;
      if (transfer.route == nullptr) {
        events_.push(now_ + scaled(given_time(transfer.value, transfer.to), transfer.factor),
                     EventKind::hop_done, index);
      } else {
        request_hop(index);
      }
    }
    waiting.resize(kept);
  }
}

void PhysicalSimulator::dispatch_links() {
  scratch_.clear();
  channels_.dispatch(scratch_);
  for (const int32_t transfer : scratch_) start_hop(transfer);
}

void PhysicalSimulator::start_hop(int32_t index) {
  Transfer& transfer = transfers_[index];
  const Hop& hop = transfer.route->hops[static_cast<size_t>(transfer.hop)];
  transfer.hop_start = now_;
  if (!hop.shared.empty() && problem_.graph.bytes(transfer.value) > 0) {
    events_.push(now_ + scaled(hop.latency, transfer.factor), EventKind::flow_joins, index);
  } else {
    const Duration mean = Costs::hop_time(hop, problem_.graph.bytes(transfer.value));
    events_.push(now_ + scaled(mean, transfer.factor), EventKind::hop_done, index);
  }
}

void PhysicalSimulator::finish_hop(int32_t index) {
  Transfer& transfer = transfers_[index];
  if (options_.record) {
    trace_.transfers.push_back({.value = transfer.value,
                                .from = transfer.from,
                                .to = transfer.to,
                                .hop = transfer.hop,
                                .given = transfer.route == nullptr,
                                .start = transfer.hop_start,
                                .finish = now_});
  }
  if (transfer.route != nullptr) {
    const Hop& hop = transfer.route->hops[static_cast<size_t>(transfer.hop)];
    if (hop.has_exclusive) channels_.release(hop);
    if (++transfer.hop < static_cast<int>(transfer.route->hops.size())) {
      request_hop(index);
      return;
    }
  }
  finish_transfer(index);
}

void PhysicalSimulator::finish_transfer(int32_t index) {
  const Transfer transfer = transfers_[index];
  free_transfers_.push_back(index);
  if (streams_.manages(transfer.value)) {
    served_.clear();
    streams_.arrive(transfer.value, transfer.to, served_);
    return serve(served_);
  }
  presence(transfer.value, transfer.to) = Presence::present;
  if (plan_ == nullptr) world_->ledger.arrive(*world_->status, transfer.value, transfer.to);
  ledger_.finish_copy(transfer.value);
  const OpId producer = problem_.graph.producer(transfer.value);
  for (const EdgeId edge : problem_.graph.consumers(transfer.value)) {
    const OpId reader = problem_.graph.edge_to(edge);
    if (memory_of(reader) == transfer.to) reader_gets_operand(reader, producer);
  }
}

}  // namespace tutti
