// Makes plans with the nets of the configuration `as-published`: a ready op by SELECT, then its
// device by PLACE, or both at once by a joint policy, until all is placed. Of Acting it does not
// heed select_greedily and rename_equals, which are for the configuration `default`.

#ifndef TUTTI_STUDIES_DOPPLER_PUBLISHED_ACTOR_H_
#define TUTTI_STUDIES_DOPPLER_PUBLISHED_ACTOR_H_

#include <memory>
#include <vector>

#include "studies/doppler/published/net.h"
#include "tutti/policy/doppler/episode.h"

namespace tutti {

// What a net makes of a problem before anything is placed. Any number of actors may share it.
struct PublishedEncoding {
  struct Tower {
    const PublishedTower* tower = nullptr;
    std::vector<float> matrices{};
    TowerEncoding encoding{};
  };
  std::vector<Tower> towers;

  // Keeps references to the net. Towers are encoded side by side on up to `threads` threads.
  static std::shared_ptr<const PublishedEncoding> make(const PublishedNet& network,
                                                       const PublishedFeatures& features,
                                                       int threads);
};

class PublishedActor : public Actor {
 public:
  // Keeps references to all of them. Without an encoding it makes its own.
  PublishedActor(const Problem& problem, const PublishedNet& network,
                 const PublishedFeatures& features,
                 std::shared_ptr<const PublishedEncoding> encoding = nullptr);

  std::optional<Plan> act(const Acting& acting, Rng rng) override;

 private:
  class Run;

  const Problem& problem_;
  const PublishedNet& network_;
  const PublishedFeatures& features_;
  std::shared_ptr<const PublishedEncoding> encoding_;
};

}  // namespace tutti

#endif  // TUTTI_STUDIES_DOPPLER_PUBLISHED_ACTOR_H_
