// The best of many plans drawn from a trained policy, the greedy one among them. The network runs
// once; each further plan costs an episode and a simulation.

#ifndef TUTTI_SEARCH_SAMPLES_H_
#define TUTTI_SEARCH_SAMPLES_H_

#include "tutti/policy/doppler/model.h"
#include "tutti/search/islands.h"

namespace tutti {

// Sample i is drawn with rng.split(i), so more samples are never worse. A cost of kNoPlan if none
// of the plans runs.
Candidate best_of_samples(const DopplerModel& model, const Problem& problem,
                          const SearchModel& judging, int samples, Rng rng, int threads);

}  // namespace tutti

#endif  // TUTTI_SEARCH_SAMPLES_H_
