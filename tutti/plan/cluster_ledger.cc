#include "tutti/plan/cluster_ledger.h"

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

ClusterLedger::ClusterLedger(const Cluster& cluster, std::vector<Counter> counters)
    : cluster_(cluster) {
  state_.cluster = &cluster;
  state_.counters = std::move(counters);
  reset();
}

void ClusterLedger::reset() {
  state_.now = Duration(0);
  state_.epoch = 0;
  state_.jobs.clear();
  state_.in_system.clear();
  state_.slots.assign(static_cast<size_t>(cluster_.slot_count()), {});
  state_.busy_slots = 0;
  state_.idle_slots.clear();
  for (const DeviceId device : cluster_.machine().devices())
    state_.idle_slots.push_back(cluster_.machine().device(device).slots);
  state_.pending.assign(cluster_.kinds().size(), 0);
  state_.ready.assign(cluster_.kinds().size(), 0);
  state_.finished.clear();
  state_.readings.assign(state_.counters.size(), {});
  state_.launched.clear();
  waiting_for_.clear();
  unsettled_ = 0;
  unsettled_count_ = 0;
}

void ClusterLedger::begin_epoch() {
  state_.finished.clear();
  state_.launched.clear();
  ++state_.epoch;
}

JobStatus& ClusterLedger::admit(std::shared_ptr<const Job> job) {
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
    for (const EdgeId edge : graph.edges(op)) waiting[op.index] += graph.edge_from(edge).valid();
  }
  for (const OpId op : graph.ops()) {
    if (waiting[op.index] == 0) make_ready(added, op);
  }
  return added;
}

void ClusterLedger::make_ready(JobStatus& job, OpId op) {
  job.ops[op.index].phase = OpPhase::ready;
  job.ready.insert(std::lower_bound(job.ready.begin(), job.ready.end(), op), op);
  ++state_.ready[job.job->kind(op).index];
  unsettled_ += weight(*job.job, op);
  ++unsettled_count_;
}

void ClusterLedger::take(int32_t slot, SlotPhase phase) {
  SlotStatus& status = state_.slots[slot];
  status.phase = phase;
  status.since = state_.now;
  ++state_.busy_slots;
  --state_.idle_slots[cluster_.device_of_slot(slot).index];
}

void ClusterLedger::release(int32_t slot) {
  SlotStatus& status = state_.slots[slot];
  status.phase = SlotPhase::idle;
  status.job = {};
  status.op = {};
  status.since = state_.now;
  --state_.busy_slots;
  ++state_.idle_slots[cluster_.device_of_slot(slot).index];
}

int32_t ClusterLedger::launch(const Action& action) {
  JobStatus& job = *state_.jobs[action.job.index];
  const OpKindId kind = job.job->kind(action.op);
  const int own = state_.free_slot(action.device, kind);
  TUTTI_CHECK(own >= 0);
  const int32_t slot = cluster_.first_slot(action.device) + own;
  take(slot, SlotPhase::busy);
  state_.slots[slot].job = action.job;
  state_.slots[slot].op = action.op;
  --state_.pending[kind.index];
  --state_.ready[kind.index];
  cluster_.add_launched(kind, slot, state_.launched);
  OpStatus& op = job.ops[action.op.index];
  op.phase = OpPhase::fetching;
  op.device = action.device;
  op.slot = own;
  op.launched = state_.now;
  job.ready.erase(std::lower_bound(job.ready.begin(), job.ready.end(), action.op));
  return slot;
}

int32_t ClusterLedger::configure(const Action& action) {
  const int32_t slot = cluster_.first_slot(action.device) + action.context;
  take(slot, SlotPhase::reconfiguring);
  state_.slots[slot].configured = action.op_kind;
  return slot;
}

void ClusterLedger::configured(int32_t slot) {
  release(slot);
}

void ClusterLedger::start(int32_t slot) {
  const SlotStatus& status = state_.slots[slot];
  OpStatus& op = job(status.job).ops[status.op.index];
  op.phase = OpPhase::running;
  op.started = state_.now;
}

void ClusterLedger::arrive(JobStatus& job, ValueId value, MemoryId memory) {
  job.copies[value.index] |= uint64_t{1} << memory.index;
}

const FinishedOp& ClusterLedger::finish(int32_t slot) {
  const SlotStatus status = state_.slots[slot];
  JobStatus& mine = job(status.job);
  OpStatus& op = mine.ops[status.op.index];
  op.phase = OpPhase::done;
  op.finished = state_.now;
  release(slot);
  unsettled_ -= weight(*mine.job, status.op);
  if (--unsettled_count_ == 0) unsettled_ = 0;  // sums of fractions drift
  const Graph& graph = mine.job->graph();
  std::vector<int32_t>& waiting = waiting_for_[mine.id.index];
  const MemoryId memory = cluster_.machine().memory_of(op.device);
  for (const ValueId value : graph.outputs(status.op)) {
    arrive(mine, value, memory);
    for (const EdgeId edge : graph.consumers(value)) {
      const OpId to = graph.edge_to(edge);
      if (--waiting[to.index] == 0) make_ready(mine, to);
    }
  }
  --mine.left;
  return state_.finished.emplace_back(FinishedOp{mine.id, status.op, mine.job->kind(status.op),
                                                 op.device, op.launched, op.started, op.finished,
                                                 mine.job->costs().run_time(status.op, op.device)});
}

void ClusterLedger::remove(JobId id) {
  JobStatus& gone = job(id);
  for (const OpId op : gone.job->graph().ops()) {
    const OpPhase phase = gone.ops[op.index].phase;
    TUTTI_CHECK(phase != OpPhase::fetching && phase != OpPhase::running);
    if (phase == OpPhase::done) continue;
    --state_.pending[gone.job->kind(op).index];
    if (phase != OpPhase::ready) continue;
    --state_.ready[gone.job->kind(op).index];
    unsettled_ -= weight(*gone.job, op);
    if (--unsettled_count_ == 0) unsettled_ = 0;
  }
  std::erase(state_.in_system, id);
  waiting_for_[id.index] = {};
  state_.jobs[id.index].reset();
}

}  // namespace tutti
