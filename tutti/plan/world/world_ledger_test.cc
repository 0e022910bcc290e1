#include "tutti/plan/world/world_ledger.h"

#include <gtest/gtest.h>

#include "tutti/base/check.h"
#include "tutti/graph/builder.h"

namespace tutti {
namespace {

using Phase = OpStatus::Phase;

const DeviceId kDevice{0};
const DeviceId kFpga{1};

// A device of `slots` slots and an FPGA of one context; "work" takes 100 ns on both.
Cluster cluster_of(int slots) {
  MachineSpec spec;
  spec.name = "queues";
  spec.hosts = {{.name = "host"}};
  spec.devices = {
      {.device = {.name = "cpu", .kind = "cpu", .slots = slots}, .uses_host_memory = true},
      {.device = {.name = "fpga", .kind = "fpga", .contexts = 1}}};
  spec.links = {{.name = "pcie", .ends = {"host", "fpga"}, .bytes_per_s = 1e9}};
  CostSpec costs;
  for (const char* kind : {"cpu", "fpga"})
    costs.run_times.push_back({.kind = "work", .device_kind = kind, .time_ns_by_size = {{0, 100}}});
  Result<Machine> machine = Machine::build(spec);
  TUTTI_CHECK(machine.has_value());
  Result<Cluster> cluster = Cluster::make(std::move(*machine), std::move(costs));
  TUTTI_CHECK(cluster.has_value());
  return std::move(*cluster);
}

// Ops that do not depend on each other, and one that needs the first of them.
std::shared_ptr<const Job> job_of(Cluster& cluster, int ops) {
  GraphBuilder builder("work");
  const ValueSpec output{.bytes = 8};
  ValueId first;
  for (int i = 0; i < ops; ++i) {
    const OpId op =
        builder.add_op({.name = "op" + std::to_string(i), .kind = "work", .outputs = {&output, 1}});
    if (i == 0) first = builder.outputs(op).front();
  }
  const std::vector<ValueId> operands = {first};
  builder.add_op({.name = "last", .kind = "work", .operands = operands, .outputs = {&output, 1}});
  Result<Graph> graph = std::move(builder).build();
  TUTTI_CHECK(graph.has_value());
  auto job = cluster.add_job(std::move(*graph));
  TUTTI_CHECK(job.has_value());
  return *job;
}

// One job whose ops are given to the device.
struct Queues {
  Cluster cluster;
  WorldLedger ledger;
  JobStatus& job;

  Queues(int slots, int depth, int ops)
      : cluster(cluster_of(slots)),
        ledger(cluster, {}, depth),
        job(ledger.admit(job_of(cluster, ops))) {}

  Action to_device(int op) const { return Action::execute(job.id, OpId{op}, kDevice); }
  void give(int op) {
    ASSERT_TRUE(check_action(ledger.state(), to_device(op)));
    ledger.execute(to_device(op));
  }
  void start(int op) { ledger.start(job, OpId{op}); }
  const OpStatus& op(int op) const { return job.ops[static_cast<size_t>(op)]; }
  const DeviceStatus& device() const { return ledger.state().devices[0]; }
  std::vector<int> queue() const {
    std::vector<int> ops;
    for (const QueuedOp& queued : device().queue) ops.push_back(queued.op.index);
    return ops;
  }
};

TEST(WorldLedger, OpsWaitBehindBusySlotsUpToTheDepth) {
  Queues queues(1, 2, 4);
  for (const int op : {0, 1, 2}) queues.give(op);
  EXPECT_EQ(queues.op(0).slot, 0);
  EXPECT_EQ(queues.queue(), (std::vector{1, 2}));
  EXPECT_EQ(queues.op(1).phase, Phase::queued);
  EXPECT_EQ(queues.op(1).slot, -1);
  EXPECT_FALSE(check_action(queues.ledger.state(), queues.to_device(3)));
  queues.ledger.set_depth(kDevice, 3);
  queues.give(3);
  EXPECT_EQ(queues.queue(), (std::vector{1, 2, 3}));
}

TEST(WorldLedger, ADeviceWithContextsHasNoQueue) {
  Queues queues(1, 2, 1);
  EXPECT_EQ(queues.ledger.state().devices[1].depth, 0);
  queues.ledger.set_depth(kFpga, 5);
  EXPECT_EQ(queues.ledger.state().devices[1].depth, 0);
}

TEST(WorldLedger, TheFirstOfTheQueueGetsTheSlotOfAnOpThatEnds) {
  Queues queues(1, 2, 3);
  for (const int op : {0, 1, 2}) queues.give(op);
  queues.start(0);
  queues.ledger.set_time(Duration(90));
  const FinishedOp ended = queues.ledger.finish(queues.job, OpId{0});
  EXPECT_EQ(ended.finished, Duration(90));
  EXPECT_EQ(ended.alone, Duration(100));
  EXPECT_EQ(queues.op(1).slot, 0);
  EXPECT_EQ(queues.op(1).phase, Phase::queued);  // until the runtime starts it
  EXPECT_EQ(queues.queue(), (std::vector{2}));
  EXPECT_EQ(queues.op(3).phase, Phase::ready);  // it needs the first
}

TEST(WorldLedger, AnOpThatStartsTakesTheSlotOfOneThatWaits) {
  Queues queues(1, 2, 3);
  for (const int op : {0, 1, 2}) queues.give(op);
  queues.start(2);  // has its operands before the others
  EXPECT_EQ(queues.op(2).phase, Phase::running);
  EXPECT_EQ(queues.op(2).slot, 0);
  EXPECT_EQ(queues.op(0).phase, Phase::queued);
  EXPECT_EQ(queues.op(0).slot, -1);
  EXPECT_EQ(queues.queue(), (std::vector{0, 1}));  // it is the next
  EXPECT_EQ(queues.ledger.state().busy_slots, 1);
}

TEST(WorldLedger, AQueuedOpIsTakenBack) {
  Queues queues(1, 2, 3);
  for (const int op : {0, 1, 2}) queues.give(op);
  queues.start(0);
  EXPECT_EQ(queues.device().backlog, Duration(200));
  queues.ledger.take_back(queues.job, OpId{1});
  EXPECT_EQ(queues.op(1).phase, Phase::ready);
  EXPECT_EQ(queues.job.ready, (std::vector{OpId{1}}));
  EXPECT_EQ(queues.queue(), (std::vector{2}));
  EXPECT_EQ(queues.device().backlog, Duration(100));
  EXPECT_EQ(queues.ledger.state().ready[0], 1);
  EXPECT_EQ(queues.ledger.state().pending[0], 2);  // and the last op, which is not ready
  queues.give(1);
  EXPECT_EQ(queues.queue(), (std::vector{2, 1}));
}

TEST(WorldLedger, TheSlotOfAnOpThatIsTakenBackGoesToTheNext) {
  Queues queues(1, 1, 2);
  queues.give(0);
  queues.give(1);
  queues.ledger.take_back(queues.job, OpId{0});
  EXPECT_EQ(queues.op(1).slot, 0);
  EXPECT_TRUE(queues.queue().empty());
  EXPECT_EQ(queues.ledger.state().busy_slots, 1);
  queues.ledger.take_back(queues.job, OpId{1});
  EXPECT_EQ(queues.ledger.state().busy_slots, 0);
  EXPECT_EQ(queues.device().idle_slots, 1);
  EXPECT_EQ(queues.device().backlog, Duration(0));
}

TEST(WorldLedger, ADeviceIsFreeWhenItsQueueIsWorkedOff) {
  // Two slots: ops run until 100 and 130; two more of 100 wait: 100 + 200 / 2.
  Queues queues(2, 2, 4);
  const WorldState& state = queues.ledger.state();
  EXPECT_EQ(state.free_at(kDevice), Duration(0));
  queues.give(0);
  queues.start(0);
  EXPECT_EQ(state.free_at(kDevice), Duration(0));  // the other slot
  queues.ledger.set_time(Duration(30));
  queues.give(1);
  queues.start(1);
  EXPECT_EQ(state.free_at(kDevice), Duration(100));
  queues.give(2);
  queues.give(3);
  EXPECT_EQ(state.free_at(kDevice), Duration(200));
  queues.ledger.set_time(Duration(120));  // the first takes longer than expected
  EXPECT_EQ(state.free_at(kDevice), Duration(220));
}

TEST(WorldLedger, OpsOfAnAbandonedJobAreNotReadyAndDoNotBecomeSo) {
  Queues queues(1, 2, 4);
  for (const int op : {0, 1}) queues.give(op);
  queues.start(0);
  queues.ledger.abandon(queues.job);
  EXPECT_TRUE(queues.job.ready.empty());
  EXPECT_FALSE(can_act(queues.ledger.state()));
  queues.ledger.take_back(queues.job, OpId{1});
  queues.ledger.finish(queues.job, OpId{0});  // "last" would be ready now
  EXPECT_TRUE(queues.job.ready.empty());
  EXPECT_EQ(queues.ledger.unsettled(), 0);
  EXPECT_EQ(queues.ledger.state().pending[0], 0);
  queues.ledger.remove(queues.job.id);
  EXPECT_EQ(queues.ledger.state().pending[0], 0);
  EXPECT_EQ(queues.ledger.state().ready[0], 0);
}

TEST(WorldLedger, AHiddenJobIsNotSeenAndLosesNothing) {
  Queues queues(1, 2, 2);
  JobStatus& other = queues.ledger.admit(job_of(queues.cluster, 1));
  const WorldState& state = queues.ledger.state();
  queues.give(0);
  queues.start(0);
  queues.ledger.hide(queues.job);
  EXPECT_EQ(state.in_system, std::vector<JobId>{other.id});
  EXPECT_TRUE(queues.job.ready.empty());
  EXPECT_EQ(state.ready[0], 1);  // of the other job
  EXPECT_TRUE(can_act(state));
  queues.ledger.finish(queues.job, OpId{0});  // "last" is ready, unseen
  EXPECT_TRUE(queues.job.ready.empty());
  EXPECT_EQ(state.ready[0], 1);
  queues.ledger.show(queues.job);
  EXPECT_EQ(state.in_system, (std::vector<JobId>{queues.job.id, other.id}));
  EXPECT_EQ(queues.job.ready, (std::vector<OpId>{OpId{1}, OpId{2}}));
  EXPECT_EQ(state.ready[0], 3);
  // One that is given up or removed is not hidden any more.
  queues.ledger.hide(queues.job);
  queues.ledger.abandon(queues.job);
  EXPECT_EQ(state.ready[0], 1);
  queues.ledger.remove(queues.job.id);
  EXPECT_EQ(state.in_system, std::vector<JobId>{other.id});
}

}  // namespace
}  // namespace tutti
