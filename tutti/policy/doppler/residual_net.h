// The residual network (residual_network.h) as a DopplerNet, with what it is told of a problem.

#ifndef TUTTI_POLICY_DOPPLER_RESIDUAL_NET_H_
#define TUTTI_POLICY_DOPPLER_RESIDUAL_NET_H_

#include <memory>
#include <string>

#include "tutti/policy/doppler/features.h"
#include "tutti/policy/doppler/net.h"
#include "tutti/policy/doppler/scene.h"

namespace tutti {

struct ResidualFeatures : NetFeatures {
  explicit ResidualFeatures(const Problem& problem)
      : rows(problem_features(problem)), facts(problem) {}

  ProblemFeatures rows;
  SceneFacts facts;
};

// For net_families(). Fails as ResidualNetwork::load does.
Result<std::shared_ptr<const DopplerNet>> load_residual_net(const TensorFile& file,
                                                            const std::string& path);

}  // namespace tutti

#endif  // TUTTI_POLICY_DOPPLER_RESIDUAL_NET_H_
