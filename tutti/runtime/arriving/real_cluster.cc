#include "tutti/runtime/arriving/real_cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tutti/base/check.h"
#include "tutti/kernels/inputs.h"
#include "tutti/trace/check_jobs.h"

namespace tutti {

Result<void> check_no_contexts(const Machine& machine) {
  for (const DeviceId device : machine.devices()) {
    if (machine.device(device).contexts == 0) continue;
    return invalid_input(
        fmt::format("device '{}' has contexts to configure, which nothing on this host has; run "
                    "the jobs in simulation, or leave the device out of the machine",
                    machine.device(device).name));
  }
  return {};
}

Result<void> check_arriving(const Problem& problem, bool knows_colocation) {
  const Graph& graph = problem.graph;
  if (graph.size() == 0) {
    return invalid_input(fmt::format("job '{}' has no ops to run", graph.name()));
  }
  if (problem.colocation_group_count() > 0 && !knows_colocation) {
    return invalid_input(
        fmt::format("job '{}' has ops that must share a device, which deciders do not know of; "
                    "leave 'colocate' out",
                    graph.name()));
  }
  if (Result<void> fits = check_op_room(problem); !fits) return fits;
  return check_dtypes(graph);
}

RealCluster::RealCluster(const Cluster& cluster, OpTable ops, RealClusterOptions options,
                         std::unique_ptr<Hardware> hardware)
    : cluster_(cluster),
      ops_(std::move(ops)),
      options_(std::move(options)),
      hardware_(std::move(hardware)),
      engine_(cluster, ops_, *hardware_,
              {.queue_depth = options_.queue_depth,
               .keep_results = true,
               .note_decisions = true,
               .note_waits = true,
               .counters = options_.counters,
               .feed = options_.feed}) {}

RealCluster::~RealCluster() {
  runs_.clear();  // before the engine, whose memory they hold
  inputs_.clear();
}

Result<std::unique_ptr<RealCluster>> RealCluster::open(const Cluster& cluster, OpTable ops,
                                                       RealClusterOptions options) {
  if (Result<void> good = check_no_contexts(cluster.machine()); !good) return good.error();
  auto hardware = bind_hardware(cluster.machine());
  if (!hardware) return hardware.error();
  return open(cluster, std::move(ops), std::move(options), std::move(*hardware));
}

Result<std::unique_ptr<RealCluster>> RealCluster::open(const Cluster& cluster, OpTable ops,
                                                       RealClusterOptions options,
                                                       std::unique_ptr<Hardware> hardware) {
  if (Result<void> good = check_no_contexts(cluster.machine()); !good) return good.error();
  return std::unique_ptr<RealCluster>(
      new RealCluster(cluster, std::move(ops), std::move(options), std::move(hardware)));
}

std::string RealCluster::note() const {
  return hardware_->note();
}

Result<void> RealCluster::load(std::vector<Arrival> arrivals) {
  TUTTI_CHECK(std::is_sorted(arrivals.begin(), arrivals.end(),
                             [](const Arrival& a, const Arrival& b) { return a.time < b.time; }));
  runs_.clear();
  if (!options_.keep_inputs) inputs_.clear();
  for (const Arrival& arrival : arrivals) {
    if (Result<void> good = check_arriving(arrival.job->problem()); !good) return good;
    std::shared_ptr<JobInputs>& inputs = inputs_[arrival.job];
    if (inputs != nullptr) continue;
    auto made = engine_.prepare(arrival.job, [&](ValueId value, const Block& block) {
      if (can_fill(block.dtype))
        fill_input(arrival.job->graph(), value, options_.input_seed, block);
    });
    if (!made) return made.error();
    inputs = std::move(*made);
  }
  arrivals_ = std::move(arrivals);
  return {};
}

Result<RealJobsRun> RealCluster::run(Decider& decider, uint64_t seed) {
  TUTTI_CHECK(!arrivals_.empty());
  runs_.clear();
  int64_t ops = 0;
  for (const Arrival& arrival : arrivals_) {
    JobRun::Ended ended;
    if (options_.ended) ended = [this](const JobRun& run) { options_.ended(run.record()); };
    auto run = engine_.make_run(arrival.job, inputs_.at(arrival.job), std::move(ended));
    if (!run) return run.error();
    (*run)->due = arrival.time;
    runs_.push_back(std::move(*run));
    ops += arrival.job->graph().size();
  }
  const std::optional<Error> error = [&] {
    const HiddenLoad hidden_load(options_.unknown_load, seed);
    engine_.begin(decider, seed, runs_);
    return engine_.wait([&] {
      if (options_.progress) options_.progress(engine_.scheduler().ended_ops(), ops);
      return options_.stop.now();
    });
  }();
  const Scheduler& scheduler = engine_.scheduler();
  if (options_.stop.now())
    return failed(fmt::format("cancelled after {} of {} ops", scheduler.ended_ops(), ops));
  if (error) return *error;
  RealJobsRun made{
      .run = {.jobs = {}, .decisions = scheduler.decisions(), .reward = scheduler.reward()},
      .decision_times = scheduler.decision_times()};
  for (const std::shared_ptr<JobRun>& run : runs_) {
    if (run->error()) return *run->error();
    JobRecord& record = made.run.jobs.emplace_back(run->record());
    record.trace.seed = seed;
    made.run.makespan = std::max(made.run.makespan, record.finish);
  }
  const int32_t most =
      options_.queue_depth > 0 ? std::max(options_.queue_depth, kMostQueueDepth) : 0;
  const auto faults =
      check_jobs(cluster_, made.run,
                 {.measured = true, .queue_depth = most, .patience = std::chrono::seconds(2)});
  if (!faults.empty()) return failed("the run does not pass the check: " + faults[0]);
  return made;
}

Result<Verified> RealCluster::verify_last() const {
  TUTTI_CHECK(!runs_.empty());
  Verified all;
  for (size_t i = 0; i < runs_.size(); ++i) {
    const std::shared_ptr<const Job>& job = runs_[i]->job();
    if (!references_.contains(job)) {
      auto reference = reference_values(job->graph(), options_.input_seed);
      if (!reference) return reference.error();
      references_.emplace(job, std::move(*reference));
    }
    const auto one = verify_against(job->graph(), references_.at(job),
                                    [&](ValueId value) { return runs_[i]->result(value); });
    if (!one) return one.error();
    all.values += one->values;
    all.good = all.good && one->good;
    if (!all.worst_value.empty() && one->worst / one->allowed <= all.worst / all.allowed) continue;
    all.worst = one->worst;
    all.allowed = one->allowed;
    all.worst_value = fmt::format("{} of job {}", one->worst_value, i);
  }
  return all;
}

}  // namespace tutti
