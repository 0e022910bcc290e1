// First come, first served: jobs in the order they came, ops by id, each on the free device where
// it is quickest, or on the one with the smallest share of busy slots and then the quickest. With
// patience p an op waits for a better device rather than take one on which it takes more than p
// times as long as on its best.

#ifndef TUTTI_POLICY_ONLINE_FIFO_H_
#define TUTTI_POLICY_ONLINE_FIFO_H_

#include <cstdint>

#include "tutti/policy/online/openings.h"

namespace tutti {

class Fifo final : public PlacingDecider {
 public:
  enum class Prefer : uint8_t { quickest, least_loaded };

  Fifo(Prefer prefer, double patience) : prefer_(prefer), patience_(patience) {}

 protected:
  std::optional<Choice> choose(const WorldState& state) override;

 private:
  Prefer prefer_;
  double patience_;
};

}  // namespace tutti

#endif  // TUTTI_POLICY_ONLINE_FIFO_H_
