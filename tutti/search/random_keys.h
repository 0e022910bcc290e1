// Search over keys (random keys; Bean 1994): a key per op says who is placed next, and each op goes
// where it finishes first. A sample is either HEFT with all its ranks shaken, or the best keys so
// far with a few ops moved up or down. Strong where order is what matters; placements that list
// scheduling would not choose are beyond it.
//
// When an op finishes is worked out as in HEFT, or with transfers that queue for their links, which
// takes longer and is nearer to the truth on narrow ones.

#ifndef TUTTI_SEARCH_RANDOM_KEYS_H_
#define TUTTI_SEARCH_RANDOM_KEYS_H_

#include <cstdint>
#include <vector>

#include "tutti/search/walk.h"

namespace tutti {

class RandomKeys : public Improver {
 public:
  enum class Decoder : uint8_t { insertion, contention };

  // Keeps a reference to the problem.
  explicit RandomKeys(const Problem& problem, Decoder decoder = Decoder::insertion);

  void improve(Walk& walk, Evaluator& evaluator, const Leg& leg, const Progress& progress,
               Rng& rng) override;

 private:
  // Ready ops by descending key, each where it finishes first, gaps filled. Fails if memory is
  // short or time is up.
  Result<Plan> decode(const std::vector<double>& keys, const Stop& stop) const;
  Result<Plan> insert(const std::vector<double>& keys, const Stop& stop) const;

  const Problem& problem_;
  Decoder decoder_;
  // All ranks times random factors.
  void shake(Rng& rng);
  // A few ops go just before or behind another.
  void shift(Rng& rng);

  std::vector<double> ranks_;
  std::vector<double> best_keys_;
  std::vector<double> keys_;
};

}  // namespace tutti

#endif  // TUTTI_SEARCH_RANDOM_KEYS_H_
