// Makes plans with a policy that decides where ops go and nothing else: they come in a given order,
// and each is placed for good. What both rivals have in common.

#ifndef TUTTI_STUDIES_DOPPLER_RIVALS_ORDERED_ACTOR_H_
#define TUTTI_STUDIES_DOPPLER_RIVALS_ORDERED_ACTOR_H_

#include <optional>
#include <vector>

#include "tutti/policy/doppler/episode.h"

namespace tutti {

// The net's view of one episode.
class PlaceScorer {
 public:
  virtual ~PlaceScorer() = default;
  // The logit of every device of the machine for the op whose turn it is.
  virtual void score(OpId op, std::vector<float>& logits) = 0;
  virtual void place(OpId op, DeviceId device) = 0;
};

// One episode over `order`, in which each op comes after its producers. Priorities of the plan are
// the starts in the draft. The order is recorded as decisions that left no choice. None if memory
// leaves an op no device, or if it was stopped.
std::optional<Plan> act_in_order(const Problem& problem, const std::vector<int32_t>& order,
                                 const Acting& acting, Rng rng, PlaceScorer& scorer);

}  // namespace tutti

#endif  // TUTTI_STUDIES_DOPPLER_RIVALS_ORDERED_ACTOR_H_
