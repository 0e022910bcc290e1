// Beam search over any Select/Place pair: the pair says which op is next; every device it may go to
// is tried, and the most promising few drafts go on. Promise is the least makespan that a draft can
// still reach: what is placed, and the longest way from there.

#ifndef TUTTI_SEARCH_BEAM_H_
#define TUTTI_SEARCH_BEAM_H_

#include "tutti/plan/policy.h"
#include "tutti/policy/list_planner.h"
#include "tutti/policy/registry.h"

namespace tutti {

class Beam : public Planner {
 public:
  Beam(MakePolicy make_policy, int width) : make_policy_(std::move(make_policy)), width_(width) {}

  // Fails (infeasible) when memory leaves a ready op no device in every draft, or if it is stopped.
  Result<Plan> plan(const Problem& problem, const Budget& budget, uint64_t seed) override;

 private:
  MakePolicy make_policy_;
  int width_;
};

// Over critical_path's choices, as `--policy beam` does.
PolicyEntry beam_entry();

}  // namespace tutti

#endif  // TUTTI_SEARCH_BEAM_H_
