#include "tutti/runtime/sim/remembered_run.h"

#include <algorithm>

namespace tutti {

bool RememberedRun::pays_for(const Problem& problem) {
  constexpr int32_t kFewest = 48;
  constexpr int32_t kMost = 20'000;  // states of more ops do not stay in the cache
  return problem.graph.size() >= kFewest && problem.graph.size() <= kMost;
}

// An op's device matters when the first of its operands is made, or at once if it reads none that
// is made or one that has to come from its home.
Duration RememberedRun::moved_matters_at(OpId op) const {
  const Graph& graph = problem_->graph;
  Duration first = kNever;
  for (const ValueId value : graph.operands(op)) {
    const OpId producer = graph.producer(value);
    if (producer.valid()) {
      first = std::min(first, finish_[producer.index]);
    } else if (problem_->home(value).valid()) {
      return Duration{0};
    }
  }
  return first == kNever ? Duration{0} : first;
}

const PhysicalState* RememberedRun::shared_with(const Plan& plan) {
  shared_ = 0;
  shared_calls_ = 0;
  if (!complete_ || !plan.strict_order.empty()) return nullptr;
  Duration same_until = kNever;
  for (const OpId op : problem_->graph.ops()) {
    if (plan.placement[op.index] != placement_[op.index]) {
      same_until = std::min(same_until, moved_matters_at(op));
    } else if (plan.priority[op.index] != priority_[op.index]) {
      same_until = std::min(same_until, ready_at_[op.index]);
    }
  }
  const Kept* latest = nullptr;
  for (const Kept& kept : states_) {
    // What happens at the instant of a state has happened in it.
    if (!kept.kept || kept.state->now_ >= same_until) break;
    latest = &kept;
    ++shared_;
  }
  if (latest == nullptr) return nullptr;
  shared_calls_ = latest->calls;
  return &*latest->state;
}

void RememberedRun::begin(bool shared) {
  if (!shared) shared_ = 0;
  next_ = static_cast<int>(shared_);
  for (Kept& kept : new_ones_) kept.kept = false;
}

void RememberedRun::look_at(const PhysicalState& state, size_t calls) {
  if (next_ == kStates || state.unfinished_ == 0 || state.was_tight_) return;
  const int32_t ops = problem_->graph.size();
  const int64_t finished = ops - state.unfinished_;
  if (finished * (kStates + 1) < int64_t{ops} * (next_ + 1)) return;
  Kept& kept = new_ones_[static_cast<size_t>(next_++)];
  if (kept.state) {
    *kept.state = state;
  } else {
    kept.state.emplace(state);
  }
  kept.calls = calls;
  kept.kept = true;
}

void RememberedRun::complete(const Plan& plan, const PhysicalState& state, const Ledger& ledger) {
  for (size_t i = shared_; i < states_.size(); ++i) std::swap(states_[i], new_ones_[i]);
  placement_ = plan.placement;
  priority_ = plan.priority;
  finish_ = state.finish_;
  ready_at_ = state.ready_at_;
  calls_ = ledger.calls();
  has_books_ = ledger.keeps_books();
  complete_ = plan.strict_order.empty();
}

}  // namespace tutti
