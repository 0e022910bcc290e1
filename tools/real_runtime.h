// The local engine for commands that run many graphs in a row: it fills their inputs, and keeps the
// numbers from run to run.

#ifndef TUTTI_TOOLS_REAL_RUNTIME_H_
#define TUTTI_TOOLS_REAL_RUNTIME_H_

#include <memory>
#include <string>

#include "tutti/base/stop.h"
#include "tutti/calibrate/experiment.h"
#include "tutti/calibrate/input_cache.h"
#include "tutti/runtime/local/local.h"

namespace tutti {

class RealRuntime : public Runtime {
 public:
  // Fails as LocalRuntime::open does. Keeps a reference to the machine.
  static Result<std::unique_ptr<RealRuntime>> open(const Machine& machine, Stop stop);

  Result<Trace> run(const Problem& problem, const Plan& plan) override;
  Result<Trace> run_online(const Problem& problem, Policy& policy) override;

  std::string note() const { return local_->note(); }
  // What there is code for.
  CanRun can_run() const;

 private:
  RealRuntime(std::unique_ptr<LocalRuntime> local, Stop stop)
      : local_(std::move(local)), stop_(stop), ops_(OpTable::standard()) {}
  void prepare(const Graph& graph);

  std::unique_ptr<LocalRuntime> local_;
  Stop stop_;
  OpTable ops_;
  InputCache inputs_;
};

}  // namespace tutti

#endif  // TUTTI_TOOLS_REAL_RUNTIME_H_
