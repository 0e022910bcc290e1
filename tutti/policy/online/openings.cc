#include "tutti/policy/online/openings.h"

#include <algorithm>

namespace tutti {
namespace {

// Behind what the device has to do already, in the slot that is expected to be free first.
Opening queued(const WorldState& state, DeviceId device) {
  Opening opening{.device = device, .slot = 0, .wait = state.free_at(device) - state.now};
  Duration least = kNever;
  for (int slot = 0; slot < state.cluster->machine().device(device).slots; ++slot) {
    const SlotStatus& status = state.slot(device, slot);
    if (status.phase != SlotStatus::Phase::busy) continue;
    const Duration end = state.job(status.job).ops[status.op.index].finished;
    if (end >= least) continue;
    least = end;
    opening.slot = slot;
  }
  return opening;
}

}  // namespace

std::optional<Action> Openings::promised(const WorldState& state) {
  for (size_t i = 0; i < promises_.size(); ++i) {
    const Promise promise = promises_[i];
    if (!state.slots[promise.slot].is_idle() ||
        state.job(promise.job).ops[promise.op.index].phase != OpStatus::Phase::ready)
      continue;
    promises_.erase(promises_.begin() + static_cast<std::ptrdiff_t>(i));
    return Action::execute(promise.job, promise.op, state.cluster->device_of_slot(promise.slot));
  }
  return std::nullopt;
}

bool Openings::is_promised(JobId job, OpId op) const {
  return std::any_of(promises_.begin(), promises_.end(),
                     [&](const Promise& p) { return p.job == job && p.op == op; });
}

bool Openings::is_promised(int32_t slot) const {
  return std::any_of(promises_.begin(), promises_.end(),
                     [&](const Promise& p) { return p.slot == slot; });
}

void Openings::list(const WorldState& state, const JobStatus& job, OpId op,
                    std::vector<Opening>& openings) const {
  openings.clear();
  const OpKindId kind = job.job->kind(op);
  for (const DeviceId device : job.job->devices_for(op)) {
    const Device& item = state.cluster->machine().device(device);
    Opening opening{.device = device, .slot = state.free_slot(device, kind)};
    if (opening.slot < 0 && state.has_room(device, kind)) opening = queued(state, device);
    for (int context = 0; opening.slot < 0 && context < item.contexts; ++context) {
      if (!state.slot(device, context).is_idle() ||
          is_promised(state.cluster->first_slot(device) + context))
        continue;
      opening.slot = context;
      opening.configures = true;
    }
    if (opening.slot < 0) continue;
    opening.time = std::max(opening.wait, state.fetch_time(job, op, device)) +
                   job.job->costs().run_time(op, device);
    if (opening.configures) opening.time += item.reconfiguration_time;
    openings.push_back(opening);
  }
}

Action Openings::take(const JobStatus& job, OpId op, const Opening& opening,
                      const WorldState& state) {
  if (!opening.configures) return Action::execute(job.id, op, opening.device);
  promises_.push_back({state.cluster->first_slot(opening.device) + opening.slot, job.id, op});
  return Action::reconfigure(opening.device, opening.slot, job.job->kind(op));
}

namespace {

// Mean run times of what waits in the queue of the slot's device, spread over its slots.
Duration queued_work(const WorldState& state, int32_t slot) {
  const DeviceId device = state.cluster->device_of_slot(slot);
  Duration sum{0};
  for (const QueuedOp& queued : state.devices[device.index].queue)
    sum += state.job(queued.job).job->costs().run_time(queued.op, device);
  return sum / state.cluster->machine().device(device).slots;
}

}  // namespace

Duration expected_end(const WorldState& state, const Openings& openings, int32_t slot) {
  const SlotStatus& status = state.slots[slot];
  const DeviceId device = state.cluster->device_of_slot(slot);
  Duration end = state.now;
  if (status.phase == SlotStatus::Phase::reconfiguring) {
    end = status.since + state.cluster->machine().device(device).reconfiguration_time;
  } else if (status.phase == SlotStatus::Phase::busy) {
    const JobStatus& job = state.job(status.job);
    const OpStatus& op = job.ops[status.op.index];
    const Duration begun = op.phase == OpStatus::Phase::running ? op.started : state.now;
    end = begun + job.job->costs().run_time(status.op, device);
  }
  end += queued_work(state, slot);
  for (const Openings::Promise& promise : openings.promises()) {
    if (promise.slot != slot) continue;
    end += state.job(promise.job).job->costs().run_time(promise.op, device);
  }
  return std::max(end, state.now);
}

void PlacingDecider::begin(const Cluster& cluster, uint64_t seed) {
  openings_.reset();
  epoch_ = -1;
  on_begin(cluster, seed);
}

Action PlacingDecider::decide(const WorldState& state) {
  if (state.epoch != epoch_) {
    epoch_ = state.epoch;
    on_epoch(state);
  }
  if (const auto action = openings_.promised(state)) {
    const JobStatus& job = state.job(action->job);
    const int slot = state.free_slot(action->device, job.job->kind(action->op));
    on_launch(state, {&job, action->op, {.device = action->device, .slot = slot}});
    return *action;
  }
  std::optional<Choice> choice = choose(state);
  if (!choice && state.busy_slots == 0) {
    for (const JobId id : state.in_system) {
      for (const OpId op : state.job(id).ready) {
        if (choice) break;
        openings_.list(state, state.job(id), op, list_);
        const auto quickest =
            std::min_element(list_.begin(), list_.end(),
                             [](const Opening& a, const Opening& b) { return a.time < b.time; });
        if (quickest != list_.end()) choice = Choice{&state.job(id), op, *quickest};
      }
    }
  }
  if (!choice) return Action::nothing();
  if (!choice->opening.configures) on_launch(state, *choice);
  return openings_.take(*choice->job, choice->op, choice->opening, state);
}

std::vector<Opening>& PlacingDecider::bearable(const WorldState& state, const JobStatus& job,
                                               OpId op, double patience) {
  if (openings_.is_promised(job.id, op)) {
    list_.clear();
    return list_;
  }
  openings_.list(state, job, op, list_);
  if (patience > 0) {
    const double most = patience * static_cast<double>(job.job->least_run_time(op).count());
    std::erase_if(list_, [&](const Opening& opening) {
      return static_cast<double>(opening.time.count()) > most;
    });
  }
  return list_;
}

}  // namespace tutti
