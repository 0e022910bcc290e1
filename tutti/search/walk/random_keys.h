// Search over keys (random keys; Bean 1994): a key per op gives the order of placement, and each op
// goes to the device that finishes it first. A sample is either HEFT with all its ranks perturbed,
// or the best keys so far with a few ops moved up or down. Strong if order matters most; it cannot
// reach placements that list scheduling would not choose.
//
// Finish times are estimated as in HEFT, or with transfers that queue for their links, which is
// slower and more accurate on narrow links.

#ifndef TUTTI_SEARCH_WALK_RANDOM_KEYS_H_
#define TUTTI_SEARCH_WALK_RANDOM_KEYS_H_

#include <cstdint>
#include <vector>

#include "tutti/search/walk/walk.h"

namespace tutti {

class RandomKeys : public Improver {
 public:
  enum class Decoder : uint8_t { insertion, contention };

  // Keeps a reference to the problem.
  explicit RandomKeys(const Problem& problem, Decoder decoder = Decoder::insertion);

  void improve(Walk& walk, Evaluator& evaluator, const BudgetSlice& slice, const Progress& progress,
               Rng& rng) override;

 private:
  // Ready ops by descending key, each where it finishes first, gaps filled. Fails if memory is
  // short or time is up.
  Result<Plan> decode(const std::vector<double>& keys, const Stop& stop) const;
  // Multiplies all ranks by random factors.
  void perturb(Rng& rng);
  // Moves a few ops just before or behind another.
  void shift(Rng& rng);

  const Problem& problem_;
  Decoder decoder_;
  std::vector<double> ranks_;
  std::vector<double> best_keys_;
  std::vector<double> keys_;
};

}  // namespace tutti

#endif  // TUTTI_SEARCH_WALK_RANDOM_KEYS_H_
