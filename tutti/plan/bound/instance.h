// An Instance is a Problem as the lower bounds see it: less than the truth, so that whatever is
// proven here holds for the Problem too.
//
// An op takes its run time on a slot of its device. If two neighbouring ops share a device, the
// second may start as soon as the first ends; if not, it waits for at least the shortest transfer.
// Nothing else takes time and nothing is in the way of anything.
//
// Times are whole ticks. A tick divides every run time and every transfer of the Instance. If all
// ops start as early as their order allows, every start is a sum of those times, so the optimum of
// the Instance is a whole number of ticks and bounds may be rounded up to one.

#ifndef TUTTI_PLAN_BOUND_INSTANCE_H_
#define TUTTI_PLAN_BOUND_INSTANCE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tutti/base/id.h"
#include "tutti/base/time.h"
#include "tutti/plan/problem.h"

namespace tutti::bound {

using Ticks = int64_t;

// For products of times, prices and counts. Holds any that a Problem can give.
__extension__ using Wide = __int128;

// Beyond any sum of the times of an Instance: Costs holds those of a graph to kNever / 4.
inline constexpr Ticks kUnreachable = kNever.count();
inline constexpr Ticks kImpossible = -1;  // the run time of an op where it may not run

// Requires dividend >= 0 and divisor > 0.
constexpr int64_t ceil_div(int64_t dividend, int64_t divisor) {
  return dividend / divisor + (dividend % divisor > 0 ? 1 : 0);
}

// Where to look from: the start of the run, or its end with every arrow turned round. The two are
// alike, as a transfer takes the same time both ways.
enum Side : int { kFromStart = 0, kFromEnd = 1 };

struct Neighbour {
  OpId op;
  Ticks transfer;  // the least time between the two ops if their devices differ
};

// For each op a list of neighbours by ascending op, none of them twice.
class Neighbours {
 public:
  std::span<const Neighbour> operator[](OpId op) const {
    return {items_.data() + begin_[op.index], begin_[op.index + 1] - begin_[op.index]};
  }

  // Fills the lists op by op: add the neighbours of the next op in any order, then close its list.
  // Of several entries for one neighbour the longest transfer stays.
  void add(Neighbour neighbour) { items_.push_back(neighbour); }
  void close();

  // The lists of the other side.
  Neighbours turned_round() const;

  // Divides every transfer by the tick.
  void divide(Ticks tick);
  std::span<const Neighbour> all() const { return items_; }

 private:
  std::vector<size_t> begin_ = {0};
  std::vector<Neighbour> items_;
};

// Devices that differ in nothing: slots, run times, and which ops they may run.
struct DeviceClass {
  std::vector<DeviceId> devices{};
  int64_t slots_each = 1;

  int64_t slots() const { return slots_each * static_cast<int64_t>(devices.size()); }
};

struct Instance {
  int32_t size = 0;   // ops
  Duration tick{1};   // of time
  int64_t slots = 0;  // of all devices
  std::vector<DeviceClass> classes{};
  std::vector<Ticks> run_times{};  // by op, then class; see run_time
  std::vector<Ticks> shortest{};   // by op: over the classes
  Neighbours before[2]{};          // by Side: predecessors, successors
  std::vector<OpId> order[2]{};    // by Side: every op after all of before[side]

  // kImpossible where the op may not run.
  Ticks run_time(OpId op, size_t kind) const {
    return run_times[static_cast<size_t>(op.index) * classes.size() + kind];
  }
};

// O((ops + edges) * classes), and a sort of each op's operands.
Instance make_instance(const Problem& problem);

}  // namespace tutti::bound

#endif  // TUTTI_PLAN_BOUND_INSTANCE_H_
