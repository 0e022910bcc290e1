// One rank's part of one run: its ops as StarPU tasks, the values they read and make as StarPU's
// data, and how values come and go. Implicit dependencies of the data order everything.
//
// A copy is a value in a memory. Copies are numbered the same at every rank; the number is also the
// tag of the message that brings one. Each rank holds those of its own memories.

#ifndef TUTTI_RUNTIME_STARPU_RANK_RUN_H_
#define TUTTI_RUNTIME_STARPU_RANK_RUN_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tutti/base/mutex.h"
#include "tutti/plan/plan.h"
#include "tutti/plan/problem.h"
#include "tutti/runtime/starpu/layout.h"
#include "tutti/runtime/starpu/placed_queues.h"
#include "tutti/runtime/starpu/records.h"
#include "tutti/runtime/starpu/session.h"
#include "tutti/runtime/starpu/starpu.h"
#include "tutti/runtime/starpu/workers.h"

struct _starpu_data_state;
struct starpu_data_descr;

namespace tutti {

// Graph inputs of this rank's memories, kept from run to run.
using KeptBlocks = std::map<std::pair<ValueId, MemoryId>, std::vector<std::byte>>;

class RankRun {
 public:
  // What outlives a run. All references must.
  struct Place {
    const Machine& machine;
    const Layout& layout;
    const OpTable& ops;
    Workers& workers;
    PlacedQueues& queues;
    StarpuRanks& ranks;
    KeptBlocks& inputs;
    const StarpuOptions& options;
  };

  RankRun(const Place& place, Session& session, const Problem& problem);
  // Requires that the run has ended.
  ~RankRun();

  // Fails with a sentence, and nothing has begun, if an op has no code, or the plan is not one of
  // this problem.
  Result<void> prepare(const Plan& plan);
  // Submits this rank's ops and transfers and waits until all of them, on all ranks, have ended.
  Result<void> run(const Plan& plan);

  // What happened here, in the clock of all ranks.
  RankRecords records() const;
  // The values that no op reads and that were made here.
  std::map<ValueId, std::vector<std::byte>> take_results();

  // The code of every codelet.
  static void run_codelet(void** buffers, void* argument);

 private:
  friend class OnlineRun;
  using Handle = _starpu_data_state*;

  struct Copy {
    ValueId value{};
    MemoryId memory{};
    int32_t source = -1;  // the copy that it is sent from; none: it is made or given here
    int32_t next = -1;    // of the same value
    bool here = false;
    bool brought = false;  // its transfer or message has been asked for
    int32_t uses = 0;      // by tasks and messages that are not submitted yet
    Handle handle = nullptr;
  };
  // An op, or a transfer within the rank, as StarPU sees it.
  struct Task {
    RankRun* run = nullptr;
    Placed placed{};
    int32_t copy = -1;  // a transfer's
    starpu_task* task = nullptr;
    std::vector<int32_t> buffers{};  // by operand, where an op reads a value twice
  };
  struct Arrival {
    RankRun* run = nullptr;
    int32_t copy = -1;
    Duration time = kNever;  // StarPU's
  };
  struct Anchor {
    Duration starpu{0};
    Duration common{0};
  };

  // rank_run.cc
  Result<void> check(const Plan& plan) const;
  const OpTable::Entry* code(OpId op, DeviceId device) const;
  Result<void> check_code(OpId op, DeviceId device) const;
  void execute(Task& task, void** buffers);
  void execute_op(Task& task, DeviceId device, int worker, void** buffers);
  void execute_transfer(Task& task, void** buffers) const;
  void fail(Error error);
  bool over() const { return failed_.load(std::memory_order_relaxed); }
  Anchor anchor() const;
  Duration common_time(Duration starpu) const;

  // rank_run_plan.cc
  void lay_out(const Plan& plan);
  void lay_out_value(ValueId value, const Plan& plan);
  int32_t add_copy(ValueId value, MemoryId memory, int32_t source);
  int32_t find_copy(ValueId value, MemoryId memory) const;
  void register_copies();
  void register_here(int32_t index);
  std::vector<std::byte>& input_block(ValueId value, MemoryId memory);
  void find_priorities(const Plan& plan);
  void send_copies(ValueId value);
  void bring(int32_t index);
  void submit_op(OpId op, const Plan& plan);
  void submit(Task& task, starpu_codelet* codelet, std::vector<starpu_data_descr>& data,
              int priority);
  void used(int32_t copy);

  Place place_;
  Session& session_;
  const Problem& problem_;
  const Graph& graph_;
  std::vector<Copy> copies_;
  std::vector<int32_t> first_copy_;  // by value
  std::vector<Task> tasks_;          // by op
  std::vector<Task> transfers_;      // within the rank
  std::vector<Arrival> arrivals_;
  std::vector<int> priorities_;  // by op, as StarPU has them: the largest goes first
  Anchor began_;
  Anchor ended_;
  std::atomic<bool> failed_{false};
  std::atomic<int64_t> ended_ops_{0};
  mutable Mutex mutex_;
  std::optional<Error> error_ GUARDED_BY(mutex_);
};

}  // namespace tutti

#endif  // TUTTI_RUNTIME_STARPU_RANK_RUN_H_
