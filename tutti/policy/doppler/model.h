// A DopplerModel is a trained pair of SELECT and PLACE, of the family of nets that its file names
// (net.h). It is immutable; actors made of it serve one problem and one thread each.

#ifndef TUTTI_POLICY_DOPPLER_MODEL_H_
#define TUTTI_POLICY_DOPPLER_MODEL_H_

#include <memory>
#include <string>
#include <utility>

#include "tutti/policy/doppler/net.h"

namespace tutti {

// In the metadata of a checkpoint, and of no model: the steps that the optimiser has done.
inline constexpr const char* kAdamSteps = "adam_steps";

// The word `network` of the metadata of a file; empty if it has none.
std::string network_named_in(const TensorFile& file);

// The error for a file whose net this program does not know.
Error unknown_network(const TensorFile& file, const std::string& path);

class DopplerModel {
 public:
  // Fails (invalid_input) unless the file is a complete model of a known net. A checkpoint is not:
  // its weights are the last ones, not the best.
  static Result<DopplerModel> load(const TensorFile& file, const std::string& path);
  // The same, for a file that stays and does not change while the model is used.
  static Result<DopplerModel> borrow(const TensorFile& file, const std::string& path);

  // As those of DopplerNet.
  std::unique_ptr<const NetFeatures> features(const Problem& problem) const {
    return net_->features(problem);
  }
  std::unique_ptr<Actor> actor(const Problem& problem, const NetFeatures& features) const {
    return net_->actor(problem, features);
  }
  Estimate estimate() const { return net_->estimate(); }

 private:
  explicit DopplerModel(std::shared_ptr<const DopplerNet> net) : net_(std::move(net)) {}

  std::shared_ptr<const DopplerNet> net_;
};

}  // namespace tutti

#endif  // TUTTI_POLICY_DOPPLER_MODEL_H_
