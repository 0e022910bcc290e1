// Draws many plans from a trained policy and keeps the best. The features are computed once; each
// plan costs an episode and a simulation.

#ifndef TUTTI_SEARCH_WALK_SAMPLES_H_
#define TUTTI_SEARCH_WALK_SAMPLES_H_

#include "tutti/search/walk/guide.h"
#include "tutti/search/walk/walk.h"

namespace tutti {

// Draws plan after plan and keeps those that are better, whatever the current plan of the walk.
class PolicySamples : public Improver {
 public:
  // Keeps a reference.
  explicit PolicySamples(Guide& guide) : guide_(guide) {}

  void improve(Walk& walk, Evaluator& evaluator, const BudgetSlice& slice, const Progress& progress,
               Rng& rng) override;

 private:
  Guide& guide_;
};

}  // namespace tutti

#endif  // TUTTI_SEARCH_WALK_SAMPLES_H_
