// The embedded engine: runs a graph for real, in this process, on this host's cores and GPUs. There
// are no barriers: a slot takes the ready op of least priority number placed on its device as soon
// as it is free, transfers start as soon as their value exists, values are freed after their last
// reader.
//
// A LocalRuntime keeps its threads and memory pools between runs, so that later runs find them
// warm. One run at a time; any number of LocalRuntimes in a process.

#ifndef TUTTI_RUNTIME_LOCAL_LOCAL_H_
#define TUTTI_RUNTIME_LOCAL_LOCAL_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tutti/base/stop.h"
#include "tutti/runtime/local/events.h"
#include "tutti/runtime/local/hardware.h"
#include "tutti/runtime/local/op_table.h"
#include "tutti/runtime/runtime.h"

namespace tutti {

struct LocalOptions {
  bool trace = true;              // record spans; without, the Trace has its makespan alone
  bool steps = false;             // of a traced run: note what events.h judges by besides
  bool bulk_synchronous = false;  // barriers between the graph's levels, for comparison
  // Transfers go hop by hop, as the machine's routes say: between GPUs through pinned host memory,
  // where their link is to the host. False: directly, where the hardware can.
  bool staged = true;
  // Values are files, which every device sees: none takes memory, none is sent.
  bool files = false;
  Stop stop{};  // asked between ops; a run that it ends fails with "cancelled"
  // Fills a graph input, once for each run, in ordinary memory. Left out: zeros.
  std::function<void(ValueId value, const Block& block)> input{};
  // Inputs that an earlier run of the same graph loaded are used again, as they were filled then;
  // they take memory until a run of another graph, or one that does not keep them.
  bool keep_inputs = false;
  // Values to keep for result() after the run. Left out: those that no op reads.
  std::vector<ValueId> keep{};
  std::function<void(int64_t ended, int64_t ops)> progress{};  // called now and then
};

class LocalRuntime : public Runtime {
 public:
  // Binds the machine's devices to this host. Fails (invalid_input) with a sentence if it has not
  // what they ask for (cores, a GPU, its SMs). Keeps a reference to the machine.
  static Result<std::unique_ptr<LocalRuntime>> open(const Machine& machine, OpTable ops);
  // The same on other hardware.
  static Result<std::unique_ptr<LocalRuntime>> open(const Machine& machine, OpTable ops,
                                                    std::unique_ptr<Hardware> hardware);
  ~LocalRuntime() override;

  void set_options(LocalOptions options);
  // What a person should know of how devices were bound, in one sentence; empty: nothing.
  std::string note() const;

  // Fail (failed) with a sentence that names op and device if a kernel fails, (infeasible) if
  // memory is short, and when stopped. Everything is given back in all cases.
  Result<Trace> run(const Problem& problem, const Plan& plan) override;
  Result<Trace> run_online(const Problem& problem, Policy& policy) override;

  // What had happened when the last run failed.
  const Trace& partial_trace() const;
  // When each op of the last run was ready, started and finished, if it was traced; see events.h.
  std::vector<OpEvents> events() const;
  // And when slots that had nothing to do went to sleep, if steps were noted.
  std::vector<SleepEvent> sleeps() const;
  // The bytes of a kept value of the last run.
  Result<std::vector<std::byte>> result(ValueId value) const;
  // The most bytes of values that the last run held in a memory at once, without those that only
  // passed through it; see pool.h.
  int64_t high_water(MemoryId memory) const;

 private:
  class Engine;
  explicit LocalRuntime(std::unique_ptr<Engine> engine);
  std::unique_ptr<Engine> engine_;
};

}  // namespace tutti

#endif  // TUTTI_RUNTIME_LOCAL_LOCAL_H_
