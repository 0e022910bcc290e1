#include "tutti/plan/world/decider.h"

#include <fmt/format.h>

#include <algorithm>

namespace tutti {
namespace {

using Phase = OpStatus::Phase;

std::string device_name(const WorldState& state, DeviceId device) {
  return state.cluster->machine().device(device).name;
}

bool may_configure(const WorldState& state, DeviceId device, const SlotStatus& slot,
                   OpKindId kind) {
  return slot.is_idle() && slot.configured != kind && state.pending[kind.index] > 0 &&
         state.cluster->runs(kind, device);
}

// Calls `visit` for each idle context and kind it may be configured for, until it says false.
template <class Visit>
bool visit_contexts(const WorldState& state, Visit visit) {
  if (!state.cluster->has_contexts()) return true;
  const Machine& machine = state.cluster->machine();
  for (const DeviceId device : machine.devices()) {
    for (int context = 0; context < machine.device(device).contexts; ++context) {
      const SlotStatus& slot = state.slot(device, context);
      if (!slot.is_idle()) continue;
      for (int32_t k = 0; k < static_cast<int32_t>(state.pending.size()); ++k) {
        if (may_configure(state, device, slot, OpKindId{k}) && !visit(device, context, OpKindId{k}))
          return false;
      }
    }
  }
  return true;
}

// The same for each ready op and device that could run it now.
template <class Visit>
bool visit_ops(const WorldState& state, Visit visit) {
  for (const JobId id : state.in_system) {
    const JobStatus& job = state.job(id);
    for (const OpId op : job.ready) {
      for (const DeviceId device : job.job->devices_for(op)) {
        if (state.has_room(device, job.job->kind(op)) && !visit(id, op, device)) return false;
      }
    }
  }
  return true;
}

Result<void> check_execute(const WorldState& state, const Action& action) {
  const auto count = static_cast<int32_t>(state.jobs.size());
  if (action.job.index < 0 || action.job.index >= count || !state.jobs[action.job.index]) {
    return invalid_input(fmt::format("there is no job {} in the system", action.job.index));
  }
  const JobStatus& job = state.job(action.job);
  if (action.op.index < 0 || action.op.index >= job.job->graph().size()) {
    return invalid_input(fmt::format("job {} has no op {}", action.job.index, action.op.index));
  }
  const std::string op =
      fmt::format("op '{}' of job {}", job.job->graph().op_name(action.op), action.job.index);
  if (job.ops[action.op.index].phase != Phase::ready)
    return invalid_input(op + " is not ready: its producers have not ended, or it was launched");
  if (!job.job->problem().allows(action.op, action.device))
    return invalid_input(op + " may not run on " + device_name(state, action.device));
  if (!state.has_room(action.device, job.job->kind(action.op))) {
    const bool queues = state.devices[action.device.index].depth > 0;
    return invalid_input(fmt::format("{} has no free slot{} for {}",
                                     device_name(state, action.device),
                                     queues ? " and no place in its queue" : "", op));
  }
  return {};
}

Result<void> check_reconfigure(const WorldState& state, const Action& action) {
  const std::string name = device_name(state, action.device);
  const int contexts = state.cluster->machine().device(action.device).contexts;
  if (action.context < 0 || action.context >= contexts)
    return invalid_input(fmt::format("{} has no context {}", name, action.context));
  const auto kinds = static_cast<int32_t>(state.pending.size());
  if (action.op_kind.index < 0 || action.op_kind.index >= kinds)
    return invalid_input(fmt::format("there is no kind {} of ops", action.op_kind.index));
  const SlotStatus& slot = state.slot(action.device, action.context);
  if (!may_configure(state, action.device, slot, action.op_kind)) {
    return invalid_input(fmt::format(
        "context {} of {} cannot be configured for '{}' now: it is not idle, has it already, or no "
        "op waits for it",
        action.context, name, state.cluster->kinds()[action.op_kind.index]));
  }
  return {};
}

}  // namespace

Result<void> check_action(const WorldState& state, const Action& action) {
  if (action.kind == Action::Kind::no_op) {
    if (state.busy_slots == 0 && can_act(state))
      return invalid_input("the whole cluster is idle and something could run: do something");
    return {};
  }
  if (action.device.index < 0 || action.device.index >= state.cluster->machine().size())
    return invalid_input(fmt::format("there is no device {}", action.device.index));
  return action.kind == Action::Kind::execute ? check_execute(state, action)
                                              : check_reconfigure(state, action);
}

void legal_actions(const WorldState& state, std::vector<Action>& actions) {
  actions.clear();
  visit_ops(state, [&](JobId job, OpId op, DeviceId device) {
    actions.push_back(Action::execute(job, op, device));
    return true;
  });
  visit_contexts(state, [&](DeviceId device, int context, OpKindId kind) {
    actions.push_back(Action::reconfigure(device, context, kind));
    return true;
  });
  if (state.busy_slots > 0 || actions.empty()) actions.push_back(Action::nothing());
}

bool can_act(const WorldState& state) {
  if (state.in_system.empty()) return false;
  // Kinds first: under load most ready ops are of kinds whose devices are all busy.
  bool may = false;
  const IdRange<DeviceId> devices = state.cluster->machine().devices();
  for (int32_t k = 0; !may && k < static_cast<int32_t>(state.ready.size()); ++k) {
    if (state.ready[k] == 0) continue;
    for (const DeviceId device : devices) {
      may =
          may || (state.cluster->runs(OpKindId{k}, device) && state.has_room(device, OpKindId{k}));
    }
  }
  // An op may be allowed on fewer devices than its kind.
  return (may && !visit_ops(state, [](JobId, OpId, DeviceId) { return false; })) ||
         !visit_contexts(state, [](DeviceId, int, OpKindId) { return false; });
}

}  // namespace tutti
