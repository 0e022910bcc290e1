// Weights to start training from: rows, or columns if there are fewer, of length 1 and at right
// angles to each other, so that a layer neither blows up nor forgets what it reads.

#ifndef TUTTI_STUDIES_DOPPLER_NN_ORTHOGONAL_H_
#define TUTTI_STUDIES_DOPPLER_NN_ORTHOGONAL_H_

#include <vector>

#include "tutti/base/random.h"

namespace tutti {

// out x in numbers, row-major.
std::vector<float> orthogonal(int out, int in, Rng rng);

}  // namespace tutti

#endif  // TUTTI_STUDIES_DOPPLER_NN_ORTHOGONAL_H_
