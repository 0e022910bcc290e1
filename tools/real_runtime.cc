#include "tools/real_runtime.h"

#include "tutti/kernels/inputs.h"

namespace tutti {

Result<std::unique_ptr<RealRuntime>> RealRuntime::open(const Machine& machine, Stop stop) {
  Result<std::unique_ptr<LocalRuntime>> local = LocalRuntime::open(machine, OpTable::standard());
  if (!local) return local.error();
  return std::unique_ptr<RealRuntime>(new RealRuntime(std::move(*local), stop));
}

void RealRuntime::prepare(const Graph& graph) {
  LocalOptions options;
  options.stop = stop_;
  options.keep_inputs = true;
  options.input = [this, &graph](ValueId value, const Block& block) {
    if (can_fill(block.dtype)) inputs_.fill(graph, value, block);
  };
  local_->set_options(std::move(options));
}

Result<Trace> RealRuntime::run(const Problem& problem, const Plan& plan) {
  prepare(problem.graph);
  return local_->run(problem, plan);
}

Result<Trace> RealRuntime::run_online(const Problem& problem, Policy& policy) {
  prepare(problem.graph);
  return local_->run_online(problem, policy);
}

CanRun RealRuntime::can_run() const {
  return [this](std::string_view kind, std::string_view device_kind) {
    return ops_.find(kind, device_kind) != nullptr;
  };
}

}  // namespace tutti
