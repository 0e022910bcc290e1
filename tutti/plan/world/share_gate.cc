#include "tutti/plan/world/share_gate.h"

namespace tutti {
namespace {

Duration expected_time(const JobStatus& job, OpId op, DeviceId device) {
  return job.job->costs().run_time(op, device);
}

}  // namespace

JobAccount* ShareGate::account_of(JobId job) const {
  const auto found = accounts_.find(job);
  return found == accounts_.end() ? nullptr : found->second;
}

void ShareGate::given(const JobStatus& job, OpId op, DeviceId device) {
  if (const JobAccount* const account = account_of(job.id))
    shares_.given(*account, expected_time(job, op, device));
}

void ShareGate::taken_back(const JobStatus& job, OpId op, DeviceId device) {
  if (const JobAccount* const account = account_of(job.id))
    shares_.taken_back(*account, expected_time(job, op, device));
}

void ShareGate::abandon(const JobStatus& job) {
  for (const OpId op : job.job->graph().ops()) {
    const OpStatus& status = job.ops[op.index];
    const bool given =
        status.phase == OpStatus::Phase::queued || status.phase == OpStatus::Phase::running;
    if (given) taken_back(job, op, status.device);
  }
  remove(job.id);
}

void ShareGate::ended(const Job& job, const FinishedOp& op, Duration now) {
  JobAccount* const account = account_of(op.job);
  if (account == nullptr) return;
  shares_.ended(*account, op.device.index, op.alone, job.least_run_time(op.op),
                op.finished - op.started, now);
}

void ShareGate::show_only(WorldLedger& ledger, int32_t client) {
  for (const JobId id : all_) {
    const JobAccount* const account = account_of(id);
    const bool mine = account == nullptr || account->client < 0 || account->client == client;
    mine ? ledger.show(ledger.job(id)) : ledger.hide(ledger.job(id));
  }
}

void ShareGate::show_all(WorldLedger& ledger) {
  for (const JobId id : all_) ledger.show(ledger.job(id));
}

Action ShareGate::decide(WorldLedger& ledger, Decider& decider, Duration now) {
  ask_again_ = kNever;
  const WorldState& state = ledger.state();
  if (!shares_.divides()) return decider.decide(state);
  all_ = state.in_system;
  shares_.order(now, /*places=*/false, order_);
  Action action = Action::nothing();
  // Jobs without a client are there in every view; if they are alone, one view is enough.
  if (order_.empty()) order_.push_back(-1);
  for (const int32_t client : order_) {
    show_only(ledger, client);
    if (!can_act(state)) continue;
    action = decider.decide(state);
    if (action.kind != Action::Kind::no_op) break;
  }
  show_all(ledger);
  if (action.kind == Action::Kind::no_op) ask_again_ = shares_.next_change(now);
  return action;
}

}  // namespace tutti
