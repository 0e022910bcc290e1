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
  // For so many devices. Keeps a reference. Where cores are shared, workers with nothing to do
  // leave them sooner.
  PlacedQueues(int32_t devices, const Workers& workers, bool shared_cores);
  ~PlacedQueues();

  // For starpu_conf. StarPU has one set of workers in a process, and so there is one of these.
  starpu_sched_policy* policy() { return policy_.get(); }

  // A run begins. Requires that nothing is queued.
  void begin(const std::vector<std::vector<OpId>>& strict_order);

  void push(starpu_task* task);
  starpu_task* pop(int worker);
  // A worker found nothing, that many times in a row.
  void rest(int64_t times) const;

 private:
  struct Waiting {
    int64_t priority;
    int32_t op;
    starpu_task* task;
    bool operator<(const Waiting& other) const {  // the greatest goes first
      return std::pair(other.priority, other.op) < std::pair(priority, op);
    }
  };
  // Of one device. Workers of other devices never touch it.
  struct Queue {
    std::atomic<int64_t> waiting{0};  // tasks; looked at without the mutex
    Mutex mutex;
    std::deque<starpu_task*> transfers GUARDED_BY(mutex);
    std::priority_queue<Waiting> ready GUARDED_BY(mutex);
    // Where a strict order holds: the order, how far it has come, and by op what is ready.
    std::vector<OpId> order GUARDED_BY(mutex);
    size_t next GUARDED_BY(mutex) = 0;
    std::vector<std::pair<OpId, starpu_task*>> early GUARDED_BY(mutex);
  };
  static void let_next_in(Queue& queue) TUTTI_THREAD_ATTRIBUTE(requires_capability(queue.mutex));
  Queue& queue_of(DeviceId device) { return queues_[static_cast<size_t>(device.index)]; }
  starpu_task* pop_other();
  starpu_task* pop_from(Queue& queue);
  DeviceId most_urgent(const std::vector<DeviceId>& devices);
  void wake(DeviceId device) const;
  static void wake(int worker);

  const Workers& workers_;
  std::unique_ptr<starpu_sched_policy> policy_;
  int64_t patience_;
  std::deque<Queue> queues_;  // by device
  std::atomic<int64_t> others_waiting_{0};
  Mutex others_mutex_;
  std::deque<starpu_task*> others_ GUARDED_BY(others_mutex_);  // StarPU's own
};

}  // namespace tutti

#endif  // TUTTI_RUNTIME_STARPU_PLACED_QUEUES_H_
