// One rank's part of one run. It counts what each op still waits for; an op whose operands are all
// there becomes a task of StarPU, which has no data of its own: the values lie in memory of ours.
//
// A copy is a value in a memory. Copies are numbered the same at every rank; the number is also the
// tag of the message that brings one. Each rank fills those of its own memories.

#ifndef TUTTI_RUNTIME_STARPU_RANK_RUN_H_
#define TUTTI_RUNTIME_STARPU_RANK_RUN_H_

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tutti/base/mutex.h"
#include "tutti/plan/plan.h"
#include "tutti/plan/problem.h"
#include "tutti/runtime/starpu/layout.h"
#include "tutti/runtime/starpu/messages.h"
#include "tutti/runtime/starpu/placed_queues.h"
#include "tutti/runtime/starpu/records.h"
#include "tutti/runtime/starpu/session.h"
#include "tutti/runtime/starpu/starpu.h"
#include "tutti/runtime/starpu/workers.h"

namespace tutti {

// Graph inputs of this rank's memories, kept from run to run.
using KeptBlocks = std::map<std::pair<ValueId, MemoryId>, std::vector<std::byte>>;

class RankRun : private Messages::Peer {
 public:
  // What outlives a run. All references must.
  struct Place {
    const Machine& machine;
    const Layout& layout;
    const OpTable& ops;
    Workers& workers;
    PlacedQueues& queues;
    StarpuRanks& ranks;
    Messages* messages;  // null: this rank is alone
    KeptBlocks& inputs;
    const StarpuOptions& options;
  };

  RankRun(const Place& place, Session& session, const Problem& problem);
  // Requires that the run has ended.
  ~RankRun() override;

  // Fails with a sentence, and nothing has begun, if an op has no code, or the plan is not one of
  // this problem.
  Result<void> prepare(const Plan& plan);
  // Runs this rank's ops, transfers and messages and waits until all of them have ended.
  Result<void> run(const Plan& plan);
  // When it failed here first, by the clock of all ranks.
  Duration failed_at() const {
    const MutexLock lock(mutex_);
    return failed_at_;
  }

  // What happened here, in the clock of all ranks.
  RankRecords records() const;
  // The values that no op reads and that were made here.
  std::map<ValueId, std::vector<std::byte>> take_results();

  // The code of every codelet, and what tells StarPU's models which tasks of a codelet are alike.
  static void run_codelet(void** buffers, void* argument);
  static uint32_t footprint(starpu_task* task);

 private:
  friend class OnlineRun;

  struct Copy;
  // An op, or a transfer within the rank.
  struct Task {
    RankRun* run = nullptr;
    Placed placed{};
    std::vector<Copy*> values{};      // operands in order, then outputs
    size_t operands = 0;              // how many of them are operands
    std::atomic<int32_t> missing{0};  // operands that are not there
    int priority = 0;                 // StarPU's: the largest goes first
    starpu_codelet* codelet = nullptr;
    int worker = -1;  // that ran it
    Duration start{0};
    Duration finish{0};
  };
  struct Copy {
    int32_t index = -1;
    ValueId value{};
    MemoryId memory{};
    Copy* source = nullptr;  // that it is sent from; none: it is made or given here
    Copy* next = nullptr;    // of the same value
    bool here = false;
    bool kept = false;   // its bytes are not the run's to free: a graph's input
    bool there = false;  // it is filled; known where an online policy decides
    std::byte* bytes = nullptr;
    std::vector<Task*> readers{};  // here
    std::atomic<int32_t> uses{0};  // by readers and messages that have not ended
    Duration start = kNever;       // of its message
    Duration finish = kNever;
  };

  // rank_run.cc
  Result<void> check(const Plan& plan) const;
  const OpTable::Entry* code(OpId op, DeviceId device) const;
  Result<void> check_code(OpId op, DeviceId device) const;
  void execute(Task& task);
  void execute_op(const Task& task, DeviceId device);
  DeviceId device_of(const Task& task) const;
  void fail(Error error);
  bool over() const { return failed_.load(std::memory_order_relaxed); }

  // rank_run_values.cc
  Copy& add_copy(ValueId value, MemoryId memory, Copy* source);
  Copy* find_copy(ValueId value, MemoryId memory) const;
  size_t bytes_of(const Copy& copy) const { return static_cast<size_t>(graph_.bytes(copy.value)); }
  bool is_result(const Copy& copy) const;
  void provide_input(Copy& copy);
  void make_room(Copy& copy) const;
  void arrive(Copy& copy, std::vector<Task*>& ready);
  void used(Copy& copy) const;
  void send(const Copy& to);
  int64_t urgency(const Copy& copy) const;
  std::span<std::byte> room(int32_t tag) override;
  void received(int32_t tag) override;
  void sent(int32_t tag, Duration began) override;

  // rank_run_plan.cc
  void lay_out(const Plan& plan);
  void lay_out_value(ValueId value, const Plan& plan);
  void add_transfer(Copy& to);
  void add_op(OpId op, const Plan& plan);
  void find_priorities(const Plan& plan);

  void submit_all(std::vector<Task*>& ready);
  void submit(Task& task);
  static void task_ended(void* task);
  void ended(Task& task);
  void count_down(int64_t tasks);

  Place place_;
  Session& session_;
  const Problem& problem_;
  const Graph& graph_;
  const Plan* plan_ = nullptr;     // during a run
  std::deque<Copy> copies_;        // they are given to other threads, so that nothing may move
  std::vector<Copy*> first_copy_;  // by value
  std::vector<Task> tasks_;        // by op
  std::deque<Task> transfers_;     // within the rank
  std::vector<int> priorities_;    // by op, as StarPU has them
  std::function<void(Task&)> on_end_;
  int64_t from_others_ = 0;  // copies
  Duration began_{0};
  std::atomic<int64_t> left_{0};  // tasks that have not ended
  std::atomic<bool> failed_{false};
  std::atomic<int64_t> ended_ops_{0};
  std::mutex done_mutex_;
  std::condition_variable done_;
  mutable Mutex mutex_;
  std::optional<Error> error_ GUARDED_BY(mutex_);
  Duration failed_at_ GUARDED_BY(mutex_) = Duration{0};
};

}  // namespace tutti

#endif  // TUTTI_RUNTIME_STARPU_RANK_RUN_H_
