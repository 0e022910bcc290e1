// One run of a plan on real devices; runs of policies are policy_run.h's. The Run has the slots'
// threads take, run and complete ops. Its parts have one duty each: Dispatch says which slot runs
// what next, Readiness which ops wait for nothing more, Values keeps and moves values, OpCodes
// finds the code, Crew knows when it is over.
//
// One object serves one run after another and keeps its memory between them. Threads call work;
// everything else is called by the thread that asked for the run.

#ifndef TUTTI_RUNTIME_LOCAL_RUN_RUN_H_
#define TUTTI_RUNTIME_LOCAL_RUN_RUN_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "tutti/plan/plan.h"
#include "tutti/runtime/local/dispatch/dispatch.h"
#include "tutti/runtime/local/dispatch/ranks.h"
#include "tutti/runtime/local/op_codes.h"
#include "tutti/runtime/local/run/context.h"
#include "tutti/runtime/local/run/readiness.h"
#include "tutti/runtime/local/run/values.h"
#include "tutti/trace/trace.h"

namespace tutti {

class Run : private Values::Listener {
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
    struct Span {  // of one op, in ticks
      int64_t taken;
      int64_t start;  // with room for its outputs
      int64_t finish;
      int32_t rank;
    };
    std::atomic<int64_t> ended{0};  // ops
    int64_t last_finish = 0;        // ticks
    std::vector<Span> log;
    std::vector<Dispatch::Taken> looks;  // for each span, if steps are noted
    std::vector<int32_t> fresh;          // ranks of ops that it made ready
    std::vector<ConstBlock> operands;
    std::vector<Block> outputs;
  };

  // Keeps references, and adds a worker for each slot.
  Run(const Machine& machine, const OpTable& ops, Hardware& hardware);

  // A run begins. Fails with a sentence, and nothing has begun, if an op has no code, the plan is
  // not one of this problem, or inputs do not fit. `options` must stay until end.
  Result<void> begin(const Problem& problem, const Plan& plan, const LocalOptions& options);
  // Gives back what a run took that did not begin.
  void forget() { values_.give_back_all(); }
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
  const Values& values() const { return values_; }

 private:
  // begin.cc
  Result<void> begin_any(const Problem& problem, const LocalOptions& options);
  void begin_trace();
  Result<void> check_plan(const Plan& plan) const;
  // Also finds out whether all ops on devices with these slots, and all inputs, are in one memory.
  Result<void> prepare_values(const std::vector<int>& slots, const Plan& plan);
  void begin_streams(const Plan& plan);
  void start(const std::vector<int>& slots);
  void start_plan();

  // run.cc
  bool enter(Worker& me);
  void started(OpId op);
  bool execute(Worker& me, OpId op);
  void complete(Worker& me, OpId op, int64_t now);
  // It is queued at once, or left to the worker whose next op it may be.
  void op_is_ready(Worker& me, OpId op, int64_t now);
  void queue(OpId op, int32_t rank);
  void arrived(int32_t copy) override;
  void has_room(int32_t rank) override { queue(op_of(rank), rank); }
  bool fail_if_stopped();

  // end.cc
  void record(Trace& trace) const;
  Error explain_standstill() const;
  int64_t ended() const;

  OpId op_of(int32_t rank) const { return OpId{ranks_.op(rank)}; }

  EngineContext run_;
  OpCodes codes_;
  Dispatch dispatch_;
  std::vector<std::unique_ptr<Worker>> workers_;  // by slot
  std::vector<Worker*> workers_in_use_;
  Trace trace_;
  std::unique_ptr<Streams> streams_;  // of weights, if the plan says which are kept
  Ranks ranks_;                       // of a plan
  Readiness readiness_;
  std::vector<int64_t> ready_at_;  // by op, ticks, if traced
  Values values_;                  // after what its threads use
};

}  // namespace tutti

#endif  // TUTTI_RUNTIME_LOCAL_RUN_RUN_H_
