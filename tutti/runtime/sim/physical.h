// The work-conserving discrete-event simulator, and the default model: devices with slots, one
// transfer per (value, destination memory) over the machine's routes, contended channels, overlap
// of transfer and compute, ready ops by priority, limited memory, sampled durations.
//
// At one instant everything that ends there ends first; then decisions, transfers and ops start. It
// takes a plan, or asks a decider whenever ops are ready for a decision.
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
#include "tutti/runtime/sim/event_queue.h"
#include "tutti/runtime/sim/ledger.h"
#include "tutti/runtime/sim/links/channels.h"
#include "tutti/runtime/sim/links/flows.h"
#include "tutti/runtime/sim/options.h"
#include "tutti/runtime/sim/tails.h"
#include "tutti/trace/trace.h"

namespace tutti {

class PhysicalSimulator {
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
  struct Transfer {
    ValueId value;
    MemoryId from;
    MemoryId to;
    const Route* route = nullptr;  // null: its time was given
    int hop = 0;
    Duration hop_start{0};
    double factor = 1;  // how this draw differs from the mean
  };
  struct Waiting {  // an op that waits for a slot; the smallest key goes first
    int64_t key;
    int32_t op;
    friend bool operator>(const Waiting& a, const Waiting& b) {
      return a.key != b.key ? a.key > b.key : a.op > b.op;
    }
  };
  enum class Presence : uint8_t { absent, on_its_way, present };
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

  void reset(const SimOptions& options);
  Result<Duration> loop(Decider* decider);
  void decide(Decider& decider);
  Error explain_standstill() const;

  void place(OpId op, DeviceId device);
  void bring_operands(OpId op);
  void op_becomes_ready(OpId op);
  void dispatch_devices();
  void dispatch_device(int32_t device);
  OpId next_to_start(int32_t device);
  void start_op(OpId op, int32_t device);
  void finish_op(OpId op);
  void reader_gets_operand(OpId reader, OpId producer);

  int32_t take_transfer();
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
  // Invalid while the op has no device.
  MemoryId memory_of(OpId op) const { return memory_of_[op.index]; }

  const Problem& problem_;
  size_t memories_;
  std::vector<MemoryId> device_memory_;
  std::vector<int32_t> producer_edges_;  // by op: operands made by other ops
  std::vector<std::pair<ValueId, MemoryId>> homed_inputs_;
  std::vector<Duration> tail_;  // by op, see tails.h

  // The run.
  SimOptions options_;
  const Plan* plan_ = nullptr;  // null: online
  Duration now_{0};
  int64_t turn_ = 0;  // of ops becoming ready
  int32_t unfinished_ = 0;
  Duration latest_end_{0};  // the makespan is at least this, if durations are means
  EventQueue events_;
  Trace trace_;

  // By op.
  std::vector<DeviceId> device_of_;
  std::vector<MemoryId> memory_of_;
  std::vector<int32_t> absent_;  // operands not in its memory yet
  std::vector<Duration> start_;
  std::vector<Duration> finish_;  // expected while it runs
  std::vector<int32_t> slot_of_;
  std::vector<Duration> ready_at_;
  std::vector<OpId> decided_by_;
  // By device.
  std::vector<std::vector<Waiting>> waiting_;     // heaps
  std::vector<std::vector<int32_t>> free_slots_;  // heaps, the smallest on top
  std::vector<std::vector<OpId>> last_on_slot_;
  std::vector<size_t> next_in_order_;  // into the plan's strict order
  std::vector<uint8_t> marked_;
  std::vector<int32_t> marked_devices_;  // to be looked at before time goes on
  std::vector<Waiting> put_aside_;       // ops for which memory is short just now
  // Values and transfers.
  std::vector<Presence> presence_;  // by value x memory
  std::vector<Transfer> transfers_;
  std::vector<int32_t> free_transfers_;  // entries of transfers_ that can be used again
  std::vector<std::vector<int32_t>> waiting_for_room_;  // by memory
  int32_t room_waiters_ = 0;
  Channels channels_;
  Flows flows_;
  Ledger ledger_;
  std::vector<int32_t> scratch_;
  // Online.
  std::unique_ptr<World> world_;
  bool overfull_ = false;  // an op or its inputs fit nowhere
  bool pauses_ = false;    // the policy chose to let ready ops wait
};

}  // namespace tutti

#endif  // TUTTI_RUNTIME_SIM_PHYSICAL_H_
