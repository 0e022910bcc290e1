// Cuts of a graph into one part for each device, from which plans are made. plan_min_cut
// (heuristics.h) takes the best of a few by an estimate; a search draws many and simulates them.

#ifndef TUTTI_POLICY_HEURISTIC_MIN_CUT_H_
#define TUTTI_POLICY_HEURISTIC_MIN_CUT_H_

#include <cstdint>
#include <memory>

#include "tutti/base/result.h"
#include "tutti/plan/plan.h"
#include "tutti/plan/problem.h"

namespace tutti {

struct CutSettings {
  int bands = 1;             // of time, in each of which the work is divided
  double imbalance = 0.001;  // how much more than its share of the work a part may have
  uint64_t seed = 1;
};

// One object serves one thread.
class MinCut {
 public:
  // False if tutti was built without METIS; no object may be made then.
  static bool is_available();

  // Keeps a reference.
  explicit MinCut(const Problem& problem);
  ~MinCut();

  // The same settings give the same plan. It may not fit into the memories.
  Result<Plan> plan(const CutSettings& settings);

 private:
  struct State;
  const Problem& problem_;
  std::unique_ptr<State> state_;
};

}  // namespace tutti

#endif  // TUTTI_POLICY_HEURISTIC_MIN_CUT_H_
