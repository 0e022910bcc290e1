#include "tutti/plan/bound.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tutti/base/random.h"
#include "tutti/graph/builder.h"

namespace tutti {
namespace {

using namespace std::chrono_literals;

// A Problem together with what it refers to.
class Setting {
 public:
  Setting(GraphBuilder builder, MachineSpec machine, const Constraints& constraints = {})
      : graph_(std::make_unique<Graph>(std::move(builder).build().value())),
        machine_(std::make_unique<Machine>(Machine::build(std::move(machine)).value())),
        costs_(std::make_unique<Costs>(Costs::build(*graph_, *machine_).value())),
        problem_(Problem::make(*graph_, *machine_, *costs_, constraints).value()) {}

  const Problem& problem() const { return problem_; }

 private:
  std::unique_ptr<Graph> graph_;
  std::unique_ptr<Machine> machine_;
  std::unique_ptr<Costs> costs_;
  Problem problem_;
};

// Device i is called "d<i>", is of kind "k<i>" and has slots[i] slots. Every two have a link of
// their own that carries one byte per nanosecond.
MachineSpec machine_with(const std::vector<int>& slots) {
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
GraphBuilder graph_of(const std::vector<OpOnKinds>& ops) {
  GraphBuilder builder("test");
  for (const OpOnKinds& op : ops) {
    std::vector<GivenTime> times;
    for (size_t kind = 0; kind < op.times.size(); ++kind) {
      if (op.times[kind] < 0ns) continue;
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

Bounds bounds_of(const Setting& setting) {
  return lower_bounds(setting.problem());
}

TEST(Bound, IsZeroForAnEmptyGraph) {
  EXPECT_EQ(bounds_of(Setting(GraphBuilder("empty"), machine_with({1}))).strongest(), 0ns);
}

TEST(Bound, RoundsTheLoadUpToWhatDividesAllTimes) {
  // Three ops of 4 on two devices: 6 each, but every end is a multiple of 4.
  const Bounds bounds =
      bounds_of(Setting(graph_of({{{4ns}}, {{4ns}}, {{4ns}}}), machine_with({1, 1})));
  EXPECT_EQ(bounds.load, 8ns);
  EXPECT_EQ(bounds.path, 4ns);
}

TEST(Bound, DividesTheLoadOverUnequalDevices) {
  // Four ops, each 10 on d0 and 30 on d1. In T, d0 does T / 10 of them and d1 does T / 30:
  // T (1/10 + 1/30) = 4, so T = 30.
  const std::vector<OpOnKinds> ops(4, {.times = {10ns, 30ns}});
  EXPECT_EQ(bounds_of(Setting(graph_of(ops), machine_with({1, 1}))).load, 30ns);
  // A second slot on d1 counts like a second device: T (1/10 + 2/30) = 4, so T = 24, and the next
  // multiple of 10 is 30.
  EXPECT_EQ(bounds_of(Setting(graph_of(ops), machine_with({1, 2}))).load, 30ns);
}

TEST(Bound, FollowsTheLongestChainOnTheFastestDevices) {
  // 0 -> 1 takes 3 + 4, and 2 takes 6.
  const Bounds bounds = bounds_of(
      Setting(graph_of({{{3ns, 5ns}}, {{9ns, 4ns}, {0}}, {{6ns, 6ns}}}), machine_with({1, 1})));
  EXPECT_EQ(bounds.path, 7ns);
}

TEST(Bound, CountsTheWorkBetweenTheFirstOpAndTheLast) {
  // 0 -> five ops -> 6, each of 10, on two devices. Load: 70 / 2 = 35, so 40. Path: 30. But the
  // five lie between the others: 10 + 50 / 2 + 10 = 45, so 50.
  std::vector<OpOnKinds> ops = {{{10ns}}};
  for (int i = 0; i < 5; ++i) ops.push_back({{10ns}, {0}});
  ops.push_back({{10ns}, {1, 2, 3, 4, 5}});
  const Bounds bounds = bounds_of(Setting(graph_of(ops), machine_with({1, 1})));
  EXPECT_EQ(bounds.load, 40ns);
  EXPECT_EQ(bounds.path, 30ns);
  EXPECT_EQ(bounds.interval, 50ns);
  EXPECT_EQ(bounds.communication, 50ns);
}

// Two ops of 10 whose values of so many bytes a third op of 10 reads.
std::vector<OpOnKinds> join_of(int64_t bytes) {
  return {{{10ns}, {}, bytes}, {{10ns}, {}, bytes}, {{10ns}, {0, 1}}};
}

TEST(Bound, LetsAJoinShareADeviceOrWait) {
  // Apart, the join waits for 10 + 8 and ends at 28; on one device all three take 30.
  const Bounds near = bounds_of(Setting(graph_of(join_of(8)), machine_with({1, 1})));
  EXPECT_EQ(near.path, 20ns);
  EXPECT_EQ(near.interval, 20ns);
  EXPECT_EQ(near.communication, 28ns);
  // A transfer of 100 does not pay.
  EXPECT_EQ(bounds_of(Setting(graph_of(join_of(100)), machine_with({1, 1}))).communication, 30ns);
  // With two slots on a device it is not needed.
  EXPECT_EQ(bounds_of(Setting(graph_of(join_of(100)), machine_with({2, 1}))).communication, 20ns);
}

TEST(Bound, LetsAForkShareADeviceOrWait) {
  // The join turned round.
  const auto fork = graph_of({{{10ns}, {}, 8}, {{10ns}, {0}}, {{10ns}, {0}}});
  EXPECT_EQ(bounds_of(Setting(fork, machine_with({1, 1}))).communication, 28ns);
}

TEST(Bound, KnowsOfPins) {
  // Both ops must run on d0, though d1 is just as good.
  const Constraints together{.pins = {{"o0", {"d0"}}, {"o1", {"d0"}}}};
  const Setting both(graph_of({{{10ns}}, {{10ns}}}), machine_with({1, 1}), together);
  EXPECT_EQ(bounds_of(both).load, 20ns);
  // A chain that must change devices pays the transfer of 7.
  const Constraints apart{.pins = {{"o0", {"d0"}}, {"o1", {"d1"}}}};
  const Setting chain(graph_of({{{10ns}, {}, 7}, {{10ns}, {0}}}), machine_with({1, 1}), apart);
  EXPECT_EQ(bounds_of(chain).path, 20ns);
  EXPECT_EQ(bounds_of(chain).communication, 27ns);
}

TEST(Bound, LetsReadersShareTheQuickestTransferOfAValue) {
  // Both edges carry one value; for one of them 9 is given, for the other 2. On d1, one transfer
  // may serve both.
  GraphBuilder builder = graph_of({{{10ns}}, {{10ns}, {0}}, {{10ns}, {0}}});
  builder.give_transfer(EdgeId{0}, {"", "", 9ns});
  builder.give_transfer(EdgeId{1}, {"", "", 2ns});
  const Constraints apart{.pins = {{"o0", {"d0"}}, {"o1", {"d1"}}, {"o2", {"d1"}}}};
  const Setting setting(builder, machine_with({1, 2}), apart);
  EXPECT_EQ(bounds_of(setting).communication, 22ns);
}

TEST(Bound, ClaimsNothingForDevicesThatShareAMemory) {
  MachineSpec machine{.name = "test"};
  for (const char* name : {"d0", "d1"}) {
    machine.devices.push_back({.device = {.name = name, .kind = "cpu"}, .uses_host_memory = true});
  }
  EXPECT_EQ(bounds_of(Setting(graph_of(join_of(100)), machine)).communication, 20ns);
}

// ---- Against the optimum of small problems.

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
Setting random_setting(Rng rng) {
  const auto pick = [&](int least, int most) {
    return least + static_cast<int>(rng.below(static_cast<uint64_t>(most - least + 1)));
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
    ops[i].bytes = unit * pick(0, longest_transfer);
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
  std::vector<int> slots;
  for (int i = 0; i < devices; ++i) slots.push_back(pick(1, 2));
  MachineSpec machine = machine_with(slots);
  if (pick(0, 9) == 0) {
    machine.devices[0].uses_host_memory = machine.devices[1].uses_host_memory = true;
    machine.links.erase(machine.links.begin());  // the one between them
  }
  return Setting(std::move(builder), std::move(machine), constraints);
}

struct Tally {
  int above = 0;
  int equal = 0;
};

Tally against_brute_force(int count, const BoundLimits& limits) {
  Tally tally;
  for (int i = 0; i < count; ++i) {
    const Setting setting = random_setting(Rng(17).split(static_cast<uint64_t>(i)));
    const Duration optimum = BruteForce(setting.problem()).optimum();
    const Bounds bounds = lower_bounds(setting.problem(), limits);
    tally.above += bounds.strongest() > optimum;
    tally.equal += bounds.strongest() == optimum;
  }
  return tally;
}

TEST(Bound, NeverExceedsTheOptimumOfSmallProblems) {
  const Tally tally = against_brute_force(1000, {});
  EXPECT_EQ(tally.above, 0);
  EXPECT_GE(tally.equal, 700);
}

TEST(Bound, NeverExceedsTheOptimumInItsWaysForLargeGraphs) {
  const Tally tally =
      against_brute_force(1000, {.ancestors = 0, .energetic = 0, .exact_subset = 0});
  EXPECT_EQ(tally.above, 0);
  EXPECT_GE(tally.equal, 700);
}

}  // namespace
}  // namespace tutti
