// The simulator that came with Doppler (Yao et al. 2025), exactly: each device runs one op at a
// time, first ready first served; each edge between different devices is a transfer of its own that
// starts when the producer ends and meets no other; graph inputs are everywhere; nothing is random.
// Priorities, slots, links and memory are not looked at.
//
// One object serves one thread and one problem, and allocates nothing after its first evaluation.

#ifndef TUTTI_STUDIES_DOPPLER_RELEASED_SIMULATOR_H_
#define TUTTI_STUDIES_DOPPLER_RELEASED_SIMULATOR_H_

#include <cstdint>
#include <span>
#include <vector>

#include "tutti/plan/problem.h"
#include "tutti/runtime/sim/tails.h"
#include "tutti/trace/trace.h"

namespace tutti {

class ReleasedSimulator {
 public:
  // Keeps a reference to the problem.
  explicit ReleasedSimulator(const Problem& problem);

  // The makespan of a placement; kNever as soon as it is certain to be longer than
  // `give_up_beyond`. Every op must be placed on a device that can run it.
  Duration evaluate(std::span<const DeviceId> placement, Duration give_up_beyond = kNever);

  // By op, of the last evaluation that was not given up.
  Duration start(OpId op) const { return Duration(start_ns_[op.index]); }
  Duration finish(OpId op) const { return Duration(finish_ns_[op.index]); }
  // As PhysicalSimulator's.
  OpId decided_by(OpId op) const { return decided_by_[op.index]; }

  // The spans of the last evaluation.
  Trace trace() const;

 private:
  // One op becoming ready: its last operand arrives. `turn` counts the events that the published
  // simulator would have queued before this one, so that ties fall as they did there.
  struct Arrival {
    int64_t time;
    int32_t turn;
    int32_t op;
    friend bool operator<(const Arrival& a, const Arrival& b) {
      return a.time != b.time ? a.time < b.time : a.turn < b.turn;
    }
  };
  struct Reader {
    int32_t op;
    int32_t edge;
    int64_t transfer_ns;  // where all pairs of devices cost the same
  };

  void reset();
  void push(Arrival arrival);
  Arrival pop();
  void enqueue(int32_t op, int64_t now, std::span<const DeviceId> placement);
  void start(int32_t op, int32_t device, int64_t now);
  void finish_on(int32_t device, std::span<const DeviceId> placement);
  int64_t transfer_ns(const Reader& reader, DeviceId from, DeviceId to) const;

  const Problem& problem_;
  bool one_transfer_time_;  // transfers do not depend on the pair of devices
  std::vector<int32_t> reader_begin_;
  std::vector<Reader> readers_;
  std::vector<int32_t> edge_count_;  // by op: edges from other ops
  std::vector<Duration> tail_;       // by op: least time from its start to the end of the graph

  // Reset by each evaluation.
  int32_t turn_ = 0;
  int64_t latest_end_ns_ = 0;        // the makespan is at least this
  std::vector<int32_t> missing_;     // by op
  std::vector<Arrival> latest_;      // by op: its latest operand so far
  std::vector<int32_t> next_;        // by op: the one queued behind it
  std::vector<int64_t> start_ns_;    // by op
  std::vector<int64_t> finish_ns_;   // by op
  std::vector<int32_t> device_of_;   // by op
  std::vector<OpId> decided_by_;     // by op
  std::vector<int32_t> queue_head_;  // by device, -1: empty
  std::vector<int32_t> queue_tail_;
  std::vector<int32_t> running_;     // by device, -1: idle
  std::vector<int64_t> busy_until_;  // by device; idle: kNever
  std::vector<int32_t> busy_turn_;
  std::vector<Arrival> heap_;
  size_t heap_size_ = 0;
};

}  // namespace tutti

#endif  // TUTTI_STUDIES_DOPPLER_RELEASED_SIMULATOR_H_
