// The StarPU scheduling policy that obeys a plan: a task goes to the device it was placed on, where
// the ready task of least priority number goes first, or the next of a strict order. Transfers
// within the rank go to a device of the memory they fill, before all ops.
//
// StarPU calls push and pop from its threads; the thread that runs a plan calls the rest between
// runs.

#ifndef TUTTI_RUNTIME_STARPU_PLACED_QUEUES_H_
#define TUTTI_RUNTIME_STARPU_PLACED_QUEUES_H_

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <queue>
#include <utility>
#include <vector>

#include "tutti/base/mutex.h"
#include "tutti/plan/plan.h"
#include "tutti/runtime/starpu/workers.h"

struct starpu_task;
struct starpu_sched_policy;

namespace tutti {

// What a task's sched_data points to.
struct Placed {
  DeviceId device{};  // invalid: any; a transfer's: one that works on the memory it fills
  OpId op{};          // invalid: a transfer
  int64_t priority = 0;
};

class PlacedQueues {
 public:
  // For so many devices. Keeps a reference.
  PlacedQueues(int32_t devices, const Workers& workers);
  ~PlacedQueues();

  // For starpu_conf. StarPU has one set of workers in a process, and so there is one of these.
  starpu_sched_policy* policy() { return policy_.get(); }

  // A run begins. Requires that nothing is queued.
  void begin(const std::vector<std::vector<OpId>>& strict_order);

  void push(starpu_task* task);
  starpu_task* pop(int worker);

 private:
  struct Waiting {
    int64_t priority;
    int32_t op;
    starpu_task* task;
    bool operator<(const Waiting& other) const {  // the greatest goes first
      return std::pair(other.priority, other.op) < std::pair(priority, op);
    }
  };
  struct Queue {
    std::priority_queue<Waiting> ready;
    // Where a strict order holds: the order, how far it has come, and by op what is ready.
    std::vector<OpId> order;
    size_t next = 0;
    std::vector<std::pair<OpId, starpu_task*>> early;
  };
  void let_next_in(Queue& queue) TUTTI_THREAD_ATTRIBUTE(requires_capability(mutex_));
  void wake(DeviceId device) const;

  const Workers& workers_;
  std::unique_ptr<starpu_sched_policy> policy_;
  std::atomic<int64_t> waiting_{0};
  Mutex mutex_;
  std::vector<Queue> queues_ GUARDED_BY(mutex_);                        // by device
  std::vector<std::deque<starpu_task*>> transfers_ GUARDED_BY(mutex_);  // by device
  std::deque<starpu_task*> others_ GUARDED_BY(mutex_);                  // StarPU's own
};

}  // namespace tutti

#endif  // TUTTI_RUNTIME_STARPU_PLACED_QUEUES_H_
