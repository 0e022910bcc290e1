// The Ledger keeps the books of limited memory in a simulated run: what is held where, what may
// still start, what can be let go.
//
// An op holds its outputs and its transient memory from its start, the latter until its end. A copy
// is held from the start of its transfer. A copy is let go when the last reader in its memory has
// finished and none is left to be placed; the first copy, in the memory of its producer, also waits
// for the transfers that leave from it. Values that no op reads stay. A graph input is held in
// each memory where a reader is placed: a weight for the whole run, another until its last reader
// there has finished.

#ifndef TUTTI_RUNTIME_SIM_LEDGER_H_
#define TUTTI_RUNTIME_SIM_LEDGER_H_

#include <cstdint>
#include <span>
#include <vector>

#include "tutti/plan/problem.h"
#include "tutti/plan/weights.h"

namespace tutti {

// What happened to a memory, so that it can be repeated.
struct LedgerCall {
  enum class Kind : uint8_t { start, finish, start_copy, finish_copy };
  Kind kind;
  int32_t index;  // op or value
  MemoryId memory{};
};

class Ledger {
 public:
  // Keeps a reference to the problem. Without limits, nothing is kept and everything fits.
  explicit Ledger(const Problem& problem);

  bool enforced() const { return enforced_; }
  // No books are kept for a plan in which everything fits at any time: then all calls but
  // enforced() behave as if memory were not limited. Such a plan keeps within its limits even if
  // nothing is ever let go and nothing is read twice from one copy.
  bool keeps_books() const { return keeps_books_; }
  // Of the next run: the memories hold what is reserved for weights with homes all the time, and
  // these take no room otherwise. A keeping that states nothing: they are ordinary inputs.
  void set_weights_aside(const WeightKeeping& keeping);
  void reset();
  void reset_for(std::span<const MemoryId> memory_of_op);

  // A reader of the op's operands will run in that memory. Placing may overfill a memory with graph
  // inputs: see overfull().
  void place(OpId op, MemoryId memory);
  // The first memory that holds more than its limit; invalid if none does.
  MemoryId overfull() const;

  bool fits(OpId op, MemoryId memory) const;
  bool fits_copy(ValueId value, MemoryId memory) const;
  int64_t left(MemoryId memory) const;

  void start(OpId op, MemoryId memory);
  void finish(OpId op, MemoryId memory);
  void start_copy(ValueId value, MemoryId to);
  void finish_copy(ValueId value);

  // True if the memory let something go since the last call.
  bool take_freed(MemoryId memory);

  // What has happened since the last reset, if books are kept.
  const std::vector<LedgerCall>& calls() const { return calls_; }
  // Lets it happen again, all ops being placed. False, with the books in disorder, if something
  // does not fit this time.
  bool repeat(std::span<const LedgerCall> calls);

  // Bytes that starting the op takes.
  int64_t need(OpId op) const;

 private:
  int32_t& readers(ValueId value, MemoryId memory) {
    return readers_[static_cast<size_t>(value.index) * memories_ +
                    static_cast<size_t>(memory.index)];
  }
  uint8_t& held(ValueId value, MemoryId memory) {
    return held_[static_cast<size_t>(value.index) * memories_ + static_cast<size_t>(memory.index)];
  }
  void let_go(ValueId value, MemoryId memory);
  void let_unread_copies_go(ValueId value);
  void let_first_copy_go(ValueId value);

  bool surely_fits(std::span<const MemoryId> memory_of_op);
  bool is_aside(ValueId value) const { return !aside_.empty() && aside_[value.index] != 0; }

  const Problem& problem_;
  bool enforced_;
  bool keeps_books_;
  size_t memories_;
  std::vector<int64_t> output_bytes_;    // by op
  std::vector<int64_t> most_transient_;  // by memory: of any op, in all slots at once
  std::vector<int64_t> most_;            // by memory, while surely_fits looks
  std::vector<int64_t> used_;            // by memory
  std::vector<bool> freed_;              // by memory
  std::vector<int32_t> readers_;         // by value x memory: placed readers that have not finished
  std::vector<uint8_t> held_;      // by value x memory: a copy that came by a transfer or input
  std::vector<int32_t> unplaced_;  // by value: readers not placed yet
  std::vector<int32_t> leaving_;   // by value: memories still to be served from the first copy
  std::vector<MemoryId> made_in_;  // by value; invalid before its op has finished
  std::vector<LedgerCall> calls_;
  std::vector<int64_t> reserved_;  // by memory; empty: nothing
  std::vector<uint8_t> aside_;     // by value; empty: none is
};

}  // namespace tutti

#endif  // TUTTI_RUNTIME_SIM_LEDGER_H_
