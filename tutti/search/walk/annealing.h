// Simulated annealing (Kirkpatrick, Gelatt, Vecchi 1983) over placement and order. A worse plan is
// accepted with a probability that falls with how much worse it is and how cold it has become. The
// acceptance is drawn before the simulation, which can then stop as soon as the plan is too bad.

#ifndef TUTTI_SEARCH_WALK_ANNEALING_H_
#define TUTTI_SEARCH_WALK_ANNEALING_H_

#include <vector>

#include "tutti/search/walk/moves.h"
#include "tutti/search/walk/walk.h"

namespace tutti {

// Temperatures as shares of the best cost, so that they fit problems of any size.
struct Cooling {
  double hottest = 0.01;  // measured on the published graphs: 0.03 ends 4 % higher in the same time
  double coldest = 0.0001;
  // How many ops a move takes (Moves::set_scale).
  double scale = 1;
};

class Annealing : public Improver {
 public:
  // Keeps references to the problem and to the guide. If a guide is given, half of what is
  // proposed is drawn from it.
  Annealing(const Problem& problem, bool ordering, Cooling cooling = {}, Guide* guide = nullptr);

  void improve(Walk& walk, Evaluator& evaluator, const BudgetSlice& slice, const Progress& progress,
               Rng& rng) override;

 private:
  Cooling cooling_;
  Moves moves_;
  Guide* guide_;
  std::vector<OpId> hot_;
};

}  // namespace tutti

#endif  // TUTTI_SEARCH_WALK_ANNEALING_H_
