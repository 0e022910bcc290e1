#include "tutti/runtime/sim/sim.h"

#include "tutti/plan/world/select_place.h"
#include "tutti/runtime/sim/physical.h"

namespace tutti {

Result<Trace> SimRuntime::run(const Problem& problem, const Plan& plan) {
  if (const OtherSimModel* other = model_.other(); other != nullptr) {
    const std::unique_ptr<PlanSimulator> simulator = other->make(problem);
    simulator->evaluate(plan, kNever);
    return simulator->trace();
  }
  PhysicalSimulator simulator(problem);
  const Result<Duration> makespan = simulator.run(plan, options_);
  if (!makespan) return makespan.error();
  return simulator.trace();
}

Result<Trace> SimRuntime::run_online(const Problem& problem, Policy& policy) {
  if (model_ != SimModel::physical) {
    return invalid_input("the " + model_.name() + " model runs plans only; use --model physical");
  }
  PhysicalSimulator simulator(problem);
  OnePolicy decider(policy);
  const Result<Duration> makespan = simulator.run_online(decider, options_);
  if (!makespan) return makespan.error();
  return simulator.trace();
}

}  // namespace tutti
