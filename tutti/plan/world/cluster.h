// A Cluster is a machine on which jobs arrive over time: the machine, its shared resources, the
// kinds of ops that its jobs are made of, and what ops of each kind draw on each resource. A Job is
// a graph with its costs on that machine. tutti/plan/world/decider.h decides about them while they
// run.
//
// Jobs are added before (or, in a daemon, while) they are run; what is added never changes or
// moves, so that any number of threads may read what is there.

#ifndef TUTTI_PLAN_WORLD_CLUSTER_H_
#define TUTTI_PLAN_WORLD_CLUSTER_H_

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tutti/costs/costs.h"
#include "tutti/graph/graph.h"
#include "tutti/machine/shared_resources.h"
#include "tutti/plan/problem.h"

namespace tutti {

// Where values are is kept as a bit for each memory.
inline constexpr int kMostClusterMemories = 64;

class Job {
 public:
  const std::string& name() const { return graph().name(); }
  const Graph& graph() const { return problem_.graph; }
  const Costs& costs() const { return problem_.costs; }
  const Problem& problem() const { return problem_; }

  // Its place among Cluster::kinds().
  OpKindId kind(OpId op) const { return kinds_[op.index]; }
  // The devices that may run it, by id.
  std::span<const DeviceId> devices_for(OpId op) const { return problem_.devices_for(op); }
  // On its quickest device, with nothing else on the machine. T_iso of the reward.
  Duration least_run_time(OpId op) const { return least_[op.index]; }
  // The longest way through the graph, every op on its quickest device and no transfers: the job
  // cannot be quicker, whatever else runs.
  Duration critical_path() const { return critical_path_; }

 private:
  friend class Cluster;
  explicit Job(Problem problem) : problem_(std::move(problem)) {}

  Problem problem_;
  std::vector<OpKindId> kinds_;
  std::vector<Duration> least_;
  Duration critical_path_{0};
};

class Cluster {
 public:
  // Fails (invalid_input) with a sentence if the machine has too many memories.
  static Result<Cluster> make(Machine machine, CostSpec costs);
  static Result<Cluster> make(Shared<Machine> machine, CostSpec costs);

  // Fails as Problem::make does.
  Result<std::shared_ptr<const Job>> add_job(Graph graph);
  // The two halves of it, for a server: making a job takes long, and any thread may do it; it is
  // added, which takes little, when no other thread reads the cluster.
  Result<std::shared_ptr<Job>> make_job(Graph graph) const;
  Result<std::shared_ptr<Job>> make_job(Graph graph, const CostSpec& costs) const;
  void add(Job& job);
  // With costs and constraints of its own. Requires that the problem is about this machine.
  std::shared_ptr<const Job> add_job(Problem problem);

  const Machine& machine() const { return *machine_; }
  Shared<Machine> shared_machine() const { return machine_; }
  const CostSpec& costs() const { return costs_; }
  const SharedResources& resources() const { return *resources_; }

  const std::vector<std::string>& kinds() const { return kinds_; }

  // Slots are numbered across all devices; those of one device are consecutive.
  int32_t slot_count() const { return static_cast<int32_t>(device_of_slot_.size()); }
  int32_t first_slot(DeviceId device) const { return first_slot_[device.index]; }
  DeviceId device_of_slot(int32_t slot) const { return device_of_slot_[slot]; }

  // Whether some job was added with an op of that kind that may run there.
  bool runs(OpKindId kind, DeviceId device) const {
    return runs_[static_cast<size_t>(kind.index) * first_slot_.size() + device.index] != 0;
  }
  bool has_contexts() const { return has_contexts_; }  // some device is reconfigurable

  // What an op of that kind draws at full speed in that slot (numbered across devices).
  std::span<const Draw> draws(OpKindId kind, int32_t slot) const {
    return draws_[static_cast<size_t>(kind.index) * device_of_slot_.size() + slot];
  }
  // The same by resource that a belief is about; for a CPU the mean over its cores.
  void add_launched(OpKindId kind, int32_t slot, std::vector<Launched>& launched) const;

 private:
  Cluster(Shared<Machine> machine, CostSpec costs);
  static std::shared_ptr<Job> make_job(Problem problem);
  OpKindId kind_of(std::string_view name);
  std::vector<Draw> draws_of(const std::string& kind, DeviceId device, int slot) const;

  Shared<Machine> machine_;
  std::unique_ptr<const SharedResources> resources_;
  CostSpec costs_;
  std::vector<std::string> kinds_;
  std::unordered_map<std::string, OpKindId> kind_by_name_;
  std::vector<int32_t> first_slot_;
  std::vector<DeviceId> device_of_slot_;
  std::vector<std::vector<Draw>> draws_;  // [kind][slot]
  std::vector<uint8_t> runs_;             // [kind][device]
  bool has_contexts_ = false;
};

// A job and when it comes.
struct Arrival {
  Duration time{0};
  std::shared_ptr<const Job> job;
};

}  // namespace tutti

#endif  // TUTTI_PLAN_WORLD_CLUSTER_H_
