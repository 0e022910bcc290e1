// How much slower than alone an op or a transfer goes next to what this scheduler has launched
// itself: from what costs files say that ops draw ([[demand]]) and what the machine file says that
// resources carry. It knows nothing of hidden load; see residuals.h.
//
// Each resource keeps two figures: the share that is drawn of it at once, and the work that is left
// on it (share times nanoseconds). What an op meets while it runs is then a quotient, and needs no
// list of what runs when. Resources are divided max-min fairly, as in
// tutti/runtime/sim/jobs/shares.h.
//
// For one thread.

#ifndef TUTTI_POLICY_ONLINE_EFT_CROWDING_H_
#define TUTTI_POLICY_ONLINE_EFT_CROWDING_H_

#include <span>
#include <vector>

#include "tutti/plan/world/cluster.h"

namespace tutti {

class Crowding {
 public:
  // The cluster must outlive it.
  void begin(const Cluster& cluster);
  void clear();

  // Something draws these for that many nanoseconds from now on.
  void add_running(std::span<const Draw> draws, double ns);
  // The same, in the place of something that runs now: there is more work, but not more at once.
  void add_waiting(std::span<const Draw> draws, double ns);

  // How many times longer than alone something takes that starts in `wait` nanoseconds and alone
  // takes `run`. At least 1.
  double slowdown(std::span<const Draw> draws, double wait, double run) const;
  // The same of something that was added as running, now.
  double slowdown_of_running(std::span<const Draw> draws) const;

  // The share of the resource that is drawn now.
  double drawn(int32_t resource) const { return resources_[resource].drawn; }

  // What a transfer between two memories draws at its full speed, on the worst of its hops.
  std::span<const Draw> draws_of_route(MemoryId from, MemoryId to);

 private:
  struct OfResource {
    double per_unit = 0;  // 1 / capacity
    double drawn = 0;     // share
    double left = 0;      // share times ns
    double flows = 0;
  };
  struct OfRoute {
    bool known = false;
    std::vector<Draw> draws;
  };

  const Cluster* cluster_ = nullptr;
  std::vector<OfResource> resources_;
  std::vector<OfRoute> routes_;  // by the memories at both ends
};

}  // namespace tutti

#endif  // TUTTI_POLICY_ONLINE_EFT_CROWDING_H_
