// Ways of training Symphony by name, and the cluster it is trained and compared on.
//
// - default: scores start from online earliest finish; several episodes of a scenario are compared
//   with each other; proximal steps; the belief's constants learn along their paths
// - as-published: nothing to start from; n-step actor-critic with the figures of the paper's Tables
//   2 and 3 (rate 0.005, 20 steps in 2 environments, unrolled over 20), graphs summed up by sums;
//   what the paper leaves open (discount, entropy, samples) as in docs/results/symphony.md

#ifndef TUTTI_TRAIN_SYMPHONY_CONFIGURATION_H_
#define TUTTI_TRAIN_SYMPHONY_CONFIGURATION_H_

#include <memory>
#include <string>
#include <vector>

#include "tutti/train/symphony.h"

namespace tutti {

struct SymphonyConfiguration {
  SymphonyShape shape;
  SymphonySettings settings;
};

std::vector<std::string> symphony_configuration_names();
// Fails (invalid_input) with a sentence that lists the names there are.
Result<SymphonyConfiguration> symphony_configuration(const std::string& name);

// The cluster of tutti/plan/job_study.h with jobs of tutti/graph/make/job.h. It really carries less
// than it states, and nobody but the simulator knows.
struct SymphonyStudySpec {
  std::vector<double> loads = {0.3, 0.6, 0.9};
  double unknown_load = 0.8;  // share of a resource that a tenant takes; 0: no tenants
  int readings = 8;           // of each counter between decisions
  int jobs = 100;             // distinct ones to learn from
  int check_jobs = 40;
  int jobs_per_episode = 20;
};

struct SymphonyStudy {
  std::unique_ptr<Cluster> cluster;
  SymphonyWorld world;
};
SymphonyStudy symphony_study(const SymphonyStudySpec& spec);

// The same on somebody's own cluster, with jobs to learn from and jobs to choose the best model by.
// It carries what it states. Fails (invalid_input) as Cluster::add_job does.
Result<SymphonyStudy> symphony_study_of(Cluster cluster, std::vector<Graph> jobs,
                                        std::vector<Graph> checks, std::vector<Counter> counters,
                                        const SymphonyStudySpec& spec);

}  // namespace tutti

#endif  // TUTTI_TRAIN_SYMPHONY_CONFIGURATION_H_
