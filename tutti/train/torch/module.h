// A Module is a net in libtorch: from a lesson to the log-likelihoods and entropies of its
// decisions, with gradients. Only sources in folders called torch include it, and none
// of them may include fmt: libtorch brings another version of it.

#ifndef TUTTI_TRAIN_TORCH_MODULE_H_
#define TUTTI_TRAIN_TORCH_MODULE_H_

#include <torch/torch.h>

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "tutti/train/doppler/learner.h"

namespace tutti {

using Parameters = std::map<std::string, torch::Tensor>;

// A gradient by out x in weights as a product, left^T right: rank x out and rank x in.
struct FactoredGradient {
  torch::Tensor left;
  torch::Tensor right;
};
using FactoredGradients = std::map<std::string, FactoredGradient>;  // by parameter

// Each of episodes x steps.
struct Likelihoods {
  torch::Tensor select;
  torch::Tensor place;
  torch::Tensor select_entropy;
  torch::Tensor place_entropy;
  // Gradients that libtorch is not asked for, there once the others have been computed: of large
  // layers, as products. None: there are no such parameters.
  std::shared_ptr<const FactoredGradients> factored{};
};

// What forward is asked for; the rest may be zeros.
struct Wanted {
  bool select = true;
  bool place = true;
};

class Module {
 public:
  virtual ~Module() = default;
  virtual Likelihoods forward(const Parameters& parameters, const Lesson& lesson,
                              const Wanted& wanted) const = 0;
  // Whether SELECT and PLACE share no parameters.
  virtual bool separable() const = 0;
};

// The module of each family of nets (tutti/policy/doppler/net.h) that can be trained.
using MakeModule =
    std::function<Result<std::unique_ptr<Module>>(const TensorFile& file, const std::string& path)>;
struct NetModule {
  std::string network;  // the family's name
  MakeModule make;      // fails (invalid_input) if the file is of another net
};
// For programs with nets of their own: in main, before anything else. A new name.
void add_module(NetModule module);

// The product's own.
Result<std::unique_ptr<Module>> make_residual_module(const TensorFile& file,
                                                     const std::string& path);

// What every module needs.

// The module of the net in the file; loading that net checks every tensor.
template <class Network, class Of>
Result<std::unique_ptr<Module>> checked_module(const TensorFile& file, const std::string& path) {
  const auto network = Network::load(file, path);
  if (!network) return network.error();
  return std::unique_ptr<Module>(std::make_unique<Of>(network->shape()));
}

// Data that outlives the tensor.
torch::Tensor view_of(const std::vector<float>& data, std::vector<int64_t> shape);
torch::Tensor indices(const std::vector<int32_t>& data);

// The episodes of a lesson side by side, with SELECT's choices padded to the longest list.
struct DecisionBatch {
  int64_t episodes = 0;
  int64_t steps = 0;
  int64_t devices = 0;
  torch::Tensor op;            // episodes x steps
  torch::Tensor device;        // episodes x steps
  torch::Tensor ready;         // (episodes x steps) x widest; 0 where there is none
  torch::Tensor is_ready;      // the same shape, boolean
  torch::Tensor right_op;      // the same shape, boolean
  torch::Tensor rows;          // (episodes x steps) x devices x features
  torch::Tensor allowed;       // (episodes x steps) x devices, boolean
  torch::Tensor right_device;  // the same shape, boolean
};
DecisionBatch gather_decisions(const Lesson& lesson);

// log of the sum of softmax(logits) over what is right, and the entropy of softmax(logits); logits
// count only where `allowed`.
struct Choice {
  torch::Tensor likelihood;
  torch::Tensor entropy;
};
Choice choose(const torch::Tensor& logits, const torch::Tensor& allowed,
              const torch::Tensor& right);

}  // namespace tutti

#endif  // TUTTI_TRAIN_TORCH_MODULE_H_
