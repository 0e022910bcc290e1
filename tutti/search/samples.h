// Many plans drawn from a trained policy, the best of them kept. The network runs once; each
// further plan costs an episode and a simulation.

#ifndef TUTTI_SEARCH_SAMPLES_H_
#define TUTTI_SEARCH_SAMPLES_H_

#include "tutti/policy/doppler/model.h"
#include "tutti/search/guide.h"
#include "tutti/search/islands.h"

namespace tutti {

// Draws plan after plan and takes what is better, whatever plan the walk is at.
class PolicySamples : public Improver {
 public:
  // Keeps a reference.
  explicit PolicySamples(Guide& guide) : guide_(guide) {}

  void improve(Walk& walk, Evaluator& evaluator, const Leg& leg, const Progress& progress,
               Rng& rng) override;

 private:
  Guide& guide_;
};

// So many plans and the greedy one. Sample i is drawn with rng.split(i), so more samples are never
// worse. A cost of kNoPlan if none of the plans runs.
Candidate best_of_samples(const DopplerModel& model, const Problem& problem,
                          const SearchModel& judging, int samples, Rng rng, int threads);

}  // namespace tutti

#endif  // TUTTI_SEARCH_SAMPLES_H_
