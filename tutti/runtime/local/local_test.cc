// What the local engine promises of runs that go well.

#include "tutti/runtime/local/local.h"

#include <gtest/gtest.h>

#include <cmath>
#include <mutex>
#include <set>

#include "tutti/graph/builder.h"
#include "tutti/graph/make/chainmm.h"
#include "tutti/graph/make/layered.h"
#include "tutti/kernels/cpu/testing.h"
#include "tutti/kernels/testing.h"
#include "tutti/runtime/local/testing.h"
#include "tutti/runtime/sim/testing.h"
#include "tutti/trace/check.h"

namespace tutti {
namespace {

using testing::cpus;
using testing::islands;
using testing::open_local;

Graph layered(int32_t ops, int32_t width, int64_t bytes) {
  return must(make_layered({.ops = ops, .width = width, .operands = 2, .bytes = bytes}));
}

// Remembers in which order ops ran.
struct Diary {
  std::mutex mutex;
  std::vector<std::string> ops;

  OpCode code() {
    return [this](const OpCall& call) -> Result<void> {
      const std::lock_guard lock(mutex);
      ops.emplace_back(call.op);
      return {};
    };
  }
};

// Runs chainmm on the machine and expects what the reference says.
void expect_reference(const Machine& machine) {
  const Sharded sharded = must(make_chainmm({.size = 96, .split = {2, 2, 2}}));
  const World world(Graph(sharded.graph), Machine(machine));
  const std::vector<Tensor> inputs = blocks_of(sharded, inputs_of(sharded));
  const std::vector<Tensor> wanted = *evaluate(world.graph, inputs);
  const auto runtime = open_local(world.machine, OpTable::standard());
  runtime->set_options({.input = [&](ValueId value, const Block& block) {
    const std::vector<double>& from = inputs[static_cast<size_t>(value.index)].data;
    std::copy(from.begin(), from.end(), static_cast<float*>(block.data));
  }});
  const Plan plan = testing::in_turn(*world.problem);
  const Trace trace = must(runtime->run(*world.problem, plan));
  EXPECT_EQ(check_trace(*world.problem, trace, rules_for(trace, &plan)),
            std::vector<std::string>());
  int compared = 0;
  for (const ValueId value : world.graph.values()) {
    if (!world.graph.consumers(value).empty()) continue;
    const std::vector<std::byte> bytes = must(runtime->result(value));
    const Tensor& tensor = wanted[static_cast<size_t>(value.index)];
    ASSERT_EQ(bytes.size(), tensor.data.size() * sizeof(float));
    for (size_t i = 0; i < tensor.data.size(); ++i, ++compared) {
      float got = 0;
      std::memcpy(&got, bytes.data() + i * sizeof(float), sizeof(float));
      ASSERT_NEAR(got, tensor.data[i], 1e-3);
    }
  }
  EXPECT_GT(compared, 0);
}

TEST(Local, ComputesWhatTheReferenceSays) {
  TUTTI_NEEDS_OPENBLAS();
  expect_reference(cpus(1, 1));
  expect_reference(cpus(2, 2));
  expect_reference(islands(3, 1));
}

TEST(Local, SharesAnOpAmongTheCoresOfItsSlot) {
  TUTTI_NEEDS_OPENBLAS();
  MachineSpec spec{.name = "team"};
  spec.devices.push_back({.device = {.name = "cpu", .kind = "cpu", .units = 3, .flops_per_s = 1e9},
                          .uses_host_memory = true});
  expect_reference(must(Machine::build(std::move(spec))));
}

TEST(Local, MovesValuesOverEveryHop) {
  // From island to island takes two hops, through the host's memory.
  const World world(layered(200, 10, 1000), islands(3, 2));
  const auto runtime =
      open_local(world.machine, testing::table_of(world.graph, testing::digest_code(world.graph)));
  const Plan plan = testing::in_turn(*world.problem);
  for (const bool staged : {true, false}) {
    runtime->set_options({.staged = staged});
    const Trace trace = must(runtime->run(*world.problem, plan));
    EXPECT_EQ(check_trace(*world.problem, trace, rules_for(trace, &plan)),
              std::vector<std::string>());
    testing::expect_digests(world.graph, *runtime);
    const bool two_hops = std::any_of(trace.transfers.begin(), trace.transfers.end(),
                                      [](const TransferSpan& span) { return span.hop == 1; });
    EXPECT_EQ(two_hops, staged);
  }
}

TEST(Local, PutsInputsWhereTheyAreRead) {
  // One everywhere, one on the host, one on a device, one that nobody reads; each read by three.
  GraphBuilder builder("inputs");
  std::vector<ValueId> inputs;
  const std::vector<Residence> residences = {
      {}, {.where = Residence::Where::host}, {.where = Residence::Where::device, .device = "cpu0"}};
  for (size_t i = 0; i < residences.size(); ++i) {
    inputs.push_back(builder.add_input({.value = {.name = "x" + std::to_string(i), .bytes = 100},
                                        .residence = residences[i],
                                        .weight = i == 0}));
  }
  builder.add_input({.value = {.name = "unread", .bytes = 100}});
  for (int i = 0; i < 3; ++i) {
    const ValueSpec output{.bytes = 10};
    builder.add_op({.name = "op" + std::to_string(i),
                    .kind = "k",
                    .operands = inputs,
                    .outputs = {&output, 1},
                    .flops = 1});
  }
  const Graph graph = must(std::move(builder).build());
  for (const int devices : {1, 3}) {
    for (const bool online : {false, true}) {
      const World world(Graph(graph), islands(devices, 1));
      int filled = 0;
      OpTable table = testing::table_of(world.graph, [](const OpCall& call) -> Result<void> {
        for (size_t i = 0; i < 3; ++i) {
          const auto* data = static_cast<const uint8_t*>(call.operands[i].data);
          if (data[0] != i + 1 || data[99] != i + 1) return failed("a wrong input");
        }
        return {};
      });
      const auto runtime = open_local(world.machine, std::move(table));
      runtime->set_options({.input = [&](ValueId value, const Block& block) {
        std::memset(block.data, value.index + 1, 100);
        ++filled;
      }});
      Rng rng(1);
      Policy policy = testing::random_policy(rng, /*pauses=*/false);
      const Plan plan = testing::in_turn(*world.problem);
      const Result<Trace> trace =
          online ? runtime->run_online(*world.problem, policy) : runtime->run(*world.problem, plan);
      ASSERT_TRUE(trace) << trace.error().message;
      EXPECT_EQ(filled, 3);
      EXPECT_EQ(check_trace(*world.problem, *trace, rules_for(*trace, online ? nullptr : &plan)),
                std::vector<std::string>());
    }
  }
}

TEST(Local, TakesReadyOpsByPriority) {
  const World world(graph_from(R"("ops":[{"name":"a","kind":"k","run_time_ns":1},
      {"name":"b","kind":"k","run_time_ns":1},{"name":"c","kind":"k","run_time_ns":1},
      {"name":"d","kind":"k","run_time_ns":1}])"),
                    cpus(1, 1));
  Diary diary;
  const auto runtime = open_local(world.machine, testing::table_of(world.graph, diary.code()));
  Plan plan = testing::in_turn(*world.problem);
  plan.priority = {7, -3, 7, 0};
  must(runtime->run(*world.problem, plan));
  EXPECT_EQ(diary.ops, (std::vector<std::string>{"b", "d", "a", "c"}));
}

TEST(Local, KeepsAStrictOrderEvenWhereWaitingCostsTime) {
  // c is ready at once, but must start after b, which waits for a.
  const World world(graph_from(R"("ops":[
      {"name":"a","kind":"k","run_time_ns":1,"outputs":[{"bytes":8}]},
      {"name":"b","kind":"k","run_time_ns":1,"operands":["a"]},
      {"name":"c","kind":"k","run_time_ns":1}])"),
                    cpus(2, 1));
  Diary diary;
  const auto runtime = open_local(world.machine, testing::table_of(world.graph, diary.code()));
  Plan plan = testing::in_turn(*world.problem);
  plan.placement = {DeviceId{0}, DeviceId{1}, DeviceId{1}};
  plan.strict_order = {{OpId{0}}, {OpId{1}, OpId{2}}};
  const Trace trace = must(runtime->run(*world.problem, plan));
  EXPECT_EQ(diary.ops, (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(check_trace(*world.problem, trace, rules_for(trace, &plan)),
            std::vector<std::string>());
}

TEST(Local, SaysWhereAStrictOrderContradictsTheGraph) {
  const World world(graph_from(R"("ops":[{"name":"a","kind":"k","run_time_ns":1},
      {"name":"b","kind":"k","run_time_ns":1,"operands":["a"]}])"),
                    cpus(1, 1));
  Diary diary;
  const auto runtime = open_local(world.machine, testing::table_of(world.graph, diary.code()));
  Plan plan = testing::in_turn(*world.problem);
  plan.strict_order = {{OpId{1}, OpId{0}}};
  const Result<Trace> trace = runtime->run(*world.problem, plan);
  ASSERT_FALSE(trace);
  EXPECT_EQ(trace.error().kind, Error::Kind::infeasible);
  EXPECT_NE(trace.error().message.find("strict order contradicts"), std::string::npos);
}

TEST(Local, RunsTheSamePlanWithBarriersBetweenLevels) {
  const World world(layered(300, 12, 64), islands(2, 2));
  const auto runtime =
      open_local(world.machine, testing::table_of(world.graph, testing::digest_code(world.graph)));
  runtime->set_options({.bulk_synchronous = true});
  const Plan plan = testing::in_turn(*world.problem);
  const Trace trace = must(runtime->run(*world.problem, plan));
  testing::expect_digests(world.graph, *runtime);
  // Ops come layer by layer: level i is ops 12 i to 12 i + 11.
  std::vector<Duration> first(25, kNever);
  std::vector<Duration> last(25, Duration{0});
  for (const OpSpan& span : trace.ops) {
    const auto level = static_cast<size_t>(span.op.index / 12);
    first[level] = std::min(first[level], span.start);
    last[level] = std::max(last[level], span.finish);
  }
  for (size_t level = 1; level < first.size(); ++level) EXPECT_LE(last[level - 1], first[level]);
}

TEST(Local, FreesValuesAfterTheirLastReader) {
  // A chain of 50 ops of 1,000 bytes each: two are there at a time, and the last stays.
  GraphBuilder builder("chain");
  std::vector<ValueId> last;
  for (int i = 0; i < 50; ++i) {
    const ValueSpec output{.bytes = 1000};
    const OpId op = builder.add_op({.name = "op" + std::to_string(i),
                                    .kind = "k",
                                    .operands = last,
                                    .outputs = {&output, 1},
                                    .flops = 1});
    last = {builder.outputs(op).front()};
  }
  const World world(must(std::move(builder).build()), cpus(1, 1));
  const auto runtime =
      open_local(world.machine, testing::table_of(world.graph, testing::digest_code(world.graph)));
  must(runtime->run(*world.problem, testing::in_turn(*world.problem)));
  EXPECT_EQ(runtime->high_water(world.machine.host_memory()), 2000);
  testing::expect_digests(world.graph, *runtime);
  // What is named is kept, and nothing else can be had.
  runtime->set_options({.keep = {ValueId{7}}});
  must(runtime->run(*world.problem, testing::in_turn(*world.problem)));
  EXPECT_EQ(must(runtime->result(ValueId{7})).size(), 1000u);
  EXPECT_FALSE(runtime->result(ValueId{8}));
}

TEST(Local, WaitsForRoomWhereMemoryIsShort) {
  // Two slots but room for one 60-byte value and its reader's: c must finish with a before b
  // starts.
  const World world(graph_from(R"("ops":[
      {"name":"a","kind":"k","run_time_ns":10,"outputs":[{"bytes":60}]},
      {"name":"b","kind":"k","run_time_ns":10,"outputs":[{"bytes":60}]},
      {"name":"c","kind":"k","run_time_ns":10,"operands":["a"],"outputs":[{"bytes":1}]},
      {"name":"d","kind":"k","run_time_ns":10,"operands":["b"],"outputs":[{"bytes":1}]}])"),
                    cpus(1, 2, 100));
  const auto runtime =
      open_local(world.machine, testing::table_of(world.graph, testing::digest_code(world.graph)));
  const Plan plan = testing::in_turn(*world.problem);
  for (int i = 0; i < 50; ++i) {
    const Trace trace = must(runtime->run(*world.problem, plan));
    EXPECT_EQ(check_trace(*world.problem, trace, rules_for(trace, &plan)),
              std::vector<std::string>());
    EXPECT_LE(runtime->high_water(world.machine.host_memory()), 100);
  }
}

TEST(Local, SaysWhichOpHasTooLittleMemoryWhere) {
  const World world(graph_from(R"("ops":[
      {"name":"a","kind":"k","run_time_ns":10,"outputs":[{"bytes":60}]}])"),
                    cpus(1, 1, 50));
  const auto runtime =
      open_local(world.machine, testing::table_of(world.graph, testing::digest_code(world.graph)));
  const Result<Trace> trace = runtime->run(*world.problem, testing::in_turn(*world.problem));
  ASSERT_FALSE(trace);
  EXPECT_EQ(trace.error().kind, Error::Kind::infeasible);
  EXPECT_NE(trace.error().message.find(
                "op 'a' on device 'cpu0' needs 60 bytes in memory 'host', of which 50 are left"),
            std::string::npos)
      << trace.error().message;
}

TEST(Local, RefusesAnOpWithoutCodeBeforeAnythingRuns) {
  const World world(graph_from(R"("ops":[{"name":"a","kind":"weave","run_time_ns":1}])"),
                    cpus(1, 1));
  const auto runtime = open_local(world.machine, OpTable::standard());
  const Result<Trace> trace = runtime->run(*world.problem, testing::in_turn(*world.problem));
  ASSERT_FALSE(trace);
  EXPECT_EQ(trace.error().message,
            "op 'a' is of kind 'weave', for which there is no code on device 'cpu0' of kind 'cpu'; "
            "add some to the OpTable");
}

TEST(Local, RefusesDevicesOfKindsThatItCannotBind) {
  const Machine machine = must(make_preset("uniform-2"));
  const auto opened = LocalRuntime::open(machine, OpTable::standard());
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().kind, Error::Kind::invalid_input);
}

TEST(Local, SaysWhenDevicesShareCores) {
  const Machine machine = cpus(100, 50);
  const auto runtime = open_local(machine, OpTable());
  EXPECT_NE(runtime->note().find("ask for 5000 cores"), std::string::npos) << runtime->note();
  EXPECT_EQ(open_local(cpus(1, 1), OpTable())->note(), "");
}

TEST(Local, GivesItsMakespanWithoutATraceToo) {
  const World world(layered(100, 5, 0), cpus(2, 1));
  const auto runtime =
      open_local(world.machine, testing::table_of(world.graph, testing::digest_code(world.graph)));
  runtime->set_options({.trace = false});
  const Trace trace = must(runtime->run(*world.problem, testing::in_turn(*world.problem)));
  EXPECT_GT(trace.makespan, Duration{0});
  EXPECT_TRUE(trace.ops.empty());
}

TEST(OpTable, ServesAKindOfDeviceByItsFirstWord) {
  OpTable table;
  table.add("k", "cpu", [](const OpCall&) -> Result<void> { return {}; });
  const OpTable::Entry* general = table.find("k", "cpu-large");
  ASSERT_NE(general, nullptr);
  table.add("k", "cpu-large", [](const OpCall&) -> Result<void> { return {}; });
  EXPECT_NE(table.find("k", "cpu-large"), general);
  EXPECT_EQ(table.find("k", "gpu"), nullptr);
}

// Rounds of as many ops as there are slots, each of which waits until all of its device's round
// run: a slot that rested beside a ready op would leave them waiting for ever. Whoever ends a round
// makes ops ready on both devices.
TEST(Local, KeepsEverySlotBusyWhileOpsAreReady) {
  constexpr int kRounds = 150;
  constexpr int kSlots = 3;
  GraphBuilder builder("rounds");
  std::vector<ValueId> last;
  for (int i = 0; i < kRounds; ++i) {
    std::vector<ValueId> all;
    for (int k = 0; k < 2 * kSlots; ++k) {
      const ValueSpec output{};
      const OpId op =
          builder.add_op({.name = std::to_string(2 * i + k % 2) + "-" + std::to_string(k),
                          .kind = "meet",
                          .operands = last,
                          .outputs = {&output, 1},
                          .flops = 1});
      all.push_back(builder.outputs(op).front());
    }
    last = all;
  }
  const World world(must(std::move(builder).build()), cpus(2, kSlots));
  std::vector<std::atomic<int>> met(2 * kRounds);
  OpTable table;
  table.add("meet", "cpu", [&](const OpCall& call) -> Result<void> {
    std::atomic<int>& here = met[static_cast<size_t>(std::stoi(std::string(call.op)))];
    here.fetch_add(1);
    here.notify_all();
    for (int count; (count = here.load()) < kSlots;) here.wait(count);
    return {};
  });
  const auto runtime = open_local(world.machine, std::move(table));
  for (const bool traced : {true, false}) {
    for (std::atomic<int>& count : met) count = 0;
    runtime->set_options({.trace = traced});
    must(runtime->run(*world.problem, testing::in_turn(*world.problem)));
  }
}

}  // namespace
}  // namespace tutti
