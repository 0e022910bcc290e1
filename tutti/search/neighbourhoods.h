// Large-neighbourhood search (Shaw 1998): takes a handful of connected ops out of the plan and puts
// them back one by one, each on the device where the simulated cost is least. Better or equal plans
// are kept.

#ifndef TUTTI_SEARCH_NEIGHBOURHOODS_H_
#define TUTTI_SEARCH_NEIGHBOURHOODS_H_

#include <vector>

#include "tutti/search/walk.h"

namespace tutti {

class LargeNeighbourhoods : public Improver {
 public:
  // Keeps a reference to the problem.
  explicit LargeNeighbourhoods(const Problem& problem);

  void improve(Walk& walk, Evaluator& evaluator, const Leg& leg, const Progress& progress,
               Rng& rng) override;

 private:
  // A few ops around a critical one.
  void choose(Rng& rng);
  void put(Plan& plan, OpId op, DeviceId device) const;

  const Problem& problem_;
  std::vector<OpId> critical_;
  std::vector<OpId> chosen_;
};

}  // namespace tutti

#endif  // TUTTI_SEARCH_NEIGHBOURHOODS_H_
