#include "tutti/policy/doppler/model.h"

#include <fmt/format.h>

#include "tutti/policy/doppler/published/actor.h"
#include "tutti/policy/doppler/residual_actor.h"
#include "tutti/policy/doppler/rivals/gdp_actor.h"
#include "tutti/policy/doppler/rivals/placeto_actor.h"

namespace tutti {
namespace {

// An actor with the features it refers to.
template <class Features, class Of>
class OwnFeaturesActor : public Actor {
 public:
  template <class Network>
  OwnFeaturesActor(const Problem& problem, const Network& network, Features features)
      : features_(std::move(features)), actor_(problem, network, features_) {}

  std::optional<Plan> act(const Acting& acting, Rng rng) override {
    return actor_.act(acting, rng);
  }

 private:
  Features features_;
  Of actor_;
};

// Makes an actor of whichever network it is called with.
struct MakeActor {
  const Problem& problem;
  const ProblemFeatures& features;
  const SceneFacts& facts;

  std::unique_ptr<Actor> operator()(const ResidualNetwork& network) const {
    return std::make_unique<ResidualActor>(problem, network, features, facts);
  }
  std::unique_ptr<Actor> operator()(const PublishedNetwork& network) const {
    return std::make_unique<OwnFeaturesActor<PublishedFeatures, PublishedActor>>(
        problem, network, published_features(problem));
  }
  std::unique_ptr<Actor> operator()(const PlacetoNetwork& network) const {
    return std::make_unique<OwnFeaturesActor<RivalFeatures, PlacetoActor>>(problem, network,
                                                                           rival_features(problem));
  }
  std::unique_ptr<Actor> operator()(const GdpNetwork& network) const {
    return std::make_unique<OwnFeaturesActor<RivalFeatures, GdpActor>>(problem, network,
                                                                       rival_features(problem));
  }
};

}  // namespace

Result<DopplerModel> DopplerModel::load(const TensorFile& file, const std::string& path) {
  if (file.metadata.contains(kAdamSteps)) {
    return invalid_input(
        fmt::format("{}: this is a checkpoint; take the model.safetensors beside it", path));
  }
  const auto told = file.metadata.find("network");
  const std::string name = told == file.metadata.end() ? "" : told->second;
  const auto model_of = [](auto network) -> Result<DopplerModel> {
    if (!network) return network.error();
    return DopplerModel(std::move(*network));
  };
  if (name == "published") return model_of(PublishedNetwork::load(file, path));
  if (name == "placeto") return model_of(PlacetoNetwork::load(file, path));
  if (name == "gdp") return model_of(GdpNetwork::load(file, path));
  return model_of(ResidualNetwork::load(file, path));
}

std::unique_ptr<Actor> DopplerModel::actor(const Problem& problem, const ProblemFeatures& features,
                                           const SceneFacts& facts) const {
  return std::visit(MakeActor{problem, features, facts}, network_);
}

Estimate DopplerModel::estimate() const {
  const auto* residual = std::get_if<ResidualNetwork>(&network_);
  return residual == nullptr ? Estimate::without_contention : residual->shape().estimate;
}

}  // namespace tutti
