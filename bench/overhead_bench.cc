// The cost of running an op that does nothing: layers of empty ops, each with two predecessors in
// the previous layer, with tutti's local engine (by priority, through run), oneTBB's flow graph and
// StarPU, in turns, on the same two cores. For docs/results/overhead.md.
//
//   overhead_bench [LAYERS] [WIDTH] [ROUNDS]
//
// tutti's figures include everything that run does: checking the plan, sorting priorities, and
// recording the trace if there is one. oneTBB's graph is built beforehand and has no priorities.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <string>
#include <vector>

#include "bench/overhead_rivals.h"
#include "tutti/base/random.h"
#include "tutti/graph/builder.h"
#include "tutti/runtime/local/local.h"

namespace tutti {
namespace {

template <class T>
T must(Result<T> result) {
  if (!result) {
    fmt::print(stderr, "overhead_bench: {}\n", result.error().message);
    std::exit(1);
  }
  return std::move(*result);
}

Graph empty_ops(const EmptyLayers& layers) {
  GraphBuilder builder("empty");
  const std::vector<GivenTime> times = {{"", Duration(1)}};
  const ValueSpec output{};
  for (int32_t i = 0; i < layers.ops(); ++i) {
    std::vector<ValueId> operands;
    for (const int32_t before : layers.predecessors(i)) operands.push_back(ValueId{before});
    builder.add_op({.name = std::to_string(i),
                    .kind = "nothing",
                    .operands = operands,
                    .outputs = {&output, 1},
                    .run_times = times});
  }
  return must(std::move(builder).build());
}

Machine cpus(int devices, int slots) {
  MachineSpec spec{.name = fmt::format("{} x {}", devices, slots)};
  for (int i = 0; i < devices; ++i) {
    spec.devices.push_back(
        {.device = {.name = fmt::format("cpu{}", i), .kind = "cpu", .slots = slots},
         .uses_host_memory = true});
  }
  return must(Machine::build(std::move(spec)));
}

// One way of running the layers on one machine.
class Tutti {
 public:
  Tutti(const Graph& graph, const EmptyLayers& layers, int devices, int slots, bool traced)
      : problem_(must(Problem::make(Shared<Graph>::borrowed(graph), cpus(devices, slots)))) {
    OpTable table;
    table.add("nothing", "cpu", [](const OpCall&) -> Result<void> { return {}; });
    runtime_ = must(LocalRuntime::open(problem_.machine, std::move(table)));
    runtime_->set_options({.trace = traced});
    // As from a planner: layer by layer, and within a layer not in the order of ids.
    Rng rng(1);
    for (const OpId op : graph.ops()) {
      plan_.placement.push_back(DeviceId{static_cast<int32_t>(rng.below(devices))});
      plan_.priority.push_back(op.index / layers.width * 1'000'000 +
                               static_cast<int64_t>(rng.below(1'000'000)));
    }
  }
  void run() { must(runtime_->run(problem_, plan_)); }

 private:
  Problem problem_;
  std::unique_ptr<LocalRuntime> runtime_;
  Plan plan_;
};

struct Row {
  std::string name;
  int32_t ops;
  std::function<void()> run;
  std::vector<double> wall{};  // us per op
  std::vector<double> cpu{};

  void measure() {
    const auto begin = std::chrono::steady_clock::now();
    const std::clock_t begin_cpu = std::clock();
    run();
    const std::chrono::duration<double, std::micro> lasted =
        std::chrono::steady_clock::now() - begin;
    wall.push_back(lasted.count() / ops);
    cpu.push_back(1e6 * static_cast<double>(std::clock() - begin_cpu) / CLOCKS_PER_SEC / ops);
  }
};

double median(std::vector<double> some) {
  std::sort(some.begin(), some.end());
  return some[some.size() / 2];
}

int bench(const EmptyLayers& layers, int rounds) {
  const Graph graph = empty_ops(layers);
  std::vector<Row> rows;
  std::vector<std::unique_ptr<Tutti>> ways;
  for (const bool traced : {false, true}) {
    for (const int devices : {1, 2}) {
      ways.push_back(std::make_unique<Tutti>(graph, layers, devices, 2 / devices, traced));
      Tutti& way = *ways.back();
      rows.push_back({fmt::format("tutti, {} x {} {}{}", devices, 2 / devices,
                                  devices == 1 ? "slots" : "slot", traced ? ", traced" : ""),
                      layers.ops(), [&way] { way.run(); }});
    }
  }
  if (const auto rival = open_flow_graph(layers)) {
    rows.push_back({"oneTBB flow graph", layers.ops(), rival});
  }
  for (Row& row : rows) row.run();  // warm-up: memory is new
  for (int round = 0; round < rounds; ++round) {
    for (Row& row : rows) row.measure();
  }
  // Last: its threads never rest.
  const EmptyLayers fewer{std::max(1, layers.layers / 10), layers.width};
  if (const auto rival = open_starpu(fewer)) {
    rows.push_back({"StarPU", fewer.ops(), rival});
    rival();
    for (int round = 0; round < rounds; ++round) rows.back().measure();
  }
  double rival = 0;
  for (const Row& row : rows) {
    if (row.name.starts_with("oneTBB")) rival = median(row.wall);
  }
  fmt::print("{} layers of {} empty ops, two predecessors each; {} rounds; us per op\n",
             layers.layers, layers.width, rounds);
  fmt::print("  {:<28} {:>8} {:>8} {:>8} {:>10}\n", "", "median", "best", "CPU", "to oneTBB");
  for (const Row& row : rows) {
    fmt::print("  {:<28} {:>8.3f} {:>8.3f} {:>8.3f} {:>10}\n", row.name, median(row.wall),
               *std::min_element(row.wall.begin(), row.wall.end()), median(row.cpu),
               rival > 0 ? fmt::format("{:.2f}", median(row.wall) / rival) : "-");
  }
  return 0;
}

}  // namespace
}  // namespace tutti

int main(int argc, char** argv) {
  const auto number = [&](int index, int fallback) {
    return argc > index ? std::max(1, std::atoi(argv[index])) : fallback;
  };
  return tutti::bench({number(1, 1000), number(2, 1000)}, number(3, 7));
}
