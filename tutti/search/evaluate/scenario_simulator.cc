#include "tutti/search/evaluate/scenario_simulator.h"

namespace tutti {

ScenarioSimulator::ScenarioSimulator(const Problem& problem, SimModel model, ReadyOrder order)
    : problem_(problem), order_(order) {
  if (model.other() != nullptr) {
    other_ = model.other()->make(problem);
  } else {
    physical_.emplace(problem);
  }
}

Result<Duration> ScenarioSimulator::makespan(const Plan& plan, uint64_t seed,
                                             Duration give_up_beyond, const Stop& stop) {
  if (stop.now()) return kNever;
  if (other_) return other_->evaluate(plan, give_up_beyond);
  return physical_->run(plan, {.order = order_,
                               .seed = seed,
                               .sample = problem_.costs.has_noise(),
                               .give_up_beyond = give_up_beyond,
                               .remembered = remembered(seed),
                               .stop = stop});
}

RememberedRun* ScenarioSimulator::remembered(uint64_t seed) {
  constexpr size_t kMost = 32;  // scenarios of a search; held-out ones are not run twice
  if (!RememberedRun::pays_for(problem_)) return nullptr;
  if (!depends_on_seed()) seed = 0;
  if (const auto known = remembered_.find(seed); known != remembered_.end()) return &known->second;
  if (remembered_.size() == kMost) return nullptr;
  return &remembered_.emplace(seed, problem_).first->second;
}

bool ScenarioSimulator::depends_on_seed() const {
  return physical_.has_value() && (problem_.costs.has_noise() || order_ == ReadyOrder::random);
}

bool ScenarioSimulator::depends_on_priority() const {
  return physical_.has_value() && order_ == ReadyOrder::priority;
}

void ScenarioSimulator::critical_path(std::vector<OpId>& path) const {
  path.clear();
  OpId last{};
  for (const OpId op : problem_.graph.ops()) {
    if (!last.valid() || finish(op) > finish(last)) last = op;
  }
  for (OpId op = last; op.valid(); op = decided_by(op)) path.push_back(op);
}

}  // namespace tutti
