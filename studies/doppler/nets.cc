#include "studies/doppler/nets.h"

#include <memory>
#include <utility>

#include "studies/doppler/published/actor.h"
#include "studies/doppler/rivals/gdp_actor.h"
#include "studies/doppler/rivals/placeto_actor.h"

namespace tutti {
namespace {

const PublishedFeatures& told(const PublishedNetFeatures& features) {
  return features.graph;
}
const RivalFeatures& told(const RivalNetFeatures& features) {
  return features.all;
}

// All of them plan without contention.
template <class Network, class Features, class ActorOf>
class StudyNet : public DopplerNet {
 public:
  explicit StudyNet(Network network) : network_(std::move(network)) {}

  std::unique_ptr<const NetFeatures> features(const Problem& problem) const override {
    return std::make_unique<Features>(problem);
  }
  std::unique_ptr<Actor> actor(const Problem& problem, const NetFeatures& features) const override {
    return std::make_unique<ActorOf>(problem, network_, told(features_as<Features>(features)));
  }
  Estimate estimate() const override { return Estimate::without_contention; }

  static Result<std::shared_ptr<const DopplerNet>> load(const TensorFile& file,
                                                        const std::string& path) {
    return made(Network::load(file, path));
  }
  static Result<std::shared_ptr<const DopplerNet>> made(Result<Network> network) {
    if (!network) return network.error();
    return std::shared_ptr<const DopplerNet>(std::make_shared<StudyNet>(std::move(*network)));
  }

 private:
  Network network_;
};

}  // namespace

void add_study_nets() {
  using Published = StudyNet<PublishedNet, PublishedNetFeatures, PublishedActor>;
  using Placeto = StudyNet<PlacetoNet, RivalNetFeatures, PlacetoActor>;
  using Gdp = StudyNet<GdpNet, RivalNetFeatures, GdpActor>;
  add_net_family({.name = "published",
                  .load = Published::load,
                  .borrow =
                      [](const TensorFile& file, const std::string& path) {
                        return Published::made(PublishedNet::load(file, path, /*borrowed=*/true));
                      },
                  .variants = {"learned", "every_step"}});
  add_net_family({.name = "placeto", .load = Placeto::load});
  add_net_family({.name = "gdp", .load = Gdp::load});
}

}  // namespace tutti
