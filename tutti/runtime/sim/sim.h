// The simulator as a Runtime: any model behind the same two verbs as a real machine.

#ifndef TUTTI_RUNTIME_SIM_SIM_H_
#define TUTTI_RUNTIME_SIM_SIM_H_

#include "tutti/runtime/runtime.h"
#include "tutti/runtime/sim/model.h"
#include "tutti/runtime/sim/options.h"

namespace tutti {

class SimRuntime : public Runtime {
 public:
  explicit SimRuntime(SimModel model = SimModel::physical, SimOptions options = {})
      : model_(model), options_(options) {
    options_.record = true;
  }

  Result<Trace> run(const Problem& problem, const Plan& plan) override;
  // Fails for all but the physical model: others know no online policies.
  Result<Trace> run_online(const Problem& problem, Policy& policy) override;

 private:
  SimModel model_;
  SimOptions options_;
};

}  // namespace tutti

#endif  // TUTTI_RUNTIME_SIM_SIM_H_
