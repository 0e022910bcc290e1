#include "studies/doppler/released/simulator.h"

#include <gtest/gtest.h>

#include <queue>

#include "test/support/world.h"
#include "tutti/graph/make/layered.h"

namespace tutti {
namespace {

// The published simulator written down plainly, event by event: one Arrive per edge, a heap by
// (time, order of queueing), first ready first served.
Duration plainly(const Problem& problem, const std::vector<DeviceId>& placement) {
  struct Event {
    int64_t time;
    int64_t turn;
    bool done;
    int32_t op;
    bool operator>(const Event& other) const {
      return std::pair{time, turn} > std::pair{other.time, other.turn};
    }
  };
  const Graph& graph = problem.graph;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events;
  std::vector<std::queue<int32_t>> queue(static_cast<size_t>(problem.machine.size()));
  std::vector<bool> busy(queue.size(), false);
  std::vector<int> need(static_cast<size_t>(graph.size()), 0);
  int64_t turn = 0;
  int64_t last = 0;
  const auto dispatch = [&](size_t device, int64_t now) {
    if (busy[device] || queue[device].empty()) return;
    const int32_t op = queue[device].front();
    queue[device].pop();
    busy[device] = true;
    const Duration time = problem.costs.run_time(OpId{op}, DeviceId{static_cast<int32_t>(device)});
    events.push({now + time.count(), turn++, true, op});
  };
  const auto ready = [&](int32_t op, int64_t now) {
    const auto device = static_cast<size_t>(placement[static_cast<size_t>(op)].index);
    queue[device].push(op);
    dispatch(device, now);
  };
  for (const OpId op : graph.ops()) {
    for (const EdgeId edge : graph.edges(op)) need[op.index] += graph.edge_from(edge).valid();
  }
  for (const OpId op : graph.ops()) {
    if (need[op.index] == 0) ready(op.index, 0);
  }
  while (!events.empty()) {
    const Event event = events.top();
    events.pop();
    if (!event.done) {
      if (--need[static_cast<size_t>(event.op)] == 0) ready(event.op, event.time);
      continue;
    }
    last = std::max(last, event.time);
    const DeviceId device = placement[static_cast<size_t>(event.op)];
    busy[static_cast<size_t>(device.index)] = false;
    dispatch(static_cast<size_t>(device.index), event.time);
    for (const EdgeId edge : graph.out_edges(OpId{event.op})) {
      const OpId reader = graph.edge_to(edge);
      const Duration transfer =
          problem.costs.transfer_time(edge, device, placement[static_cast<size_t>(reader.index)]);
      events.push({event.time + transfer.count(), turn++, false, reader.index});
    }
  }
  return Duration(last);
}

TEST(ReleasedSimulator, EqualsThePlainOneOnRandomPlacements) {
  // Few distinct times, so that ties abound and their order is put to the test.
  Rng rng(11);
  for (int round = 0; round < 60; ++round) {
    std::string ops = R"("ops":[)";
    for (int i = 0; i < 60; ++i) {
      ops += (i > 0 ? "," : "") + std::string(R"({"name":"o)") + std::to_string(i) +
             R"(","kind":"k","run_time_ns":)" + std::to_string(1 + rng.below(3));
      if (i >= 6) {
        const auto a = rng.below(static_cast<uint64_t>(i));
        const auto b = rng.below(static_cast<uint64_t>(i));
        ops += R"(,"operands":["o)" + std::to_string(a) + R"(","o)" + std::to_string(b) +
               R"("],"transfer_time_ns":[)" + std::to_string(rng.below(4)) + "," +
               std::to_string(rng.below(4)) + "]";
      }
      ops += "}";
    }
    const World world(graph_from(ops + "]"), round % 2 == 0 ? "uniform-3" : "uniform-5");
    ReleasedSimulator simulator(*world.problem);
    std::vector<DeviceId> placement(60);
    for (DeviceId& device : placement) {
      device =
          DeviceId{static_cast<int32_t>(rng.below(static_cast<uint64_t>(world.machine.size())))};
    }
    EXPECT_EQ(simulator.evaluate(placement), plainly(*world.problem, placement)) << round;
  }
}

TEST(ReleasedSimulator, AgreesWithItselfWhereTransfersDependOnThePair) {
  const World world(must(make_layered({.ops = 200, .width = 10})), "cluster-2x4");
  ReleasedSimulator simulator(*world.problem);
  Rng rng(2);
  std::vector<DeviceId> placement(200);
  for (DeviceId& device : placement) device = DeviceId{static_cast<int32_t>(rng.below(8))};
  EXPECT_EQ(simulator.evaluate(placement), plainly(*world.problem, placement));
}

TEST(ReleasedSimulator, ChargesEachEdgeATransferOfItsOwnWithoutContention) {
  // a ends at 10; both transfers of 40 run at once; b and c share d1: 50 + 5 + 5.
  const World world(graph_from(R"("ops":[{"name":"a","kind":"k","run_time_ns":10},
      {"name":"b","kind":"k","run_time_ns":5,"operands":["a"],"transfer_time_ns":[40]},
      {"name":"c","kind":"k","run_time_ns":5,"operands":["a"],"transfer_time_ns":[40]}])"),
                    "uniform-2");
  ReleasedSimulator simulator(*world.problem);
  const std::vector<DeviceId> placement = {DeviceId{0}, DeviceId{1}, DeviceId{1}};
  EXPECT_EQ(simulator.evaluate(placement), Duration(60));
}

}  // namespace
}  // namespace tutti
