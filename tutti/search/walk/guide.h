// A Guide helps a search with a trained policy. It draws plans to start from, and it says where a
// plan should be changed: ops that the policy would place elsewhere are drawn more often, and move
// where it would place them. For that the policy follows the plan: it says what it would do with
// each op after all that the plan has placed before.

#ifndef TUTTI_SEARCH_WALK_GUIDE_H_
#define TUTTI_SEARCH_WALK_GUIDE_H_

#include <memory>
#include <optional>
#include <vector>

#include "tutti/policy/doppler/model.h"
#include "tutti/search/evaluate/progress.h"

namespace tutti {

// Whether there is time for guides, given how long the policy took for one plan: making a guide and
// each look or draw take about as long, and making one cannot be stopped. A search that only draws
// plans may spend all its time on that; one that looks needs most of it for itself. Graphs that the
// policy plans in groups are too large. Under a count of simulations only the size decides, so that
// the same count gives the same result.
bool has_time_to_look(const Problem& problem, const Progress& progress, double plan_seconds);
bool has_time_to_draw(const Problem& problem, const Progress& progress, double plan_seconds);

// One object serves one thread and one walk.
class Guide {
 public:
  // Keeps references to both.
  Guide(const Problem& problem, const DopplerModel& model);
  const Problem& problem() const { return problem_; }

  // A plan drawn from the policy; none if memory is short or it is stopped.
  std::optional<Plan> draw_plan(Rng rng, const Stop& stop);

  // Lets the policy follow this plan. Takes about as long as making one. False if it was stopped
  // before the end, or if by the policy's own estimate memory leaves an op no device: then it has
  // not looked.
  bool look_at(const Plan& plan, const Stop& stop);

  // Whether it may look again: under a wall clock, once the search has had several times as long as
  // the last look took; under a count, always.
  bool is_rested(const Progress& progress) const;

  // Both require that it has looked at a plan. Draws an op, in proportion to how unlikely its place
  // in that plan is by the policy; and a device for it other than `own`, with the policy's odds.
  OpId draw_op(Rng& rng) const;
  DeviceId draw_device(OpId op, DeviceId own, Rng& rng) const;

 private:
  const Problem& problem_;
  std::unique_ptr<const NetFeatures> features_;
  std::unique_ptr<Actor> actor_;
  std::vector<float> odds_;    // ops x devices: the policy's probabilities
  std::vector<double> doubt_;  // by op: the sum so far of one minus the odds of its place
  Stop::Clock::time_point rested_at_{};
};

}  // namespace tutti

#endif  // TUTTI_SEARCH_WALK_GUIDE_H_
