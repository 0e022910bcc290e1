#include "tutti/plan/world/select_place.h"

#include <optional>

#include "tutti/plan/world/job_view.h"

namespace tutti {
namespace {

// The first idle context that could be configured for the op; none if the op has another way to
// run.
std::optional<Action> context_for(const WorldState& state, const JobView& view,
                                  const JobStatus& job, OpId op) {
  const OpKindId kind = job.job->kind(op);
  std::optional<Action> first;
  for (const DeviceId device : view.eventual_devices(op)) {
    const int contexts = state.cluster->machine().device(device).contexts;
    if (contexts == 0) return std::nullopt;
    for (int context = 0; context < contexts; ++context) {
      const SlotStatus& slot = state.slot(device, context);
      if (slot.configured == kind) return std::nullopt;
      if (first || slot.phase != SlotStatus::Phase::idle) continue;
      first = Action::reconfigure(device, context, kind);
    }
  }
  return first;
}

std::optional<Action> context_for_any(const WorldState& state) {
  if (!state.cluster->has_contexts()) return std::nullopt;
  for (const JobId id : state.in_system) {
    const JobStatus& job = state.job(id);
    const JobView view(state, job);
    for (const OpId op : job.ready) {
      if (const auto action = context_for(state, view, job, op)) return action;
    }
  }
  return std::nullopt;
}

}  // namespace

void SelectPlace::begin(const Cluster& /*cluster*/, uint64_t seed) {
  seed_ = seed;
  policies_.clear();
}

Policy& SelectPlace::policy_of(const WorldState& state, const JobStatus& job) {
  const auto found = policies_.find(job.id);
  if (found != policies_.end()) return found->second;
  std::erase_if(policies_, [&](const auto& entry) { return !state.jobs[entry.first.index]; });
  const uint64_t seed = seed_ + static_cast<uint64_t>(job.id.index);
  return policies_.emplace(job.id, make_(job.job->problem(), seed)).first->second;
}

Action SelectPlace::decide(const WorldState& state) {
  for (const JobId id : state.in_system) {
    const JobView view(state, state.job(id));
    if (view.ready().empty()) continue;
    Policy& policy = policy_of(state, state.job(id));
    if (const std::optional<OpId> op = policy.select->select(view))
      return Action::execute(id, *op, policy.place->place(view, *op));
  }
  if (const auto action = context_for_any(state)) return *action;
  if (state.busy_slots > 0) return Action::nothing();
  legal_actions(state, legal_);
  return legal_.front();
}

Action OnePolicy::decide(const WorldState& state) {
  const JobStatus& job = state.job(state.in_system.front());
  const JobView view(state, job);
  if (view.ready().empty()) return Action::nothing();
  const std::optional<OpId> op = policy_.select->select(view);
  if (!op) return Action::nothing();
  return Action::execute(job.id, *op, policy_.place->place(view, *op));
}

}  // namespace tutti
