#include "tutti/train/symphony/world.h"

#include <algorithm>

#include "tutti/base/check.h"
#include "tutti/graph/make/job.h"
#include "tutti/plan/world/default_cluster.h"

namespace tutti {
namespace {

// What jobs have gathered so far: the sum of their slow-downs.
class Gathered {
 public:
  explicit Gathered(const JobSimulator& sim) : sim_(sim), counted_(sim.jobs().size(), false) {}

  double now() {
    double sum = 0;
    for (const JobId id : sim_.state().in_system) {
      const JobStatus& job = sim_.state().job(id);
      sum += static_cast<double>((sim_.state().now - job.arrival).count()) / path(*job.job);
    }
    for (const FinishedOp& op : sim_.state().finished) count(op.job);
    if (sim_.done()) {
      for (const JobRecord& record : sim_.jobs()) count(record.id);
    }
    return ended_ + sum;
  }

 private:
  static double path(const Job& job) {
    return static_cast<double>(std::max<int64_t>(1, job.critical_path().count()));
  }
  void count(JobId id) {
    if (counted_.size() <= static_cast<size_t>(id.index))
      counted_.resize(static_cast<size_t>(id.index) + 1, false);
    const JobRecord& record = sim_.jobs()[static_cast<size_t>(id.index)];
    if (record.finish.count() == 0 || counted_[static_cast<size_t>(id.index)]) return;
    counted_[static_cast<size_t>(id.index)] = true;
    ended_ += record.slowdown();
  }

  const JobSimulator& sim_;
  std::vector<bool> counted_;
  double ended_ = 0;
};

double mean_slowdown(const JobSimulator& sim) {
  double sum = 0;
  int count = 0;
  for (const JobRecord& record : sim.jobs()) {
    if (record.finish.count() == 0) continue;
    sum += record.slowdown();
    ++count;
  }
  return sum / std::max(1, count);
}

SymphonyOptions policy_options(const JobSimulator& sim, uint64_t seed) {
  return {.seed = seed,
          .truth = [&sim](const Resource& resource) { return sim.utilisation(resource); }};
}

}  // namespace

OwnedSymphonyWorld default_symphony_world(const SymphonyWorldSpec& spec) {
  Cluster cluster = default_cluster();
  std::vector<Counter> counters = usual_counters(cluster.machine());
  auto made = make_symphony_world(std::move(cluster), make_jobs(JobSet::train, spec.jobs, 1),
                                  make_jobs(JobSet::validation, spec.check_jobs, 1),
                                  std::move(counters), spec);
  TUTTI_CHECK(made.has_value());  // the jobs are made for this cluster
  made->world.options.truth = default_job_sim_options(0).truth;
  return std::move(*made);
}

Result<OwnedSymphonyWorld> make_symphony_world(Cluster cluster, std::vector<Graph> jobs,
                                               std::vector<Graph> checks,
                                               std::vector<Counter> counters,
                                               const SymphonyWorldSpec& spec) {
  OwnedSymphonyWorld made{.cluster = std::make_unique<Cluster>(std::move(cluster)), .world = {}};
  SymphonyWorld& world = made.world;
  world.cluster = made.cluster.get();
  auto to_learn = add_jobs(*made.cluster, std::move(jobs));
  if (!to_learn) return to_learn.error();
  auto to_check = add_jobs(*made.cluster, std::move(checks));
  if (!to_check) return to_check.error();
  world.jobs = std::move(*to_learn);
  world.check_jobs = std::move(*to_check);
  world.options.counters = std::move(counters);
  world.options.readings = spec.readings;
  world.unknown_load = default_job_sim_options(spec.unknown_load).unknown_load;
  world.loads = spec.loads;
  world.jobs_per_episode = spec.jobs_per_episode;
  world.billed_jobs_per_s = billed_jobs_per_s(*made.cluster, world.jobs);
  return made;
}

JobScenario draw_scenario(const SymphonyWorld& world, const JobList& jobs, double load,
                          bool unknown_load, uint64_t seed) {
  JobScenario scenario{.load = load, .unknown_load = unknown_load, .options = world.options};
  if (unknown_load) scenario.options.unknown_load = world.unknown_load;
  ArrivalSpec spec{.jobs_per_s = billed_load_rate(load, world.billed_jobs_per_s),
                   .jobs = world.jobs_per_episode};
  // Some come in bursts.
  if (Rng(seed).split(1).uniform() < 0.3) spec.process = ArrivalSpec::Process::bursts;
  scenario.arrivals = draw_arrivals(jobs, spec, seed);
  scenario.seed = seed;
  return scenario;
}

Played play(const std::shared_ptr<const SymphonyModel>& model, const JobScenario& scenario,
            const PlaySettings& settings, uint64_t seed, const Stop& stop) {
  JobSimulator sim(model->cluster(), scenario.options);
  sim.reset(scenario.arrivals, scenario.seed);
  SymphonyPolicyState policy(model, policy_options(sim, seed));
  Rng rng = Rng(seed).split(7);
  Gathered gathered(sim);
  double before = gathered.now();
  Played played;
  while (!sim.done() && !stop.now()) {
    const bool last = settings.most_decisions > 0 &&
                      static_cast<int>(played.episode.decisions.size()) >= settings.most_decisions;
    const ScoredDecision& considered = policy.score(sim.state());
    if (last) {
      played.last_value = considered.value;
      break;
    }
    KeptDecision kept{.considered = considered,
                      .time_ns = static_cast<double>(sim.state().now.count())};
    std::tie(kept.chosen, kept.likelihood) = SymphonyPolicyState::drawn(considered.scores, rng);
    for (const int32_t id : considered.features.jobs) {
      if (!played.episode.jobs.contains(id))
        played.episode.jobs.emplace(id, policy.rows(sim.state().job(JobId{id})));
    }
    const Action action = considered.features.actions[kept.chosen];
    played.rests += action.kind == Action::Kind::no_op ? 1 : 0;
    const Result<double> reward = sim.step(action);
    TUTTI_CHECK(reward.has_value());  // only allowed actions are offered
    const double after = gathered.now();
    kept.reward = settings.reward_jobs ? before - after : *reward;
    before = after;
    played.episode.decisions.push_back(std::move(kept));
  }
  played.slowdown = mean_slowdown(sim);
  return played;
}

double judged_slowdown(const std::shared_ptr<const SymphonyModel>& model,
                       const JobScenario& scenario, const Stop& stop) {
  JobSimulator sim(model->cluster(), scenario.options);
  sim.reset(scenario.arrivals, scenario.seed);
  SymphonyPolicyState policy(model, policy_options(sim, scenario.seed));
  while (!sim.done()) {
    if (stop.now()) return 0;
    const ScoredDecision& considered = policy.score(sim.state());
    const Result<double> reward = sim.step(considered.best_action());
    TUTTI_CHECK(reward.has_value());
  }
  return mean_slowdown(sim);
}

}  // namespace tutti
