// First come, first served: jobs in the order they came, ops by id, each on the free device where
// it is quickest. With patience p an op waits for a better device rather than take one on which it
// lasts more than p times as long as on its best.

#ifndef TUTTI_POLICY_ONLINE_FIFO_H_
#define TUTTI_POLICY_ONLINE_FIFO_H_

#include "tutti/policy/online/openings.h"

namespace tutti {

class Fifo final : public PlacingDispatcher {
 public:
  explicit Fifo(double patience) : patience_(patience) {}

 protected:
  std::optional<Choice> choose(const ClusterState& state) override;

 private:
  double patience_;
};

}  // namespace tutti

#endif  // TUTTI_POLICY_ONLINE_FIFO_H_
