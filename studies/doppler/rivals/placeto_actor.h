// Makes plans with Placeto's net: see placeto_net.h and ordered_actor.h.
//
// Messages pass again at every step, but a step changes two ops, so only embeddings within reach of
// those are worked out again; the rest would come out the same.

#ifndef TUTTI_STUDIES_DOPPLER_RIVALS_PLACETO_ACTOR_H_
#define TUTTI_STUDIES_DOPPLER_RIVALS_PLACETO_ACTOR_H_

#include "studies/doppler/rivals/placeto_net.h"
#include "tutti/policy/doppler/episode.h"

namespace tutti {

class PlacetoActor : public Actor {
 public:
  // Keeps references to all of them.
  PlacetoActor(const Problem& problem, const PlacetoNet& network, const RivalFeatures& features)
      : problem_(problem), network_(network), features_(features) {}

  std::optional<Plan> act(const Acting& acting, Rng rng) override;

 private:
  const Problem& problem_;
  const PlacetoNet& network_;
  const RivalFeatures& features_;
};

}  // namespace tutti

#endif  // TUTTI_STUDIES_DOPPLER_RIVALS_PLACETO_ACTOR_H_
