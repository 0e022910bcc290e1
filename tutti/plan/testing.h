// The small world that the tests of plans and traces share, so that every number in them can be
// checked by hand:
//
//   x (at the host) -> a -> b -> d -> e      a, b on gpu0; c, d on gpu1; e on cpu0
//   w (a weight) ----> a -> c -> d           every value has 100 bytes, the weight 50
//
// Ops take 100 ns on a gpu and 400 ns on the cpu. The host's memory is joined to each gpu by a link
// of 10 ns and 1 byte per ns: a hop of 100 bytes takes 110 ns, from gpu to gpu are two hops.

#ifndef TUTTI_PLAN_TESTING_H_
#define TUTTI_PLAN_TESTING_H_

#include <string>
#include <utility>
#include <vector>

#include "tutti/graph/builder.h"
#include "tutti/plan/plan.h"
#include "tutti/plan/problem.h"

namespace tutti::testing {

inline constexpr Duration ns(int64_t count) {
  return Duration(count);
}

// A Problem from parts that make one.
class World {
 public:
  World(Graph graph, MachineSpec machine, const Constraints& constraints = {},
        const CostSpec& costs = {})
      : problem_(Problem::make(std::move(graph), Machine::build(std::move(machine)).value(), costs,
                               constraints)
                     .value()) {}

  const Problem& problem() const { return problem_; }

 private:
  Problem problem_;
};

struct SmallGraph {
  std::string name = "small";
  int64_t transient_bytes = 0;          // of every op
  std::vector<GivenTransfer> into_c{};  // given for the edge from a to c
  Residence x{Residence::Where::host, ""};
};

inline Graph small_graph(const SmallGraph& options = {}) {
  GraphBuilder builder(options.name);
  const ValueId x =
      builder.add_input({.value = {.name = "x", .bytes = 100}, .residence = options.x});
  const ValueId w = builder.add_input({.value = {.name = "w", .bytes = 50}, .weight = true});
  const std::vector<ValueSpec> output = {{.bytes = 100}};
  const std::vector<GivenTime> times = {{"gpu", ns(100)}, {"cpu", ns(400)}};
  const auto add = [&](const char* name, const std::vector<ValueId>& operands) {
    const OpId op = builder.add_op({.name = name,
                                    .kind = "work",
                                    .operands = operands,
                                    .outputs = output,
                                    .transient_bytes = options.transient_bytes,
                                    .run_times = times});
    return builder.outputs(op).front();
  };
  const ValueId a = add("a", {x, w});
  const ValueId b = add("b", {a});
  const EdgeId into_c{builder.edge_count()};
  const ValueId c = add("c", {a});
  for (const GivenTransfer& given : options.into_c) builder.give_transfer(into_c, given);
  const ValueId d = add("d", {b, c});
  add("e", {d});
  return std::move(builder).build().value();
}

inline MachineSpec small_machine(Sharing sharing = Sharing::exclusive) {
  MachineSpec spec;
  spec.name = "two-gpus";
  spec.hosts = {{.name = "host"}};
  spec.devices.push_back({.device = {.name = "gpu0", .kind = "gpu"}});
  spec.devices.push_back({.device = {.name = "gpu1", .kind = "gpu"}});
  spec.devices.push_back(
      {.device = {.name = "cpu0", .kind = "cpu", .slots = 2}, .uses_host_memory = true});
  for (const char* gpu : {"gpu0", "gpu1"}) {
    MachineSpec::LinkSpec link;
    link.name = std::string("to-") + gpu;
    link.ends[0] = "host";
    link.ends[1] = gpu;
    link.latency = ns(10);
    link.bytes_per_s = 1e9;
    link.sharing = sharing;
    spec.links.push_back(link);
  }
  return spec;
}

inline constexpr OpId kA{0}, kB{1}, kC{2}, kD{3}, kE{4};
inline constexpr DeviceId kGpu0{0}, kGpu1{1}, kCpu0{2};

inline Plan small_plan(const Problem& problem) {
  Plan plan;
  plan.placement = {kGpu0, kGpu0, kGpu1, kGpu1, kCpu0};
  plan.start = {ns(110), ns(210), ns(430), ns(530), ns(740)};
  plan.finish = {ns(210), ns(310), ns(530), ns(630), ns(1140)};
  for (const Duration start : plan.start) plan.priority.push_back(start.count());
  plan.strict_order = {{kA, kB}, {kC, kD}, {kE}};
  plan.planned_makespan = ns(1140);
  plan.provenance = {.policy = "by hand", .evaluations = 7};
  note_origin(problem, UINT64_MAX, plan.provenance);
  return plan;
}

// A chain of layers whose weights are at home on the host, for one GPU that is behind a link and
// may hold only so much, and the host's cores:
//
//   x -> layer0 -> layer1 -> ...      weight i -> layer i
struct LayerChain {
  int layers = 4;
  int64_t weight_bytes = 100;
  int64_t value_bytes = 10;
  Duration gpu_time = ns(20);
  Duration core_time = ns(90);
  int64_t gpu_memory = 250;
  double link_bytes_per_s = 1e9;
  Duration link_latency = ns(0);
};

inline Graph layer_chain(const LayerChain& options = {}) {
  GraphBuilder builder("layers");
  ValueId before = builder.add_input({.value = {.name = "x", .bytes = options.value_bytes}});
  const std::vector<ValueSpec> output = {{.bytes = options.value_bytes}};
  const std::vector<GivenTime> times = {{"gpu", options.gpu_time}, {"cpu", options.core_time}};
  for (int i = 0; i < options.layers; ++i) {
    const std::string number = std::to_string(i);
    const ValueId weight =
        builder.add_input({.value = {.name = "w" + number, .bytes = options.weight_bytes},
                           .residence = {.where = Residence::Where::host},
                           .weight = true});
    const std::string name = "layer" + number;
    const std::vector<ValueId> operands = {before, weight};
    const OpId op = builder.add_op({.name = name,
                                    .kind = "layer",
                                    .operands = operands,
                                    .outputs = output,
                                    .run_times = times});
    before = builder.outputs(op).front();
  }
  return std::move(builder).build().value();
}

inline MachineSpec layer_machine(const LayerChain& options = {}) {
  MachineSpec spec;
  spec.name = "gpu-and-cores";
  spec.hosts = {{.name = "host"}};
  spec.devices.push_back(
      {.device = {.name = "gpu", .kind = "gpu"}, .memory_bytes = options.gpu_memory});
  spec.devices.push_back({.device = {.name = "cores", .kind = "cpu"}, .uses_host_memory = true});
  MachineSpec::LinkSpec link;
  link.name = "pcie";
  link.ends[0] = "host";
  link.ends[1] = "gpu";
  link.latency = options.link_latency;
  link.bytes_per_s = options.link_bytes_per_s;
  spec.links.push_back(link);
  return spec;
}

inline constexpr DeviceId kGpu{0}, kCores{1};
inline constexpr MemoryId kHostMemory{0}, kGpuMemory{1};

// All layers on the GPU. It keeps the first `kept` weights and has room for `buffer` more.
inline Plan layer_plan(const Problem& problem, int kept, int buffer) {
  Plan plan;
  const auto layers = problem.graph.size();
  plan.placement.assign(static_cast<size_t>(layers), kGpu);
  for (int32_t i = 0; i < layers; ++i) plan.priority.push_back(i);
  plan.weights.kept.resize(2);
  const std::span<const ValueId> weights = problem.homed_weights();
  plan.weights.kept[1].assign(weights.begin(), weights.begin() + kept);
  plan.weights.stream_buffer_bytes = {0, buffer * problem.graph.bytes(weights[0])};
  note_origin(problem, 1, plan.provenance);
  return plan;
}

}  // namespace tutti::testing

#endif  // TUTTI_PLAN_TESTING_H_
