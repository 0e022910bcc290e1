// The learned constants of a belief as tensors of a file (docs/formats/model.md), alone or together
// with the weights of a policy: `belief.constants` holds the raw values, the metadata
// `belief.names` the names of the constants in the same order.

#ifndef TUTTI_BELIEF_CONSTANTS_FILE_H_
#define TUTTI_BELIEF_CONSTANTS_FILE_H_

#include <span>
#include <string>
#include <vector>

#include "tutti/base/file/tensor_file.h"
#include "tutti/base/result.h"
#include "tutti/belief/network.h"

namespace tutti {

void store_constants(const Network& network, std::span<const double> raw, TensorFile& file);

// Fails (invalid_input) unless the file holds a value for exactly the constants of this network:
// those of another machine, or with other counters, mean something else.
Result<std::vector<double>> load_constants(const Network& network, const TensorFile& file,
                                           const std::string& name_of_file);

}  // namespace tutti

#endif  // TUTTI_BELIEF_CONSTANTS_FILE_H_
