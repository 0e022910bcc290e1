// Asks the policy of an online run where ops shall run. The thread that completes an op or a
// transfer also asks about the ops that are ready for a decision, one thread at a time.

#ifndef TUTTI_RUNTIME_LOCAL_RUN_DECISIONS_H_
#define TUTTI_RUNTIME_LOCAL_RUN_DECISIONS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "tutti/plan/policy.h"
#include "tutti/runtime/local/run/context.h"
#include "tutti/runtime/local/run/values.h"

namespace tutti {

class Decisions {
 public:
  // Puts an op that has all operands into the queues of its device; the rank is its turn.
  using Queue = std::function<void(OpId op, int32_t rank)>;

  // Keeps references.
  Decisions(EngineContext& run, Values& values, Queue queue)
      : run_(run), values_(values), queue_(std::move(queue)) {}

  // A run begins: its placement is this one's from now on. `watch` may be null.
  void begin(Policy& policy, OnlineWatch* watch);
  // Asks for the first time, when threads may work.
  void start();

  // An op has begun, with room; it has ended, in that memory; a transfer has ended.
  void started(OpId op, DeviceId device);
  void finished(OpId op, DeviceId device, MemoryId memory);
  void arrived(int32_t copy);
  // Held while copies are added: a thread that looks for copies must hold it.
  Mutex& mutex() TUTTI_THREAD_ATTRIBUTE(lock_returned(mutex_)) { return mutex_; }

  OpId op_of(int32_t rank) const { return OpId{op_of_turn_[static_cast<size_t>(rank)]}; }
  // Requires a watch. Asks if the policy's own time has come; how long until then; kNever: the
  // policy names no time.
  Duration ask_when_due();

  void record(Trace& trace) const;
  // Why nothing goes on, if ops wait for the policy.
  std::optional<Error> explain_wait() const;

 private:
  struct Books {
    std::vector<OpId> undecided;
    std::vector<DeviceId> placement;         // by op
    std::vector<int32_t> unmade;             // by op: operands
    std::vector<int32_t> absent;             // by op that is placed: operands
    std::vector<int32_t> unplaced;           // by value: readers
    std::vector<Duration> finish;            // by op, expected while it runs
    std::vector<Duration> backlog;           // by device
    std::vector<std::vector<OpId>> running;  // by device
    std::vector<PlacedAt> placed;            // times are ticks
    std::vector<Pause> pauses;               // times are ticks
    std::optional<Duration> paused;          // ticks
    int32_t turn = 0;                        // of the next op that has all operands
  };
  class View;  // what the policy sees

  void decide() TUTTI_THREAD_ATTRIBUTE(requires_capability(mutex_));
  void place(OpId op, DeviceId device) TUTTI_THREAD_ATTRIBUTE(requires_capability(mutex_));
  void queue_in_turn(OpId op) TUTTI_THREAD_ATTRIBUTE(requires_capability(mutex_));

  EngineContext& run_;
  Values& values_;
  Queue queue_;
  Policy* policy_ = nullptr;
  OnlineWatch* watch_ = nullptr;
  std::vector<int32_t> op_of_turn_;  // written before the op is queued, read after
  mutable Mutex mutex_;
  Books books_ GUARDED_BY(mutex_);
};

}  // namespace tutti

#endif  // TUTTI_RUNTIME_LOCAL_RUN_DECISIONS_H_
