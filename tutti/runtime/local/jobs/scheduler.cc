#include "tutti/runtime/local/jobs/scheduler.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "tutti/base/check.h"

namespace tutti {
namespace {

constexpr auto kBetweenLooks = std::chrono::milliseconds(20);  // at whether all stand still
constexpr auto kBetweenIdleLooks = std::chrono::milliseconds(1000);
// How long it looks for news before it sleeps, if it has a core to itself.
constexpr Duration kSpin = std::chrono::microseconds(200);

std::vector<int> places_in_feed(const std::vector<Counter>& counters, const CounterFeed* feed) {
  std::vector<int> places;
  for (const Counter& counter : counters) {
    int place = -1;
    for (size_t i = 0; feed != nullptr && i < feed->counters().size() && place < 0; ++i) {
      if (counts_the_same(feed->counters()[i], counter)) place = static_cast<int>(i);
    }
    places.push_back(place);
  }
  return places;
}

}  // namespace

Duration share_clock() {
  static const auto began = std::chrono::steady_clock::now();
  return std::chrono::steady_clock::now() - began;
}

void Scheduler::begin(Decider& decider, uint64_t seed,
                      std::vector<std::shared_ptr<JobRun>> arrivals) {
  const MutexLock lock(role_);
  const JobEngineOptions& options = parts_.options;
  ledger_.emplace(parts_.cluster, options.counters, options.queue_depth);
  own_.emplace(parts_.cluster, options.counters);
  fed_by_ = places_in_feed(options.counters, options.feed);
  gate_.reset();
  if (options.shares != nullptr) gate_.emplace(*options.shares);
  ask_again_ = kNever;
  decider_ = &decider;
  seed_ = seed;
  arrivals_ = std::move(arrivals);
  endless_ = arrivals_.empty();
  next_arrival_ = 0;
  runs_.clear();
  waiting_.clear();
  last_arrival_ = Duration(0);
  promised_ = 0;
  memory_ = kUnlimitedBytes;
  for (int32_t i = 0; i < parts_.cluster.machine().memory_count(); ++i)
    memory_ = std::min(memory_, parts_.memories.pool(MemoryId{i}).limit());
  turn_ = 0;
  running_ = 0;
  decided_ = false;
  asked_ = true;
  quiet_looks_ = 0;
  paused_.reset();
  full_ = 0;
  full_since_.reset();
  error_.reset();
  decisions_ = 0;
  reward_ = 0;
  deciding_ = Duration(0);
  decision_times_.clear();
  pauses_.clear();
  stops_.store(false);
  ended_ops_.store(0);
  jobs_left_.store(static_cast<int64_t>(arrivals_.size()));
  const bool own_core =
      std::thread::hardware_concurrency() > static_cast<unsigned>(parts_.cluster.slot_count());
  spin_ = own_core ? parts_.clock.ticks_of(kSpin) : 0;
  decider.begin(parts_.cluster, seed);
  share_offset_ = share_clock();
  began_ = parts_.clock.now();
}

void Scheduler::work() {
  for (;;) {
    {
      const MutexLock lock(role_);
      if (!step(nullptr)) return;
    }
    if (!parts_.mailbox.has_urgent_mail()) sleep();
  }
}

void Scheduler::help(const DeviceQueue& queue) {
  // The thread that has the role may have looked at the mail before this one wrote.
  if (!role_.try_lock()) return parts_.mailbox.hurry();
  step(&queue);
  role_.unlock();
}

void Scheduler::help() {
  if (!role_.try_lock()) return parts_.mailbox.hurry();
  step(nullptr);
  const bool sleeps_too_long = ask_again_ != kNever;
  role_.unlock();
  if (sleeps_too_long) parts_.mailbox.wake();
}

bool Scheduler::step(const DeviceQueue* helper) {
  admit_due();
  drain();
  if (stops_.load() && jobs_left() == 0) return false;
  if (stops_.load()) fail_all(failed("cancelled"));
  if (other_rules_.load() && other_rules_.exchange(false)) asked_ = true;
  if (ask_again_ != kNever && ask_again_ <= time_of(parts_.clock.now())) asked_ = true;
  if (asked_) decide(helper);
  return true;
}

void Scheduler::pass_until(Duration time) {
  const Duration passed = time - state().now;
  if (passed <= Duration(0)) return;
  reward_ -= ledger_->unsettled() * static_cast<double>(passed.count());
  ledger_->set_time(time);
}

// ---- What happened

void Scheduler::drain() {
  events_.clear();
  parts_.mailbox.take(events_);
  if (events_.empty()) return;
  if (decided_) ledger_->begin_epoch();
  decided_ = false;
  asked_ = true;
  quiet_looks_ = 0;
  for (size_t i = 0; i < events_.size(); ++i) apply(events_[i]);
}

void Scheduler::apply(const EngineEvent& event) {
  pass_until(time_of(event.tick));
  switch (event.kind) {
    case EngineEvent::Kind::started: {
      OpEntry& entry = *event.entry;
      JobStatus& job = status(*entry.job);
      ledger_->start(job, entry.op);
      ++running_;
      own_->started(job, entry.op);
      return;
    }
    case EngineEvent::Kind::finished:
      return op_finished(*event.entry);
    case EngineEvent::Kind::dropped: {
      JobRun& run = *event.entry->job;
      event.entry->state.store(OpEntry::State::free);
      run.values.let_go(*event.entry);
      give_back(run, event.entry->op);
      return give_up(run);
    }
    case EngineEvent::Kind::arrived: {
      JobRun& run = *event.whose;
      --run.moving;
      if (run.failed()) return give_up(run);
      ledger_->arrive(status(run), event.value, event.memory);
      return end_if_over(run);
    }
    case EngineEvent::Kind::admitted:
      return admit(event.job, time_of(event.tick));
    case EngineEvent::Kind::withdrawn:
      if (!event.job->admitted) {
        const auto found = std::find(waiting_.begin(), waiting_.end(), event.job);
        if (found == waiting_.end()) return;
        waiting_.erase(found);
        enter(event.job);  // and ends
      } else if (runs_[static_cast<size_t>(event.job->id.index)] == event.job) {
        give_up(*event.job);
      }
      return;
  }
}

void Scheduler::op_finished(OpEntry& entry) {
  JobRun& run = *entry.job;
  leave_full(entry.finished);
  entry.room_at_finish = full_;
  JobStatus& job = status(run);
  const OpStatus before = job.ops[entry.op.index];
  const int32_t slot = parts_.cluster.first_slot(before.device) + before.slot;
  const FinishedOp done = ledger_->finish(job, entry.op);
  own_->finished(slot, done);
  if (gate_) gate_->ended(*job.job, done, share_offset_ + state().now);
  --running_;
  --run.given;
  ended_ops_.fetch_add(1, std::memory_order_relaxed);
  run.record_.trace.ops.push_back({.op = entry.op,
                                   .device = entry.device,
                                   .slot = entry.slot,
                                   .start = time_of(entry.started),
                                   .finish = time_of(entry.finished)});
  run.record_.trace.placed.push_back({.op = entry.op, .time = time_of(entry.placed)});
  if (parts_.options.note_waits) {
    run.record_.phases.push_back({.op = entry.op,
                                  .ready = time_of(entry.ready),
                                  .no_room = parts_.clock.span(0, entry.no_room),
                                  .placed = time_of(entry.placed),
                                  .fetched = time_of(entry.first_queued),
                                  .taken = time_of(entry.first_taken),
                                  .started = time_of(entry.started)});
  }
  run.failed() ? give_up(run) : end_if_over(run);
}

void Scheduler::admit_due() {
  while (next_arrival_ < arrivals_.size()) {
    const int64_t now = parts_.clock.now();
    if (arrivals_[next_arrival_]->due > time_of(now)) return;
    const std::shared_ptr<JobRun> next = std::move(arrivals_[next_arrival_++]);
    pass_until(time_of(now));
    if (decided_) ledger_->begin_epoch();
    decided_ = false;
    admit(next, next->due);
  }
}

void Scheduler::admit(const std::shared_ptr<JobRun>& run, Duration time) {
  // Threads that admit at the same time may have looked at the clock in another order.
  last_arrival_ = std::max(last_arrival_, time);
  run->record_.job = run->job();
  run->record_.arrival = last_arrival_;
  run->record_.start = kNever;
  waiting_.push_back(run);
  enter_waiting();
  run->waits_for_memory.store(!run->admitted);
}

bool Scheduler::fits(const JobRun& run) const {
  if (memory_ == kUnlimitedBytes || state().in_system.empty() || run.failed()) return true;
  return run.most_bytes <= memory_ - promised_;
}

void Scheduler::enter_waiting() {
  if (enters_) return;  // a job that entered has ended at once
  enters_ = true;
  while (!waiting_.empty() && fits(*waiting_.front())) {
    const std::shared_ptr<JobRun> first = std::move(waiting_.front());
    waiting_.pop_front();
    enter(first);
  }
  enters_ = false;
}

void Scheduler::enter(const std::shared_ptr<JobRun>& run) {
  if (run->before) run->before();
  JobStatus& job = ledger_->admit(run->job());
  job.arrival = run->record_.arrival;
  run->id = job.id;
  run->admitted = true;
  const bool waited = run->waits_for_memory.exchange(false);
  if (gate_ && run->account != nullptr) gate_->add(job.id, run->account.get());
  run->record_.id = job.id;
  run->entered = parts_.clock.now();
  run->room_at_entry = full_so_far(run->entered);
  run->record_.entered = waited ? time_of(run->entered) : run->record_.arrival;
  promised_ += run->most_bytes;
  runs_.emplace_back(run);
  asked_ = true;
  if (error_) run->fail(*error_);
  run->failed() ? give_up(*run) : end_if_over(*run);
}

void Scheduler::give_up(JobRun& run) {
  JobStatus& job = status(run);
  if (!job.abandoned) ledger_->abandon(job);
  for (const OpId op : run.job()->graph().ops()) {
    if (run.given == 0) break;
    if (job.ops[op.index].phase != OpStatus::Phase::queued) continue;
    take_back(run, run.entries[static_cast<size_t>(op.index)]);
  }
  if (run.moving > 0) parts_.transfers.give_up(run);
  end_if_over(run);
}

void Scheduler::give_back(JobRun& run, OpId op) {
  own_->forget(run.id, op);
  if (gate_) gate_->taken_back(status(run), op, status(run).ops[op.index].device);
  ledger_->take_back(status(run), op);
  --run.given;
  asked_ = true;  // the device has room
}

bool Scheduler::take_back(JobRun& run, OpEntry& entry) {
  DeviceQueue& queue = *parts_.queues[static_cast<size_t>(entry.device.index)];
  if (!run.values.take_back_fetching(entry) && !queue.remove(entry) &&
      !parts_.memories.forget(entry)) {
    return false;  // a slot has it, or will
  }
  run.values.let_go(entry);
  give_back(run, entry.op);
  return true;
}

void Scheduler::end_if_over(JobRun& run) {
  if (run.given > 0 || run.moving > 0) return;
  if (run.failed() || status(run).left == 0) end(run);
}

void Scheduler::end(JobRun& run) {
  const std::shared_ptr<JobRun> mine = runs_[static_cast<size_t>(run.id.index)];
  runs_.erase(static_cast<size_t>(run.id.index));
  if (gate_) gate_->remove(run.id);
  JobRecord& record = run.record_;
  record.finish = state().now;
  record.start = std::min(record.start, record.finish);
  Trace& trace = record.trace;
  for (const OpSpan& span : trace.ops) trace.makespan = std::max(trace.makespan, span.finish);
  if (!run.failed() && !trace.ops.empty()) record.finish = trace.makespan;
  trace.runtime = {.name = "local",
                   .movement = parts_.options.files    ? Movement::files
                               : parts_.options.staged ? Movement::hops
                                                       : Movement::direct};
  trace.measurement = measured_now();
  trace.order = ReadyOrder::fifo;
  trace.graph_fingerprint = run.job()->graph().fingerprint();
  trace.machine_fingerprint = parts_.cluster.machine().fingerprint();
  trace.transfers = run.values.take_spans();
  for (TransferSpan& span : trace.transfers) {
    span.start = time_of(span.start.count());
    span.finish = time_of(span.finish.count());
  }
  run.values.release(/*but_results=*/parts_.options.keep_results && !run.failed());
  ledger_->remove(run.id);
  promised_ -= run.most_bytes;
  if (run.ended_) run.ended_(run);
  one_job_less();
  asked_ = true;
  enter_waiting();
  // A server goes on after an error of its decider.
  if (error_ && endless_ && state().in_system.empty() && !stops_.load()) {
    error_.reset();
    decider_->begin(parts_.cluster, seed_);
  }
}

void Scheduler::one_job_less() {
  if (jobs_left_.fetch_sub(1) > 1) return;
  const MutexLock lock(mutex_);
  all_ended_.notify_all();
}

bool Scheduler::wait_for_end(std::chrono::milliseconds time) {
  const MutexLock lock(mutex_);
  if (jobs_left() > 0) all_ended_.wait_for(mutex_, time);
  return jobs_left() == 0;
}

void Scheduler::fail_all(const Error& error) {
  if (!error_) error_ = error;
  const std::vector<JobId> all = state().in_system;
  for (const JobId id : all) {
    const std::shared_ptr<JobRun> run = runs_[static_cast<size_t>(id.index)];
    if (run == nullptr || run->failed()) continue;
    run->fail(error);
    give_up(*run);
  }
  for (const std::shared_ptr<JobRun>& run : waiting_) run->fail(error);
  enter_waiting();  // and they end
  // Those that have not come will not.
  for (; next_arrival_ < arrivals_.size(); ++next_arrival_) {
    arrivals_[next_arrival_]->fail(error);
    one_job_less();
  }
}

// ---- Deciding

Action Scheduler::ask_decider() {
  if (!gate_) return decider_->decide(state());
  const Action action = gate_->decide(*ledger_, *decider_, share_offset_ + state().now);
  if (gate_->ask_again() != kNever) ask_again_ = gate_->ask_again() - share_offset_;
  return action;
}

void Scheduler::decide(const DeviceQueue* helper) {
  asked_ = false;
  ask_again_ = kNever;
  if (paused_) pauses_.push_back({Duration(*paused_), Duration(parts_.clock.now())});
  paused_.reset();
  if (error_) return;
  if (!can_act(state())) return enter_full();
  leave_full(parts_.clock.now());
  lengthen_queues();
  pass_until(time_of(parts_.clock.now()));
  read_counters();
  do {
    const WorldState& seen = state();
    const int64_t before = parts_.clock.now();
    const Action action = ask_decider();
    const Duration taken = parts_.clock.span(before, parts_.clock.now());
    deciding_ += taken;
    if (parts_.options.note_decisions) decision_times_.push_back(taken);
    ++decisions_;
    decided_ = true;
    const bool held = action.kind == Action::Kind::no_op && ask_again_ != kNever;
    if (const Result<void> allowed = check_action(seen, action); !allowed && !held) {
      if (action.kind != Action::Kind::no_op) return fail_all(allowed.error());
      return fail_all(failed(
          "the policy chose to wait with ops ready and nothing running: the run cannot go on"));
    }
    if (action.kind == Action::Kind::no_op) {
      if (parts_.options.note_pauses) paused_ = parts_.clock.now();  // until something happens
      return;
    }
    TUTTI_CHECK(action.kind == Action::Kind::execute);  // there are no contexts
    // Meanwhile the state may have changed, so that the action is not possible any more.
    if (parts_.mailbox.has_mail()) {
      drain();
      if (error_ || !check_action(seen, action)) continue;
    }
    execute(action);
    if (helper != nullptr && helper->size() > 0) {
      asked_ = true;  // the scheduler's own thread goes on
      return parts_.mailbox.wake();
    }
  } while (!error_ && can_act(state()));
  asked_ = false;
  if (!error_) enter_full();
}

void Scheduler::enter_full() {
  if (!full_since_) full_since_ = parts_.clock.now();
}

void Scheduler::leave_full(int64_t tick) {
  full_ = full_so_far(tick);
  full_since_.reset();
}

int64_t Scheduler::full_so_far(int64_t tick) const {
  return full_since_ ? full_ + std::max<int64_t>(0, tick - *full_since_) : full_;
}

void Scheduler::note_wait(const JobRun& run, OpEntry& entry) {
  entry.ready = run.entered;
  int64_t room = run.room_at_entry;
  const Graph& graph = run.job()->graph();
  for (const EdgeId edge : graph.edges(entry.op)) {
    const OpId from = graph.edge_from(edge);
    if (!from.valid()) continue;
    const OpEntry& producer = run.entries[static_cast<size_t>(from.index)];
    entry.ready = std::max(entry.ready, producer.finished);
    room = std::max(room, producer.room_at_finish);
  }
  entry.no_room = std::clamp<int64_t>(full_so_far(entry.placed) - room, 0,
                                      std::max<int64_t>(0, entry.placed - entry.ready));
}

void Scheduler::execute(const Action& action) {
  JobRun& run = *runs_[static_cast<size_t>(action.job.index)];
  if (gate_) gate_->given(state().job(action.job), action.op, action.device);
  OpEntry& entry = run.entries[static_cast<size_t>(action.op.index)];
  own_->launched(state(), action);
  ledger_->execute(action);
  const int64_t now = parts_.clock.now();
  if (run.record_.start == kNever) run.record_.start = time_of(now);
  entry.device = action.device;
  entry.memory = parts_.cluster.machine().memory_of(action.device);
  entry.turn = turn_++;
  entry.placed = now;
  entry.first_queued = entry.first_taken = 0;
  if (parts_.options.note_waits) note_wait(run, entry);
  ++entry.given;
  ++run.given;
  wanted_.clear();
  const Result<bool> complete = run.values.place(entry, wanted_);
  if (!complete) {
    run.fail(complete.error());
    give_back(run, entry.op);
    return give_up(run);
  }
  run.moving += static_cast<int32_t>(wanted_.size());
  for (const JobValues::Wanted& wanted : wanted_) {
    if (const Result<void> requested = parts_.transfers.request(run, wanted); !requested) {
      run.fail(requested.error());
      run.values.without_room(wanted.value, wanted.to);
      --run.moving;
    }
  }
  if (*complete) parts_.queues[static_cast<size_t>(entry.device.index)]->push(entry);
  if (run.failed()) give_up(run);
}

void Scheduler::read_counters() {
  if (fed_by_.empty()) return;
  std::vector<CounterReading>& readings = ledger_->readings();
  readings.assign(fed_by_.size(), {});
  own_->read(state().now, readings);
  if (parts_.options.feed == nullptr) return;
  parts_.options.feed->last(fed_);
  for (size_t i = 0; i < fed_by_.size(); ++i) {
    if (fed_by_[i] >= 0) readings[i] = fed_[static_cast<size_t>(fed_by_[i])];
  }
}

// A device that ran empty although ops are ready has too short a queue.
void Scheduler::lengthen_queues() {
  if (parts_.options.queue_depth == kUnlimitedDepth) {
    const auto& pools = parts_.cluster.machine();
    for (int32_t i = 0; i < pools.memory_count(); ++i)
      ledger_->memory_left()[static_cast<size_t>(i)] = parts_.memories.left(MemoryId{i});
    return;
  }
  const bool idle = state().in_system.size() <= 1 && running_ == 0;
  for (const DeviceId device : parts_.cluster.machine().devices()) {
    const bool empty = parts_.queues[static_cast<size_t>(device.index)]->was_empty();
    const int32_t depth = state().devices[static_cast<size_t>(device.index)].depth;
    if (idle) {
      ledger_->set_depth(device, parts_.options.queue_depth);
    } else if (empty && depth > 0 && depth < parts_.options.most_depth) {
      ledger_->set_depth(device, depth + 1);
    }
  }
}

// ---- Waiting

Scheduler::Until Scheduler::until_next() {
  const MutexLock lock(role_);
  Until until;
  until.look = state().in_system.empty() ? kBetweenIdleLooks : kBetweenLooks;
  if (next_arrival_ < arrivals_.size()) until.arrival = arrivals_[next_arrival_]->due;
  until.arrival = std::min(until.arrival, ask_again_);
  return until;
}

void Scheduler::sleep() {
  const Until until = until_next();
  // On a busy host a slot that was just given an op may wait for this very core.
  if (spin_ > 0) std::this_thread::yield();
  const int64_t spun = parts_.clock.about_now() + spin_;
  while (spin_ > 0 && parts_.clock.about_now() < spun) {
    if (parts_.mailbox.has_urgent_mail() || until.arrival <= time_of(parts_.clock.about_now()))
      return;
    relax();
  }
  auto wake = std::chrono::steady_clock::now() + until.look;
  if (until.arrival != kNever) {
    const Duration left = until.arrival - time_of(parts_.clock.now());
    if (left <= Duration(0)) return;
    wake = std::min(wake, std::chrono::steady_clock::now() + left);
  }
  parts_.mailbox.sleep(wake);
  const MutexLock lock(role_);
  if (!parts_.mailbox.has_mail()) look_for_standstill();
}

// Whether all that was given to devices waits for memory.
bool Scheduler::stands_still() const {
  if (running_ > 0) return false;
  for (const auto& queue : parts_.queues) {
    if (queue->size() > 0) return false;
  }
  int64_t given = 0;
  int64_t fetching = 0;
  int64_t moving = 0;
  for (const JobId id : state().in_system) {
    const JobRun& run = *runs_[static_cast<size_t>(id.index)];
    given += run.given;
    moving += run.moving;
    for (const OpId op : run.job()->graph().ops()) {
      fetching +=
          run.entries[static_cast<size_t>(op.index)].state.load() == OpEntry::State::fetching;
    }
  }
  const auto [ops, transfers] = parts_.memories.waiting();
  return given == ops + fetching && moving == transfers;
}

// Nothing runs or moves, yet jobs are left: they wait for memory that no op will free.
void Scheduler::look_for_standstill() {
  if (state().in_system.empty() || ask_again_ != kNever || ++quiet_looks_ < 2) return;
  quiet_looks_ = 0;
  if (!stands_still()) return;
  const Machine& machine = parts_.cluster.machine();
  JobRun* run = nullptr;
  std::string what;
  if (OpEntry* entry = parts_.memories.waiting_op()) {
    run = entry->job;
    what = fmt::format("op '{}' on device '{}' needs {} bytes in memory '{}', of which {} are left",
                       run->job()->graph().op_name(entry->op), machine.device(entry->device).name,
                       entry->bytes_at_start, machine.memory(entry->memory).name,
                       parts_.memories.left(entry->memory));
  } else if (run = parts_.transfers.waiting_job(); run != nullptr) {
    what = "a copy of a value needs memory that is not left";
  }
  if (run == nullptr) return;
  run->fail(infeasible(fmt::format(
      "the run stands still at {}: {}, and nothing that runs will free any; allow more memory or "
      "place fewer ops there",
      to_text(time_of(parts_.clock.now())), what)));
  give_up(*run);
}

std::vector<Pause> Scheduler::pauses() const {
  std::vector<Pause> made;
  for (const Pause& pause : pauses_)
    made.push_back({time_of(pause.start.count()), time_of(pause.finish.count())});
  return made;
}

}  // namespace tutti
