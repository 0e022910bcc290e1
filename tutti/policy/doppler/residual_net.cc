#include "tutti/policy/doppler/residual_net.h"

#include <utility>

#include "tutti/policy/doppler/residual_actor.h"

namespace tutti {
namespace {

class ResidualNet : public DopplerNet {
 public:
  explicit ResidualNet(ResidualNetwork network) : network_(std::move(network)) {}

  std::unique_ptr<const NetFeatures> features(const Problem& problem) const override {
    return std::make_unique<ResidualFeatures>(problem);
  }

  std::unique_ptr<Actor> actor(const Problem& problem, const NetFeatures& features) const override {
    const auto& known = features_as<ResidualFeatures>(features);
    return std::make_unique<ResidualActor>(problem, network_, known.rows, known.facts);
  }

  Estimate estimate() const override { return network_.shape().estimate; }

 private:
  ResidualNetwork network_;
};

}  // namespace

Result<std::shared_ptr<const DopplerNet>> load_residual_net(const TensorFile& file,
                                                            const std::string& path) {
  Result<ResidualNetwork> network = ResidualNetwork::load(file, path);
  if (!network) return network.error();
  return std::shared_ptr<const DopplerNet>(std::make_shared<ResidualNet>(std::move(*network)));
}

}  // namespace tutti
