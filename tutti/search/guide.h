// A Guide is a trained policy at the side of a search. It draws plans to start from; and it says
// where a plan should be changed: ops that the policy would put elsewhere are drawn more often, and
// go where it would put them. For that it is asked along the plan itself: what it would do with
// each op after all that the plan has placed before.

#ifndef TUTTI_SEARCH_GUIDE_H_
#define TUTTI_SEARCH_GUIDE_H_

#include <memory>
#include <optional>
#include <vector>

#include "tutti/policy/doppler/model.h"
#include "tutti/search/progress.h"

namespace tutti {

// Whether guides can be afforded, if the policy took so long for one plan: making a guide and each
// look or draw cost about as much, and making one cannot be stopped. Where plans are only drawn,
// that may take all the time there is; a search that looks wants most of it for itself. Graphs of
// which the policy places clusters are too large. Under a count of simulations it is a question of
// size alone, so that the same count gives the same result.
bool has_time_to_look(const Problem& problem, const Progress& progress, double plan_seconds);
bool has_time_to_draw(const Problem& problem, const Progress& progress, double plan_seconds);

// One object serves one thread and one walk.
class Guide {
 public:
  // Keeps references to both.
  Guide(const Problem& problem, const DopplerModel& model);

  // A plan drawn from the policy; none if memory is short or it is stopped.
  std::optional<Plan> draw_plan(Rng rng, const Stop& stop);

  // Asks the policy along this plan. Costs about as much as making one. False if it was stopped
  // before the end, or if memory leaves an op no device by the policy's own reckoning: then it has
  // looked at nothing.
  bool look_at(const Plan& plan, const Stop& stop);

  // Whether it is worth its time to look again, under a wall clock: not until the search has had
  // several times as long as the last look took. Under a count it always is.
  bool is_rested(const Progress& progress) const;

  // Both require that it has looked at a plan. An op, in proportion to how unlikely the policy
  // finds its place in that plan; a device for it, as likely as the policy finds it, but not `own`.
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

#endif  // TUTTI_SEARCH_GUIDE_H_
