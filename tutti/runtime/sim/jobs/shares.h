// What runs in a simulated cluster shares its resources: every op and every hop of a transfer is a
// flow that draws on several resources at once, in fixed proportions, and goes at some speed from 0
// to 1 (1: as if alone on the machine). Speeds are max-min fair in the flows' dominant shares, the
// largest share that a flow takes of any resource (Ghodsi et al., Dominant Resource Fairness, NSDI
// 2011). Between transfers over one channel that is the max-min fairness of
// tutti/runtime/sim/links/flows.h.
//
// One object serves one simulation.

#ifndef TUTTI_RUNTIME_SIM_JOBS_SHARES_H_
#define TUTTI_RUNTIME_SIM_JOBS_SHARES_H_

#include <cstdint>
#include <span>
#include <vector>

#include "tutti/base/time.h"
#include "tutti/machine/shared_resources.h"

namespace tutti {

class SharedFlows {
 public:
  // By resource.
  explicit SharedFlows(std::vector<double> capacities);

  void reset();

  // A flow of `work` nanoseconds at full speed; kEndless for one that only leave() ends. `draws`
  // must outlive it. Returns its number, which may have been another's before.
  static constexpr double kEndless = 1e300;
  int32_t join(std::span<const Draw> draws, double work, int32_t owner);
  void leave(int32_t flow);

  // Lets time pass up to `now`, which must not be later than next_finish().
  void advance(Duration now);
  // When the next flow ends if nothing changes; kNever if none does.
  Duration next_finish();
  // Takes out what has ended, by the order of joining, and appends the owners.
  void take_finished(std::vector<int32_t>& owners);

  // Now: what is drawn on each resource; and whether it is full, so that some op goes slower.
  std::span<const double> used();
  std::span<const uint8_t> full();
  double speed(int32_t flow);
  std::span<const double> capacities() const { return capacities_; }
  Duration now() const { return now_; }

 private:
  struct Flow {
    std::span<const Draw> draws;
    double left = 0;  // nanoseconds at full speed
    double speed = 0;
    double dominant = 0;  // its largest share of a resource at full speed
    int64_t turn = 0;
    int32_t owner = -1;
    bool fixed = false;
  };
  void share_out();
  void fill();
  void use(const Flow& flow);

  std::vector<double> capacities_;
  std::vector<Flow> flows_;
  std::vector<int32_t> active_;  // by turn
  std::vector<int32_t> free_;
  int64_t turn_ = 0;
  Duration now_{0};
  bool stale_ = false;  // speeds must be computed again
  std::vector<double> used_;
  std::vector<double> slope_;  // by resource: how what is drawn grows with the level
  std::vector<uint8_t> full_;
  std::vector<int32_t> rising_;
};

}  // namespace tutti

#endif  // TUTTI_RUNTIME_SIM_JOBS_SHARES_H_
