// Every placement of a problem's ops that may still be better than the incumbent, one after
// another. Ops are placed in topological order; whole subtrees are left out where the work of a
// device, of all devices together, or a path of the graph is too long already.

#ifndef TUTTI_SEARCH_EXACT_PLACEMENTS_H_
#define TUTTI_SEARCH_EXACT_PLACEMENTS_H_

#include <functional>
#include <vector>

#include "tutti/plan/problem.h"
#include "tutti/search/exact/incumbent.h"
#include "tutti/search/exact/placed.h"

namespace tutti {

class Placements {
 public:
  // Keeps references to the problem and the incumbent.
  Placements(const Problem& problem, Incumbent& incumbent);

  // Hands over each placement, which may improve the incumbent, until all are seen or it is over.
  void visit(const std::function<void(PlacedProblem&)>& each);

 private:
  bool all_devices_alike() const;
  void find_rests();
  void place(size_t index, int32_t used, const std::function<void(PlacedProblem&)>& each);
  bool may_be_better(OpId op, DeviceId device);
  Duration earliest_start(OpId op, DeviceId device) const;
  DeviceId device_of_group(OpId op) const;

  const Problem& problem_;
  const Graph& graph_;
  Incumbent& incumbent_;
  PlacedProblem placed_;
  bool alike_ = false;
  int64_t slots_ = 0;                   // of all devices
  std::vector<DeviceId> placement_;     // invalid: not yet
  std::vector<Duration> load_;          // by device, of ops placed so far
  std::vector<Duration> earliest_end_;  // of ops placed so far
  std::vector<Duration> quickest_;      // run time on the best device
  std::vector<Duration> rest_;          // of the longest path behind an op, at its quickest
  Duration work_left_{0};               // of ops that are not placed, at their quickest
  Duration work_placed_{0};
};

}  // namespace tutti

#endif  // TUTTI_SEARCH_EXACT_PLACEMENTS_H_
