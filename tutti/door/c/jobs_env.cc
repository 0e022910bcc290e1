// The environment in which jobs arrive at a simulated cluster; and the verbs of all environments.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tutti/costs/file.h"
#include "tutti/door/c/env.h"
#include "tutti/graph/make/job.h"
#include "tutti/plan/world/default_cluster.h"
#include "tutti/runtime/sim/jobs/arrivals.h"
#include "tutti/runtime/sim/jobs/job_simulator.h"

namespace tutti::door {
namespace {

class JobsEnv final : public tutti_env {
 public:
  JobsEnv(std::unique_ptr<Cluster> cluster, JobList jobs, ArrivalSpec arrivals, int32_t window,
          int32_t most_steps)
      : tutti_env(cluster->machine().size() * window + 1,
                  cluster->machine().size() * window * kFeatures),
        cluster_(std::move(cluster)),
        jobs_(std::move(jobs)),
        arrivals_(arrivals),
        devices_(cluster_->machine().size()),
        window_(window),
        most_steps_(most_steps),
        sim_(*cluster_, JobSimOptions{.queue_depth = 0}) {
    double ops = 0;
    double total = 0;
    for (const auto& job : jobs_) {
      for (const OpId op : job->graph().ops()) {
        total += static_cast<double>(job->least_run_time(op).count());
        ++ops;
      }
    }
    unit_ns_ = std::max(1.0, total / std::max(1.0, ops));
  }

  void reset(uint64_t seed) {
    sim_.reset(draw_arrivals(jobs_, arrivals_, seed), seed);
    steps_ = 0;
    running = !sim_.done();
    show();
  }

  Result<tutti_step> step(int32_t action) override {
    const bool nothing = action == devices_ * window_;
    const Choice* const choice =
        nothing ? nullptr : &choices_[static_cast<size_t>(action / devices_)];
    const Result<double> reward =
        sim_.step(nothing ? Action::nothing()
                          : Action::execute(choice->job, choice->op, DeviceId{action % devices_}));
    if (!reward) return reward.error();
    ++steps_;
    tutti_step result{};
    result.reward = *reward;
    result.time_ns = sim_.state().now.count();
    result.terminated = sim_.done() ? 1 : 0;
    result.truncated = !sim_.done() && most_steps_ > 0 && steps_ >= most_steps_ ? 1 : 0;
    running = result.terminated == 0 && result.truncated == 0;
    show();
    return result;
  }

  int32_t slow_down(double& mean) const {
    int32_t ended = 0;
    double sum = 0;
    for (const JobRecord& record : sim_.jobs()) {
      if (record.job == nullptr || record.finish.count() == 0) continue;
      ++ended;
      sum += record.slowdown();
    }
    mean = ended == 0 ? 0 : sum / ended;
    return ended;
  }

 private:
  struct Choice {
    JobId job{};
    OpId op{};
  };

  void show() {
    std::fill(mask.begin(), mask.end(), 0);
    std::fill(seen.begin(), seen.end(), 0.0F);
    choices_.clear();
    if (sim_.done()) return;
    const WorldState& state = sim_.state();
    for (const JobId id : state.in_system) {
      const JobStatus& status = state.job(id);
      for (const OpId op : status.ready) {
        if (static_cast<int32_t>(choices_.size()) == window_) break;
        show_op(state, status, op);
      }
    }
    mask.back() = check_action(state, Action::nothing()) ? 1 : 0;
  }

  // An op that no device has room for is not a choice.
  void show_op(const WorldState& state, const JobStatus& status, OpId op) {
    const Job& job = *status.job;
    const size_t first = choices_.size() * static_cast<size_t>(devices_);
    float least = 1e30F;
    bool any = false;
    for (const DeviceId device : job.devices_for(op)) {
      if (!state.has_room(device, job.kind(op))) continue;
      if (!check_action(state, Action::execute(status.id, op, device))) continue;
      any = true;
      const size_t pair = first + static_cast<size_t>(device.index);
      mask[pair] = 1;
      float* const features = seen.data() + pair * kFeatures;
      features[0] = in_units(job.costs().run_time(op, device));
      features[1] = in_units(state.fetch_time(status, op, device));
      features[2] = in_units(state.free_at(device) - state.now);
      features[3] = features[0] + features[1] + features[2];
      features[4] = static_cast<float>(state.devices[device.index].idle_slots);
      features[5] = in_units(state.now - status.arrival);
      features[6] = in_units(status.work_left);
      features[7] = static_cast<float>(state.in_system.size());
      least = std::min(least, features[3]);
    }
    if (!any) return;
    for (int32_t device = 0; device < devices_; ++device) {
      const size_t pair = first + static_cast<size_t>(device);
      if (mask[pair] != 0) seen[pair * kFeatures + 3] -= least;
    }
    choices_.push_back({status.id, op});
  }

  float in_units(Duration time) const {
    return static_cast<float>(static_cast<double>(time.count()) / unit_ns_);
  }

  std::unique_ptr<Cluster> cluster_;
  JobList jobs_;
  ArrivalSpec arrivals_;
  int32_t devices_;
  int32_t window_;
  int32_t most_steps_;
  JobSimulator sim_;
  double unit_ns_ = 1;
  std::vector<Choice> choices_;
  int64_t steps_ = 0;
};

// The default cluster without its FPGAs, whose contexts would be actions of another kind.
MachineSpec cluster_of_cpus_and_gpus() {
  MachineSpec spec = default_cluster_machine();
  spec.name += "-without-fpgas";
  std::vector<std::string> gone;
  std::erase_if(spec.devices, [&](const MachineSpec::DeviceSpec& device) {
    if (device.device.contexts == 0) return false;
    gone.push_back(device.device.name);
    return true;
  });
  std::erase_if(spec.links, [&](const MachineSpec::LinkSpec& link) {
    return std::any_of(gone.begin(), gone.end(), [&](const std::string& name) {
      return link.ends[0] == name || link.ends[1] == name;
    });
  });
  return spec;
}

Result<Cluster> cluster_of(const tutti_jobs_options& options) {
  CostSpec costs;
  if (options.costs_text != nullptr) {
    Source source = Source::from_text("costs", options.costs_text);
    Result<CostSpec> read = read_costs(source);
    if (!read) return read.error();
    costs = std::move(*read);
  } else if (options.machine == nullptr) {
    costs = default_cluster_costs();
  }
  if (options.machine != nullptr) return Cluster::make(options.machine->machine, std::move(costs));
  Result<Machine> machine = Machine::build(cluster_of_cpus_and_gpus());
  if (!machine) return machine.error();
  return Cluster::make(std::move(*machine), std::move(costs));
}

Result<tutti_env*> make(const tutti_jobs_options& options) {
  Result<Cluster> made = cluster_of(options);
  if (!made) return made.error();
  auto cluster = std::make_unique<Cluster>(std::move(*made));
  if (cluster->has_contexts()) {
    return invalid_input(fmt::format(
        "the machine {} has devices with contexts, which this environment cannot configure; leave "
        "them out",
        cluster->machine().name()));
  }
  const int32_t window = options.window == 0 ? 8 : options.window;
  if (window < 1 || int64_t{cluster->machine().size()} * window >= kMostActions) {
    return invalid_input(
        fmt::format("a window of {} ops; it must be at least 1, and times devices at "
                    "most {}",
                    window, kMostActions));
  }
  ArrivalSpec arrivals{.jobs_per_s = options.jobs_per_s == 0 ? 100 : options.jobs_per_s,
                       .jobs = options.jobs == 0 ? 20 : options.jobs};
  if (!std::isfinite(arrivals.jobs_per_s) || arrivals.jobs_per_s < 1e-6 ||
      arrivals.jobs_per_s > 1e9) {
    return invalid_input("jobs_per_s must be from 1e-6 to 1e9");
  }
  if (arrivals.jobs < 1 || arrivals.jobs > 10'000'000) {
    return invalid_input("jobs must be from 1 to 10000000");
  }
  if (options.most_steps < 0) return invalid_input("most_steps must be 0 or more");
  JobList jobs;
  if (options.graphs == nullptr) {
    Result<JobList> added = add_jobs(
        *cluster, make_jobs(JobSet::train, 16, options.graph_seed == 0 ? 1 : options.graph_seed));
    if (!added) return added.error();
    jobs = std::move(*added);
  }
  for (int32_t i = 0; options.graphs != nullptr && i < options.graph_count; ++i) {
    if (options.graphs[i] == nullptr) return invalid_input("one of the graphs is NULL");
    const Graph& graph = *options.graphs[i]->graph;
    if (graph.size() == 0) return invalid_input("the graph " + graph.name() + " has no ops");
    Result<std::shared_ptr<const Job>> job = cluster->add_job(Graph(graph));
    if (!job) return Error{job.error().kind, graph.name() + ": " + job.error().message};
    jobs.push_back(std::move(*job));
  }
  if (jobs.empty()) return invalid_input("there are no graphs to draw jobs from");
  return new JobsEnv(std::move(cluster), std::move(jobs), arrivals, window, options.most_steps);
}

Result<void> check_step(const tutti_env* env, int32_t action) {
  if (env == nullptr) return invalid_input("there is no environment");
  if (!env->running) return invalid_input("the episode has ended; reset begins another");
  if (action < 0 || action >= static_cast<int32_t>(env->mask.size())) {
    return invalid_input(fmt::format("action {} is none of 0 to {}", action, env->mask.size() - 1));
  }
  if (env->mask[static_cast<size_t>(action)] == 0) {
    return invalid_input(
        fmt::format("action {} is not allowed now; the mask says which are", action));
  }
  return {};
}

int step_one(tutti_env* env, int32_t action, tutti_step* step, tutti_error* error) {
  if (const Result<void> good = check_step(env, action); !good) return tell(error, good.error());
  const Result<tutti_step> done = env->step(action);
  if (!done) return tell(error, done.error());
  *step = *done;
  return TUTTI_OK;
}

}  // namespace
}  // namespace tutti::door

using namespace tutti;        // NOLINT: the rest of this file is in C's only namespace
using namespace tutti::door;  // NOLINT

tutti_env* tutti_jobs_env_new(const tutti_jobs_options* options, tutti_error* error) {
  return guarded<tutti_env*>(error, nullptr, [&]() -> tutti_env* {
    const Result<tutti_jobs_options> read = options_of(options);
    const Result<tutti_env*> made = read ? make(*read) : Result<tutti_env*>(read.error());
    if (made) return *made;
    tell(error, made.error());
    return nullptr;
  });
}

int tutti_jobs_env_reset(tutti_env* env, uint64_t seed, tutti_error* error) {
  return guarded<int>(error, TUTTI_FAILED, [&] {
    auto* const jobs = dynamic_cast<JobsEnv*>(env);
    if (jobs == nullptr) {
      return tell(error, invalid_input("this is no environment of arriving jobs"));
    }
    jobs->reset(seed);
    return TUTTI_OK + 0;
  });
}

int32_t tutti_jobs_env_slow_down(const tutti_env* env, double* mean) {
  double unused = 0;
  const auto* const jobs = dynamic_cast<const JobsEnv*>(env);
  return jobs == nullptr ? -1 : jobs->slow_down(mean == nullptr ? unused : *mean);
}

void tutti_env_free(tutti_env* env) {
  delete env;
}

int32_t tutti_env_action_count(const tutti_env* env) {
  return env == nullptr ? 0 : static_cast<int32_t>(env->mask.size());
}

int32_t tutti_env_observation_size(const tutti_env* env) {
  return env == nullptr ? 0 : static_cast<int32_t>(env->seen.size());
}

const float* tutti_env_observation(const tutti_env* env) {
  return env == nullptr ? nullptr : env->seen.data();
}

const uint8_t* tutti_env_mask(const tutti_env* env) {
  return env == nullptr ? nullptr : env->mask.data();
}

int tutti_env_step(tutti_env* env, int32_t action, tutti_step* step, tutti_error* error) {
  return guarded<int>(error, TUTTI_FAILED, [&] {
    if (step == nullptr)
      return tell(error, invalid_input("tutti_env_step was given no step to fill"));
    return step_one(env, action, step, error);
  });
}

int tutti_envs_step(tutti_env* const* envs, int32_t count, const int32_t* actions,
                    tutti_step* steps, tutti_error* error) {
  return guarded<int>(error, TUTTI_FAILED, [&] {
    if (count > 0 && (envs == nullptr || actions == nullptr || steps == nullptr)) {
      return tell(error, invalid_input("tutti_envs_step was given NULL for an array"));
    }
    for (int32_t i = 0; i < count; ++i) {
      steps[i] = {};
      if (actions[i] == -1) continue;
      const int code = step_one(envs[i], actions[i], &steps[i], error);
      if (code != TUTTI_OK) return code;
    }
    return TUTTI_OK + 0;
  });
}
