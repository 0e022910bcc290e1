// Makes plans with a residual network: list scheduling in the network's order, each op where the
// network likes it best. The encoder runs once, however many episodes follow.

#ifndef TUTTI_POLICY_DOPPLER_RESIDUAL_ACTOR_H_
#define TUTTI_POLICY_DOPPLER_RESIDUAL_ACTOR_H_

#include <vector>

#include "tutti/policy/doppler/episode.h"
#include "tutti/policy/doppler/residual_network.h"

namespace tutti {

class ResidualActor : public Actor {
 public:
  // Keeps references to all of them.
  ResidualActor(const Problem& problem, const ResidualNetwork& network,
                const ProblemFeatures& features, const SceneFacts& facts);

  std::optional<Plan> act(const Acting& acting, Rng rng) override;

 private:
  class Run;

  const Problem& problem_;
  const ResidualNetwork& network_;
  const SceneFacts& facts_;
  ResidualEncoding encoding_;
  std::vector<float> one_pass_;  // ops x devices: the network's part, if it can be had at once
};

}  // namespace tutti

#endif  // TUTTI_POLICY_DOPPLER_RESIDUAL_ACTOR_H_
