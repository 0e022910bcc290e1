#include "tutti/runtime/sim/physical.h"

#include <algorithm>
#include <functional>

#include "tutti/base/check.h"
#include "tutti/runtime/sim/draws.h"
#include "tutti/runtime/sim/remembered_run.h"

namespace tutti {
PhysicalSimulator::PhysicalSimulator(const Problem& problem)
    : PhysicalState(problem.machine),
      problem_(problem),
      memories_(static_cast<size_t>(problem.machine.memory_count())),
      tail_(least_tails(problem)),
      ledger_(problem),
      streams_(problem) {
  const Graph& graph = problem.graph;
  for (const DeviceId device : problem.machine.devices()) {
    device_memory_.push_back(problem.machine.memory_of(device));
    slot_count_.push_back(problem.machine.device(device).slots);
  }
  for (const OpId op : graph.ops()) producer_edges_.push_back(graph.made_operands(op));
  for (const ValueId value : graph.values()) {
    if (graph.producer(value).valid()) continue;
    const MemoryId home = problem.home(value);
    if (home.valid()) homed_inputs_.emplace_back(value, home);
  }
  const auto devices = static_cast<size_t>(problem.machine.size());
  waiting_.resize(devices);
  free_slots_.resize(devices);
  last_on_slot_.resize(devices);
  waiting_for_room_.resize(memories_);
}

void PhysicalSimulator::reset() {
  const auto ops = static_cast<size_t>(problem_.graph.size());
  const auto devices = static_cast<size_t>(problem_.machine.size());
  now_ = Duration{0};
  turn_ = 0;
  unfinished_ = problem_.graph.size();
  latest_end_ = Duration{0};
  was_tight_ = false;
  events_.clear();
  transfers_.clear();
  free_transfers_.clear();
  next_in_order_.assign(devices, 0);
  work_left_.resize(devices);
  device_of_.assign(ops, DeviceId{});
  memory_of_.assign(ops, MemoryId{});
  absent_ = producer_edges_;
  ready_at_.resize(ops);
  decided_by_.assign(ops, OpId{});
  start_.resize(ops);
  finish_.assign(ops, Duration{0});
  slot_of_.assign(ops, kNoSlot);
  presence_.assign(static_cast<size_t>(problem_.graph.value_count()) * memories_, Presence::absent);
  for (std::vector<int32_t>& waiting : waiting_for_room_) waiting.clear();
  room_waiters_ = 0;
  for (size_t device = 0; device < devices; ++device) {
    waiting_[device].clear();
    const int slots = slot_count_[device];
    free_slots_[device].resize(static_cast<size_t>(slots));
    for (int slot = 0; slot < slots; ++slot) free_slots_[device][static_cast<size_t>(slot)] = slot;
    last_on_slot_[device].assign(static_cast<size_t>(slots), OpId{});
  }
  channels_.reset();
  flows_.reset();
}

void PhysicalSimulator::begin(const SimOptions& options) {
  options_ = options;
  overfull_ = false;
  pauses_ = false;
  too_long_ = false;
  put_aside_.clear();
  marked_devices_.clear();
  marked_.assign(device_memory_.size(), 0);
  trace_.ops.clear();
  trace_.transfers.clear();
  trace_.placed.clear();
  trace_.pauses.clear();
  trace_.weights = {};
  trace_.runtime = {.name = "sim", .model = "physical"};
  trace_.graph_fingerprint = problem_.graph.fingerprint();
  trace_.machine_fingerprint = problem_.machine.fingerprint();
  trace_.seed = options.seed;
  trace_.sampled = options.sample && problem_.costs.has_noise();
  trace_.order = options.order;
  trace_.makespan = Duration{0};
}

Result<Duration> PhysicalSimulator::run(const Plan& plan, const SimOptions& options) {
  begin(options);
  plan_ = &plan;
  if (options.record || plan.weights.stated()) options_.remembered = nullptr;
  if (options.record) trace_.weights = plan.weights;
  begin_passes();
  RememberedRun* remembered = options_.remembered;
  const bool shared = remembered != nullptr && start_from(*remembered, plan);
  if (!shared) {
    reset();
    place_all(plan);
    if (ledger_.keeps_books() && ledger_.overfull().valid()) return explain_standstill();
    request_inputs();
  }
  if (remembered == nullptr) return loop(nullptr);
  remembered->begin(shared);
  Result<Duration> makespan = loop(nullptr);
  if (makespan && *makespan != kNever) remembered->complete(plan, *this, ledger_);
  return makespan;
}

void PhysicalSimulator::place_all(const Plan& plan) {
  device_of_ = plan.placement;
  std::fill(work_left_.begin(), work_left_.end(), Duration{0});
  for (const OpId op : problem_.graph.ops()) {
    const DeviceId device = plan.placement[op.index];
    memory_of_[op.index] = device_memory_[device.index];
    if (slot_of_[op.index] == kNoSlot) {
      work_left_[device.index] += problem_.costs.run_time(op, device);
    }
  }
  streams_.begin(plan, memory_of_);
  ledger_.set_weights_aside(plan.weights);
  ledger_.reset_for(memory_of_);
  if (!ledger_.keeps_books()) return;
  for (const OpId op : problem_.graph.ops()) {
    if (!begins_later(op)) ledger_.place(op, memory_of(op));
  }
}

bool PhysicalSimulator::start_from(RememberedRun& remembered, const Plan& plan) {
  const PhysicalState* shared = remembered.shared_with(plan);
  if (shared == nullptr) return false;
  static_cast<PhysicalState&>(*this) = *shared;
  place_all(plan);
  if (!ledger_.keeps_books()) return true;
  // Would what other ops have taken have fitted next to what the moved ops take now?
  return remembered.has_books() && !ledger_.overfull().valid() &&
         ledger_.repeat(remembered.calls());
}

void PhysicalSimulator::request_inputs() {
  for (const auto& [value, home] : homed_inputs_) {
    if (streams_.manages(value)) continue;
    for (const EdgeId edge : problem_.graph.consumers(value)) {
      const OpId reader = problem_.graph.edge_to(edge);
      if (memory_of(reader) == home) continue;
      ++absent_[reader.index];
      if (begins_later(reader) && !problem_.graph.is_weight(value)) continue;
      if (presence(value, memory_of(reader)) == Presence::absent) {
        request_transfer(value, home, memory_of(reader));
      }
    }
  }
  for (const OpId op : problem_.graph.ops()) {
    if (streams_.active()) absent_[op.index] += streams_.awaited(op);
    if (begins_later(op)) ++absent_[op.index];  // its pass has to begin
    if (absent_[op.index] == 0) op_becomes_ready(op);
  }
}

Result<Duration> PhysicalSimulator::run_online(Decider& decider, const SimOptions& options) {
  begin(options);
  reset();
  streams_.begin_without();
  ledger_.set_weights_aside({});
  ledger_.reset();
  plan_ = nullptr;
  begin_passes();
  if (options_.order == ReadyOrder::priority) trace_.order = ReadyOrder::fifo;
  if (world_ == nullptr) {
    Result<Cluster> cluster = Cluster::make(problem_.shared_machine(), CostSpec{});
    if (!cluster) return cluster.error();
    world_ = std::make_unique<World>(std::move(*cluster), problem_);
  }
  world_->ledger.reset();
  world_->status = &world_->ledger.admit(world_->job);
  decider.begin(world_->cluster, options.seed);
  return loop(&decider);
}

Result<Duration> PhysicalSimulator::loop(Decider* decider) {
  constexpr uint32_t kInstantsBetweenLooks = 256;  // at the clock, which costs as much as a few
  const bool remembers = options_.remembered != nullptr && !options_.record && decider == nullptr;
  for (uint32_t instant = 0;; ++instant) {
    if (decider != nullptr && !world_->status->ready.empty()) decide(*decider);
    if (overfull_) return explain_standstill();
    // In this order: an op waits for its other operands now, and for streams of others later.
    if (room_waiters_ > 0) retry_for_room();
    if (streams_.active()) issue_streams();
    if (!channels_.idle()) dispatch_links();
    if (!marked_devices_.empty() || was_tight_) dispatch_devices();
    if (too_long_ || latest_end_ > options_.give_up_beyond) return kNever;
    if (remembers) options_.remembered->look_at(*this, ledger_.calls().size());
    if (instant % kInstantsBetweenLooks == 0 && options_.stop.now()) return kNever;
    const Duration next_flow = flows_.next_finish(now_);
    if (events_.empty() && next_flow == kNever) break;
    const Duration before = now_;
    now_ = std::min(events_.next(), next_flow);
    if (pauses_ && options_.record) trace_.pauses.push_back({.start = before, .finish = now_});
    pauses_ = false;
    if (next_flow == now_) {
      scratch_.clear();
      flows_.advance(now_, scratch_);
      for (const int32_t transfer : scratch_) finish_hop(transfer);
    }
    while (events_.next() == now_) handle(events_.pop());
  }
  if (unfinished_ > 0) return explain_standstill();
  return trace_.makespan;
}

void PhysicalSimulator::decide(Decider& decider) {
  WorldLedger& ledger = world_->ledger;
  ledger.begin_epoch();
  ledger.set_time(now_);
  while (can_act(ledger.state())) {
    for (size_t i = 0; i < memories_; ++i)
      ledger.memory_left()[i] = ledger_.left(MemoryId{static_cast<int32_t>(i)});
    const Action action = decider.decide(ledger.state());
    if (action.kind != Action::Kind::execute) {
      pauses_ = true;  // until something happens
      return;
    }
    TUTTI_CHECK(check_action(ledger.state(), action).has_value());
    ledger.execute(action);
    place(action.op, action.device);
  }
}

void PhysicalSimulator::place(OpId op, DeviceId device) {
  TUTTI_CHECK(!device_of_[op.index].valid());
  device_of_[op.index] = device;
  memory_of_[op.index] = device_memory_[device.index];
  if (options_.record) trace_.placed.push_back({.op = op, .time = now_});
  if (ledger_.enforced()) {
    ledger_.place(op, memory_of(op));
    overfull_ = overfull_ || ledger_.overfull().valid();
  }
  bring_operands(op);
}

void PhysicalSimulator::bring_operands(OpId op) {
  const MemoryId memory = memory_of(op);
  absent_[op.index] = 0;
  for (const ValueId value : problem_.graph.operands(op)) {
    const OpId producer = problem_.graph.producer(value);
    const MemoryId home = producer.valid() ? memory_of(producer) : problem_.home(value);
    if (!home.valid() || home == memory) continue;
    if (presence(value, memory) == Presence::present) continue;
    ++absent_[op.index];
    if (presence(value, memory) == Presence::absent) request_transfer(value, home, memory);
  }
  if (absent_[op.index] == 0) op_becomes_ready(op);
}

int64_t PhysicalSimulator::order_key(OpId op) {
  switch (options_.order) {
    case ReadyOrder::priority:
      return plan_ != nullptr ? plan_->priority[op.index] : turn_++;
    case ReadyOrder::fifo:
      return turn_++;
    case ReadyOrder::lifo:
      return -turn_++;
    case ReadyOrder::random:
      return static_cast<int64_t>(
          stream(options_.seed, Stream::order, static_cast<uint64_t>(op.index)).next() >> 1);
  }
  return 0;
}

void PhysicalSimulator::mark(int32_t device) {
  if (marked_[device] != 0) return;
  marked_[device] = 1;
  marked_devices_.push_back(device);
}

void PhysicalSimulator::mark_where_memory_was_freed() {
  for (size_t i = 0; i < memories_; ++i) {
    const MemoryId memory{static_cast<int32_t>(i)};
    if (!ledger_.take_freed(memory)) continue;
    for (size_t device = 0; device < device_memory_.size(); ++device) {
      if (device_memory_[device] == memory) mark(static_cast<int32_t>(device));
    }
  }
}

void PhysicalSimulator::op_becomes_ready(OpId op) {
  const int32_t device = device_of_[op.index].index;
  ready_at_[op.index] = now_;
  mark(device);
  if (plan_ != nullptr && !plan_->strict_order.empty()) return;
  std::vector<Waiting>& queue = waiting_[device];
  queue.push_back({.key = order_key(op), .op = op.index});
  std::push_heap(queue.begin(), queue.end(), std::greater<>());
}

void PhysicalSimulator::dispatch_devices() {
  // Nothing has to be looked at again for room before something has waited for it.
  if (was_tight_) mark_where_memory_was_freed();
  for (size_t i = 0; i < marked_devices_.size(); ++i) dispatch_device(marked_devices_[i]);
  for (const int32_t device : marked_devices_) marked_[device] = 0;
  marked_devices_.clear();
}

bool PhysicalSimulator::has_room(OpId op, MemoryId memory) {
  const bool fits = ledger_.fits(op, memory);
  was_tight_ = was_tight_ || !fits;
  return fits;
}

OpId PhysicalSimulator::next_to_start(int32_t device) {
  const MemoryId memory = device_memory_[device];
  if (plan_ != nullptr && !plan_->strict_order.empty()) {
    const std::vector<OpId>& order = plan_->strict_order[device];
    if (next_in_order_[device] == order.size()) return {};
    const OpId op = order[next_in_order_[device]];
    if (absent_[op.index] > 0 || !has_room(op, memory)) return {};
    ++next_in_order_[device];
    return op;
  }
  std::vector<Waiting>& queue = waiting_[device];
  while (!queue.empty()) {
    std::pop_heap(queue.begin(), queue.end(), std::greater<>());
    const Waiting first = queue.back();
    queue.pop_back();
    if (has_room(OpId{first.op}, memory)) return OpId{first.op};
    put_aside_.push_back(
        first);  // one that fits may overtake it: no slot stays idle for want of room
  }
  return {};
}

void PhysicalSimulator::dispatch_device(int32_t device) {
  while (!free_slots_[device].empty()) {
    const OpId op = next_to_start(device);
    if (!op.valid()) break;
    start_op(op, device);
  }
  for (const Waiting& waiting : put_aside_) {
    waiting_[device].push_back(waiting);
    std::push_heap(waiting_[device].begin(), waiting_[device].end(), std::greater<>());
  }
  put_aside_.clear();
}

void PhysicalSimulator::start_op(OpId op, int32_t device) {
  std::vector<int32_t>& slots = free_slots_[device];
  std::pop_heap(slots.begin(), slots.end(), std::greater<>());
  slot_of_[op.index] = slots.back();
  slots.pop_back();
  OpId& before = last_on_slot_[device][static_cast<size_t>(slot_of_[op.index])];
  if (before.valid() && finish_[before.index] > ready_at_[op.index]) decided_by_[op.index] = before;
  before = op;
  const Duration mean = problem_.costs.run_time(op, DeviceId{device});
  double factor = 1;
  if (options_.sample) {
    Rng rng = stream(options_.seed, Stream::run_times, static_cast<uint64_t>(op.index));
    factor = problem_.costs.run_time_noise(op, DeviceId{device}).draw(rng);
  }
  start_[op.index] = now_;
  finish_[op.index] = now_ + scaled(mean, factor);
  too_long_ = too_long_ || ends_too_late(device);
  work_left_[device] -= mean;
  latest_end_ = std::max(latest_end_, options_.sample ? finish_[op.index] : now_ + tail_[op.index]);
  ledger_.start(op, device_memory_[device]);
  if (plan_ == nullptr) {
    world_->ledger.set_time(now_);
    world_->ledger.start(*world_->status, op);
  }
  events_.push(finish_[op.index], EventKind::op_done, op.index);
}

void PhysicalSimulator::reader_gets_operand(OpId reader, OpId producer) {
  if (--absent_[reader.index] > 0) return;
  decided_by_[reader.index] = producer;
  op_becomes_ready(reader);
}

void PhysicalSimulator::finish_op(OpId op) {
  const DeviceId device = device_of_[op.index];
  const MemoryId memory = device_memory_[device.index];
  std::vector<int32_t>& slots = free_slots_[device.index];
  slots.push_back(slot_of_[op.index]);
  std::push_heap(slots.begin(), slots.end(), std::greater<>());
  mark(device.index);
  --unfinished_;
  trace_.makespan = now_;
  if (options_.record) {
    trace_.ops.push_back({.op = op,
                          .device = device,
                          .slot = slot_of_[op.index],
                          .start = start_[op.index],
                          .finish = now_});
  }
  ledger_.finish(op, memory);
  if (streams_.active()) streams_.finish(op);
  if (plan_ == nullptr) {
    world_->ledger.set_time(now_);
    world_->ledger.finish(*world_->status, op);
    return;
  }
  for (const ValueId value : problem_.graph.outputs(op)) {
    for (const EdgeId edge : problem_.graph.consumers(value)) {
      const OpId reader = problem_.graph.edge_to(edge);
      if (memory_of(reader) == memory) {
        reader_gets_operand(reader, op);
      } else if (presence(value, memory_of(reader)) == Presence::absent) {
        request_transfer(value, memory, memory_of(reader));
      }
    }
  }
  if (!unfinished_of_pass_.empty()) end_op_of_pass(op);
}

void PhysicalSimulator::begin_passes() {
  const PassWindow& window = options_.window;
  unfinished_of_pass_.clear();
  begun_ops_ = problem_.graph.size();
  passes_ended_ = 0;
  next_input_ = 0;
  if (window.ops == 0) return;
  TUTTI_CHECK(plan_ != nullptr && !options_.record && options_.remembered == nullptr);
  unfinished_of_pass_.assign(static_cast<size_t>(problem_.graph.size() / window.ops), window.ops);
  begun_ops_ = std::min(begun_ops_, window.ops * window.in_flight);
}

void PhysicalSimulator::end_op_of_pass(OpId op) {
  --unfinished_of_pass_[static_cast<size_t>(op.index / options_.window.ops)];
  while (passes_ended_ < unfinished_of_pass_.size() && unfinished_of_pass_[passes_ended_] == 0) {
    ++passes_ended_;
    if (begun_ops_ < problem_.graph.size()) begin_next_pass(op);
  }
}

void PhysicalSimulator::begin_next_pass(OpId after) {
  const OpId first{begun_ops_};
  begun_ops_ += options_.window.ops;
  if (ledger_.keeps_books()) {
    for (OpId op = first; op.index < begun_ops_; ++op.index) ledger_.place(op, memory_of(op));
  }
  // In the order of values, as the first pass does.
  for (; next_input_ < homed_inputs_.size(); ++next_input_) {
    const auto& [value, home] = homed_inputs_[next_input_];
    if (streams_.manages(value)) continue;
    const auto readers = problem_.graph.consumers(value);
    if (!readers.empty() && begins_later(problem_.graph.edge_to(readers.front()))) break;
    for (const EdgeId edge : readers) {
      const MemoryId memory = memory_of(problem_.graph.edge_to(edge));
      if (memory == home || presence(value, memory) != Presence::absent) continue;
      request_transfer(value, home, memory);
    }
  }
  overfull_ = overfull_ || (ledger_.keeps_books() && ledger_.overfull().valid());
  for (OpId op = first; op.index < begun_ops_; ++op.index) reader_gets_operand(op, after);
}

void PhysicalSimulator::handle(const Event& event) {
  switch (event.kind) {
    case EventKind::op_done:
      finish_op(OpId{event.index});
      return;
    case EventKind::hop_done:
      finish_hop(event.index);
      return;
    case EventKind::flow_joins: {
      const Transfer& transfer = transfers_[event.index];
      flows_.join(now_, event.index, transfer.route->hops[static_cast<size_t>(transfer.hop)],
                  static_cast<double>(problem_.graph.bytes(transfer.value)) * transfer.factor);
      return;
    }
  }
}

}  // namespace tutti
