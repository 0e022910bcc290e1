// The encoder of published/encoder.h as a function of libtorch, for nets whose messages pass once.

#ifndef TUTTI_STUDIES_DOPPLER_TORCH_ENCODE_ONCE_H_
#define TUTTI_STUDIES_DOPPLER_TORCH_ENCODE_ONCE_H_

#include <memory>

#include "studies/doppler/published/tower.h"
#include "tutti/train/torch/module.h"

namespace tutti {

// The embeddings, ops x width, before the leak. The gradient by the layer that makes the matrices
// of messages is added to `factored` when the others are computed. Refers to features and
// parameters until then.
torch::Tensor encode_once(const Parameters& all, const TowerShape& shape,
                          const PublishedFeatures& features,
                          std::shared_ptr<FactoredGradients> factored);

}  // namespace tutti

#endif  // TUTTI_STUDIES_DOPPLER_TORCH_ENCODE_ONCE_H_
