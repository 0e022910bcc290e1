// Presence says where each value was when, worked out from a trace's spans alone. The judge and
// the statistics stand on it; no runtime does.
//
// A value is in the memory where it was made once its op has finished, and in another once the last
// hop of its transfer there has. A graph input is at home from the start: in one memory, or in all.
// Where values are files, each is everywhere once it is anywhere.
//
// If the run was of a plan that says which weights are kept, a kept weight is in its memory from
// the start (unless the run was to load it), and one that is streamed may go to a memory several
// times: each is a Transfer of its own, there until the last op that read it has finished.
//
// Presence is immutable once made and keeps references to the problem and the trace.

#ifndef TUTTI_TRACE_PRESENCE_H_
#define TUTTI_TRACE_PRESENCE_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tutti/plan/problem.h"
#include "tutti/trace/trace.h"

namespace tutti {

// One value's way to one memory: all of its hops.
struct Transfer {
  ValueId value;
  MemoryId from;
  MemoryId to;
  bool given = false;
  Duration start{0};               // of the first hop
  Duration finish{0};              // of the last
  std::span<const int32_t> spans;  // indices into Trace::transfers, by hop and then by start
  // Of a streamed weight: the ops that read this copy.
  int readers = 0;
  Duration last_read{0};  // when the last of them finished; the arrival, if there is none
};

// The ops in one memory that read one value.
struct Readers {
  MemoryId memory;
  Duration first_placed{0};
  Duration last_finish{0};
  std::optional<Duration> longest_given{};  // over the edges whose transfer time is given
  bool all_given = true;                    // every edge has one
};

class Presence {
 public:
  struct Options {
    // The released model: one transfer per edge, none recorded; graph inputs are everywhere.
    bool released = false;
  };

  // Requires that every id in the trace exists. Of an op that ran twice, the first span counts.
  Presence(const Problem& problem, const Trace& trace, const Options& options);
  Presence(const Presence&) = delete;
  Presence& operator=(const Presence&) = delete;

  const OpSpan* span(OpId op) const {  // null: never ran
    return span_of_[op.index] < 0 ? nullptr : &trace_.ops[span_of_[op.index]];
  }
  // 0 in a run of a plan; kNever if an online policy never placed it.
  Duration placed(OpId op) const { return placed_.empty() ? Duration{0} : placed_[op.index]; }
  bool online() const { return !placed_.empty(); }

  // Where the value begins; invalid if in every memory, or if its op never ran.
  MemoryId home(ValueId value) const;
  // When the value was in that memory first; kNever if it never was.
  Duration arrival(ValueId value, MemoryId memory) const;
  // When the operand was where its op ran. Requires that the op ran.
  Duration arrival(EdgeId edge) const;
  // When the op could start but for slots and memory: it was placed and its operands were there;
  // kNever if it never could.
  Duration ready(OpId op) const { return ready_[op.index]; }

  // The transfers of a value, by destination.
  std::span<const Transfer> transfers(ValueId value) const {
    return {transfers_.data() + first_transfer_[value.index],
            static_cast<size_t>(first_transfer_[value.index + 1] - first_transfer_[value.index])};
  }
  // Whether the value is a weight that the run's plan keeps or streams; then, whether the memory
  // keeps it.
  bool is_set_aside(ValueId value) const {
    return trace_.weights.stated() && problem_.is_homed_weight(value);
  }
  bool keeps(ValueId weight, MemoryId memory) const { return trace_.weights.keeps(weight, memory); }
  // Whether the op read the streamed weight from that copy: the last that had arrived when it
  // started.
  const Transfer* copy_read(ValueId weight, OpId op) const;

  // The readers of the value, by memory; ops that never ran are left out. Replaces what was in
  // `readers`.
  void find_readers(ValueId value, std::vector<Readers>& readers) const;

 private:
  void index_ops();
  void index_transfers();
  void count_readers_of_copies();
  void find_readers_at_an_instant(ValueId weight);
  bool begins_a_copy(int32_t span) const;
  Duration could_read(EdgeId edge) const;

  const Problem& problem_;
  const Trace& trace_;
  Options options_;
  std::vector<int32_t> span_of_;     // by op: index into trace.ops, or -1
  std::vector<Duration> placed_;     // by op; empty: no online run
  std::vector<int32_t> span_order_;  // Transfer::spans points into it
  std::vector<Transfer> transfers_;
  std::vector<int32_t> first_transfer_;  // by value, and one more
  std::vector<Duration> ready_;          // by op
};

// The readers in that memory, or null.
const Readers* find_in(std::span<const Readers> readers, MemoryId memory);

}  // namespace tutti

#endif  // TUTTI_TRACE_PRESENCE_H_
