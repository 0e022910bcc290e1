// The work-conserving discrete-event simulator, and the default model: devices with slots, one
// transfer per (value, destination memory) over the machine's routes, contended channels, overlap
// of transfer and compute, ready ops by priority, limited memory, sampled durations.
//
// At one instant everything that ends there ends first; then decisions, transfers and ops start. It
// takes a plan, or asks a decider whenever ops are ready for a decision.
//
// A search runs thousands of plans that differ in a few ops: with a RememberedRun a run continues
// from a state of the last complete one, the latest before the two differ. Plans that say which
// weights are kept are always run from the beginning: the order of all streams may change with one
// op.
//
// One object serves one thread and one problem, and allocates nothing once it has grown to the
// problem's size. There are no globals: hundreds may run at once.

#ifndef TUTTI_RUNTIME_SIM_PHYSICAL_H_
#define TUTTI_RUNTIME_SIM_PHYSICAL_H_

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "tutti/plan/plan.h"
#include "tutti/plan/problem.h"
#include "tutti/plan/world/world_ledger.h"
#include "tutti/runtime/sim/ledger.h"
#include "tutti/runtime/sim/options.h"
#include "tutti/runtime/sim/physical_state.h"
#include "tutti/runtime/sim/tails.h"
#include "tutti/runtime/streams.h"
#include "tutti/trace/trace.h"

namespace tutti {

class RememberedRun;

class PhysicalSimulator : private PhysicalState {
 public:
  // Keeps a reference to the problem.
  explicit PhysicalSimulator(const Problem& problem);

  // The makespan. Fail (infeasible) with a sentence if the run gets stuck: for want of memory, or
  // because a strict order contradicts the graph. The plan must be one that check_plan accepts.
  Result<Duration> run(const Plan& plan, const SimOptions& options);
  // As the decider says, which sees the graph as the one job in the world. Fails (invalid_input)
  // also if the machine has more memories than a Cluster may have.
  Result<Duration> run_online(Decider& decider, const SimOptions& options);

  // By op, of the last run that was not given up.
  Duration start(OpId op) const { return start_[op.index]; }
  Duration finish(OpId op) const { return finish_[op.index]; }
  // What the op waited for last: the op that made the operand which arrived last, or, if its slot
  // was taken for longer than that, the op before it there. Invalid if it was neither: it began
  // with the run, or its last operand is a graph input.
  OpId decided_by(OpId op) const { return decided_by_[op.index]; }

  // The last run, if it was recorded.
  const Trace& trace() const { return trace_; }

 private:
  // What a decider sees: made for the first run that has one.
  struct World {
    Cluster cluster;
    std::shared_ptr<const Job> job;
    WorldLedger ledger;
    JobStatus* status = nullptr;

    World(Cluster of, const Problem& problem)
        : cluster(std::move(of)),
          job(cluster.add_job(Problem(problem))),
          ledger(cluster, {}, kUnlimitedDepth) {}
  };

  void begin(const SimOptions& options);
  // The state before the first instant.
  void reset();
  void place_all(const Plan& plan);
  // Of repeated passes (PassWindow).
  void begin_passes();
  bool begins_later(OpId op) const { return op.index >= begun_ops_; }
  void end_op_of_pass(OpId op);
  void begin_next_pass(OpId after);
  void request_inputs();
  // Takes the latest state that the plan shares with the remembered run. False if there is none.
  bool start_from(RememberedRun& remembered, const Plan& plan);
  Result<Duration> loop(Decider* decider);
  void decide(Decider& decider);
  Error explain_standstill() const;

  void place(OpId op, DeviceId device);
  void bring_operands(OpId op);
  void op_becomes_ready(OpId op);
  void dispatch_devices();
  void dispatch_device(int32_t device);
  OpId next_to_start(int32_t device);
  bool has_room(OpId op, MemoryId memory);
  void start_op(OpId op, int32_t device);
  void finish_op(OpId op);
  void reader_gets_operand(OpId reader, OpId producer);

  void issue_streams();
  void serve(const std::vector<Streams::Served>& served);

  int32_t take_transfer();
  int32_t new_transfer(ValueId value, MemoryId from, MemoryId to);
  void request_transfer(ValueId value, MemoryId from, MemoryId to);
  Duration given_time(ValueId value, MemoryId to) const;
  void retry_for_room();
  void dispatch_links();
  void request_hop(int32_t transfer);
  void start_hop(int32_t transfer);
  void finish_hop(int32_t transfer);
  void finish_transfer(int32_t transfer);

  void handle(const Event& event);
  int64_t order_key(OpId op);
  void mark(int32_t device);
  void mark_where_memory_was_freed();
  Presence& presence(ValueId value, MemoryId memory) {
    return presence_[static_cast<size_t>(value.index) * memories_ +
                     static_cast<size_t>(memory.index)];
  }
  // Work that is left keeps a device busy for at least that long: true if no run can end in time.
  bool ends_too_late(int32_t device) const {
    return options_.give_up_beyond != kNever && !options_.sample &&
           now_ + work_left_[device] / slot_count_[device] > options_.give_up_beyond;
  }
  // Invalid while the op has no device.
  MemoryId memory_of(OpId op) const { return memory_of_[op.index]; }

  const Problem& problem_;
  size_t memories_;
  std::vector<MemoryId> device_memory_;
  std::vector<int32_t> slot_count_;      // by device
  std::vector<int32_t> producer_edges_;  // by op: operands made by other ops
  std::vector<std::pair<ValueId, MemoryId>> homed_inputs_;
  std::vector<Duration> tail_;  // by op, see tails.h

  // The run.
  SimOptions options_;
  const Plan* plan_ = nullptr;  // null: online
  bool too_long_ = false;       // more work is left for a device than may be
  Trace trace_;
  Ledger ledger_;
  Streams streams_;
  std::vector<Streams::Copy> copies_;    // that set out now
  std::vector<Streams::Served> served_;  // ops that got a weight now
  std::vector<uint8_t> marked_;          // by device
  std::vector<int32_t> marked_devices_;  // to be looked at before time goes on
  std::vector<Waiting> put_aside_;       // ops for which memory is short just now
  std::vector<int32_t> scratch_;
  int32_t begun_ops_ = 0;                    // of the passes that have begun
  std::vector<int32_t> unfinished_of_pass_;  // by pass
  size_t passes_ended_ = 0;                  // with all before them
  size_t next_input_ = 0;                    // of the passes that have not begun
  // Online.
  std::unique_ptr<World> world_;
  bool overfull_ = false;  // an op or its inputs fit nowhere
  bool pauses_ = false;    // the policy chose to let ready ops wait
};

}  // namespace tutti

#endif  // TUTTI_RUNTIME_SIM_PHYSICAL_H_
