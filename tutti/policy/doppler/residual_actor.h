// Makes plans with a residual net: list scheduling in the net's order, each op on the device of the
// highest score. The encoder runs once, however many episodes follow.

#ifndef TUTTI_POLICY_DOPPLER_RESIDUAL_ACTOR_H_
#define TUTTI_POLICY_DOPPLER_RESIDUAL_ACTOR_H_

#include <vector>

#include "tutti/policy/doppler/episode.h"
#include "tutti/policy/doppler/residual_net.h"

namespace tutti {

class ResidualActor : public Actor {
 public:
  // Keeps references to all of them.
  ResidualActor(const Problem& problem, const ResidualNet& net, const ProblemFeatures& features,
                const DraftFacts& facts);

  std::optional<Plan> act(const Acting& acting, Rng rng) override;

 private:
  class Run;

  const Problem& problem_;
  const ResidualNet& net_;
  const DraftFacts& facts_;
  ResidualEncoding encoding_;
  std::vector<float> one_pass_;  // ops x devices: PLACE's learned term, if shape().one_pass
};

}  // namespace tutti

#endif  // TUTTI_POLICY_DOPPLER_RESIDUAL_ACTOR_H_
