// What each transfer over shared channels should have moved, if bandwidth is divided max-min
// fairly: no transfer can be given more without taking from one that has no more (Bertsekas,
// Gallager, Data Networks, 1992).
//
// All transfers on one hop have the same rate at all times, so the sums are kept by hop: what a
// transfer has moved is what its hop's sum has grown by since it joined. When a hop changes, only
// hops that share channels with it, directly or through others, are computed again.
//
// It is told of transfers in the order of time. Keeps references to the machine's hops.

#ifndef TUTTI_TRACE_CHECK_FAIR_SHARES_H_
#define TUTTI_TRACE_CHECK_FAIR_SHARES_H_

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "tutti/machine/machine.h"

namespace tutti {

class FairShares {
 public:
  explicit FairShares(const Machine& machine);

  // A transfer begins or ends to move bytes over the hop, which must have a shared channel and some
  // bandwidth. `now` must not be before that of an earlier call.
  void join(Duration now, const Hop& hop);
  void leave(Duration now, const Hop& hop);

  // The bytes that a transfer would have moved, had it been on the hop ever since the hop was last
  // empty, and how many it moved in each nanosecond up to now. Requires a transfer on the hop.
  struct Progress {
    double bytes = 0;
    double bytes_per_ns = 0;
  };
  Progress progress(Duration now, const Hop& hop);

 private:
  struct Lane {  // the transfers on one hop
    const Hop* hop = nullptr;
    int64_t transfers = 0;
    double moved = 0;  // by each at `seen`
    double bytes_per_ns = 0;
    Duration seen{0};
    bool gathered = false;
    bool rising = false;  // while rates are worked out
  };
  Lane& lane_of(const Hop& hop);
  void touch(const Hop& hop);
  // Gives the rates that hold from now_ on, if anything changed, and then lets time go on.
  void move_to(Duration now);
  void gather();
  void fill();

  const Machine& machine_;
  std::unordered_map<const Hop*, int32_t> lane_index_;
  std::vector<Lane> lanes_;
  Duration now_{0};
  // By channel.
  std::vector<std::vector<int32_t>> lanes_on_;  // those with transfers
  std::vector<double> left_;                    // bytes per ns not given to anyone yet
  std::vector<int64_t> rising_;                 // transfers whose rate is still rising
  std::vector<char> is_touched_;
  std::vector<int32_t> touched_;  // channels whose lanes must be worked out
  std::vector<int32_t> group_;    // the lanes being worked out
};

}  // namespace tutti

#endif  // TUTTI_TRACE_CHECK_FAIR_SHARES_H_
