// Large-neighbourhood search (Shaw 1998): takes a few connected ops out of the plan and puts them
// back one by one, each on the device with the least simulated cost. Better or equal plans are
// kept. The ops are around one of the critical path, or around one that the guide would place
// elsewhere.

#ifndef TUTTI_SEARCH_WALK_NEIGHBOURHOODS_H_
#define TUTTI_SEARCH_WALK_NEIGHBOURHOODS_H_

#include <vector>

#include "tutti/search/walk/guide.h"
#include "tutti/search/walk/walk.h"

namespace tutti {

class LargeNeighbourhoods : public Improver {
 public:
  // Keeps a reference to the problem, and to the guide if there is one.
  explicit LargeNeighbourhoods(const Problem& problem, Guide* guide = nullptr);

  void improve(Walk& walk, Evaluator& evaluator, const BudgetSlice& slice, const Progress& progress,
               Rng& rng) override;

 private:
  // Draws a few ops around one that is likely to help.
  void choose(Rng& rng);
  OpId draw_first(Rng& rng) const;
  void put(Plan& plan, OpId op, DeviceId device) const;

  const Problem& problem_;
  Guide* guide_;
  bool looked_ = false;  // the guide has looked at the plan of the walk
  std::vector<OpId> critical_;
  std::vector<OpId> chosen_;
};

}  // namespace tutti

#endif  // TUTTI_SEARCH_WALK_NEIGHBOURHOODS_H_
