// The local engine for measuring: it fills the inputs of any graph, and keeps their numbers from
// run to run, because drawing them again would take longer than many of the runs. For one thread.

#ifndef TUTTI_CALIBRATE_MEASURING_RUNTIME_H_
#define TUTTI_CALIBRATE_MEASURING_RUNTIME_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tutti/base/stop.h"
#include "tutti/calibrate/experiment.h"
#include "tutti/graph/graph.h"
#include "tutti/kernels/block.h"
#include "tutti/runtime/local/local.h"

namespace tutti {

class InputCache {
 public:
  // As fill_input of tutti/kernels/inputs.h. In a graph without edges, operands of one shape at the
  // same place of one kind get the same numbers.
  void fill(const Graph& graph, ValueId value, const Block& block);

 private:
  static constexpr size_t kMostBytes = size_t{1} << 30;
  std::string key_of(const Graph& graph, ValueId value);

  std::map<uint64_t, bool> has_edges_;  // by graph
  std::map<std::string, std::vector<std::byte>> kept_;
  size_t bytes_ = 0;
};

class MeasuringRuntime : public Runtime {
 public:
  // Fails as LocalRuntime::open does. Keeps a reference to the machine.
  static Result<std::unique_ptr<MeasuringRuntime>> open(const Machine& machine, Stop stop);

  Result<Trace> run(const Problem& problem, const Plan& plan) override;
  Result<Trace> run_online(const Problem& problem, Policy& policy) override;

  std::string note() const { return local_->note(); }
  // The kinds of ops that it has code for, by kind of device.
  CanRun can_run() const;

 private:
  MeasuringRuntime(std::unique_ptr<LocalRuntime> local, Stop stop)
      : local_(std::move(local)), stop_(stop), ops_(OpTable::standard()) {}
  void prepare(const Graph& graph);

  std::unique_ptr<LocalRuntime> local_;
  Stop stop_;
  OpTable ops_;
  InputCache inputs_;
};

}  // namespace tutti

#endif  // TUTTI_CALIBRATE_MEASURING_RUNTIME_H_
