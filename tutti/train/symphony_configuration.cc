#include "tutti/train/symphony_configuration.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "tutti/base/check.h"
#include "tutti/graph/make/job.h"
#include "tutti/plan/job_study.h"

namespace tutti {
namespace {

SymphonyConfiguration ours() {
  SymphonyConfiguration made;
  made.settings.episodes = 24'000;
  return made;
}

SymphonyConfiguration published() {
  SymphonyConfiguration made;
  made.shape.samples = 256;
  made.shape.prior = false;
  made.shape.means = false;
  made.shape.wide = true;
  SymphonySettings& settings = made.settings;
  settings.advantage = SymphonySettings::Advantage::critic;
  settings.episodes = 24'000;  // 12,000 iterations of two
  settings.scenarios = 2;
  settings.rollouts = 1;
  settings.play = {.most_decisions = 20, .reward_jobs = false, .discount = 0.99};
  settings.passage = 20;
  settings.repeats = 1;
  settings.minibatches = 1;
  settings.learning_rate = {0.005, 0.005};
  settings.entropy_weight = {0.01, 0.01};
  settings.value_weight = 1;
  settings.clip_norm = 0.5;
  settings.clip_ratio = 0;
  settings.belief_rate = 0.005;
  settings.belief_gradient = GradientKind::sampling;
  settings.belief_stride = 1;
  settings.averaged_over = 1;
  settings.check_every = 200;
  return made;
}

}  // namespace

std::vector<std::string> symphony_configuration_names() {
  return {"default", "as-published"};
}

Result<SymphonyConfiguration> symphony_configuration(const std::string& name) {
  if (name == "default") return ours();
  if (name == "as-published") return published();
  return invalid_input(fmt::format("there is no configuration '{}'; there are {}", name,
                                   fmt::join(symphony_configuration_names(), ", ")));
}

SymphonyStudy symphony_study(const SymphonyStudySpec& spec) {
  Cluster cluster = job_study_cluster();
  std::vector<Counter> counters = usual_counters(cluster.machine());
  auto study = symphony_study_of(std::move(cluster), make_jobs(JobSet::train, spec.jobs, 1),
                                 make_jobs(JobSet::validation, spec.check_jobs, 1),
                                 std::move(counters), spec);
  TUTTI_CHECK(study.has_value());  // they are made for this cluster
  study->world.options.truth = job_study_options(0).truth;
  return std::move(*study);
}

Result<SymphonyStudy> symphony_study_of(Cluster cluster, std::vector<Graph> jobs,
                                        std::vector<Graph> checks, std::vector<Counter> counters,
                                        const SymphonyStudySpec& spec) {
  SymphonyStudy study{.cluster = std::make_unique<Cluster>(std::move(cluster)), .world = {}};
  SymphonyWorld& world = study.world;
  world.cluster = study.cluster.get();
  auto to_learn = add_jobs(*study.cluster, std::move(jobs));
  if (!to_learn) return to_learn.error();
  auto to_check = add_jobs(*study.cluster, std::move(checks));
  if (!to_check) return to_check.error();
  world.jobs = std::move(*to_learn);
  world.check_jobs = std::move(*to_check);
  world.options.counters = std::move(counters);
  world.options.readings = spec.readings;
  world.unknown_load = job_study_options(spec.unknown_load).unknown_load;
  world.loads = spec.loads;
  world.jobs_per_episode = spec.jobs_per_episode;
  world.most_jobs_per_s = most_jobs_per_s(*study.cluster, world.jobs);
  return study;
}

}  // namespace tutti
