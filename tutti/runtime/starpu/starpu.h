// The distributed engine: runs a plan on the cores of several hosts, with StarPU on each and
// StarPU-MPI between them; one process (rank) for each host, see ranks.h and layout.h. Kernels,
// placement and priorities are those of the local engine: every op becomes a StarPU task that may
// run only on the workers of its device, in the order of priorities. StarPU's own schedulers can be
// asked instead, for comparison.
//
// Differences to the local engine: devices are CPUs; a run does not wait for room in a memory; an
// online policy needs a single rank; values go from end to end, not hop by hop.
//
// StarPU is one for a process, and so is this.

#ifndef TUTTI_RUNTIME_STARPU_STARPU_H_
#define TUTTI_RUNTIME_STARPU_STARPU_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tutti/base/stop.h"
#include "tutti/runtime/local/op_table.h"
#include "tutti/runtime/runtime.h"
#include "tutti/runtime/starpu/ranks.h"

namespace tutti {

struct StarpuOptions {
  // Empty: the plan is obeyed. Else one of StarPU's own schedulers, such as "dmda": it chooses a
  // device of the host on which the plan has the op, and when; the plan's priorities are its hints.
  // The devices of each host must then share one memory.
  std::string scheduler{};
  Stop stop{};  // asked between ops; a run that it ends fails with "cancelled"
  // Fills a graph input, once for each memory that needs it. Left out: zeros. Inputs stay until a
  // run of another graph.
  std::function<void(ValueId value, const Block& block)> input{};
};

class StarpuRuntime : public Runtime {
 public:
  // Collective, as all that follows but result. Fails (invalid_input) with a sentence if the ranks
  // cannot serve the machine. Keeps references.
  static Result<std::unique_ptr<StarpuRuntime>> open(const Machine& machine, OpTable ops,
                                                     StarpuRanks& ranks);
  ~StarpuRuntime() override;

  void set_options(StarpuOptions options);
  // What a person should know of how devices were bound, in one sentence; empty: nothing.
  std::string note() const;

  // The trace is whole at rank 0; elsewhere it has the makespan alone. Fail (failed) at every rank
  // with a sentence that names op, device and rank if a kernel fails or a run is stopped.
  Result<Trace> run(const Problem& problem, const Plan& plan) override;
  Result<Trace> run_online(const Problem& problem, Policy& policy) override;

  // Brings the values that no op reads, as the last run made them, to rank 0.
  Result<void> collect_results();
  // At rank 0, after collect_results.
  Result<std::vector<std::byte>> result(ValueId value) const;

 private:
  class Engine;
  explicit StarpuRuntime(std::unique_ptr<Engine> engine);
  std::unique_ptr<Engine> engine_;
};

}  // namespace tutti

#endif  // TUTTI_RUNTIME_STARPU_STARPU_H_
