// Small clusters for tests.

#ifndef TUTTI_RUNTIME_SIM_JOBS_TESTING_H_
#define TUTTI_RUNTIME_SIM_JOBS_TESTING_H_

#include <string>
#include <vector>

#include "tutti/base/check.h"
#include "tutti/graph/builder.h"
#include "tutti/plan/world/decider.h"

namespace tutti::testing {

// A CPU of two cores with two threads each (memory 100 B/ns), and, behind a bridge of 10 B/ns, a
// GPU and an FPGA of one context over links of 10 B/ns. Capacities in bytes per nanosecond, so that
// times can be worked out by hand. The CPU's last core is the GPU's proxy.
inline MachineSpec small_machine() {
  MachineSpec spec;
  spec.name = "small";
  spec.hosts = {{.name = "host"}};
  spec.devices = {
      {.device = {.name = "cpu", .kind = "cpu", .slots = 4, .units = 2, .bytes_per_s = 100e9},
       .uses_host_memory = true},
      {.device = {.name = "gpu", .kind = "gpu"}, .proxy = "cpu"},
      {.device = {
           .name = "fpga", .kind = "fpga", .contexts = 1, .reconfiguration_time = Duration(500)}}};
  spec.switches = {{.name = "bridge", .bytes_per_s = 10e9}};
  spec.links = {{.name = "up", .ends = {"host", "bridge"}, .sharing = Sharing::unlimited},
                {.name = "gpu-pcie", .ends = {"gpu", "bridge"}, .bytes_per_s = 10e9},
                {.name = "fpga-pcie", .ends = {"fpga", "bridge"}, .bytes_per_s = 10e9}};
  return spec;
}

// Kinds: "compute" 1000 ns on cpu (0.8 of a core), 100 on gpu; "stream" 1000 on cpu, drawing 60
// B/ns of memory, 100 on gpu, reading 6 B/ns from the host; "match" on fpga 200, on cpu 2000.
inline CostSpec small_costs() {
  CostSpec costs;
  const auto time = [&](const char* kind, const char* device, double ns) {
    costs.run_times.push_back({.kind = kind, .device_kind = device, .time_ns_by_size = {{0, ns}}});
  };
  time("compute", "cpu", 1000);
  time("compute", "gpu", 100);
  time("stream", "cpu", 1000);
  time("stream", "gpu", 100);
  time("match", "cpu", 2000);
  time("match", "fpga", 200);
  costs.demands = {
      {.kind = "compute", .device_kind = "cpu", .share = 0.8},
      {.kind = "stream", .device_kind = "cpu", .share = 0.3, .memory_bytes_per_s = 60e9},
      {.kind = "stream", .device_kind = "gpu", .share = 0.5, .host_read_bytes_per_s = 6e9},
      {.kind = "match", .device_kind = "cpu", .share = 1}};
  return costs;
}

// Ops one after another; each reads what the one before it made.
inline Graph chain(const std::vector<std::string>& kinds, int64_t bytes = 0) {
  GraphBuilder builder("chain");
  ValueId last;
  for (size_t i = 0; i < kinds.size(); ++i) {
    const std::string name = "op" + std::to_string(i);
    const ValueSpec output{.bytes = bytes};
    const std::vector<ValueId> operands = last.valid() ? std::vector{last} : std::vector<ValueId>{};
    const OpId op = builder.add_op(
        {.name = name, .kind = kinds[i], .operands = operands, .outputs = {&output, 1}});
    last = builder.outputs(op).front();
  }
  Result<Graph> graph = std::move(builder).build();
  TUTTI_CHECK(graph.has_value());
  return std::move(*graph);
}

inline Cluster small_cluster(CostSpec costs = small_costs()) {
  Result<Machine> machine = Machine::build(small_machine());
  TUTTI_CHECK(machine.has_value());
  Result<Cluster> cluster = Cluster::make(std::move(*machine), std::move(costs));
  TUTTI_CHECK(cluster.has_value());
  return std::move(*cluster);
}

inline std::shared_ptr<const Job> add(Cluster& cluster, Graph graph) {
  auto job = cluster.add_job(std::move(graph));
  TUTTI_CHECK(job.has_value());
  return *job;
}

// Takes the first thing that can be done.
class FirstLegal final : public Decider {
 public:
  void begin(const Cluster&, uint64_t) override {}
  Action decide(const WorldState& state) override {
    legal_actions(state, actions_);
    return actions_.front();
  }

 private:
  std::vector<Action> actions_;
};

}  // namespace tutti::testing

#endif  // TUTTI_RUNTIME_SIM_JOBS_TESTING_H_
