#include "tutti/policy/online/plan_by_decider.h"

#include <algorithm>
#include <map>

#include "tutti/plan/draft.h"
#include "tutti/plan/world/world_ledger.h"
#include "tutti/policy/schedule/memory.h"

namespace tutti {
namespace {

enum class Happens : uint8_t { start, end };

struct ListEvent {
  Happens happens;
  Action action;
};

// The action's own device if the draft allows it; else the one with room on which the op starts
// first. Invalid: none of them has room now.
DeviceId allowed_device(const WorldState& state, const Draft& draft, const Action& action) {
  const OpKindId kind = state.job(action.job).job->kind(action.op);
  DeviceId best;
  for (const DeviceId device : draft.devices_for(action.op)) {
    if (device == action.device) return device;
    if (!state.has_room(device, kind)) continue;
    if (!best.valid() ||
        draft.earliest_start(action.op, device) < draft.earliest_start(action.op, best))
      best = device;
  }
  return best;
}

void take_place(const ListEvent& event, JobStatus& job, WorldLedger& ledger) {
  const auto& [happens, action] = event;
  const Cluster& cluster = *ledger.state().cluster;
  if (action.kind == Action::Kind::reconfigure) {
    ledger.configured(cluster.first_slot(action.device) + action.context);
  } else if (happens == Happens::end) {
    ledger.finish(job, action.op);
  } else {
    for (const ValueId value : job.job->graph().operands(action.op))
      ledger.arrive(job, value, cluster.machine().memory_of(action.device));
    ledger.start(job, action.op);
  }
}

}  // namespace

Result<Plan> plan_by_decider(Decider& decider, const Problem& problem, const Budget& budget,
                             uint64_t seed) {
  Result<Cluster> cluster = Cluster::make(problem.shared_machine(), {});
  if (!cluster) return cluster.error();
  WorldLedger ledger(*cluster);
  JobStatus& job = ledger.admit(cluster->add_job(problem));
  const WorldState& state = ledger.state();
  Draft draft(problem);
  std::multimap<Duration, ListEvent> events;
  decider.begin(*cluster, seed);
  while (!draft.complete()) {
    if (budget.stop.now()) return out_of_time();
    ledger.begin_epoch();
    while (can_act(state)) {
      Action action = decider.decide(state);
      if (action.kind == Action::Kind::no_op) break;
      if (action.kind == Action::Kind::reconfigure) {
        ledger.configure(action);
        const Duration takes = problem.machine.device(action.device).reconfiguration_time;
        events.emplace(state.now + takes, ListEvent{Happens::end, action});
        continue;
      }
      if (draft.devices_for(action.op).empty()) return no_room_for(draft, action.op);
      action.device = allowed_device(state, draft, action);
      if (!action.device.valid()) break;
      const Duration start = std::max(state.now, draft.arrival(action.op, action.device));
      draft.apply_at(action.op, action.device, start);
      ledger.execute(action);
      events.emplace(start, ListEvent{Happens::start, action});
      events.emplace(draft.finish(action.op), ListEvent{Happens::end, action});
    }
    if (draft.complete()) break;
    if (events.empty()) return infeasible("no plan found: the policy leaves the machine idle");
    ledger.set_time(events.begin()->first);
    for (; !events.empty() && events.begin()->first == state.now; events.erase(events.begin()))
      take_place(events.begin()->second, job, ledger);
  }
  return draft.to_plan();
}

}  // namespace tutti
