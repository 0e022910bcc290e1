// The cost of running an op that does nothing on StarPU: through our engine, which obeys a plan or
// lets one of StarPU's schedulers decide, and by StarPU alone, with the same values as its data or
// with tags for the order. Layers of ops with two predecessors each, two workers, in turns. For
// docs/results/starpu.md.
//
//   starpu_overhead [--json] [LAYERS] [WIDTH] [ROUNDS]

#include <fmt/format.h>
#include <starpu.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "bench/overhead_rivals.h"
#include "tutti/graph/builder.h"
#include "tutti/runtime/starpu/scratch.h"
#include "tutti/runtime/starpu/starpu.h"

namespace tutti {
namespace {

template <class T>
T must(Result<T> result) {
  if (!result) {
    fmt::print(stderr, "starpu_overhead: {}\n", result.error().message);
    std::exit(1);
  }
  return std::move(*result);
}

Graph empty_ops(const EmptyLayers& layers) {
  GraphBuilder builder("empty");
  const std::vector<GivenTime> times = {{"", Duration(1)}};
  const ValueSpec output{.bytes = 8};
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

// Two workers: two devices, or one device whose slots share its queue.
Machine two_cpus(int devices) {
  MachineSpec spec{.name = "two"};
  for (int i = 0; i < devices; ++i) {
    spec.devices.push_back(
        {.device = {.name = fmt::format("cpu{}", i), .kind = "cpu", .slots = 2 / devices},
         .uses_host_memory = true});
  }
  return must(Machine::build(std::move(spec)));
}

// Through our engine; the time includes what comes before and after the run's makespan.
class Ours {
 public:
  Ours(const Graph& graph, const EmptyLayers& layers, int devices)
      : problem_(must(Problem::make(Shared<Graph>::borrowed(graph), two_cpus(devices)))),
        ranks_(StarpuRanks::alone()) {
    OpTable table;
    table.add("nothing", "cpu", [](const OpCall&) -> Result<void> { return {}; });
    runtime_ = must(StarpuRuntime::open(problem_.machine, std::move(table), *ranks_));
    Rng rng(1);
    for (const OpId op : graph.ops()) {
      plan_.placement.push_back(
          DeviceId{static_cast<int32_t>(rng.below(static_cast<uint64_t>(devices)))});
      plan_.priority.push_back(op.index / layers.width * 1'000'000 +
                               static_cast<int64_t>(rng.below(1'000'000)));
    }
  }
  void run(const std::string& scheduler) {
    runtime_->set_options({.scheduler = scheduler});
    must(runtime_->run(problem_, plan_));
  }

 private:
  Problem problem_;
  std::unique_ptr<StarpuRanks> ranks_;
  std::unique_ptr<StarpuRuntime> runtime_;
  Plan plan_;
};

void nothing(void** /*buffers*/, void* /*argument*/) {}

// StarPU as its users call it, with a piece of data for each op's output.
class Plain {
 public:
  Plain(const EmptyLayers& layers, const char* scheduler) : layers_(layers) {
    setenv("STARPU_SILENT", "1", /*overwrite=*/0);
    starpu_conf conf;
    starpu_conf_init(&conf);
    conf.precedence_over_environment_variables = 1;
    conf.ncpus = 2;
    conf.ncuda = 0;
    conf.nopencl = 0;
    conf.sched_policy_name = scheduler;
    if (starpu_init(&conf) != 0) std::exit(1);
    starpu_codelet_init(&codelet_);
    codelet_.cpu_funcs[0] = nothing;
    codelet_.cpu_funcs_name[0] = "nothing";
    codelet_.nbuffers = STARPU_VARIABLE_NBUFFERS;
  }
  ~Plain() { starpu_shutdown(); }
  Plain(const Plain&) = delete;
  Plain& operator=(const Plain&) = delete;

  void run_with_data() {
    std::vector<starpu_data_handle_t> values(static_cast<size_t>(layers_.ops()));
    for (starpu_data_handle_t& value : values) starpu_variable_data_register(&value, -1, 0, 8);
    for (int32_t i = 0; i < layers_.ops(); ++i) {
      starpu_task* task = starpu_task_create();
      task->cl = &codelet_;
      for (const int32_t before : layers_.predecessors(i)) {
        task->handles[task->nbuffers] = values[static_cast<size_t>(before)];
        task->modes[task->nbuffers++] = STARPU_R;
      }
      task->handles[task->nbuffers] = values[static_cast<size_t>(i)];
      task->modes[task->nbuffers++] = STARPU_W;
      if (starpu_task_submit(task) != 0) std::abort();
    }
    starpu_task_wait_for_all();
    for (starpu_data_handle_t value : values) starpu_data_unregister_no_coherency(value);
  }

  void run_with_tags() {
    for (int32_t i = 0; i < layers_.ops(); ++i) {
      starpu_task* task = starpu_task_create();
      task->cl = &codelet_;
      task->use_tag = 1;
      task->tag_id = next_ + static_cast<starpu_tag_t>(i);
      const std::vector<int32_t> before = layers_.predecessors(i);
      if (!before.empty()) {
        starpu_tag_t tags[2] = {next_ + static_cast<starpu_tag_t>(before[0]),
                                next_ + static_cast<starpu_tag_t>(before[1])};
        starpu_tag_declare_deps_array(task->tag_id, 2, tags);
      }
      if (starpu_task_submit(task) != 0) std::abort();
    }
    starpu_task_wait_for_all();
    next_ += static_cast<starpu_tag_t>(layers_.ops());
  }

 private:
  const Scratch scratch_;
  EmptyLayers layers_;
  starpu_codelet codelet_{};
  starpu_tag_t next_ = 1;
};

struct Row {
  std::string name;
  std::vector<double> us;  // per op
};

// A process has one StarPU instance: each variant starts and ends its own.
int bench(const EmptyLayers& layers, int rounds, bool json) {
  const Graph graph = empty_ops(layers);
  std::vector<Row> rows = {{"our engine, plan obeyed", {}},
                           {"our engine, StarPU eager", {}},
                           {"our engine, StarPU dmda", {}},
                           {"StarPU alone, eager, values as data", {}},
                           {"StarPU alone, prio, values as data", {}},
                           {"StarPU alone, eager, tags", {}},
                           {"our engine, plan of one device of two slots", {}}};
  const auto measure = [&](Row& row, const std::function<void()>& run) {
    run();  // warm-up: memory is new
    const auto begin = std::chrono::steady_clock::now();
    run();
    const std::chrono::duration<double, std::micro> lasted =
        std::chrono::steady_clock::now() - begin;
    row.us.push_back(lasted.count() / layers.ops());
  };
  for (int round = 0; round < rounds; ++round) {
    {
      Ours ours(graph, layers, /*devices=*/2);
      measure(rows[0], [&] { ours.run(""); });
      measure(rows[1], [&] { ours.run("eager"); });
      measure(rows[2], [&] { ours.run("dmda"); });
    }
    {
      Ours ours(graph, layers, /*devices=*/1);
      measure(rows[6], [&] { ours.run(""); });
    }
    Plain eager(layers, "eager");
    measure(rows[3], [&] { eager.run_with_data(); });
    measure(rows[5], [&] { eager.run_with_tags(); });
  }
  for (int round = 0; round < rounds; ++round) {
    Plain prio(layers, "prio");
    measure(rows[4], [&] { prio.run_with_data(); });
  }
  if (json) fmt::print("{{\"layers\":{},\"width\":{},\"rows\":[", layers.layers, layers.width);
  for (size_t i = 0; i < rows.size(); ++i) {
    std::sort(rows[i].us.begin(), rows[i].us.end());
    const double median = rows[i].us[rows[i].us.size() / 2];
    if (json) {
      fmt::print("{}{{\"name\":\"{}\",\"median_us\":{:.3f},\"least_us\":{:.3f}}}", i > 0 ? "," : "",
                 rows[i].name, median, rows[i].us.front());
    } else {
      fmt::print("{:<44} {:>8.2f} {:>8.2f}\n", rows[i].name, median, rows[i].us.front());
    }
  }
  if (json) fmt::print("]}}\n");
  return 0;
}

}  // namespace
}  // namespace tutti

int main(int argc, char** argv) {
  bool json = false;
  std::vector<int> numbers;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--json") == 0) {
      json = true;
    } else {
      numbers.push_back(std::atoi(argv[i]));
    }
  }
  const auto number = [&](size_t at, int fallback) {
    return at < numbers.size() ? std::max(1, numbers[at]) : fallback;
  };
  const tutti::EmptyLayers layers{number(0, 40), std::max(2, number(1, 250))};
  return tutti::bench(layers, number(2, 5), json);
}
