#include "tutti/runtime/local/run/decisions.h"

#include <fmt/format.h>

#include <algorithm>

#include "tutti/base/check.h"
#include "tutti/plan/online_choices.h"
#include "tutti/plan/state.h"

namespace tutti {

// Made and used while the policy is asked.
class Decisions::View : public State {
 public:
  View(const EngineContext& run, const Values& values, const Books& books)
      : run_(run), values_(values), books_(books) {}

  const Problem& problem() const override { return *run_.problem; }
  Duration now() const override { return run_.now(); }
  std::span<const OpId> ready() const override { return books_.undecided; }
  DeviceId placement(OpId op) const override {
    return books_.placement[static_cast<size_t>(op.index)];
  }
  Duration finish(OpId op) const override { return books_.finish[static_cast<size_t>(op.index)]; }
  // The first running op to end as far as its cost says, then what is queued, over the slots.
  Duration free_at(DeviceId device) const override {
    const std::vector<OpId>& running = books_.running[static_cast<size_t>(device.index)];
    const int slots = run_.machine.device(device).slots;
    const Duration clock = now();
    Duration free = clock;
    if (running.size() == static_cast<size_t>(slots)) {
      free = kNever;
      for (const OpId op : running) free = std::min(free, finish(op));
      free = std::max(free, clock);  // it takes longer than it should
    }
    return free + books_.backlog[static_cast<size_t>(device.index)] / slots;
  }
  std::span<const DeviceId> devices_for(OpId op) const override {
    return online_choices(*this, op, run_.bytes_at_start(op), choices_);
  }
  int64_t memory_left(DeviceId device) const override {
    return values_.room_left(run_.machine.memory_of(device));
  }

 private:
  const EngineContext& run_;
  const Values& values_;
  const Books& books_;
  mutable std::vector<DeviceId> choices_;
};

void Decisions::begin(Policy& policy, OnlineWatch* watch) {
  const Graph& graph = run_.graph();
  const auto ops = static_cast<size_t>(graph.size());
  const auto devices = static_cast<size_t>(run_.machine.size());
  policy_ = &policy;
  watch_ = watch;
  op_of_turn_.assign(ops, -1);
  const MutexLock lock(mutex_);
  books_ = {};
  books_.placement.assign(ops, DeviceId{});
  books_.absent.assign(ops, 0);
  books_.finish.assign(ops, Duration{0});
  books_.backlog.assign(devices, Duration{0});
  books_.running.resize(devices);
  for (const ValueId value : graph.values()) {
    books_.unplaced.push_back(static_cast<int32_t>(graph.consumers(value).size()));
  }
  for (const OpId op : graph.ops()) {
    int32_t unmade = 0;
    for (const EdgeId edge : graph.edges(op)) unmade += graph.edge_from(edge).valid();
    books_.unmade.push_back(unmade);
    if (unmade == 0) books_.undecided.push_back(op);
  }
  run_.device_of = books_.placement.data();
}

void Decisions::start() {
  const MutexLock lock(mutex_);
  decide();
}

void Decisions::decide() {
  const View state(run_, values_, books_);
  if (watch_ != nullptr) watch_->asked(run_.now());
  if (books_.paused) {
    books_.pauses.push_back({.start = *books_.paused, .finish = Duration(run_.clock.now())});
    books_.paused.reset();
  }
  while (!books_.undecided.empty() && !run_.crew.over()) {
    const std::optional<OpId> op = policy_->select->select(state);
    if (!op) {
      books_.paused = Duration(run_.clock.now());  // until something happens
      const std::optional<Error> error = watch_ != nullptr ? watch_->error() : std::nullopt;
      if (error) run_.crew.fail(*error);
      return;
    }
    if (state.devices_for(*op).empty()) {
      return run_.crew.fail(
          infeasible(fmt::format("op '{}' needs {} bytes, which no device that may run it has",
                                 run_.graph().op_name(*op), run_.bytes_at_start(*op))));
    }
    place(*op, policy_->place->place(state, *op));
  }
}

void Decisions::place(OpId op, DeviceId device) {
  const auto found = std::find(books_.undecided.begin(), books_.undecided.end(), op);
  TUTTI_CHECK(found != books_.undecided.end());
  books_.undecided.erase(found);
  books_.placement[static_cast<size_t>(op.index)] = device;
  books_.backlog[static_cast<size_t>(device.index)] += run_.problem->costs.run_time(op, device);
  books_.placed.push_back({.op = op, .time = Duration(run_.clock.now())});
  const MemoryId memory = run_.machine.memory_of(device);
  int32_t absent = 0;
  if (!run_.weightless) {
    for (const ValueId value : run_.graph().operands(op)) {
      const bool last = --books_.unplaced[static_cast<size_t>(value.index)] == 0;
      absent += !values_.place_reader(value, memory, last);
    }
    values_.made_in(op, memory);
    if (const Result<void> room = values_.check_input_room(); !room) {
      return run_.crew.fail(room.error());
    }
  }
  books_.absent[static_cast<size_t>(op.index)] = absent;
  if (absent == 0) queue_in_turn(op);
}

void Decisions::queue_in_turn(OpId op) {
  const int32_t turn = books_.turn++;
  op_of_turn_[static_cast<size_t>(turn)] = op.index;
  queue_(op, turn);
}

void Decisions::started(OpId op, DeviceId device) {
  const MutexLock lock(mutex_);
  const Duration mean = run_.problem->costs.run_time(op, device);
  books_.backlog[static_cast<size_t>(device.index)] -= mean;
  books_.running[static_cast<size_t>(device.index)].push_back(op);
  const Duration now = run_.now();
  books_.finish[static_cast<size_t>(op.index)] = now + mean;
  if (watch_ != nullptr) watch_->started(op, now);
}

void Decisions::finished(OpId op, DeviceId device, MemoryId memory) {
  const Graph& graph = run_.graph();
  const MutexLock lock(mutex_);
  if (!run_.weightless) values_.release_operands(op, memory);
  std::erase(books_.running[static_cast<size_t>(device.index)], op);
  const Duration now = run_.now();
  books_.finish[static_cast<size_t>(op.index)] = now;
  if (watch_ != nullptr) watch_->finished(op, now);
  for (const ValueId value : graph.outputs(op)) {
    for (const EdgeId edge : graph.consumers(value)) {
      const OpId reader = graph.edge_to(edge);
      if (--books_.unmade[static_cast<size_t>(reader.index)] == 0) {
        books_.undecided.push_back(reader);
      }
    }
  }
  if (!books_.undecided.empty()) decide();
}

void Decisions::arrived(int32_t index) {
  const Graph& graph = run_.graph();
  const MutexLock lock(mutex_);
  values_.mark_present(index);
  const Copy& copy = values_.copy(index);
  if (watch_ != nullptr) watch_->arrived(copy.value, copy.memory, run_.now());
  for (const EdgeId edge : graph.consumers(copy.value)) {
    const OpId reader = graph.edge_to(edge);
    if (!run_.device_of[reader.index].valid() || run_.memory_of(reader) != copy.memory) continue;
    if (--books_.absent[static_cast<size_t>(reader.index)] == 0) queue_in_turn(reader);
  }
  values_.drop(copy.value.index);
  if (!books_.undecided.empty()) decide();
}

Duration Decisions::ask_when_due() {
  const MutexLock lock(mutex_);
  const Duration next = watch_->next_time();
  if (next == kNever) return kNever;
  const Duration left = next - run_.now();
  if (left <= Duration{0}) decide();
  return left;
}

void Decisions::record(Trace& trace) const {
  const MutexLock lock(mutex_);
  for (const PlacedAt& placed : books_.placed) {
    trace.placed.push_back({.op = placed.op, .time = run_.time_of(placed.time.count())});
  }
  for (const Pause& pause : books_.pauses) {
    trace.pauses.push_back(
        {.start = run_.time_of(pause.start.count()), .finish = run_.time_of(pause.finish.count())});
  }
}

std::optional<Error> Decisions::explain_wait() const {
  const MutexLock lock(mutex_);
  if (books_.undecided.empty()) return std::nullopt;
  return failed(fmt::format(
      "the policy chose to wait with {} ops ready and nothing running: the run cannot go on",
      books_.undecided.size()));
}

}  // namespace tutti
