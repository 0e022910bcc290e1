// Random small worlds, for tests that compare the simulator with what can be worked out from its
// traces alone: few devices, links of every kind of sharing, values and ops of all sizes, limits
// that are often too tight.

#ifndef TUTTI_RUNTIME_SIM_TESTING_H_
#define TUTTI_RUNTIME_SIM_TESTING_H_

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "test/support/world.h"
#include "tutti/base/random.h"
#include "tutti/graph/builder.h"
#include "tutti/plan/plan.h"
#include "tutti/plan/policy.h"

namespace tutti::testing {

struct RandomWorld {
  int64_t least_run_time = 0;
  int64_t least_bytes = 0;
  bool limits = true;
  bool noise = false;
  bool contention = true;  // false: links never make anyone wait
  const char* device_kind = "d";
};

inline Graph random_graph(const RandomWorld& options, Rng& rng) {
  GraphBuilder builder("random");
  std::vector<ValueId> values;
  const auto bytes = [&] {
    return options.least_bytes + static_cast<int64_t>(rng.below(rng.below(4) == 0 ? 400 : 80));
  };
  for (int i = 0; i < 4; ++i) {
    const auto where = i % 2 == 0 ? Residence::Where::host : Residence::Where::everywhere;
    values.push_back(
        builder.add_input({.value = {.name = "x" + std::to_string(i), .bytes = bytes()},
                           .residence = {.where = where},
                           .weight = rng.below(3) == 0}));
  }
  const int ops = 5 + static_cast<int>(rng.below(30));
  for (int i = 0; i < ops; ++i) {
    std::vector<ValueId> operands;
    for (uint64_t left = rng.below(4); left > 0; --left) {
      operands.push_back(values[rng.below(values.size())]);
    }
    std::vector<ValueSpec> outputs;
    const uint64_t output_count = rng.below(3);
    for (uint64_t k = 0; k < output_count; ++k) {
      outputs.push_back(
          {.name = "v" + std::to_string(i) + "_" + std::to_string(k), .bytes = bytes()});
    }
    const std::vector<GivenTime> times = {
        {"", Duration(options.least_run_time + static_cast<int64_t>(rng.below(120)))}};
    const OpId op = builder.add_op({.name = "op" + std::to_string(i),
                                    .kind = "k",
                                    .operands = operands,
                                    .outputs = outputs,
                                    .transient_bytes = static_cast<int64_t>(rng.below(50)),
                                    .run_times = times});
    for (const ValueId value : builder.outputs(op)) values.push_back(value);
  }
  return must(std::move(builder).build());
}

inline Machine random_machine(const RandomWorld& options, Rng& rng) {
  MachineSpec spec;
  spec.name = "random";
  spec.hosts = {{.name = "host"}};
  spec.switches.push_back(
      {.name = "s", .bytes_per_s = options.contention && rng.below(2) == 0 ? 2.5e9 : 0});
  const auto connect = [&](const std::string& name, const std::string& to) {
    MachineSpec::LinkSpec link;
    link.name = name + "-" + to;
    link.ends[0] = name;
    link.ends[1] = to;
    link.latency = Duration(static_cast<int64_t>(rng.below(20)));
    link.bytes_per_s = 0.3e9 + 0.1e9 * static_cast<double>(rng.below(30));
    const uint64_t kind = rng.below(3);
    link.sharing = !options.contention || kind == 0 ? Sharing::unlimited
                   : kind == 1                      ? Sharing::shared
                                                    : Sharing::exclusive;
    link.capacity = 1 + static_cast<int>(rng.below(2));
    link.full_duplex = rng.below(2) == 0;
    spec.links.push_back(link);
  };
  connect("host", "s");
  const uint64_t devices = 2 + rng.below(3);
  for (uint64_t i = 0; i < devices; ++i) {
    const std::string name = "d" + std::to_string(i);
    spec.devices.push_back({.device = {.name = name,
                                       .kind = options.device_kind,
                                       .slots = 1 + static_cast<int>(rng.below(3))}});
    // One device hangs on the host itself, so that some routes have two hops.
    connect(name, i == 0 ? "host" : "s");
  }
  return must(Machine::build(std::move(spec)));
}

inline World random_world(const RandomWorld& options, Rng& rng) {
  Graph graph = random_graph(options, rng);
  Machine machine = random_machine(options, rng);
  Constraints constraints;
  for (int32_t i = 0; options.limits && i < machine.memory_count(); ++i) {
    if (rng.below(4) == 0) continue;
    constraints.memory_limits.push_back(
        {machine.memory(MemoryId{i}).name, 400 + static_cast<int64_t>(rng.below(3000))});
  }
  CostSpec costs;
  if (options.noise && rng.below(2) == 0) {
    costs.run_time_noise = {.model = NoiseSpec::Model::log_normal, .spread = 0.3};
  }
  if (options.noise && rng.below(3) == 0) {
    costs.transfer_noise = {.model = NoiseSpec::Model::student_t, .spread = 0.2};
  }
  return World(std::move(graph), std::move(machine), costs, constraints);
}

inline Plan random_plan(const Problem& problem, Rng& rng) {
  Plan plan;
  for (int32_t i = 0; i < problem.graph.size(); ++i) {
    const auto device =
        static_cast<int32_t>(rng.below(static_cast<uint64_t>(problem.machine.size())));
    plan.placement.push_back(DeviceId{device});
    plan.priority.push_back(static_cast<int64_t>(rng.below(20)));
  }
  if (rng.below(4) != 0) return plan;
  plan.strict_order.resize(static_cast<size_t>(problem.machine.size()));
  for (const OpId op : problem.graph.topological_order()) {
    plan.strict_order[static_cast<size_t>(plan.placement[static_cast<size_t>(op.index)].index)]
        .push_back(op);
  }
  return plan;
}

// Takes any ready op, and now and then none.
class RandomSelect : public Select {
 public:
  explicit RandomSelect(Rng rng, bool pauses) : rng_(rng), pauses_(pauses) {}
  std::optional<OpId> select(const State& state) override {
    if (pauses_ && state.now() > last_ && rng_.below(5) == 0) {
      last_ = state.now();
      return std::nullopt;
    }
    return state.ready()[rng_.below(state.ready().size())];
  }

 private:
  Rng rng_;
  bool pauses_;
  Duration last_{0};
};

class RandomPlace : public Place {
 public:
  explicit RandomPlace(Rng rng) : rng_(rng) {}
  DeviceId place(const State& state, OpId op) override {
    const std::span<const DeviceId> devices = state.devices_for(op);
    return devices[rng_.below(devices.size())];
  }

 private:
  Rng rng_;
};

inline Policy random_policy(Rng& rng, bool pauses) {
  return {std::make_unique<RandomSelect>(rng.split(1), pauses),
          std::make_unique<RandomPlace>(rng.split(2))};
}

}  // namespace tutti::testing

#endif  // TUTTI_RUNTIME_SIM_TESTING_H_
