#include "tutti/plan/world/world_ledger.h"

#include <algorithm>
#include <utility>

#include "tutti/base/check.h"

namespace tutti {
namespace {

using OpPhase = OpStatus::Phase;
using SlotPhase = SlotStatus::Phase;

double weight(const Job& job, OpId op) {
  return 1.0 / static_cast<double>(job.least_run_time(op).count());
}

}  // namespace

WorldLedger::WorldLedger(const Cluster& cluster, std::vector<Counter> counters, int32_t depth)
    : cluster_(cluster), depth_(depth) {
  state_.cluster = &cluster;
  state_.counters = std::move(counters);
  reset();
}

void WorldLedger::reset() {
  state_.now = Duration(0);
  state_.epoch = 0;
  state_.jobs.clear();
  state_.in_system.clear();
  state_.slots.assign(static_cast<size_t>(cluster_.slot_count()), {});
  state_.busy_slots = 0;
  state_.devices.clear();
  for (const DeviceId id : cluster_.machine().devices()) {
    state_.devices.push_back({.idle_slots = cluster_.machine().device(id).slots});
    set_depth(id, depth_);
  }
  state_.memory_left.assign(static_cast<size_t>(cluster_.machine().memory_count()),
                            kUnlimitedBytes);
  state_.pending.assign(cluster_.kinds().size(), 0);
  state_.ready.assign(cluster_.kinds().size(), 0);
  state_.finished.clear();
  state_.readings.assign(state_.counters.size(), {});
  state_.launched.clear();
  waiting_for_.clear();
  unsettled_ = 0;
  unsettled_count_ = 0;
}

void WorldLedger::set_depth(DeviceId id, int32_t depth) {
  device(id).depth = cluster_.machine().device(id).contexts > 0 ? 0 : depth;
}

void WorldLedger::begin_epoch() {
  state_.finished.clear();
  state_.launched.clear();
  ++state_.epoch;
}

JobStatus& WorldLedger::admit(std::shared_ptr<const Job> job) {
  auto status = std::make_unique<JobStatus>();
  const Graph& graph = job->graph();
  status->id = JobId{static_cast<int32_t>(state_.jobs.size())};
  status->job = std::move(job);
  status->arrival = state_.now;
  status->ops.resize(static_cast<size_t>(graph.size()));
  status->left = graph.size();
  status->copies.assign(static_cast<size_t>(graph.value_count()), 0);
  for (const ValueId value : graph.values()) {
    if (graph.producer(value).valid()) continue;
    const MemoryId home = status->job->problem().home(value);
    status->copies[value.index] = home.valid() ? uint64_t{1} << home.index : ~uint64_t{0};
  }
  state_.pending.resize(cluster_.kinds().size(), 0);
  state_.ready.resize(cluster_.kinds().size(), 0);
  std::vector<int32_t>& waiting = waiting_for_.emplace_back();
  waiting.assign(static_cast<size_t>(graph.size()), 0);
  JobStatus& added = *state_.jobs.emplace_back(std::move(status));
  state_.in_system.push_back(added.id);
  for (const OpId op : graph.ops()) {
    ++state_.pending[added.job->kind(op).index];
    added.work_left += added.job->least_run_time(op);
    waiting[op.index] += graph.made_operands(op);
  }
  for (const OpId op : graph.ops()) {
    if (waiting[op.index] == 0) make_ready(added, op);
  }
  return added;
}

void WorldLedger::make_ready(JobStatus& job, OpId op) {
  if (job.abandoned) return;
  job.ops[op.index].phase = OpPhase::ready;
  std::vector<OpId>& ready = job.hidden ? job.held : job.ready;
  ready.insert(std::lower_bound(ready.begin(), ready.end(), op), op);
  if (!job.hidden) ++state_.ready[job.job->kind(op).index];
  unsettled_ += weight(*job.job, op);
  ++unsettled_count_;
}

void WorldLedger::take(int32_t slot, SlotPhase phase) {
  SlotStatus& status = state_.slots[slot];
  status.phase = phase;
  status.since = state_.now;
  ++state_.busy_slots;
  --device(cluster_.device_of_slot(slot)).idle_slots;
}

void WorldLedger::release(int32_t slot) {
  SlotStatus& status = state_.slots[slot];
  status.phase = SlotPhase::idle;
  status.job = {};
  status.op = {};
  status.since = state_.now;
  --state_.busy_slots;
  ++device(cluster_.device_of_slot(slot)).idle_slots;
}

void WorldLedger::give_slot(int32_t slot, JobStatus& job, OpId op) {
  state_.slots[slot].job = job.id;
  state_.slots[slot].op = op;
  state_.slots[slot].since = state_.now;
  job.ops[op.index].slot = slot - cluster_.first_slot(job.ops[op.index].device);
}

void WorldLedger::serve_queue(DeviceId id, int32_t slot) {
  std::vector<QueuedOp>& queue = device(id).queue;
  if (queue.empty()) return;
  const QueuedOp first = queue.front();
  queue.erase(queue.begin());
  take(slot, SlotPhase::busy);
  give_slot(slot, job(first.job), first.op);
}

void WorldLedger::execute(const Action& action) {
  JobStatus& job = this->job(action.job);
  const OpKindId kind = job.job->kind(action.op);
  --state_.pending[kind.index];
  --state_.ready[kind.index];
  OpStatus& op = job.ops[action.op.index];
  op.phase = OpPhase::queued;
  op.device = action.device;
  op.slot = -1;
  op.launched = state_.now;
  job.ready.erase(std::lower_bound(job.ready.begin(), job.ready.end(), action.op));
  device(action.device).backlog += job.job->costs().run_time(action.op, action.device);
  int32_t slot = cluster_.first_slot(action.device);
  if (const int own = state_.free_slot(action.device, kind); own >= 0) {
    slot += own;
    take(slot, SlotPhase::busy);
    give_slot(slot, job, action.op);
  } else {
    device(action.device).queue.push_back({action.job, action.op});
  }
  cluster_.add_launched(kind, slot, state_.launched);
}

void WorldLedger::take_back(JobStatus& job, OpId id) {
  OpStatus& op = job.ops[id.index];
  TUTTI_CHECK(op.phase == OpPhase::queued);
  const OpKindId kind = job.job->kind(id);
  device(op.device).backlog -= job.job->costs().run_time(id, op.device);
  if (op.slot >= 0) {
    const int32_t slot = cluster_.first_slot(op.device) + op.slot;
    release(slot);
    serve_queue(op.device, slot);
  } else {
    std::erase_if(device(op.device).queue,
                  [&](const QueuedOp& q) { return q.job == job.id && q.op == id; });
  }
  if (!job.abandoned) ++state_.pending[kind.index];
  op = {.phase = OpPhase::waiting};
  settle(job, id);
  make_ready(job, id);
}

void WorldLedger::settle(const JobStatus& job, OpId op) {
  unsettled_ -= weight(*job.job, op);
  if (--unsettled_count_ == 0) unsettled_ = 0;  // sums of fractions drift
}

void WorldLedger::hide(JobStatus& job) {
  if (job.hidden) return;
  job.hidden = true;
  std::erase(state_.in_system, job.id);
  for (const OpId op : job.ready) --state_.ready[job.job->kind(op).index];
  job.held.swap(job.ready);
}

void WorldLedger::show(JobStatus& job) {
  if (!job.hidden) return;
  job.hidden = false;
  std::vector<JobId>& in = state_.in_system;
  in.insert(std::lower_bound(in.begin(), in.end(), job.id), job.id);
  for (const OpId op : job.held) ++state_.ready[job.job->kind(op).index];
  job.held.swap(job.ready);
}

void WorldLedger::abandon(JobStatus& job) {
  show(job);
  job.abandoned = true;
  for (const OpId op : job.job->graph().ops()) {
    if (job.ops[op.index].phase <= OpPhase::ready) --state_.pending[job.job->kind(op).index];
  }
  for (const OpId op : job.ready) {
    job.ops[op.index].phase = OpPhase::waiting;
    --state_.ready[job.job->kind(op).index];
    settle(job, op);
  }
  job.ready.clear();
}

int32_t WorldLedger::configure(const Action& action) {
  const int32_t slot = cluster_.first_slot(action.device) + action.context;
  take(slot, SlotPhase::reconfiguring);
  state_.slots[slot].configured = action.op_kind;
  return slot;
}

void WorldLedger::configured(int32_t slot) {
  release(slot);
}

int32_t WorldLedger::start(JobStatus& job, OpId id) {
  OpStatus& op = job.ops[id.index];
  TUTTI_CHECK(op.phase == OpPhase::queued);
  if (op.slot < 0) {
    const int32_t first = cluster_.first_slot(op.device);
    DeviceStatus& its = device(op.device);
    std::erase_if(its.queue, [&](const QueuedOp& q) { return q.job == job.id && q.op == id; });
    int32_t slot = first + state_.free_slot(op.device, job.job->kind(id));
    if (slot >= first) {
      take(slot, SlotPhase::busy);
    } else {
      // One whose op has not started.
      const auto waits = [&](const SlotStatus& other) {
        return other.phase == SlotPhase::busy &&
               this->job(other.job).ops[other.op.index].phase == OpPhase::queued;
      };
      slot = first;
      while (!waits(state_.slots[slot])) ++slot;
      TUTTI_CHECK(cluster_.device_of_slot(slot) == op.device);
      const SlotStatus& other = state_.slots[slot];
      this->job(other.job).ops[other.op.index].slot = -1;
      its.queue.insert(its.queue.begin(), {other.job, other.op});
    }
    give_slot(slot, job, id);
  }
  const Duration mean = job.job->costs().run_time(id, op.device);
  device(op.device).backlog -= mean;
  op.phase = OpPhase::running;
  op.started = state_.now;
  op.finished = state_.now + mean;
  return cluster_.first_slot(op.device) + op.slot;
}

void WorldLedger::arrive(JobStatus& job, ValueId value, MemoryId memory) {
  job.copies[value.index] |= uint64_t{1} << memory.index;
}

const FinishedOp& WorldLedger::finish(JobStatus& mine, OpId id) {
  OpStatus& op = mine.ops[id.index];
  TUTTI_CHECK(op.phase == OpPhase::running);
  op.phase = OpPhase::done;
  op.finished = state_.now;
  const int32_t slot = cluster_.first_slot(op.device) + op.slot;
  release(slot);
  serve_queue(op.device, slot);
  settle(mine, id);
  const Graph& graph = mine.job->graph();
  std::vector<int32_t>& waiting = waiting_for_.at(static_cast<size_t>(mine.id.index));
  const MemoryId memory = cluster_.machine().memory_of(op.device);
  for (const ValueId value : graph.outputs(id)) {
    arrive(mine, value, memory);
    for (const EdgeId edge : graph.consumers(value)) {
      const OpId to = graph.edge_to(edge);
      if (--waiting[to.index] == 0) make_ready(mine, to);
    }
  }
  --mine.left;
  mine.work_left -= mine.job->least_run_time(id);
  return state_.finished.emplace_back(FinishedOp{mine.id, id, mine.job->kind(id), op.device,
                                                 op.launched, op.started, op.finished,
                                                 mine.job->costs().run_time(id, op.device)});
}

void WorldLedger::remove(JobId id) {
  JobStatus& gone = job(id);
  show(gone);
  for (const OpId op : gone.job->graph().ops()) {
    const OpPhase phase = gone.ops[op.index].phase;
    TUTTI_CHECK(phase != OpPhase::queued && phase != OpPhase::running);
    if (phase == OpPhase::done) continue;
    if (!gone.abandoned) --state_.pending[gone.job->kind(op).index];
    if (phase != OpPhase::ready) continue;
    --state_.ready[gone.job->kind(op).index];
    settle(gone, op);
  }
  std::erase(state_.in_system, id);
  waiting_for_.erase(static_cast<size_t>(id.index));
  state_.jobs.erase(static_cast<size_t>(id.index));
}

}  // namespace tutti
