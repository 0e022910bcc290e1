// The values of a run: their copies in memories, the room that they take, and the transfers that
// bring them to other memories. Any thread of the run may call; which may call what when, see each.
//
// What the rest of the run must do is told to a Listener: ops whose operand has arrived, and ops
// for which there is room again.

#ifndef TUTTI_RUNTIME_LOCAL_RUN_VALUES_H_
#define TUTTI_RUNTIME_LOCAL_RUN_VALUES_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tutti/base/mutex.h"
#include "tutti/runtime/local/dispatch/lock.h"
#include "tutti/runtime/local/run/context.h"
#include "tutti/runtime/local/run/copies.h"
#include "tutti/runtime/local/run/kept_inputs.h"
#include "tutti/runtime/local/values/lanes.h"
#include "tutti/runtime/local/values/pool.h"
#include "tutti/trace/trace.h"

namespace tutti {

class Values {
 public:
  class Listener {
   public:
    virtual ~Listener() = default;
    // A transfer has ended: its copy may be read. Called on the thread of a lane.
    virtual void arrived(int32_t copy) = 0;
    // An op that was refused room would fit now.
    virtual void has_room(int32_t rank) = 0;
  };

  // Keeps references.
  Values(EngineContext& run, Hardware& hardware, Listener& listener);
  ~Values() { give_back_all(); }

  // Gives back what the last run left, results too.
  void forget_last() {
    release_copies(/*but_results=*/false);
    copies_.end();
  }
  // A run begins. Before any thread works:
  void begin();
  // Finds out which copies the run will have. Fails (infeasible) if nothing connects two memories.
  Result<void> lay_out();
  // Puts graph inputs where they are from the start. Fails (infeasible) if they do not fit.
  Result<void> fill_inputs();
  // What it has taken so far is given back, also inputs that were to be kept.
  void give_back_all() {
    release_copies(/*but_results=*/false);
    kept_inputs_.give_back();  // some may not have been filled
  }

  // Before lay_out, if the run is of a plan that says which weights are kept: streams are of it.
  // Null: none.
  void set_streams(Streams* streams) { streams_ = streams; }

  // While it runs. False if there is no room for what the op takes at its start: it waits, by its
  // rank.
  bool admit(MemoryId memory, OpId op, int32_t rank);
  // The blocks of an op that was admitted. False if the run has failed for want of memory.
  bool make_outputs(OpId op, DeviceId device);
  // Addresses in the memory in which the op runs.
  void gather(OpId op, MemoryId memory, std::vector<ConstBlock>& operands,
              std::vector<Block>& outputs) const;
  // An op has ended: operands have a reader less, transient memory is free.
  void release_operands(OpId op, MemoryId memory);
  // Starts all transfers of a value that has been made.
  void send(ValueId value);
  void drop(int32_t copy);
  // Streams of weights; each gives the ops for which one is there now. Those that can set out do;
  // one has arrived; an op has ended.
  std::vector<OpId> send_streams();
  std::vector<OpId> stream_arrived(int32_t copy);
  std::vector<OpId> release_streams(OpId op);
  const Copy& copy(int32_t index) const { return copies_[index]; }
  // Fails (infeasible) if the inputs of placed ops do not fit.
  Result<void> check_input_room() const;

  // After the run.
  void release_copies(bool but_results);
  void record(Trace& trace) const;
  Result<std::vector<std::byte>> result(ValueId value) const;
  int64_t high_water(MemoryId memory) const { return pool(memory).high_water(); }
  // The first op or transfer that waits for room, in a sentence.
  std::optional<Error> explain_wait(const std::function<OpId(int32_t rank)>& op_of) const;

 private:
  struct Transfer {
    int hop = 0;
    bool direct = false;      // one hop, whatever the route
    void* staging = nullptr;  // where it is after the hops so far; null: at its first copy
    MemoryId at{};
  };
  struct WaitingOp {
    int32_t rank;
    int64_t bytes;
  };
  // Ops and transfers that wait for room in a memory.
  struct alignas(64) Room {
    SpinLock lock;
    std::atomic<int32_t> waiting{0};
    std::vector<WaitingOp> ops GUARDED_BY(lock);
    std::vector<int32_t> transfers GUARDED_BY(lock);  // copies, first come first
  };

  // streams.cc
  void reserve_for_streams();

  // values_layout.cc
  void find_kept();
  Result<void> lay_out(ValueId value);
  int32_t add_copy(ValueId value, MemoryId memory);
  Result<void> check_way(MemoryId from, MemoryId to);
  Result<void> fill_input(ValueId value);
  Result<void> allocate_input(Copy& copy, std::vector<Copy*>& empty);

  // values.cc
  void let_go(Copy& copy);
  void give_room(MemoryId memory, int64_t bytes);
  void retry_for_room(MemoryId memory);
  void request_transfer(int32_t copy);
  void start_transfer(int32_t copy);
  void move(Copier& copier, int32_t copy);
  MemoryId next_stop(int32_t copy) const;
  void fail_for_room(const std::string& what, MemoryId memory, int64_t bytes);

  Transfer& transfer(int32_t copy) { return transfers_[copy - copies_.values()]; }
  const Transfer& transfer(int32_t copy) const { return transfers_[copy - copies_.values()]; }
  Pool& pool(MemoryId memory) { return *pools_[static_cast<size_t>(memory.index)]; }
  const Pool& pool(MemoryId memory) const { return *pools_[static_cast<size_t>(memory.index)]; }
  Room& room(MemoryId memory) const { return rooms_[static_cast<size_t>(memory.index)]; }
  bool is_kept(int32_t value) const { return kept_[static_cast<size_t>(value)] != 0; }
  bool is_input(ValueId value) const { return !run_.graph().producer(value).valid(); }

  EngineContext& run_;
  Listener& listener_;
  std::vector<std::unique_ptr<Pool>> pools_;  // by memory
  KeptInputs kept_inputs_;
  Copies copies_;
  RunTable<Transfer> transfers_;  // by copy, less the number of values
  std::vector<uint8_t> kept_;     // by value
  std::unique_ptr<Room[]> rooms_;
  Mutex streams_lock_;  // held while it is asked, and while blocks of dropped copies are given back
  Streams* streams_ = nullptr;
  mutable SpinLock log_lock_;
  std::vector<TransferSpan> log_ GUARDED_BY(log_lock_);  // times are ticks

  Lanes lanes_;  // last: their threads use the others
};

}  // namespace tutti

#endif  // TUTTI_RUNTIME_LOCAL_RUN_VALUES_H_
