// The released simulator (simulator.h) as a model of evaluation of the product
// (tutti/runtime/sim/model.h).

#ifndef TUTTI_STUDIES_DOPPLER_RELEASED_MODEL_H_
#define TUTTI_STUDIES_DOPPLER_RELEASED_MODEL_H_

#include "tutti/runtime/sim/model.h"

namespace tutti {

// Adds `released` to sim_models().
void add_released_model();

// Requires that it was added.
SimModel released_model();

}  // namespace tutti

#endif  // TUTTI_STUDIES_DOPPLER_RELEASED_MODEL_H_
