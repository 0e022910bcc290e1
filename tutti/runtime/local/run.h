// One run of a graph on real devices: a plan's, or an online policy's. The Run knows which ops are
// ready and where values are; Dispatch says who runs what next, Lanes move values, Pools hold them,
// Crew knows when it is over.
//
// One object serves one run after another and keeps its memory between them. Threads call work;
// everything else is called by the thread that asked for the run.

#ifndef TUTTI_RUNTIME_LOCAL_RUN_H_
#define TUTTI_RUNTIME_LOCAL_RUN_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tutti/plan/plan.h"
#include "tutti/plan/policy.h"
#include "tutti/plan/problem.h"
#include "tutti/runtime/local/copies.h"
#include "tutti/runtime/local/dispatch/crew.h"
#include "tutti/runtime/local/dispatch/dispatch.h"
#include "tutti/runtime/local/dispatch/ranks.h"
#include "tutti/runtime/local/kept_inputs.h"
#include "tutti/runtime/local/lanes.h"
#include "tutti/runtime/local/local.h"
#include "tutti/runtime/local/pool.h"
#include "tutti/trace/trace.h"

namespace tutti {

class Run {
 public:
  // What one slot's thread has for itself.
  struct alignas(64) Worker {
    DeviceId device{};
    int index = 0;
    MemoryId memory{};
    int32_t slot = 0;  // as Dispatch counts
    SlotRunner* runner = nullptr;
    bool entered = false;

   private:
    friend class Run;
    struct Stint {  // in ticks
      int64_t taken;
      int64_t start;  // with room for its outputs
      int64_t finish;
      int32_t rank;
    };
    std::atomic<int64_t> ended{0};  // ops
    int64_t last_finish = 0;        // ticks
    std::vector<Stint> log;
    std::vector<Dispatch::Taken> looks;  // for each stint, if steps are noted
    std::vector<int32_t> fresh;          // ranks of ops that it made ready
    std::vector<ConstBlock> operands;
    std::vector<Block> outputs;
  };

  // Keeps references, and adds a worker for each slot.
  Run(const Machine& machine, const OpTable& ops, Hardware& hardware);
  ~Run();

  // A run begins. Fails with a sentence, and nothing has begun, if an op has no code, the plan is
  // not one of this problem, or inputs do not fit. `options` must stay until end.
  Result<void> begin(const Problem& problem, const Plan& plan, const LocalOptions& options);
  // `watch` may be null.
  Result<void> begin_online(const Problem& problem, Policy& policy, const LocalOptions& options,
                            OnlineWatch* watch = nullptr);
  // Gives back what a run took that did not begin.
  void forget() {
    release_copies(/*but_results=*/false);
    kept_inputs_.give_back();  // some may not have been filled
  }
  // Those that must now work.
  const std::vector<Worker*>& workers() const { return workers_in_use_; }
  void work(Worker& worker);
  // Waits for the end, and gives back what the run held but results.
  Result<void> end();

  // What happened, whole or not.
  const Trace& trace() const { return trace_; }
  // Of a run that has ended well; it is not kept.
  Trace take_trace() { return std::move(trace_); }
  std::vector<OpEvents> events() const;
  std::vector<SleepEvent> sleeps() const;
  Result<std::vector<std::byte>> result(ValueId value) const;
  int64_t high_water(MemoryId memory) const { return pool(memory).high_water(); }

 private:
  friend class LocalState;

  struct Transfer {
    int hop = 0;
    bool direct = false;      // one hop, whatever the route
    void* staging = nullptr;  // where it is after the hops so far; null: at its first copy
    MemoryId at{};
  };
  // Who waits for room in a memory.
  struct alignas(64) Room {
    SpinLock lock;
    std::atomic<int32_t> waiting{0};
    std::vector<int32_t> ops GUARDED_BY(lock);        // ranks
    std::vector<int32_t> transfers GUARDED_BY(lock);  // copies, first come first
  };

  // run_begin.cc
  Result<void> begin_any(const Problem& problem, const LocalOptions& options);
  Result<void> check_plan(const Plan& plan) const;
  void find_code();
  Result<void> check_code(OpId op, DeviceId device) const;
  Result<void> check_dtypes(OpId op, DeviceId device, const OpTable::Entry& code) const;
  void find_kept();
  // Whether the ops on these devices, and all inputs, are in one memory.
  bool is_in_one_memory(const std::vector<int>& slots) const;
  bool has_bytes() const;
  void count_absent();
  void add_strict_orders(const Plan& plan);
  void add_levels();
  Result<void> lay_out_copies();
  Result<void> lay_out(ValueId value);
  void lay_out_first(ValueId value);
  void lay_out_everywhere(ValueId value);
  Result<void> check_way(MemoryId from, MemoryId to);
  Result<void> fill_inputs();
  Result<void> fill_input(ValueId value);
  Result<void> check_input_room() const;
  void start(const std::vector<int>& slots);
  void start_plan();

  // run.cc
  bool admitted(Worker& me, OpId op, int32_t rank);
  void started(Worker& me, OpId op, int64_t when);
  bool enter(Worker& me);
  void gather_blocks(Worker& me, OpId op);
  bool execute(Worker& me, OpId op);
  void give_back(Worker& me, OpId op);
  void complete(Worker& me, OpId op, int64_t now);
  void end_level(Worker& me, OpId op, int64_t now);
  // `me` is null for a lane.
  void lose_token(Worker* me, OpId op, int64_t now);
  void op_is_ready(Worker* me, OpId op, int64_t now);
  void queue(OpId op, int32_t rank);

  // run_values.cc
  bool make_outputs(Worker& me, OpId op);
  void drop(int32_t copy);
  void let_go(Copy& copy);
  void room_given_back(MemoryId memory, int64_t bytes);
  void retry_for_room(MemoryId memory);
  void send(ValueId value);
  void request_transfer(int32_t copy);
  void start_transfer(int32_t copy);
  void move(Copier& copier, int32_t copy);
  MemoryId next_stop(int32_t copy) const;
  void arrived(int32_t copy);
  void fail_for_room(const std::string& what, MemoryId memory, int64_t bytes);

  // run_online.cc
  void complete_online(Worker& me, OpId op);
  void arrived_online(int32_t copy);
  void decide() TUTTI_THREAD_ATTRIBUTE(requires_capability(deciding_));
  void place(OpId op, DeviceId device) TUTTI_THREAD_ATTRIBUTE(requires_capability(deciding_));
  // Whether the operand is there already.
  bool place_reader(ValueId value, MemoryId memory)
      TUTTI_THREAD_ATTRIBUTE(requires_capability(deciding_));
  bool bring(ValueId value, MemoryId memory);
  void begin_decisions() TUTTI_THREAD_ATTRIBUTE(requires_capability(deciding_));
  void queue_in_turn(OpId op);
  // Asks the policy when its own time has come, as long as there is one.
  void keep_time();

  // run_end.cc
  void release_copies(bool but_results);
  void record(Trace& trace) const;
  void record_transfers(Trace& trace) const;
  Error explain_standstill();
  int64_t ended() const;
  Duration time_of(int64_t tick) const { return clock_.span(began_, tick); }

  Pool& pool(MemoryId memory) { return *pools_[static_cast<size_t>(memory.index)]; }
  const Pool& pool(MemoryId memory) const { return *pools_[static_cast<size_t>(memory.index)]; }
  MemoryId memory_of(OpId op) const {
    return memory_of_device_[static_cast<size_t>(device_of_[op.index].index)];
  }
  int64_t bytes_at_start(OpId op) const;
  OpId op_of(int32_t rank) const {
    return OpId{policy_ == nullptr ? ranks_.op(rank) : op_of_turn_[static_cast<size_t>(rank)]};
  }
  // Null if there is none.
  const OpTable::Entry* code_of(OpId op, DeviceId device) const {
    return code_[static_cast<size_t>(problem_->graph.op_kind(op).index) *
                     static_cast<size_t>(machine_.size()) +
                 static_cast<size_t>(device.index)];
  }
  bool stop_asked() const { return stoppable_ && options_->stop.now(); }

  const Machine& machine_;
  const OpTable& ops_;
  Hardware& hardware_;
  TickClock clock_;
  Crew crew_;
  Dispatch dispatch_;
  std::vector<std::unique_ptr<Pool>> pools_;  // by memory
  KeptInputs kept_inputs_;
  std::vector<std::unique_ptr<Worker>> workers_;  // by slot
  std::vector<MemoryId> memory_of_device_;

  // The run.
  const Problem* problem_ = nullptr;
  const LocalOptions* options_ = nullptr;
  Policy* policy_ = nullptr;  // null: a plan's
  OnlineWatch* watch_ = nullptr;
  std::vector<Worker*> workers_in_use_;
  bool stoppable_ = false;
  bool weightless_ = false;  // no value has bytes, no op transient ones, and all is in one memory
  bool one_memory_ = false;
  int64_t began_ = 0;  // ticks
  Trace trace_;
  std::vector<const OpTable::Entry*> code_;  // by kind x device
  Ranks ranks_;
  Table<std::atomic<int32_t>> absent_;  // by op: what it waits for
  const DeviceId* device_of_ = nullptr;
  std::vector<DeviceId> placement_;  // of an online run
  std::vector<int64_t> ready_at_;    // by op, ticks, if traced
  std::vector<OpId> next_in_order_;  // by op, where a strict order holds
  // Barriers: levels of the graph, and what is left of each.
  std::vector<int32_t> level_;
  std::vector<std::vector<OpId>> ops_of_level_;
  Table<std::atomic<int32_t>> left_of_level_;
  // Values.
  Copies copies_;
  Table<Transfer> transfers_;  // by copy, less the number of values
  std::vector<uint8_t> kept_;  // by value
  std::unique_ptr<Room[]> rooms_;
  mutable SpinLock transfer_log_lock_;
  std::vector<TransferSpan> transfer_log_ GUARDED_BY(transfer_log_lock_);  // times are ticks

  // Online: decisions are made one at a time, by whoever completes something.
  struct Online {
    std::vector<OpId> undecided;
    std::vector<int32_t> unmade;             // by op
    std::vector<int32_t> unplaced;           // by value: readers
    std::vector<Duration> finish;            // by op, expected while it runs
    std::vector<Duration> backlog;           // by device
    std::vector<std::vector<OpId>> running;  // by device
    std::vector<PlacedAt> placed;
    std::vector<Pause> pauses;
    std::optional<Duration> paused;
  };
  mutable Mutex deciding_;
  Online online_ GUARDED_BY(deciding_);
  std::vector<int32_t> op_of_turn_;  // online: by rank
  std::atomic<int32_t> turn_{0};     // online: of ops that are ready

  Lanes lanes_;  // last: their threads use the others
};

}  // namespace tutti

#endif  // TUTTI_RUNTIME_LOCAL_RUN_H_
