// The best of many plans drawn from a trained policy, as Doppler's figures are measured.

#ifndef TUTTI_STUDIES_DOPPLER_SAMPLES_H_
#define TUTTI_STUDIES_DOPPLER_SAMPLES_H_

#include "tutti/policy/doppler/model.h"
#include "tutti/search/walk/walk.h"

namespace tutti {

// The best of `samples` plans and the greedy one. Sample i is drawn with rng.split(i), so more
// samples are never worse. The cost is kNoPlan if none of the plans runs.
CostedPlan best_of_samples(const DopplerModel& model, const Problem& problem,
                           const SearchModel& evaluation, int samples, Rng rng, int threads);

}  // namespace tutti

#endif  // TUTTI_STUDIES_DOPPLER_SAMPLES_H_
