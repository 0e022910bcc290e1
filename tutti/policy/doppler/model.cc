#include "tutti/policy/doppler/model.h"

#include "tutti/policy/doppler/residual_actor.h"

namespace tutti {

Result<DopplerModel> DopplerModel::load(const TensorFile& file, const std::string& path) {
  Result<ResidualNetwork> residual = ResidualNetwork::load(file, path);
  if (!residual) return residual.error();
  DopplerModel model;
  model.residual_ = std::move(*residual);
  return model;
}

std::unique_ptr<Actor> DopplerModel::actor(const Problem& problem, const ProblemFeatures& features,
                                           const SceneFacts& facts) const {
  return std::make_unique<ResidualActor>(problem, residual_, features, facts);
}

}  // namespace tutti
