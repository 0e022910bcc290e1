#include "tutti/policy/online/eft/backlog_eft.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "tutti/policy/schedule/ranks.h"

namespace tutti {
namespace {

constexpr double kFar = std::numeric_limits<double>::infinity();

}  // namespace

void BacklogEft::on_begin(const Cluster& cluster, uint64_t /*seed*/) {
  cluster_ = &cluster;
  forecast_.begin(cluster);
  ranks_.clear();
  launches_.clear();
  answered_ = 0;
  planned_ = false;
}

void BacklogEft::on_epoch(const WorldState& state) {
  planned_ = false;
  forget_ended(state, ranks_);
}

std::optional<PlacingDecider::Choice> BacklogEft::choose(const WorldState& state) {
  // Jobs may be hidden from one decision and not from the next.
  if (!planned_ || planned_for_ != state.in_system) {
    planned_ = true;
    planned_for_ = state.in_system;
    plan(state);
  }
  while (answered_ < launches_.size()) {
    const Launch& next = launches_[answered_++];
    const JobStatus& job = state.job(next.job);
    // The last action may have been dropped, or taken what was planned for this op.
    const bool open =
        next.opening.configures
            ? state.slot(next.opening.device, next.opening.slot).phase == SlotStatus::Phase::idle
            : state.has_room(next.opening.device, job.job->kind(next.op));
    if (open && job.ops[next.op.index].phase == OpStatus::Phase::ready)
      return Choice{&job, next.op, next.opening};
  }
  return std::nullopt;
}

const std::vector<double>& BacklogEft::ranks(const std::shared_ptr<const Job>& job) {
  const auto found = ranks_.find(job);
  if (found != ranks_.end()) return found->second;
  return ranks_.emplace(job, upward_ranks(job->problem(), EdgeWeight::all_pairs)).first->second;
}

double BacklogEft::key(const WorldState& state, const JobStatus& job) const {
  const double critical = std::max(1.0, in_ns(job.job->critical_path()));
  const double waited = in_ns(state.now - job.arrival);
  const double left = std::max(1.0, in_ns(job.work_left));
  switch (settings_.order) {
    case BacklogEftSettings::Order::arrival:
      return in_ns(job.arrival);
    case BacklogEftSettings::Order::upward_rank:
      return -settings_.age * waited;
    case BacklogEftSettings::Order::remaining_work:
      return std::log(left) - settings_.age * std::log1p(waited / critical);
    case BacklogEftSettings::Order::slowdown:
      return std::log(left) + std::log(critical) - settings_.age * std::log1p(waited / critical);
  }
  return 0;
}

void BacklogEft::gather(const WorldState& state) {
  candidates_.clear();
  for (const JobId id : state.in_system) {
    const JobStatus& job = state.job(id);
    if (job.ready.empty()) continue;
    const std::vector<double>& rank = ranks(job.job);
    const double its = key(state, job);
    const bool by_rank = settings_.order == BacklogEftSettings::Order::upward_rank;
    for (const OpId op : job.ready) {
      if (openings().is_promised(id, op)) continue;
      candidates_.push_back({by_rank ? its - rank[op.index] : its, rank[op.index], id, op});
    }
  }
  std::sort(candidates_.begin(), candidates_.end(), [](const Candidate& a, const Candidate& b) {
    return std::tuple(a.key, -a.rank, a.job, a.op) < std::tuple(b.key, -b.rank, b.job, b.op);
  });
}

void BacklogEft::look_at_rooms(const WorldState& state) {
  forecast_.update(state, openings());
  const size_t slots = state.slots.size();
  free_in_.resize(slots);
  idle_.resize(slots);
  configured_.resize(slots);
  for (size_t slot = 0; slot < slots; ++slot) {
    free_in_[slot] = forecast_.free_in(static_cast<int32_t>(slot));
    idle_[slot] = state.slots[slot].phase == SlotStatus::Phase::idle && free_in_[slot] == 0 ? 1 : 0;
    configured_[slot] = state.slots[slot].configured;
  }
  rooms_.resize(state.devices.size());
  for (const DeviceId device : cluster_->machine().devices()) {
    const DeviceStatus& status = state.devices[device.index];
    rooms_[device.index] = {
        .first = cluster_->first_slot(device),
        .queue = std::max(0, status.depth - static_cast<int32_t>(status.queue.size()))};
    const int32_t slots_here = cluster_->machine().device(device).slots;
    for (int32_t slot = rooms_[device.index].first; slot < rooms_[device.index].first + slots_here;
         ++slot)
      rooms_[device.index].idle += idle_[slot];
    find_next_slot(device);
  }
}

// Of several that are free at once: one on an idle core, as WorldState::free_slot has it.
void BacklogEft::find_next_slot(DeviceId device) {
  Room& room = rooms_[device.index];
  const Device& item = cluster_->machine().device(device);
  const bool threads = item.slots > cores_of(item);
  double least = kFar;
  double least_drawn = kFar;
  for (int32_t slot = room.first; slot < room.first + item.slots; ++slot) {
    if (free_in_[slot] > least) continue;
    double drawn = 0;
    if (threads && is_cpu(cluster_->machine(), device)) {
      const int core = (slot - room.first) % cores_of(item);
      const int32_t resource = cluster_->resources().find(core_of(device, core));
      if (resource >= 0) drawn = forecast_.crowding().drawn(resource);
    }
    if (free_in_[slot] == least && drawn >= least_drawn) continue;
    least = free_in_[slot];
    least_drawn = drawn;
    room.next = slot;
  }
}

BacklogEft::Spot BacklogEft::spot_on(const WorldState& state, const JobStatus& job, OpId op,
                                     DeviceId device) {
  const Device& item = cluster_->machine().device(device);
  const Room& room = rooms_[device.index];
  const OpKindId kind = job.job->kind(op);
  const double fetch = forecast_.fetch_ns(job, op, device);
  const double run = forecast_.run_ns(state, job, op, device);
  const auto spot_at = [&](int32_t slot, double wait) {
    const double start = std::max(wait, fetch);
    const double slowdown = settings_.crowding == 0 ? 1
                                                    : forecast_.crowding().slowdown(
                                                          cluster_->draws(kind, slot), start, run);
    const double takes = run * (1 + settings_.crowding * (slowdown - 1));
    return Spot{.slot = slot, .finish = start + takes};
  };
  if (item.contexts == 0) {
    Spot spot = spot_at(room.next, free_in_[room.next]);
    spot.now = idle_[room.next] != 0 || (room.idle == 0 && room.queue > 0);
    return spot;
  }
  Spot best{.finish = kFar};
  for (int32_t slot = room.first; slot < room.first + item.slots; ++slot) {
    const bool configures = configured_[slot] != kind;
    Spot spot = spot_at(slot, free_in_[slot] + (configures ? in_ns(item.reconfiguration_time) : 0));
    spot.now = idle_[slot] != 0;
    spot.configures = configures;
    if (spot.finish < best.finish) best = spot;
  }
  return best;
}

// The slot is taken; what the op draws is there from now on, or later instead of what is there.
void BacklogEft::take(const WorldState& state, const JobStatus& job, OpId op, const Spot& spot) {
  const DeviceId device = cluster_->device_of_slot(spot.slot);
  const OpKindId kind = job.job->kind(op);
  Room& room = rooms_[device.index];
  const std::span<const Draw> draws = cluster_->draws(kind, spot.slot);
  const double run = forecast_.run_ns(state, job, op, device);
  if (spot.now) {
    launches_.push_back({job.id, op,
                         Opening{.device = device,
                                 .slot = spot.slot - room.first,
                                 .configures = spot.configures,
                                 .time = nanoseconds_of(std::min(spot.finish, 1e15))}});
  }
  if (idle_[spot.slot] != 0) {
    forecast_.crowding().add_running(draws, run);
    --room.idle;
  } else {
    forecast_.crowding().add_waiting(draws, run);
    if (spot.now) --room.queue;
  }
  idle_[spot.slot] = 0;
  free_in_[spot.slot] = spot.finish;
  configured_[spot.slot] = kind;
  find_next_slot(device);
}

bool BacklogEft::is_open() const {
  return std::any_of(rooms_.begin(), rooms_.end(),
                     [](const Room& room) { return room.idle > 0 || room.queue > 0; });
}

void BacklogEft::plan(const WorldState& state) {
  launches_.clear();
  answered_ = 0;
  gather(state);
  look_at_rooms(state);
  for (const Candidate& candidate : candidates_) {
    if (!is_open()) return;
    const JobStatus& job = state.job(candidate.job);
    Spot best{.finish = kFar};
    Spot best_now{.finish = kFar};
    for (const DeviceId device : job.job->devices_for(candidate.op)) {
      const Spot spot = spot_on(state, job, candidate.op, device);
      if (spot.finish < best.finish) best = spot;
      if (spot.now && spot.finish < best_now.finish) best_now = spot;
    }
    const bool waits = !best.now && best.finish * settings_.reluctance < best_now.finish;
    take(state, job, candidate.op, waits || best_now.slot < 0 ? best : best_now);
  }
}

}  // namespace tutti
