#include "tutti/policy/online/eft/forecast.h"

#include <algorithm>

namespace tutti {
namespace {

using OpPhase = OpStatus::Phase;
using SlotPhase = SlotStatus::Phase;

// What is overdue is taken to need this share of its run time still.
constexpr double kOverdueShare = 0.1;

}  // namespace

void Forecast::begin(const Cluster& cluster) {
  cluster_ = &cluster;
  crowding_.begin(cluster);
  residuals_.begin(cluster);
  progress_.assign(static_cast<size_t>(cluster.slot_count()), {});
  free_in_.assign(progress_.size(), 0);
  epoch_ = -1;
}

// Calls visit(time alone, from, to) for each operand that is not there; `from` is not valid if the
// time is given with the edge: such a transfer meets no other.
template <class Visit>
void Forecast::visit_fetches(const JobStatus& status, OpId op, DeviceId device, Visit visit) const {
  const Job& job = *status.job;
  const Machine& machine = cluster_->machine();
  const MemoryId to = machine.memory_of(device);
  for (const EdgeId edge : job.graph().edges(op)) {
    const ValueId value = job.graph().edge_value(edge);
    if (status.holds(to, value)) continue;
    const OpId producer = job.graph().edge_from(edge);
    if (producer.valid() && job.costs().has_given_transfers()) {
      const DeviceId source = status.ops[producer.index].device;
      if (const auto given = job.costs().given_transfer(edge, source, device)) {
        visit(*given, MemoryId{}, to);
        continue;
      }
    }
    Duration least = kNever;
    MemoryId from;
    for (int32_t m = 0; m < machine.memory_count(); ++m) {
      if (!status.holds(MemoryId{m}, value) || machine.route(MemoryId{m}, to) == nullptr) continue;
      const Duration time = job.costs().transfer_time(value, MemoryId{m}, to);
      if (time >= least) continue;
      least = time;
      from = MemoryId{m};
    }
    if (from.valid()) visit(least, from, to);
  }
}

double Forecast::fetch_ns(const JobStatus& job, OpId op, DeviceId device) {
  double longest = 0;
  visit_fetches(job, op, device, [&](Duration alone, MemoryId from, MemoryId to) {
    double time = in_ns(alone);
    if (from.valid()) time *= crowding_.slowdown(crowding_.draws_of_route(from, to), 0, time);
    longest = std::max(longest, time);
  });
  return longest;
}

double Forecast::run_ns(const WorldState& state, const JobStatus& job, OpId op,
                        DeviceId device) const {
  return in_ns(job.job->costs().run_time(op, device)) *
         residuals_.factor(device, job.job->kind(op), state.now);
}

void Forecast::update(const WorldState& state, const Openings& openings) {
  if (state.epoch != epoch_) {
    epoch_ = state.epoch;
    learn(state);
  }
  crowding_.clear();
  follow(state);
  for (const Openings::Promise& promise : openings.promises()) {
    const DeviceId device = cluster_->device_of_slot(promise.slot);
    if (!state.jobs[promise.job.index]) continue;
    free_in_[promise.slot] += run_ns(state, state.job(promise.job), promise.op, device);
  }
  for (const DeviceId device : cluster_->machine().devices()) add_queue(state, device);
}

void Forecast::learn(const WorldState& state) {
  if (!residuals_.learns()) return;
  for (const FinishedOp& done : state.finished) {
    const double alone = std::max(1.0, in_ns(done.alone));
    double expected = alone;
    const double took = in_ns(done.finished - done.started);
    const int32_t first = cluster_->first_slot(done.device);
    const int32_t end = first + cluster_->machine().device(done.device).slots;
    for (int32_t slot = first; slot < end; ++slot) {
      Progress& progress = progress_[slot];
      if (!progress.running || progress.job != done.job || progress.op != done.op) continue;
      // By the slow-downs that we knew of, it should have come that far.
      progress.done += in_ns(done.finished - progress.seen) / progress.slowdown;
      if (progress.done > 0) expected = took * alone / progress.done;
      progress.running = false;
    }
    residuals_.learn(done.device, done.kind, done.alone, took / std::max(expected, 1.0), state.now);
  }
}

void Forecast::follow(const WorldState& state) {
  // First how far everything is, then how it goes on.
  for (int32_t slot = 0; slot < cluster_->slot_count(); ++slot) {
    const SlotStatus& status = state.slots[slot];
    Progress& progress = progress_[slot];
    free_in_[slot] = 0;
    if (status.phase != SlotPhase::busy) {
      progress = {};
      continue;
    }
    const JobStatus& job = state.job(status.job);
    const OpStatus& op = job.ops[status.op.index];
    const DeviceId device = cluster_->device_of_slot(slot);
    if (progress.job != status.job || progress.op != status.op) {
      progress = {.job = status.job,
                  .op = status.op,
                  .run = in_ns(job.job->costs().run_time(status.op, device))};
    }
    if (op.phase == OpPhase::running) {
      const Duration since = progress.running ? progress.seen : op.started;
      progress.done += in_ns(state.now - since) / progress.slowdown;
      progress.running = true;
      progress.seen = state.now;
    } else {
      add_transfers(state, job, status.op);
    }
    const double left = std::max(progress.run - progress.done, kOverdueShare * progress.run);
    crowding_.add_running(cluster_->draws(job.job->kind(status.op), slot), left);
  }
  for (int32_t slot = 0; slot < cluster_->slot_count(); ++slot) {
    const SlotStatus& status = state.slots[slot];
    const DeviceId device = cluster_->device_of_slot(slot);
    if (status.phase == SlotPhase::reconfiguring) {
      const Duration end = status.since + cluster_->machine().device(device).reconfiguration_time;
      free_in_[slot] = std::max(0.0, in_ns(end - state.now));
    }
    if (status.phase != SlotPhase::busy) continue;
    Progress& progress = progress_[slot];
    const JobStatus& job = state.job(status.job);
    const OpKindId kind = job.job->kind(status.op);
    progress.slowdown = crowding_.slowdown_of_running(cluster_->draws(kind, slot));
    const double left = std::max(progress.run - progress.done, kOverdueShare * progress.run);
    free_in_[slot] = left * progress.slowdown * residuals_.factor(device, kind, state.now);
    if (!progress.running) free_in_[slot] += fetch_left_ns(state, job, status.op);
  }
}

double Forecast::fetch_left_ns(const WorldState& state, const JobStatus& job, OpId op) {
  const OpStatus& status = job.ops[op.index];
  const double passed = in_ns(state.now - status.launched);
  double longest = 0;
  visit_fetches(job, op, status.device, [&](Duration alone, MemoryId from, MemoryId to) {
    double time = in_ns(alone);
    if (from.valid()) time *= crowding_.slowdown_of_running(crowding_.draws_of_route(from, to));
    longest = std::max(longest, time - passed);
  });
  return longest;
}

void Forecast::add_transfers(const WorldState& state, const JobStatus& job, OpId op) {
  const OpStatus& status = job.ops[op.index];
  const double passed = in_ns(state.now - status.launched);
  visit_fetches(job, op, status.device, [&](Duration alone, MemoryId from, MemoryId to) {
    const double left = std::max(in_ns(alone) - passed, kOverdueShare * in_ns(alone));
    if (from.valid()) crowding_.add_running(crowding_.draws_of_route(from, to), left);
  });
}

void Forecast::add_queue(const WorldState& state, DeviceId device) {
  const int32_t first = cluster_->first_slot(device);
  const int32_t slots = cluster_->machine().device(device).slots;
  for (const QueuedOp& queued : state.devices[device.index].queue) {
    const JobStatus& job = state.job(queued.job);
    add_transfers(state, job, queued.op);
    const auto begin = free_in_.begin() + first;
    const auto slot = static_cast<int32_t>(std::min_element(begin, begin + slots) - begin);
    const double run = run_ns(state, job, queued.op, device);
    const std::span<const Draw> draws = cluster_->draws(job.job->kind(queued.op), first + slot);
    double& free = free_in_[first + slot];
    const double slowdown = crowding_.slowdown(draws, free, run);
    crowding_.add_waiting(draws, run);
    free += run * slowdown;
  }
}

}  // namespace tutti
