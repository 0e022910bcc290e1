#include "tutti/runtime/starpu/placed_queues.h"

#include <starpu.h>
#include <starpu_scheduler.h>

#include <limits>

#include "tutti/base/check.h"

namespace tutti {
namespace {

PlacedQueues* the_queues = nullptr;  // StarPU's functions get only a number

// Null if there is none.
starpu_task* take_first(std::deque<starpu_task*>& tasks) {
  if (tasks.empty()) return nullptr;
  starpu_task* task = tasks.front();
  tasks.pop_front();
  return task;
}

void begin_policy(unsigned) {
  starpu_sched_set_min_priority(std::numeric_limits<int>::min());
  starpu_sched_set_max_priority(std::numeric_limits<int>::max());
}
void end_policy(unsigned) {}
int push_task(starpu_task* task) {
  the_queues->push(task);
  return 0;
}
starpu_task* pop_task(unsigned) {
  return the_queues->pop(starpu_worker_get_id());
}

}  // namespace

PlacedQueues::PlacedQueues(int32_t devices, const Workers& workers)
    : workers_(workers),
      policy_(std::make_unique<starpu_sched_policy>()),
      queues_(static_cast<size_t>(devices)),
      transfers_(static_cast<size_t>(devices)) {
  TUTTI_CHECK(the_queues == nullptr);
  the_queues = this;
  policy_->init_sched = begin_policy;
  policy_->deinit_sched = end_policy;
  policy_->push_task = push_task;
  policy_->pop_task = pop_task;
  policy_->policy_name = "tutti";
  policy_->policy_description = "obeys a plan";
  policy_->worker_type = STARPU_WORKER_LIST;
}

PlacedQueues::~PlacedQueues() {
  the_queues = nullptr;
}

void PlacedQueues::begin(const std::vector<std::vector<OpId>>& strict_order) {
  const MutexLock lock(mutex_);
  for (size_t device = 0; device < queues_.size(); ++device) {
    queues_[device] = {};
    if (!strict_order.empty()) queues_[device].order = strict_order[device];
  }
}

void PlacedQueues::push(starpu_task* task) {
  const auto* placed = static_cast<const Placed*>(task->sched_data);
  {
    const MutexLock lock(mutex_);
    if (placed == nullptr || !placed->device.valid()) {
      others_.push_back(task);
    } else if (!placed->op.valid()) {
      transfers_[static_cast<size_t>(placed->device.index)].push_back(task);
    } else {
      Queue& queue = queues_[static_cast<size_t>(placed->device.index)];
      if (queue.order.empty()) {
        queue.ready.push({placed->priority, placed->op.index, task});
      } else {
        queue.early.emplace_back(placed->op, task);
        let_next_in(queue);
      }
    }
    waiting_.fetch_add(1);
    starpu_push_task_end(task);
  }
  if (placed != nullptr && placed->device.valid()) return wake(placed->device);
  for (int worker = 0; worker < workers_.count(); ++worker) {
    starpu_wake_worker_relax_light(worker);
  }
}

// A strict order lets one op in at a time; it waits there until a worker takes it.
void PlacedQueues::let_next_in(Queue& queue) {
  if (!queue.ready.empty() || queue.next == queue.order.size()) return;
  for (auto it = queue.early.begin(); it != queue.early.end(); ++it) {
    if (it->first != queue.order[queue.next]) continue;
    queue.ready.push({0, it->first.index, it->second});
    queue.early.erase(it);
    ++queue.next;
    return;
  }
}

starpu_task* PlacedQueues::pop(int worker) {
  if (worker < 0 || waiting_.load(std::memory_order_relaxed) == 0) return nullptr;
  const MutexLock lock(mutex_);
  starpu_task* task = take_first(others_);
  for (const DeviceId device : workers_.devices(worker)) {
    if (task == nullptr) task = take_first(transfers_[static_cast<size_t>(device.index)]);
  }
  if (task == nullptr) {
    Queue* first = nullptr;
    for (const DeviceId device : workers_.devices(worker)) {
      Queue& queue = queues_[static_cast<size_t>(device.index)];
      if (queue.ready.empty()) continue;
      if (first == nullptr || first->ready.top() < queue.ready.top()) first = &queue;
    }
    if (first == nullptr) return nullptr;
    task = first->ready.top().task;
    first->ready.pop();
    let_next_in(*first);
  }
  waiting_.fetch_sub(1);
  return task;
}

void PlacedQueues::wake(DeviceId device) const {
  for (const int worker : workers_.of(device)) {
    if (worker != starpu_worker_get_id()) {
      starpu_wake_worker_relax_light(worker);
    }
  }
}

}  // namespace tutti
