// Random-key sampling (Bean 1994): HEFT with its ranks shaken. Each sample multiplies every rank by
// a random factor, places ops in that order where they finish first, and is simulated. Samples are
// independent; the best becomes the walk's plan.

#ifndef TUTTI_SEARCH_RANDOM_KEYS_H_
#define TUTTI_SEARCH_RANDOM_KEYS_H_

#include <vector>

#include "tutti/search/walk.h"

namespace tutti {

class RandomKeys : public Improver {
 public:
  // Keeps a reference to the problem.
  explicit RandomKeys(const Problem& problem);

  void improve(Walk& walk, Evaluator& evaluator, const Leg& leg, const Progress& progress,
               Rng& rng) override;

 private:
  // Ready ops by descending key, each where it finishes first, gaps filled.
  Result<Plan> decode(const std::vector<double>& keys) const;

  const Problem& problem_;
  std::vector<double> ranks_;
  std::vector<double> keys_;
};

}  // namespace tutti

#endif  // TUTTI_SEARCH_RANDOM_KEYS_H_
