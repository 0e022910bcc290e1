// The bounds against the optimum of small problems, found by trying everything.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "tutti/base/random.h"
#include "tutti/plan/bound.h"
#include "tutti/plan/bound/testing.h"

namespace tutti {
namespace {

using namespace std::chrono_literals;
using testing::graph_of;
using testing::machine_with;
using testing::OpOnKinds;
using testing::problem_of;

// Tries all schedules in which ops start as early as their order allows, one op after another by
// rising start. Any reader of a value gets it after the quickest transfer given to any of them,
// which is at least as generous as every model of transfers we have.
class BruteForce {
 public:
  explicit BruteForce(const Problem& problem) : problem_(problem) {
    for (const DeviceId device : problem.machine.devices()) {
      slots_.emplace_back(problem.machine.device(device).slots, 0ns);
    }
    runs_.resize(problem.graph.size());
  }

  Duration optimum() {
    extend(0, 0ns, 0ns);
    return best_;
  }

 private:
  struct Run {
    DeviceId device;  // invalid: not placed
    Duration end;
  };

  Duration transfer_time(ValueId value, DeviceId from, DeviceId to) const {
    Duration quickest = kNever;
    for (const EdgeId edge : problem_.graph.consumers(value)) {
      quickest = std::min(quickest, problem_.costs.transfer_time(edge, from, to));
    }
    return quickest;
  }

  // When the last operand is there, or kNever if one is not made yet.
  Duration operands_at(OpId op, DeviceId device) const {
    Duration last = 0ns;
    for (const ValueId value : problem_.graph.operands(op)) {
      const Run& made = runs_[problem_.graph.producer(value).index];
      if (!made.device.valid()) return kNever;
      last = std::max(last, made.end + transfer_time(value, made.device, device));
    }
    return last;
  }

  void extend(int placed, Duration last_start, Duration makespan) {
    if (makespan >= best_) return;
    if (placed == problem_.graph.size()) {
      best_ = makespan;
      return;
    }
    for (const OpId op : problem_.graph.ops()) {
      if (runs_[op.index].device.valid()) continue;
      for (const DeviceId device : problem_.devices_for(op)) {
        auto& slots = slots_[device.index];
        const auto slot = std::min_element(slots.begin(), slots.end());
        const Duration ready = operands_at(op, device);
        const Duration start = std::max(ready, *slot);
        if (ready == kNever || start < last_start) continue;
        const Duration end = start + problem_.costs.run_time(op, device);
        const Duration free_before = std::exchange(*slot, end);
        runs_[op.index] = {device, end};
        extend(placed + 1, start, std::max(makespan, end));
        runs_[op.index] = {};
        *slot = free_before;
      }
    }
  }

  const Problem& problem_;
  std::vector<std::vector<Duration>> slots_;  // by device: when each is free
  std::vector<Run> runs_;                     // by op
  Duration best_ = kNever;
};

// Up to six ops on two or three devices of unequal speed. Some ops cannot run everywhere, some are
// pinned, some values are read twice or have given transfer times, and a few machines share memory.
Problem random_problem(Rng rng) {
  const auto pick = [&](int least, int most) {
    return least + static_cast<int>(rng.below(uint64_t{1} + most - least));
  };
  const int devices = pick(2, 3);
  const bool equal = pick(0, 3) == 0;
  const int unit = pick(1, 3);  // of all times, so that rounding up is put to the test
  const int density = pick(10, 70);
  const int longest_transfer = pick(0, 20);
  std::vector<OpOnKinds> ops(pick(1, 6));
  Constraints constraints;
  for (int i = 0; i < static_cast<int>(ops.size()); ++i) {
    const int able = pick(0, devices - 1);
    for (int kind = 0; kind < (equal ? 1 : devices); ++kind) {
      const bool can = equal || kind == able || pick(0, 5) > 0;
      ops[i].times.push_back(Duration(can ? unit * pick(0, 12) : -1));
    }
    ops[i].bytes = int64_t{unit} * pick(0, longest_transfer);
    for (int before = 0; before < i; ++before) {
      if (pick(0, 99) >= density) continue;
      ops[i].inputs.push_back(before);
      if (pick(0, 9) == 0) ops[i].inputs.push_back(before);
    }
    if (pick(0, 9) == 0) {
      constraints.pins.push_back({fmt::format("o{}", i), {fmt::format("d{}", able)}});
    }
  }
  GraphBuilder builder = graph_of(ops);
  for (int32_t edge = 0; edge < builder.edge_count(); ++edge) {
    if (pick(0, 2) > 0) continue;
    const bool from_all = pick(0, 1) == 0;
    builder.give_transfer(EdgeId{edge}, {from_all ? "" : fmt::format("k{}", pick(0, devices - 1)),
                                         "", Duration(unit * pick(0, longest_transfer))});
  }
  std::vector<int> slots(devices);
  for (int& count : slots) count = pick(1, 2);
  MachineSpec machine = machine_with(slots);
  if (pick(0, 9) == 0) {
    machine.devices[0].uses_host_memory = machine.devices[1].uses_host_memory = true;
    machine.links.erase(machine.links.begin());  // the one between them
  }
  return problem_of(std::move(builder), std::move(machine), constraints);
}

struct Tally {
  int above = 0;
  int equal = 0;
};

Tally against_brute_force(int count, const BoundLimits& limits) {
  Tally tally;
  for (int i = 0; i < count; ++i) {
    const Problem problem = random_problem(Rng(17).split(static_cast<uint64_t>(i)));
    const Duration optimum = BruteForce(problem).optimum();
    const Bounds bounds = lower_bounds(problem, limits);
    tally.above += bounds.strongest() > optimum;
    tally.equal += bounds.strongest() == optimum;
  }
  return tally;
}

TEST(BoundAndOptimum, NeverExceedsItOnSmallProblems) {
  const Tally tally = against_brute_force(1000, {});
  EXPECT_EQ(tally.above, 0);
  EXPECT_GE(tally.equal, 740);
}

TEST(BoundAndOptimum, NeverExceedsItWithTheMethodsForLargeGraphs) {
  const Tally tally =
      against_brute_force(1000, {.ancestors = 0, .energetic = 0, .exact_subset = 0});
  EXPECT_EQ(tally.above, 0);
  EXPECT_GE(tally.equal, 740);
}

}  // namespace
}  // namespace tutti
