// Where Symphony learns: a simulated cluster, jobs that arrive on it at several loads, with and
// without hidden load. A scenario is one draw of arrivals, noise and hidden load: two policies in
// one scenario meet the same ones.

#ifndef TUTTI_TRAIN_SYMPHONY_WORLD_H_
#define TUTTI_TRAIN_SYMPHONY_WORLD_H_

#include <memory>
#include <vector>

#include "tutti/policy/symphony/model.h"
#include "tutti/runtime/sim/jobs/arrivals.h"
#include "tutti/runtime/sim/jobs/billed_load.h"
#include "tutti/runtime/sim/jobs/job_simulator.h"
#include "tutti/train/symphony/learner.h"

namespace tutti {

struct SymphonyWorld {
  const Cluster* cluster = nullptr;
  JobList jobs{};               // to learn from
  JobList check_jobs{};         // to choose the best model by
  JobSimOptions options{};      // with the counters, without unknown load
  UnknownLoad unknown_load{};   // where there is any
  std::vector<double> loads{};  // each as often as the others
  int jobs_per_episode = 20;
  double billed_jobs_per_s = 0;  // of `jobs`; loads are billed loads
};

struct JobScenario {
  double load = 0;
  bool unknown_load = false;
  JobSimOptions options{};
  std::vector<Arrival> arrivals{};
  uint64_t seed = 0;
};

// What a world is made with.
struct SymphonyWorldSpec {
  std::vector<double> loads = {0.3, 0.6, 0.9};
  double unknown_load = 0.8;  // share of a resource that a tenant takes; 0: no tenants
  int readings = 8;           // of each counter between decisions
  int jobs = 100;             // of the default world: distinct ones to learn from
  int check_jobs = 40;
  int jobs_per_episode = 20;
};

struct OwnedSymphonyWorld {
  std::unique_ptr<Cluster> cluster;
  SymphonyWorld world;
};

// The cluster of tutti/plan/world/default_cluster.h with jobs of tutti/graph/make/job.h. Its true
// capacities are below those it states, and only the simulator knows them.
OwnedSymphonyWorld default_symphony_world(const SymphonyWorldSpec& spec);

// A given cluster with jobs to learn from and jobs to choose the best model by. Its capacities are
// those it states. Fails (invalid_input) as Cluster::add_job does.
Result<OwnedSymphonyWorld> make_symphony_world(Cluster cluster, std::vector<Graph> jobs,
                                               std::vector<Graph> checks,
                                               std::vector<Counter> counters,
                                               const SymphonyWorldSpec& spec);

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

// Samples actions by the model's probabilities and records everything; if stopped, what there is so
// far.
Played play(const std::shared_ptr<const SymphonyModel>& model, const JobScenario& scenario,
            const PlaySettings& settings, uint64_t seed, const Stop& stop);

// Takes the most likely actions and records nothing: the mean slow-down of the jobs; 0 if stopped.
double judged_slowdown(const std::shared_ptr<const SymphonyModel>& model,
                       const JobScenario& scenario, const Stop& stop);

}  // namespace tutti

#endif  // TUTTI_TRAIN_SYMPHONY_WORLD_H_
