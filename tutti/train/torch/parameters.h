// The parameters of a net with the state of Adam (Kingma and Ba 2015), as they come from and
// go to a file of tensors. Only the sources of this folder include it.

#ifndef TUTTI_TRAIN_TORCH_PARAMETERS_H_
#define TUTTI_TRAIN_TORCH_PARAMETERS_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tutti/base/file/tensor_file.h"
#include "tutti/train/torch/module.h"

namespace tutti {

// Fails (invalid_input) if the optimiser's state is of no tensor in the file, or no memory.
Result<void> check_moments(const TensorFile& file, const std::string& path);

// Gradients are computed in parallel, each on one thread. libtorch cannot limit its BLAS to one
// thread; if that is OpenBLAS, we can. Otherwise every product would wait for busy threads.
void use_one_thread_each();

class TrainedParameters {
 public:
  // The file's moments must be of its tensors' shapes.
  TrainedParameters(const TensorFile& file, int64_t steps);

  const Parameters& values() const { return now().values; }
  std::vector<torch::Tensor> leaves() const;  // in the order of values()

  // One step downhill; gradients in the order of values(), undefined where there is none or where
  // it is among the factored ones. `scales` and `rates` by parameter, or one for all. False if a
  // parameter is not finite afterwards.
  bool descend(const std::vector<torch::Tensor>& gradient, const std::vector<double>& scales,
               const std::vector<double>& rates, int threads,
               const FactoredGradients& factored = {});

  // undo() returns to the state at the last keep(). Neither copies: the next step after keep()
  // writes to a second set of tensors.
  void keep() { kept_ = now_; }
  void undo();

  // Adam as it was before its first step: moments and their count are 0. It cannot be undone.
  void forget_moments();

  // As it is until the next step.
  const TensorFile& model() const { return now().file; }
  TensorFile checkpoint() const;

 private:
  struct State {
    TensorFile file{};    // the parameters themselves
    Parameters values{};  // views of them
    Parameters first{};
    Parameters second{};
    int64_t steps = 0;
  };
  const State& now() const { return states_[now_]; }
  // The state that the next step writes: another than the one that is kept.
  State& next();

  State states_[2];
  size_t now_ = 0;
  std::optional<size_t> kept_{};
};

}  // namespace tutti

#endif  // TUTTI_TRAIN_TORCH_PARAMETERS_H_
