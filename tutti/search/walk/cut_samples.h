// Draws many cuts of the graph (tutti/policy/heuristic/min_cut.h) and keeps the plan of the best.
// A local search hardly gets from one cut to another, and which of them is good shows only in a
// simulation: over ten cuts of one graph makespans differ by a third.

#ifndef TUTTI_SEARCH_WALK_CUT_SAMPLES_H_
#define TUTTI_SEARCH_WALK_CUT_SAMPLES_H_

#include <memory>
#include <utility>

#include "tutti/policy/heuristic/min_cut.h"
#include "tutti/search/walk/walk.h"

namespace tutti {

// Draws a few dozen cuts. The best becomes the walk's current plan unless it is much worse; the
// rest of the slice is left to another.
class CutSamples : public Improver {
 public:
  // Keeps a reference. Requires MinCut::is_available().
  CutSamples(const Problem& problem, std::unique_ptr<Improver> rest)
      : problem_(problem), cuts_(problem), rest_(std::move(rest)) {}

  void improve(Walk& walk, Evaluator& evaluator, const BudgetSlice& slice, const Progress& progress,
               Rng& rng) override;

 private:
  CutSettings draw(Rng& rng) const;

  const Problem& problem_;
  MinCut cuts_;
  std::unique_ptr<Improver> rest_;
};

}  // namespace tutti

#endif  // TUTTI_SEARCH_WALK_CUT_SAMPLES_H_
