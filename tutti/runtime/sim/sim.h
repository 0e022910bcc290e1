// The simulator as a Runtime: either model behind the same two verbs as a real machine.

#ifndef TUTTI_RUNTIME_SIM_SIM_H_
#define TUTTI_RUNTIME_SIM_SIM_H_

#include "tutti/runtime/runtime.h"
#include "tutti/runtime/sim/options.h"

namespace tutti {

enum class SimModel : uint8_t {
  physical,  // sim/physical.h
  released,  // sim/released.h; plans only
};

class SimRuntime : public Runtime {
 public:
  explicit SimRuntime(SimModel model = SimModel::physical, SimOptions options = {})
      : model_(model), options_(options) {
    options_.record = true;
  }

  Result<Trace> run(const Problem& problem, const Plan& plan) override;
  // Fails for the released model, which knows no online policies.
  Result<Trace> run_online(const Problem& problem, Policy& policy) override;

 private:
  SimModel model_;
  SimOptions options_;
};

}  // namespace tutti

#endif  // TUTTI_RUNTIME_SIM_SIM_H_
