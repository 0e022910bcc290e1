// Random numbers, many at a time, by inverting their distribution: a belief draws thousands for one
// decision.

#ifndef TUTTI_BELIEF_DRAWS_H_
#define TUTTI_BELIEF_DRAWS_H_

#include "tutti/base/random.h"

namespace tutti {

// Standard normals: the inverse of their distribution by Acklam's rational functions (2003), off by
// less than one part in 10^8.
void draw_normals(Rng& rng, int count, double* out);

// Student's t cut to its central 95 %. Uses a table if there are few degrees of freedom, as is
// usual. Requires freedom >= 1.
void draw_central_t(Rng& rng, int freedom, int count, double* out);

// The largest |t| that draw_central_t draws.
double central_bound(int freedom);

}  // namespace tutti

#endif  // TUTTI_BELIEF_DRAWS_H_
