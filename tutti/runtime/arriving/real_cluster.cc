#include "tutti/runtime/arriving/real_cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "tutti/base/check.h"
#include "tutti/graph/joined.h"
#include "tutti/kernels/inputs.h"
#include "tutti/runtime/arriving/job_policy.h"
#include "tutti/trace/check.h"

namespace tutti {
namespace {

Result<void> check_contexts(const Machine& machine) {
  for (const DeviceId device : machine.devices()) {
    if (machine.device(device).contexts == 0) continue;
    return invalid_input(
        fmt::format("device '{}' has contexts to configure, which nothing on this host has; run "
                    "the jobs in simulation, or leave the device out of the machine",
                    machine.device(device).name));
  }
  return {};
}

}  // namespace

Result<void> check_arriving(const Problem& problem) {
  const Graph& graph = problem.graph;
  if (graph.size() == 0) {
    return invalid_input(fmt::format("job '{}' has no ops to run", graph.name()));
  }
  if (problem.colocation_group_count() > 0) {
    return invalid_input(
        fmt::format("job '{}' has ops that must share a device, which deciders do not know of; "
                    "leave 'colocate' out",
                    graph.name()));
  }
  return check_dtypes(graph);
}

struct RealCluster::Loaded {
  std::vector<Arrival> arrivals;
  Joined joined;  // its graph is the problem's
  Problem problem;
};

RealCluster::RealCluster(const Cluster& cluster, RealClusterOptions options,
                         std::unique_ptr<LocalRuntime> runtime)
    : cluster_(cluster), options_(std::move(options)), runtime_(std::move(runtime)) {}

RealCluster::~RealCluster() = default;

Result<std::unique_ptr<RealCluster>> RealCluster::open(const Cluster& cluster, OpTable ops,
                                                       RealClusterOptions options) {
  Result<std::unique_ptr<Hardware>> hardware = bind_hardware(cluster.machine());
  if (!hardware) return hardware.error();
  return open(cluster, std::move(ops), std::move(options), std::move(*hardware));
}

Result<std::unique_ptr<RealCluster>> RealCluster::open(const Cluster& cluster, OpTable ops,
                                                       RealClusterOptions options,
                                                       std::unique_ptr<Hardware> hardware) {
  if (Result<void> good = check_contexts(cluster.machine()); !good) return good.error();
  auto runtime = LocalRuntime::open(cluster.machine(), std::move(ops), std::move(hardware));
  if (!runtime) return runtime.error();
  return std::unique_ptr<RealCluster>(
      new RealCluster(cluster, std::move(options), std::move(*runtime)));
}

std::string RealCluster::note() const {
  return runtime_->note();
}

Result<void> RealCluster::load(std::vector<Arrival> arrivals) {
  TUTTI_CHECK(std::is_sorted(arrivals.begin(), arrivals.end(),
                             [](const Arrival& a, const Arrival& b) { return a.time < b.time; }));
  std::vector<const Graph*> parts;
  for (const Arrival& arrival : arrivals) {
    if (Result<void> good = check_arriving(arrival.job->problem()); !good) return good;
    parts.push_back(&arrival.job->graph());
  }
  Result<Joined> joined = join_graphs("jobs", parts);
  if (!joined) return joined.error();
  Result<Problem> problem =
      Problem::make(std::move(joined->graph), cluster_.shared_machine(), cluster_.costs());
  if (!problem) return problem.error();
  loaded_ = std::make_unique<Loaded>(
      Loaded{std::move(arrivals), std::move(*joined), std::move(*problem)});
  LocalOptions local;
  local.keep_inputs = options_.keep_inputs;
  local.stop = options_.stop;
  local.progress = options_.progress;
  local.input = [this](ValueId value, const Block& block) { fill(value, block); };
  runtime_->set_options(std::move(local));
  return {};
}

void RealCluster::fill(ValueId value, const Block& block) {
  if (!can_fill(block.dtype)) return;
  const Joined::Place& place = loaded_->joined.value_places[static_cast<size_t>(value.index)];
  const std::shared_ptr<const Job>& job = loaded_->arrivals[static_cast<size_t>(place.part)].job;
  if (!options_.keep_inputs) {
    fill_input(job->graph(), ValueId{place.index}, options_.input_seed, block);
    return;
  }
  const auto bytes = static_cast<size_t>(loaded_->problem.graph.bytes(value));
  std::vector<std::byte>& kept = inputs_[{job, place.index}];
  if (kept.empty()) {
    fill_input(job->graph(), ValueId{place.index}, options_.input_seed, block);
    const auto* data = static_cast<const std::byte*>(block.data);
    kept.assign(data, data + bytes);
  } else {
    std::memcpy(block.data, kept.data(), bytes);
  }
}

Result<RealJobsRun> RealCluster::run(Decider& decider, uint64_t seed) {
  TUTTI_CHECK(loaded_ != nullptr);
  JobPolicy jobs(cluster_, loaded_->joined, loaded_->arrivals, decider, options_.counters,
                 options_.feed, options_.ended);
  decider.begin(cluster_, seed);
  Policy policy = jobs.policy();
  Result<Trace> trace = [&] {
    const HiddenLoad hidden_load(options_.unknown_load, seed);
    return runtime_->run_online(loaded_->problem, policy, jobs);
  }();
  if (!trace) return trace.error();
  const auto faults = check_trace(loaded_->problem, *trace, rules_for(*trace, nullptr));
  if (!faults.empty()) return failed("the run does not pass the check: " + faults[0]);
  RealJobsRun made{.run = jobs.run(), .decision_times = jobs.decision_times()};
  for (JobRecord& record : made.run.jobs) {
    record.trace.runtime = trace->runtime;
    record.trace.measurement = trace->measurement;
    record.trace.graph_fingerprint = record.job->graph().fingerprint();
    record.trace.machine_fingerprint = cluster_.machine().fingerprint();
    record.trace.seed = seed;
    record.trace.makespan = record.finish;
  }
  for (OpSpan span : trace->ops) {
    const auto& place = loaded_->joined.op_places[static_cast<size_t>(span.op.index)];
    span.op = OpId{place.index};
    made.run.jobs[static_cast<size_t>(place.part)].trace.ops.push_back(span);
  }
  for (TransferSpan span : trace->transfers) {
    const auto& place = loaded_->joined.value_places[static_cast<size_t>(span.value.index)];
    span.value = ValueId{place.index};
    made.run.jobs[static_cast<size_t>(place.part)].trace.transfers.push_back(span);
  }
  return made;
}

Result<Verified> RealCluster::verify_last() const {
  TUTTI_CHECK(loaded_ != nullptr);
  Verified all;
  for (size_t i = 0; i < loaded_->arrivals.size(); ++i) {
    const std::shared_ptr<const Job>& job = loaded_->arrivals[i].job;
    if (!references_.contains(job)) {
      auto reference = reference_values(job->graph(), options_.input_seed);
      if (!reference) return reference.error();
      references_.emplace(job, std::move(*reference));
    }
    const auto one = verify_against(job->graph(), references_.at(job), [&](ValueId value) {
      return runtime_->result(loaded_->joined.value(static_cast<int32_t>(i), value));
    });
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
