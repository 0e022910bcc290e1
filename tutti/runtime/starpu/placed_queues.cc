#include "tutti/runtime/starpu/placed_queues.h"

#include <starpu.h>
#include <starpu_scheduler.h>
#include <sys/prctl.h>

#include <chrono>
#include <limits>
#include <optional>
#include <thread>

#include "tutti/base/check.h"

namespace tutti {
namespace {

// How often a worker looks for work before it pauses between looks: StarPU's workers would look on
// for ever, and take the core from the threads that could give them some.
constexpr int64_t kPatience = 10'000;  // about a millisecond
constexpr int64_t kPatienceOnSharedCores = 20;
constexpr std::chrono::microseconds kPause{20};

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
  thread_local int64_t found_nothing = 0;
  starpu_task* task = the_queues->pop(starpu_worker_get_id());
  found_nothing = task == nullptr ? found_nothing + 1 : 0;
  if (task == nullptr) the_queues->rest(found_nothing);
  return task;
}

}  // namespace

PlacedQueues::PlacedQueues(int32_t devices, const Workers& workers, bool shared_cores)
    : workers_(workers),
      policy_(std::make_unique<starpu_sched_policy>()),
      patience_(shared_cores ? kPatienceOnSharedCores : kPatience),
      queues_(static_cast<size_t>(devices)) {
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
  for (size_t device = 0; device < queues_.size(); ++device) {
    Queue& queue = queues_[device];
    const MutexLock lock(queue.mutex);
    queue.order.clear();
    queue.next = 0;
    if (!strict_order.empty()) queue.order = strict_order[device];
  }
}

void PlacedQueues::push(starpu_task* task) {
  const auto* placed = static_cast<const Placed*>(task->sched_data);
  if (placed == nullptr || !placed->device.valid()) {
    {
      const MutexLock lock(others_mutex_);
      others_.push_back(task);
      others_waiting_.fetch_add(1);
      starpu_push_task_end(task);
    }
    for (int worker = 0; worker < workers_.count(); ++worker) wake(worker);
    return;
  }
  Queue& queue = queue_of(placed->device);
  {
    const MutexLock lock(queue.mutex);
    if (!placed->op.valid()) {
      queue.transfers.push_back(task);
    } else if (queue.order.empty()) {
      queue.ready.push({placed->priority, placed->op.index, task});
    } else {
      queue.early.emplace_back(placed->op, task);
      let_next_in(queue);
    }
    queue.waiting.fetch_add(1);
    starpu_push_task_end(task);
  }
  wake(placed->device);
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
  if (worker < 0) return nullptr;
  if (starpu_task* task = pop_other()) return task;
  const std::vector<DeviceId>& devices = workers_.devices(worker);
  if (devices.size() == 1) return pop_from(queue_of(devices[0]));
  const DeviceId device = most_urgent(devices);
  return device.valid() ? pop_from(queue_of(device)) : nullptr;
}

starpu_task* PlacedQueues::pop_other() {
  if (others_waiting_.load(std::memory_order_relaxed) == 0) return nullptr;
  const MutexLock lock(others_mutex_);
  starpu_task* task = take_first(others_);
  if (task != nullptr) others_waiting_.fetch_sub(1);
  return task;
}

starpu_task* PlacedQueues::pop_from(Queue& queue) {
  if (queue.waiting.load(std::memory_order_relaxed) == 0) return nullptr;
  const MutexLock lock(queue.mutex);
  starpu_task* task = take_first(queue.transfers);
  if (task == nullptr) {
    if (queue.ready.empty()) return nullptr;
    task = queue.ready.top().task;
    queue.ready.pop();
    let_next_in(queue);
  }
  queue.waiting.fetch_sub(1);
  return task;
}

// The device with a transfer, else that of the op that goes first. Invalid: nothing is ready. By
// the time it is popped from, another worker of the device may have been there.
DeviceId PlacedQueues::most_urgent(const std::vector<DeviceId>& devices) {
  DeviceId found{};
  std::optional<Waiting> first;
  for (const DeviceId device : devices) {
    Queue& queue = queue_of(device);
    if (queue.waiting.load(std::memory_order_relaxed) == 0) continue;
    const MutexLock lock(queue.mutex);
    if (!queue.transfers.empty()) return device;
    if (queue.ready.empty() || (first && !(*first < queue.ready.top()))) continue;
    first = queue.ready.top();
    found = device;
  }
  return found;
}

void PlacedQueues::rest(int64_t times) const {
  if (times < patience_) return;
  if (times == patience_) prctl(PR_SET_TIMERSLACK, 1);
  starpu_worker_relax_on();  // others need not wait for it
  std::this_thread::sleep_for(kPause);
  starpu_worker_relax_off();
}

void PlacedQueues::wake(DeviceId device) const {
  for (const int worker : workers_.of(device)) wake(worker);
}

// Workers of a StarPU without blocking drivers, such as Debian's, never sleep: they look again by
// themselves, and to wake each of them costs more than the rest of a push.
void PlacedQueues::wake(int worker) {
#ifdef STARPU_NON_BLOCKING_DRIVERS
  (void)worker;
#else
  if (worker != starpu_worker_get_id()) starpu_wake_worker_relax_light(worker);
#endif
}

}  // namespace tutti
