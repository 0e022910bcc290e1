// Makes plans with GDP's net: see gdp_net.h and ordered_actor.h. All odds are known before
// the first op is placed.

#ifndef TUTTI_STUDIES_DOPPLER_RIVALS_GDP_ACTOR_H_
#define TUTTI_STUDIES_DOPPLER_RIVALS_GDP_ACTOR_H_

#include "studies/doppler/rivals/gdp_net.h"
#include "tutti/policy/doppler/episode.h"

namespace tutti {

class GdpActor : public Actor {
 public:
  // Keeps references to the problem and its features.
  GdpActor(const Problem& problem, const GdpNet& network, const RivalFeatures& features)
      : problem_(problem), features_(features), logits_(network.logits(features)) {}

  std::optional<Plan> act(const Acting& acting, Rng rng) override;

 private:
  const Problem& problem_;
  const RivalFeatures& features_;
  std::vector<float> logits_;  // ops x devices
};

}  // namespace tutti

#endif  // TUTTI_STUDIES_DOPPLER_RIVALS_GDP_ACTOR_H_
