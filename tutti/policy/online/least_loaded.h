// Jobs in the order they came, ops by id, each on the device with the smallest share of busy slots;
// of equal ones where it is quickest. Patience as in fifo.h.

#ifndef TUTTI_POLICY_ONLINE_LEAST_LOADED_H_
#define TUTTI_POLICY_ONLINE_LEAST_LOADED_H_

#include "tutti/policy/online/openings.h"

namespace tutti {

class LeastLoaded final : public PlacingDispatcher {
 public:
  explicit LeastLoaded(double patience) : patience_(patience) {}

 protected:
  std::optional<Choice> choose(const ClusterState& state) override;

 private:
  double patience_;
};

}  // namespace tutti

#endif  // TUTTI_POLICY_ONLINE_LEAST_LOADED_H_
