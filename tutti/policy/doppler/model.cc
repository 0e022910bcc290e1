#include "tutti/policy/doppler/model.h"

#include "tutti/policy/doppler/published_actor.h"
#include "tutti/policy/doppler/residual_actor.h"

namespace tutti {
namespace {

class OwnFeaturesActor : public Actor {
 public:
  OwnFeaturesActor(const Problem& problem, const PublishedNetwork& network)
      : features_(published_features(problem)), actor_(problem, network, features_) {}

  std::optional<Plan> act(const Acting& acting, Rng rng) override {
    return actor_.act(acting, rng);
  }

 private:
  PublishedFeatures features_;
  PublishedActor actor_;
};

}  // namespace

Result<DopplerModel> DopplerModel::load(const TensorFile& file, const std::string& path) {
  DopplerModel model;
  const auto network = file.metadata.find("network");
  if (network != file.metadata.end() && network->second == "published") {
    Result<PublishedNetwork> published = PublishedNetwork::load(file, path);
    if (!published) return published.error();
    model.network_ = std::move(*published);
    return model;
  }
  Result<ResidualNetwork> residual = ResidualNetwork::load(file, path);
  if (!residual) return residual.error();
  model.network_ = std::move(*residual);
  return model;
}

std::unique_ptr<Actor> DopplerModel::actor(const Problem& problem, const ProblemFeatures& features,
                                           const SceneFacts& facts) const {
  if (const auto* published = std::get_if<PublishedNetwork>(&network_)) {
    return std::make_unique<OwnFeaturesActor>(problem, *published);
  }
  return std::make_unique<ResidualActor>(problem, std::get<ResidualNetwork>(network_), features,
                                         facts);
}

}  // namespace tutti
