// Large-neighbourhood search (Shaw 1998): takes a handful of connected ops out of the plan and puts
// them back one by one, each on the device where the simulated cost is least. Better or equal plans
// are kept. The handful is around an op of the critical path, or around one that a guide doubts.

#ifndef TUTTI_SEARCH_NEIGHBOURHOODS_H_
#define TUTTI_SEARCH_NEIGHBOURHOODS_H_

#include <vector>

#include "tutti/search/guide.h"
#include "tutti/search/walk.h"

namespace tutti {

class LargeNeighbourhoods : public Improver {
 public:
  // Keeps a reference to the problem, and to the guide if there is one.
  explicit LargeNeighbourhoods(const Problem& problem, Guide* guide = nullptr);

  void improve(Walk& walk, Evaluator& evaluator, const Leg& leg, const Progress& progress,
               Rng& rng) override;

 private:
  // A few ops around one that seems worth it.
  void choose(Rng& rng);
  OpId draw_first(Rng& rng) const;
  void put(Plan& plan, OpId op, DeviceId device) const;

  const Problem& problem_;
  Guide* guide_;
  bool looked_ = false;  // the guide has, at the plan of the walk
  std::vector<OpId> critical_;
  std::vector<OpId> chosen_;
};

}  // namespace tutti

#endif  // TUTTI_SEARCH_NEIGHBOURHOODS_H_
