// What the tests of the bounds share: small problems in a few lines.

#ifndef TUTTI_PLAN_BOUND_TESTING_H_
#define TUTTI_PLAN_BOUND_TESTING_H_

#include <fmt/format.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "tutti/graph/builder.h"
#include "tutti/plan/problem.h"

namespace tutti::testing {

// A Problem from parts that make one.
inline Problem problem_of(GraphBuilder builder, MachineSpec machine,
                          const Constraints& constraints = {}) {
  return Problem::make(std::move(builder).build().value(),
                       Machine::build(std::move(machine)).value(), {}, constraints)
      .value();
}

// Device i is called "d<i>", is of kind "k<i>" and has slots[i] slots. Every two have a link of
// their own that carries one byte per nanosecond.
inline MachineSpec machine_with(const std::vector<int>& slots) {
  MachineSpec spec{.name = "test"};
  for (size_t i = 0; i < slots.size(); ++i) {
    spec.devices.push_back(
        {.device = {
             .name = fmt::format("d{}", i), .kind = fmt::format("k{}", i), .slots = slots[i]}});
    for (size_t j = 0; j < i; ++j) {
      spec.links.push_back({.name = fmt::format("l{}-{}", j, i),
                            .ends = {fmt::format("d{}", j), fmt::format("d{}", i)},
                            .bytes_per_s = 1e9,
                            .sharing = Sharing::unlimited});
    }
  }
  return spec;
}

struct OpOnKinds {
  std::vector<Duration> times;  // by kind of device, negative: impossible; one: on every kind
  std::vector<int> inputs{};    // the ops whose value it reads
  int64_t bytes = 0;            // of its value
};

// Ops are called "o0", "o1", ...
inline GraphBuilder graph_of(const std::vector<OpOnKinds>& ops) {
  GraphBuilder builder("test");
  for (const OpOnKinds& op : ops) {
    std::vector<GivenTime> times;
    for (size_t kind = 0; kind < op.times.size(); ++kind) {
      if (op.times[kind] < Duration{0}) continue;
      times.push_back({op.times.size() == 1 ? "" : fmt::format("k{}", kind), op.times[kind]});
    }
    std::vector<ValueId> operands;
    for (const int input : op.inputs) operands.push_back(ValueId{input});  // one value per op
    const ValueSpec output{.bytes = op.bytes};
    builder.add_op({.name = fmt::format("o{}", builder.op_count()),
                    .kind = "op",
                    .operands = operands,
                    .outputs = {&output, 1},
                    .run_times = times});
  }
  return builder;
}

}  // namespace tutti::testing

#endif  // TUTTI_PLAN_BOUND_TESTING_H_
