// The layers of a net, each with its place in a model file, in one list: so that a fresh model
// holds just what loading asks for.

#ifndef TUTTI_STUDIES_DOPPLER_RIVALS_DENSE_SLOTS_H_
#define TUTTI_STUDIES_DOPPLER_RIVALS_DENSE_SLOTS_H_

#include <string>
#include <vector>

#include "tutti/policy/nn/dense.h"

namespace tutti {

struct DenseSlot {
  std::string name;
  int out;
  int in;
  Dense* layer;
  Dense::Bias bias = Dense::Bias::yes;
};

// Fails (invalid_input) at the first that the file lacks in that size.
Result<void> load_slots(const TensorFile& file, const std::string& path,
                        const std::vector<DenseSlot>& slots);

// Adds seeded orthogonal weights and, unless it has none, biases of zero for each.
void add_fresh_slots(const std::vector<DenseSlot>& slots, uint64_t seed, TensorFile& file);

// A whole number that the file's metadata must tell.
struct ShapeNumber {
  const char* key;
  int* target;
  int least;
  int most;
};

// Fails (invalid_input) unless the file says that it is of `network` and tells all numbers.
Result<void> read_shape(const TensorFile& file, const std::string& path, const std::string& network,
                        const std::vector<ShapeNumber>& numbers);

}  // namespace tutti

#endif  // TUTTI_STUDIES_DOPPLER_RIVALS_DENSE_SLOTS_H_
