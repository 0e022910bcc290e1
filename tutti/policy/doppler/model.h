// A DopplerModel is a trained pair of SELECT and PLACE, of whichever network its file says: one of
// Doppler's, or of a learned rival that only places. It is immutable; actors made of it serve one
// problem and one thread each.

#ifndef TUTTI_POLICY_DOPPLER_MODEL_H_
#define TUTTI_POLICY_DOPPLER_MODEL_H_

#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "tutti/policy/doppler/episode.h"
#include "tutti/policy/doppler/published/network.h"
#include "tutti/policy/doppler/residual_network.h"
#include "tutti/policy/doppler/rivals/gdp_network.h"
#include "tutti/policy/doppler/rivals/placeto_network.h"

namespace tutti {

// In the metadata of a checkpoint, and of no model: the steps that the optimiser has done.
inline constexpr const char* kAdamSteps = "adam_steps";

class DopplerModel {
 public:
  // Fails (invalid_input) unless the file is a whole model of a network there is. A checkpoint is
  // none: its network is the last one, not the best.
  static Result<DopplerModel> load(const TensorFile& file, const std::string& path);

  // Keeps references to all of them, and to this model. Actors of all but the residual network
  // work out features of their own.
  std::unique_ptr<Actor> actor(const Problem& problem, const ProblemFeatures& features,
                               const SceneFacts& facts) const;

  // What the times of its plans are worked out by.
  Estimate estimate() const;

 private:
  using Network = std::variant<ResidualNetwork, PublishedNetwork, PlacetoNetwork, GdpNetwork>;
  explicit DopplerModel(Network network) : network_(std::move(network)) {}

  Network network_;
};

}  // namespace tutti

#endif  // TUTTI_POLICY_DOPPLER_MODEL_H_
