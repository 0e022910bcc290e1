#include "tutti/runtime/sim/sim.h"

#include "tutti/runtime/sim/physical.h"
#include "tutti/runtime/sim/released.h"

namespace tutti {

Result<Trace> SimRuntime::run(const Problem& problem, const Plan& plan) {
  if (model_ == SimModel::released) {
    ReleasedSimulator simulator(problem);
    simulator.evaluate(plan.placement);
    return simulator.trace();
  }
  PhysicalSimulator simulator(problem);
  const Result<Duration> makespan = simulator.run(plan, options_);
  if (!makespan) return makespan.error();
  return simulator.trace();
}

Result<Trace> SimRuntime::run_online(const Problem& problem, Policy& policy) {
  if (model_ == SimModel::released) {
    return invalid_input("the released model runs plans only; use --model physical");
  }
  PhysicalSimulator simulator(problem);
  const Result<Duration> makespan = simulator.run_online(policy, options_);
  if (!makespan) return makespan.error();
  return simulator.trace();
}

}  // namespace tutti
