// The conformance kit: small problems that together meet every rule, and what any runtime must do
// with them. A new runtime calls conformance_faults for each case; a new policy does the same with
// its plans (test/policy_conformance_test.cc). Neither needs tests of its own for these rules.

#ifndef TUTTI_RUNTIME_CONFORMANCE_TESTING_H_
#define TUTTI_RUNTIME_CONFORMANCE_TESTING_H_

#include <fmt/format.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "test/support/world.h"
#include "tutti/graph/builder.h"
#include "tutti/graph/make/layered.h"
#include "tutti/machine/preset.h"
#include "tutti/plan/bound.h"
#include "tutti/runtime/runtime.h"
#include "tutti/trace/check.h"

namespace tutti {

struct ConformanceCase {
  std::string name;
  bool tight_memory = false;  // a planner may refuse it (infeasible)
  Problem problem;
};

struct ConformanceOptions {
  std::string device_kind{};              // of all devices; empty: as the machines have it
  int units = 0;                          // of all devices of such a kind
  int64_t unit_bytes = int64_t{1} << 20;  // small values have one of these, large ones eight
};

namespace conformance {

inline Machine machine_of_kind(const char* preset, const ConformanceOptions& options) {
  Machine machine = must(make_preset(preset));
  if (options.device_kind.empty()) return machine;
  MachineSpec spec = machine.spec();
  for (MachineSpec::DeviceSpec& device : spec.devices) {
    device.device.kind = options.device_kind;
    device.device.units = options.units;
  }
  return must(Machine::build(std::move(spec)));
}

inline ConformanceCase make_case(std::string name, Graph graph, Machine machine,
                                 const Constraints& constraints = {}) {
  return {.name = std::move(name),
          .problem = must(Problem::make(std::move(graph), std::move(machine), {}, constraints))};
}

// a -> b, a -> c, (b, c) -> d; one value of one unit each.
inline Graph diamond(int64_t unit) {
  GraphBuilder builder("diamond");
  const auto add = [&](const char* name, std::vector<ValueId> operands) {
    const ValueSpec output{.bytes = unit};
    const OpId op = builder.add_op({.name = name,
                                    .kind = "matmul",
                                    .operands = operands,
                                    .outputs = {&output, 1},
                                    .flops = 1e9});
    return builder.outputs(op).front();
  };
  const ValueId a = add("a", {});
  const ValueId b = add("b", {a});
  const ValueId c = add("c", {a});
  add("d", {b, c});
  return must(std::move(builder).build());
}

// What files may hold but small tests forget: an operand read twice, an op without outputs, one
// with two, ops of no time, inputs on the host and on a device, a weight, values of no bytes.
inline Graph odd_shapes(int64_t unit) {
  GraphBuilder builder("odd_shapes");
  const ValueId on_host = builder.add_input(
      {.value = {.name = "x", .bytes = 3 * unit}, .residence = {.where = Residence::Where::host}});
  const ValueId on_gpu =
      builder.add_input({.value = {.name = "y", .bytes = unit},
                         .residence = {.where = Residence::Where::device, .device = "gpu"}});
  const ValueId weight =
      builder.add_input({.value = {.name = "w", .bytes = 2 * unit}, .weight = true});
  const std::vector<ValueSpec> two = {{.name = "q", .bytes = unit}, {.name = "r", .bytes = 0}};
  const std::vector<ValueId> first_operands = {on_host, weight, on_host};
  const OpId first = builder.add_op({.name = "split",
                                     .kind = "split",
                                     .operands = first_operands,
                                     .outputs = two,
                                     .flops = 1e8,
                                     .transient_bytes = unit});
  const ValueId q{builder.outputs(first).front()};
  const ValueId r{q.index + 1};
  const std::vector<GivenTime> no_time = {{"", Duration{0}}};
  const ValueSpec small{.bytes = 8};
  ValueId last = r;
  for (int i = 0; i < 4; ++i) {
    const std::vector<ValueId> operands = {last, q, q, on_gpu};
    const std::string name = "step" + std::to_string(i);
    const OpId op = builder.add_op({.name = name,
                                    .kind = "step",
                                    .operands = operands,
                                    .outputs = {&small, 1},
                                    .flops = 1e7,
                                    .run_times = i % 2 == 0 ? std::span<const GivenTime>(no_time)
                                                            : std::span<const GivenTime>()});
    last = builder.outputs(op).front();
  }
  const std::vector<ValueId> sink = {last};
  builder.add_op({.name = "sink", .kind = "sink", .operands = sink, .flops = 1});
  return must(std::move(builder).build());
}

// A fan whose edges carry given transfer times, one of them by kinds of device.
inline Graph given_times() {
  GraphBuilder builder("given_times");
  const ValueSpec output{.bytes = 0};
  const auto time = [](int64_t ns) { return std::vector<GivenTime>{{"", Duration(ns)}}; };
  const auto root_time = time(10);
  const OpId root = builder.add_op(
      {.name = "root", .kind = "k", .outputs = {&output, 1}, .run_times = root_time});
  std::vector<ValueId> branches;
  for (int i = 0; i < 9; ++i) {
    const std::vector<ValueId> operands = {builder.outputs(root).front()};
    const auto run_time = time(5 + 3 * i);
    const std::string name = "branch" + std::to_string(i);
    const OpId op = builder.add_op({.name = name,
                                    .kind = "k",
                                    .operands = operands,
                                    .outputs = {&output, 1},
                                    .run_times = run_time});
    builder.give_transfer(EdgeId{builder.edge_count() - 1}, {"", "", Duration(4 + i % 3)});
    branches.push_back(builder.outputs(op).front());
  }
  const auto join_time = time(2);
  builder.add_op({.name = "join",
                  .kind = "k",
                  .operands = branches,
                  .outputs = {&output, 1},
                  .run_times = join_time});
  for (int i = 0; i < 9; ++i) {
    builder.give_transfer(EdgeId{builder.edge_count() - 9 + i},
                          {"device", "device", Duration(7 + i)});
  }
  return must(std::move(builder).build());
}

inline Graph of_ops(int count) {
  GraphBuilder builder("few");
  for (int i = 0; i < count; ++i) {
    builder.add_op({.name = "op" + std::to_string(i), .kind = "k", .flops = 1e9});
  }
  return must(std::move(builder).build());
}

// Three rounds of eight blocks and a sum of each pair, with the groups and shards that a sharder
// would write down.
inline Graph sharded(int64_t unit) {
  GraphBuilder builder("sharded");
  const ValueSpec output{.bytes = 4 * unit};
  const auto add = [&](const std::string& name, const std::string& group, int shard,
                       const std::vector<ValueId>& operands) {
    const std::vector<std::pair<std::string, std::string>> attributes = {
        {"group", group}, {"shard", std::to_string(shard)}};
    const OpId op = builder.add_op({.name = name,
                                    .kind = "matmul",
                                    .operands = operands,
                                    .outputs = {&output, 1},
                                    .flops = 2e9,
                                    .attributes = attributes});
    return builder.outputs(op).front();
  };
  std::vector<ValueId> values;
  for (int round = 0; round < 3; ++round) {
    const std::string group = "round" + std::to_string(round);
    std::vector<ValueId> blocks;
    for (int i = 0; i < 8; ++i) {
      std::vector<ValueId> operands;
      if (round > 0)
        operands = {values[static_cast<size_t>(i % 4)],
                    values[static_cast<size_t>((3 * i + 1) % 4)]};
      blocks.push_back(add(group + "-block" + std::to_string(i), group, i, operands));
    }
    values.clear();
    for (int i = 0; i < 4; ++i) {
      const auto first = static_cast<size_t>(2 * i);
      values.push_back(add(group + "-sum" + std::to_string(i), group, 2 * i,
                           {blocks[first], blocks[first + 1]}));
    }
  }
  return must(std::move(builder).build());
}

inline Constraints pinned_and_together() {
  return {.colocations = {{"op3", "op17", "op40"}, {"op40", "op41"}},
          .pins = {{"op0", {"fast1"}}, {"op5", {"fast0", "slow0"}}},
          .forbidden = {{.op = "", .op_kind = "", .device = "cpu", .device_kind = ""},
                        {.op = "op7", .op_kind = "", .device = "fast0", .device_kind = ""}}};
}

inline std::string difference(const Trace& a, const Trace& b) {
  if (a.makespan != b.makespan) return "the makespans differ";
  if (a.ops.size() != b.ops.size() || a.transfers.size() != b.transfers.size()) {
    return "the numbers of spans differ";
  }
  for (size_t i = 0; i < a.ops.size(); ++i) {
    if (a.ops[i].op != b.ops[i].op || a.ops[i].start != b.ops[i].start ||
        a.ops[i].device != b.ops[i].device || a.ops[i].slot != b.ops[i].slot) {
      return "the spans of ops differ";
    }
  }
  for (size_t i = 0; i < a.transfers.size(); ++i) {
    if (a.transfers[i].value != b.transfers[i].value ||
        a.transfers[i].start != b.transfers[i].start ||
        a.transfers[i].finish != b.transfers[i].finish) {
      return "the spans of transfers differ";
    }
  }
  return {};
}

inline std::vector<std::string> judge(const Problem& problem, const Plan* plan, bool repeatable,
                                      const std::function<Result<Trace>()>& run) {
  const Result<Trace> first = run();
  if (!first) return {first.error().message};
  const TraceRules rules = rules_for(*first, plan);
  std::vector<std::string> faults = check_trace(problem, *first, rules);
  const Duration bound = lower_bounds(problem).strongest();
  if (!first->sampled && !rules.timeless && !rules.measured && first->makespan < bound) {
    faults.push_back(fmt::format("makespan {} is below the lower bound {}",
                                 to_text(first->makespan), to_text(bound)));
  }
  if (!repeatable) return faults;
  const Result<Trace> second = run();
  if (!second) {
    faults.push_back("the second run failed: " + second.error().message);
  } else if (std::string other = difference(*first, *second); !other.empty()) {
    faults.push_back("the second run is not the first: " + other);
  }
  return faults;
}

}  // namespace conformance

inline std::vector<ConformanceCase> conformance_cases(const ConformanceOptions& options = {}) {
  using namespace conformance;
  const int64_t unit = options.unit_bytes;
  std::vector<ConformanceCase> cases;
  const auto add = [&](std::string name, Graph graph, const char* machine,
                       const Constraints& constraints = {}) {
    cases.push_back(make_case(std::move(name), std::move(graph), machine_of_kind(machine, options),
                              constraints));
  };
  add("no ops", of_ops(0), "p100-4");
  add("one op", of_ops(1), "p100-4");
  add("diamond on p100-4", diamond(unit), "p100-4");
  add("one device", diamond(unit), "uniform-1");
  add("odd shapes on cpu-gpu", odd_shapes(unit), "cpu-gpu");
  add("given times on uniform-3", given_times(), "uniform-3");
  const LayeredSpec layered{.ops = 120, .width = 10, .operands = 3, .bytes = 8 * unit};
  for (const char* machine : {"uniform-4", "p100-4", "v100-8-nvlink", "cpu-gpu", "mixed-5",
                              "h200-split", "cluster-2x4"}) {
    add(std::string("layered on ") + machine, must(make_layered(layered)), machine);
  }
  add("sharded on p100-4", sharded(unit), "p100-4");
  add("sharded, colocated on mixed-5", sharded(unit), "mixed-5",
      {.colocations = {{"round0-block1", "round1-block2", "round1-sum0"}},
       .pins = {{"round1-block0", {"slow1"}}},
       .forbidden = {{.op = "", .op_kind = "", .device = "cpu", .device_kind = ""}}});
  add("constraints on mixed-5", must(make_layered(layered)), "mixed-5", pinned_and_together());
  Constraints tight;
  for (const char* memory : {"gpu0", "gpu1", "gpu2", "gpu3"}) {
    tight.memory_limits.push_back({memory, 400 * unit});
  }
  add("tight memory on p100-4", must(make_layered(layered)), "p100-4", tight);
  cases.back().tight_memory = true;
  return cases;
}

// Runs the plan twice and says what is wrong: an error, a broken rule, a makespan below the bound,
// or (for runtimes that promise it) a second run that differs from the first.
inline std::vector<std::string> conformance_faults(Runtime& runtime, const Problem& problem,
                                                   const Plan& plan, bool repeatable) {
  return conformance::judge(problem, &plan, repeatable, [&] { return runtime.run(problem, plan); });
}

// The same for an online policy; made for each run, so that its seed starts from the beginning.
inline std::vector<std::string> online_conformance_faults(
    Runtime& runtime, const Problem& problem, const std::function<Policy()>& make_policy,
    bool repeatable) {
  return conformance::judge(problem, nullptr, repeatable, [&] {
    Policy policy = make_policy();
    return runtime.run_online(problem, policy);
  });
}

}  // namespace tutti

#endif  // TUTTI_RUNTIME_CONFORMANCE_TESTING_H_
