// The half of a Run that asks a policy: whoever completes an op or a transfer also asks what to do
// with the ops that are ready for a decision, one thread at a time.

#include <fmt/format.h>

#include <algorithm>

#include "tutti/base/check.h"
#include "tutti/runtime/local/local_state.h"
#include "tutti/runtime/local/run.h"

namespace tutti {

Result<void> Run::begin_online(const Problem& problem, Policy& policy, const LocalOptions& options,
                               OnlineWatch* watch) {
  policy_ = nullptr;
  if (Result<void> begun = begin_any(problem, options); !begun) return begun;
  if (options.bulk_synchronous) {
    return invalid_input("a run with barriers needs a plan; make one, or run without barriers");
  }
  const Graph& graph = problem.graph;
  for (const OpId op : graph.ops()) {
    for (const DeviceId device : problem.devices_for(op)) {
      if (Result<void> checked = check_code(op, device); !checked) return checked;
    }
  }
  policy_ = &policy;
  watch_ = watch;
  placement_.assign(static_cast<size_t>(graph.size()), DeviceId{});
  device_of_ = placement_.data();
  op_of_turn_.assign(static_cast<size_t>(graph.size()), -1);
  turn_.store(0);
  std::vector<int> slots;
  for (const DeviceId device : machine_.devices()) slots.push_back(machine_.device(device).slots);
  one_memory_ = options.files || is_in_one_memory(slots);
  weightless_ = options.files || (one_memory_ && !has_bytes());
  if (!weightless_) {
    if (Result<void> laid_out = lay_out_copies(); !laid_out) return laid_out;
    if (Result<void> filled = fill_inputs(); !filled) return filled;
  }
  start(graph.size() == 0 ? std::vector<int>(slots.size(), 0) : slots);
  if (watch_ != nullptr) crew_.join();  // the thread that keeps time
  const MutexLock lock(deciding_);
  begin_decisions();
  return {};
}

void Run::begin_decisions() {
  const Graph& graph = problem_->graph;
  online_ = {};
  online_.finish.assign(static_cast<size_t>(graph.size()), Duration{0});
  online_.backlog.assign(static_cast<size_t>(machine_.size()), Duration{0});
  online_.running.resize(static_cast<size_t>(machine_.size()));
  for (const ValueId value : graph.values()) {
    online_.unplaced.push_back(static_cast<int32_t>(graph.consumers(value).size()));
  }
  for (const OpId op : graph.ops()) {
    int32_t unmade = 0;
    for (const EdgeId edge : graph.edges(op)) unmade += graph.edge_from(edge).valid();
    online_.unmade.push_back(unmade);
    if (unmade == 0) online_.undecided.push_back(op);
  }
  decide();
}

void Run::decide() {
  const LocalState state(*this, online_);
  if (watch_ != nullptr) watch_->asked(time_of(clock_.now()));
  if (online_.paused) {
    online_.pauses.push_back({.start = *online_.paused, .finish = Duration(clock_.now())});
    online_.paused.reset();
  }
  while (!online_.undecided.empty() && !crew_.over()) {
    const std::optional<OpId> op = policy_->select->select(state);
    if (!op) {
      online_.paused = Duration(clock_.now());  // until something happens
      const std::optional<Error> error = watch_ != nullptr ? watch_->error() : std::nullopt;
      if (error) crew_.fail(*error);
      return;
    }
    if (state.devices_for(*op).empty()) {
      return crew_.fail(
          infeasible(fmt::format("op '{}' needs {} bytes, which no device that may run it has",
                                 problem_->graph.op_name(*op), bytes_at_start(*op))));
    }
    place(*op, policy_->place->place(state, *op));
  }
}

void Run::place(OpId op, DeviceId device) {
  const auto found = std::find(online_.undecided.begin(), online_.undecided.end(), op);
  TUTTI_CHECK(found != online_.undecided.end());
  online_.undecided.erase(found);
  placement_[static_cast<size_t>(op.index)] = device;
  online_.backlog[static_cast<size_t>(device.index)] += problem_->costs.run_time(op, device);
  online_.placed.push_back({.op = op, .time = Duration(clock_.now())});
  const MemoryId memory = machine_.memory_of(device);
  int32_t absent = 0;
  for (const ValueId value : problem_->graph.operands(op)) absent += !place_reader(value, memory);
  if (!weightless_) {
    for (const ValueId value : problem_->graph.outputs(op)) copies_.first(value).memory = memory;
    if (const Result<void> room = check_input_room(); !room) return crew_.fail(room.error());
  }
  absent_[op.index].store(absent, std::memory_order_relaxed);
  if (absent == 0) queue_in_turn(op);
}

void Run::queue_in_turn(OpId op) {
  const int32_t turn = turn_.fetch_add(1);
  op_of_turn_[static_cast<size_t>(turn)] = op.index;
  queue(op, turn);
}

// Each reader that is not placed yet holds the first copy. One that is placed elsewhere leaves that
// to the transfer that brings its copy. Further copies stay until no reader can come any more.
bool Run::place_reader(ValueId value, MemoryId memory) {
  if (weightless_) return true;
  Copy& first = copies_.first(value);
  const bool input = !problem_->graph.producer(value).valid();
  bool there = true;
  if (first.memory == memory) {
    if (input && !first.counted) {
      first.counted = true;
      pool(memory).take_room_anyway(first.bytes);
    }
  } else if (const int32_t copy = copies_.find(value, memory); copy >= 0) {
    copies_[copy].uses.fetch_add(1);
    drop(value.index);
    there = copies_[copy].state == Copy::State::present;
  } else {
    there = bring(value, memory);
  }
  if (--online_.unplaced[static_cast<size_t>(value.index)] > 0) return there;
  if (input && problem_->graph.is_weight(value)) return there;
  for (int32_t copy = first.next; copy >= 0;) {
    const int32_t next = copies_[copy].next;
    drop(copy);
    copy = next;
  }
  return there;
}

// The first reader of a value in a further memory. True if the value is there at once.
bool Run::bring(ValueId value, MemoryId memory) {
  const Copy& first = copies_.first(value);
  const int32_t index = copies_.add(value, memory);
  Copy& copy = copies_[index];
  transfers_[index - copies_.values()] = {};
  copy.uses.store(2);
  const bool input = !problem_->graph.producer(value).valid();
  if (!input || problem_->home(value).valid()) {
    const Result<void> way = check_way(first.memory, memory);
    if (way) {
      request_transfer(index);
    } else {
      crew_.fail(way.error());
    }
    return false;
  }
  // It is everywhere.
  copy.state = Copy::State::present;
  copy.counted = true;
  pool(memory).take_room_anyway(copy.bytes);
  if (copy.bytes > 0) {
    copy.address = pool(memory).allocate(copy.bytes);
    if (copy.address == nullptr) {
      fail_for_room(fmt::format("graph input '{}'", problem_->graph.value_name(value)), memory,
                    copy.bytes);
      return true;
    }
    const Result<void> written =
        pool(memory).store().write(copy.address, first.address, copy.bytes);
    if (!written) crew_.fail(written.error());
  }
  drop(value.index);
  return true;
}

void Run::complete_online(Worker& me, OpId op) {
  const Graph& graph = problem_->graph;
  const MutexLock lock(deciding_);
  if (!weightless_) give_back(me, op);
  std::erase(online_.running[static_cast<size_t>(me.device.index)], op);
  const Duration now = time_of(clock_.now());
  online_.finish[static_cast<size_t>(op.index)] = now;
  if (watch_ != nullptr) watch_->finished(op, now);
  for (const ValueId value : graph.outputs(op)) {
    for (const EdgeId edge : graph.consumers(value)) {
      const OpId reader = graph.edge_to(edge);
      if (--online_.unmade[static_cast<size_t>(reader.index)] == 0) {
        online_.undecided.push_back(reader);
      }
    }
  }
  if (!online_.undecided.empty()) decide();
}

void Run::arrived_online(int32_t index) {
  const Graph& graph = problem_->graph;
  const MutexLock lock(deciding_);
  Copy& copy = copies_[index];
  copy.state = Copy::State::present;
  if (watch_ != nullptr) watch_->arrived(copy.value, copy.memory, time_of(clock_.now()));
  for (const EdgeId edge : graph.consumers(copy.value)) {
    const OpId reader = graph.edge_to(edge);
    if (!device_of_[reader.index].valid() || memory_of(reader) != copy.memory) continue;
    if (absent_[reader.index].fetch_sub(1) == 1) queue_in_turn(reader);
  }
  drop(copy.value.index);
  if (!online_.undecided.empty()) decide();
}

// On the thread that asked for the run, which takes part in it meanwhile: a run in which nothing
// happens until the next time does not stand still.
void Run::keep_time() {
  constexpr Duration kBetweenLooks = std::chrono::milliseconds(100);  // at who wants it to end
  for (bool over = crew_.over(); !over;) {
    Duration left{0};
    {
      const MutexLock lock(deciding_);
      const Duration next = watch_->next_time();
      if (next == kNever) break;
      left = next - time_of(clock_.now());
      if (left <= Duration(0)) decide();
    }
    if (left > Duration(0)) {
      over = crew_.wait_until(std::chrono::steady_clock::now() + std::min(left, kBetweenLooks));
    }
    if (stop_asked()) {
      crew_.fail(
          failed(fmt::format("cancelled after {} of {} ops", ended(), problem_->graph.size())));
    }
    if (options_->progress) options_->progress(ended(), problem_->graph.size());
    over = over || crew_.over();
  }
  crew_.leave(/*awake=*/true);
}

}  // namespace tutti
