// Streams decides when copies of weights with homes set out in the run of a plan, and which are in
// a memory: it is the book of the stream buffers (tutti/plan/weights.h). Simulated and real runs
// move them as it says.
//
// There is one order for the whole run: ops by priority, each after its producers and, if there is
// a strict order, after the op before it there. In each memory copies are issued in that order, as
// long as they fit the buffer; one that is there already is shared. So no run gets stuck over
// streams if each buffer holds the streamed weights of any one op: of the first unfinished op in
// the order all producers have finished, and the copies in its buffer are its own, or of later ops,
// which are issued only after its own.

#ifndef TUTTI_RUNTIME_STREAMS_H_
#define TUTTI_RUNTIME_STREAMS_H_

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "tutti/plan/plan.h"
#include "tutti/plan/problem.h"

namespace tutti {

class Streams {
 public:
  // Keeps a reference to the problem.
  explicit Streams(const Problem& problem);

  // A run of the plan begins. Keeps a reference to it.
  void begin(const Plan& plan, std::span<const MemoryId> memory_of_op);
  // No plan, or one that states no keeping: weights are ordinary inputs.
  void begin_without() { active_ = false; }
  bool active() const { return active_; }
  bool manages(ValueId value) const { return active_ && number_[value.index] >= 0; }

  // How many weights the op waits for, each once.
  int32_t awaited(OpId op) const { return awaited_[op.index]; }

  struct Copy {
    ValueId weight;
    MemoryId to;
  };
  // An op for which a weight is there now, and the op that made room for it, if it waited for any.
  struct Served {
    OpId op;
    OpId room_by{};
  };
  // Appends the copies that set out now, and the ops whose copy is there already.
  void issue(std::vector<Copy>& copies, std::vector<Served>& served);
  void arrive(ValueId weight, MemoryId memory, std::vector<Served>& served);
  // Appends the copies that no op reads any more, unless `dropped` is null.
  void finish(OpId op, std::vector<Copy>* dropped = nullptr);

  // An op whose streamed weights its buffer does not hold; invalid if there is none.
  OpId stuck() const;

 private:
  struct Item {  // one op reads one weight
    OpId op;
    ValueId weight;
  };
  struct Held {
    int32_t readers = 0;  // that have not finished
    bool present = false;
    bool kept = false;
    OpId room_by{};
    std::vector<OpId> waiting{};
  };
  struct Lane {  // to one memory
    std::vector<Item> items{};
    size_t next = 0;
    int64_t left = 0;  // of the buffer
    OpId freed_by{};   // the op that gave room back last
  };

  void order_ops(const Plan& plan);
  void add_items(OpId op, MemoryId memory, const WeightKeeping& keeping);
  void issue_in(int32_t memory, std::vector<Copy>& copies, std::vector<Served>& served);
  Held& held(ValueId weight, MemoryId memory) {
    return held_[static_cast<size_t>(number_[weight.index]) * lanes_.size() +
                 static_cast<size_t>(memory.index)];
  }

  const Problem& problem_;
  bool active_ = false;
  bool has_room_ = false;         // something may be issued that could not before
  std::vector<int32_t> number_;   // by value: among weights with homes, or -1
  std::vector<Held> held_;        // by number x memory
  std::vector<Lane> lanes_;       // by memory
  std::vector<int32_t> awaited_;  // by op
  std::vector<MemoryId> memory_of_;
  std::vector<std::vector<ValueId>> streamed_;  // by op
  // For order_ops.
  std::vector<OpId> order_;
  std::vector<int32_t> waits_for_;
  std::vector<OpId> next_on_device_;
  std::vector<std::pair<int64_t, int32_t>> ready_;  // a heap, the smallest on top
};

}  // namespace tutti

#endif  // TUTTI_RUNTIME_STREAMS_H_
