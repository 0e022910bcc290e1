#include "tutti/plan/world/cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tutti/graph/analysis.h"

namespace tutti {

Result<Cluster> Cluster::make(Machine machine, CostSpec costs) {
  return make(Shared<Machine>(std::move(machine)), std::move(costs));
}

Result<Cluster> Cluster::make(Shared<Machine> machine, CostSpec costs) {
  if (machine->memory_count() > kMostClusterMemories) {
    return invalid_input(
        fmt::format("machine '{}' has {} memories; jobs are scheduled on at most "
                    "{}",
                    machine->name(), machine->memory_count(), kMostClusterMemories));
  }
  return Cluster(std::move(machine), std::move(costs));
}

Cluster::Cluster(Shared<Machine> machine, CostSpec costs)
    : machine_(std::move(machine)),
      resources_(std::make_unique<const SharedResources>(*machine_)),
      costs_(std::move(costs)) {
  for (const DeviceId id : machine_->devices()) {
    first_slot_.push_back(slot_count());
    if (machine_->device(id).contexts > 0) has_contexts_ = true;
    device_of_slot_.insert(device_of_slot_.end(), machine_->device(id).slots, id);
  }
  // Kinds that the costs speak of stand first, in the order of the file: their places do not
  // depend on which jobs come.
  for (const CostSpec::Demand& row : costs_.demands) kind_of(row.kind);
}

Result<std::shared_ptr<const Job>> Cluster::add_job(Graph graph) {
  Result<std::shared_ptr<Job>> job = make_job(std::move(graph));
  if (!job) return job.error();
  add(**job);
  return std::shared_ptr<const Job>(std::move(*job));
}

void Cluster::add(Job& job) {
  for (const OpId op : job.graph().ops()) {
    const OpKindId kind = kind_of(job.graph().op_kind_name(op));
    job.kinds_.push_back(kind);
    for (const DeviceId device : job.devices_for(op))
      runs_[static_cast<size_t>(kind.index) * first_slot_.size() + device.index] = 1;
  }
}

Result<std::shared_ptr<Job>> Cluster::make_job(Graph graph) const {
  return make_job(std::move(graph), costs_);
}

Result<std::shared_ptr<Job>> Cluster::make_job(Graph graph, const CostSpec& costs) const {
  Result<Problem> problem = Problem::make(std::move(graph), machine_, costs);
  if (!problem) return problem.error();
  return make_job(std::move(*problem));
}

std::shared_ptr<const Job> Cluster::add_job(Problem problem) {
  std::shared_ptr<Job> job = make_job(std::move(problem));
  add(*job);
  return job;
}

std::shared_ptr<Job> Cluster::make_job(Problem problem) {
  std::shared_ptr<Job> job(new Job(std::move(problem)));
  for (const OpId op : job->graph().ops()) {
    Duration least = kNever;
    for (const DeviceId device : job->devices_for(op))
      least = std::min(least, job->costs().run_time(op, device));
    job->least_.push_back(std::max(least, Duration(1)));
  }
  job->critical_path_ = critical_path(
                            job->graph(), [&](OpId op) { return job->least_[op.index]; },
                            [](EdgeId) { return Duration(0); })
                            .length;
  return job;
}

OpKindId Cluster::kind_of(std::string_view name) {
  const auto [found, is_new] =
      kind_by_name_.emplace(std::string(name), OpKindId{static_cast<int32_t>(kinds_.size())});
  if (!is_new) return found->second;
  kinds_.emplace_back(name);
  runs_.resize(runs_.size() + first_slot_.size(), 0);
  for (const DeviceId id : machine_->devices()) {
    for (int slot = 0; slot < machine_->device(id).slots; ++slot)
      draws_.push_back(draws_of(kinds_.back(), id, slot));
  }
  return found->second;
}

std::vector<Draw> Cluster::draws_of(const std::string& kind, DeviceId id, int slot) const {
  const Device& device = machine_->device(id);
  CostSpec::Demand demand;  // what is not in the table has its core or device to itself
  int fit = 0;
  for (const CostSpec::Demand& row : costs_.demands) {
    if (row.kind != kind || (!row.device_kind.empty() && row.device_kind != device.kind)) continue;
    const int its_fit = row.device_kind.empty() ? 1 : 2;
    if (its_fit < fit) continue;
    fit = its_fit;
    demand = row;
  }
  std::vector<Draw> draws;
  const SharedResources& all = *resources_;
  const MemoryId host = machine_->hosts()[device.host.index].memory;
  if (is_cpu(*machine_, id)) {
    for (const int core : cores_of_slot(device, slot))
      all.add(core_of(id, core), demand.share, draws);
    all.add(cache_of(device.host), demand.cache_bytes_per_s, draws);
  } else {
    all.add(resource_of(id), demand.share, draws);
    all.add_stream(host, device.memory, demand.host_read_bytes_per_s, draws);
    all.add_stream(device.memory, host, demand.host_write_bytes_per_s, draws);
  }
  all.add(resource_of(device.memory), demand.memory_bytes_per_s, draws);
  if (device.proxy.valid()) {
    // Accelerators with one proxy take its cores in turn, the last one first.
    int turn = 0;
    for (const DeviceId other : machine_->devices()) {
      if (other < id && machine_->device(other).proxy == device.proxy) ++turn;
    }
    const int cores = cores_of(machine_->device(device.proxy));
    all.add(core_of(device.proxy, cores - 1 - turn % cores), demand.proxy, draws);
  }
  return draws;
}

void Cluster::add_launched(OpKindId kind, int32_t slot, std::vector<Launched>& launched) const {
  for (const Draw& draw : draws(kind, slot)) {
    Resource resource = (*resources_)[draw.resource].resource;
    double amount = draw.amount;
    if (resource.kind == Resource::Kind::core) {
      const DeviceId device{resource.index};
      amount /= cores_of(machine_->device(device));
      resource = resource_of(device);
    }
    const auto found = std::find_if(launched.begin(), launched.end(),
                                    [&](const Launched& l) { return l.resource == resource; });
    if (found == launched.end()) {
      launched.push_back({resource, amount, 0});
    } else {
      found->mean += amount;
    }
  }
}

}  // namespace tutti
