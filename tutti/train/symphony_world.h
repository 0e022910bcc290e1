// Where Symphony learns: a simulated cluster, jobs that arrive on it at several loads, with and
// without load that nobody is told of. A scenario is one draw of arrivals, noise and that load; two
// policies in one scenario have the same luck.

#ifndef TUTTI_TRAIN_SYMPHONY_WORLD_H_
#define TUTTI_TRAIN_SYMPHONY_WORLD_H_

#include <memory>
#include <vector>

#include "tutti/policy/symphony/model.h"
#include "tutti/runtime/cluster/arrivals.h"
#include "tutti/runtime/cluster/cluster_sim.h"
#include "tutti/train/symphony_learner.h"

namespace tutti {

struct SymphonyWorld {
  const Cluster* cluster = nullptr;
  JobList jobs{};               // to learn from
  JobList check_jobs{};         // to choose the best model by
  ClusterOptions options{};     // with the counters, without unknown load
  UnknownLoad unknown_load{};   // where there is any
  std::vector<double> loads{};  // each as often as the others
  int jobs_per_episode = 20;
  double most_jobs_per_s = 0;  // of `jobs`; see draw_arrivals
};

struct JobScenario {
  double load = 0;
  bool unknown_load = false;
  ClusterOptions options{};
  std::vector<Arrival> arrivals{};
  uint64_t seed = 0;
};

JobScenario draw_scenario(const SymphonyWorld& world, const JobList& jobs, double load,
                          bool unknown_load, uint64_t seed);

// How an episode is played and rewarded.
struct PlaySettings {
  int most_decisions = 0;  // then it is cut; 0: to the end
  // Rewards are minus the slow-down that jobs gather (the sum over jobs in the system of time over
  // critical path), or those of the simulator.
  bool reward_jobs = true;
  double discount = 0.99;  // for the critic: per decision
};

struct Played {
  SymphonyEpisode episode{};
  double last_value = 0;  // the critic's, of the state in which it was cut; 0: it came to its end
  double slowdown = 0;    // mean over jobs that ended
  int64_t rests = 0;      // decisions to do nothing
};

// Draws actions by the model's odds and keeps everything. Stopped on the way: what there is so far.
Played play(const std::shared_ptr<const SymphonyModel>& model, const JobScenario& scenario,
            const PlaySettings& settings, uint64_t seed, const Stop& stop);

// The best actions instead, nothing kept: the mean slow-down over jobs; 0 if it was stopped.
double judged_slowdown(const std::shared_ptr<const SymphonyModel>& model,
                       const JobScenario& scenario, const Stop& stop);

}  // namespace tutti

#endif  // TUTTI_TRAIN_SYMPHONY_WORLD_H_
