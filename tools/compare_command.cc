// tutti compare: several policies on one problem, each over several seeds, with the lower bound.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <optional>

#include "tools/answer.h"
#include "tools/commands.h"
#include "tools/companion.h"
#include "tools/compare_options.h"
#include "tools/print/compare_report.h"
#include "tools/print/table.h"
#include "tutti/base/file/json_writer.h"
#include "tutti/base/parallel.h"
#include "tutti/kernels/inputs.h"
#include "tutti/search/evaluate/scenario_simulator.h"
#include "tutti/search/planners.h"

namespace tutti {
namespace {

// One seed of one policy.
struct Run {
  std::vector<double> makespans_ns;  // of each scenario it was judged on
  std::optional<double> planned_ns;  // none: the plan has no timeline
  double plan_seconds = 0;
  int64_t evaluations = 0;
  double bytes_moved = 0;
  std::optional<Error> error;
};

struct Row {
  std::string policy;
  double mean_ns = 0;
  double min_ns = 0;
  double stddev_ns = 0;
  std::optional<double> planned_ns;  // mean; none if any of its plans has no timeline
  double plan_seconds = 0;
  double bytes_moved = 0;  // mean
  int64_t evaluations = 0;
  int runs = 0;
  std::optional<Error> error;
};

// Far from the scenarios that a search takes its means over: plans are judged on fresh ones.
constexpr uint64_t kFreshSeeds = uint64_t{1} << 40;

// As placed: each value once to every other memory that reads it.
double bytes_moved(const Problem& problem, const Plan& plan) {
  double bytes = 0;
  std::vector<MemoryId> there;
  for (const ValueId value : problem.graph.values()) {
    const OpId producer = problem.graph.producer(value);
    const MemoryId home = producer.valid()
                              ? problem.machine.memory_of(plan.placement[producer.index])
                              : problem.home(value);
    there.assign(1, home);
    for (const EdgeId edge : problem.graph.consumers(value)) {
      const OpId reader = problem.graph.edge_to(edge);
      const MemoryId memory = problem.machine.memory_of(plan.placement[reader.index]);
      if (!home.valid() || std::find(there.begin(), there.end(), memory) != there.end()) continue;
      there.push_back(memory);
      bytes += static_cast<double>(problem.graph.bytes(value));
    }
  }
  return bytes;
}

Run run_once(const PolicyEntry& entry, const Problem& problem, const Budget& budget, int runs,
             ScenarioSimulator& judge, uint64_t seed) {
  Run run;
  const auto begin = std::chrono::steady_clock::now();
  const Result<Plan> plan = make_plan(entry, problem, budget, seed);
  run.plan_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (!plan) {
    run.error = plan.error();
    return run;
  }
  for (int i = 0; i < runs; ++i) {
    const uint64_t scenario = kFreshSeeds + seed * static_cast<uint64_t>(runs);
    const Result<Duration> makespan = judge.makespan(*plan, scenario + static_cast<uint64_t>(i));
    if (!makespan) {
      run.error = makespan.error();
      return run;
    }
    run.makespans_ns.push_back(static_cast<double>(makespan->count()));
  }
  if (plan->planned_makespan) run.planned_ns = static_cast<double>(plan->planned_makespan->count());
  run.evaluations = plan->provenance.evaluations;
  run.bytes_moved = bytes_moved(problem, *plan);
  return run;
}

// A mean over some of them only would be that of other plans than the makespan's.
std::optional<double> mean_planned_ns(const std::vector<Run>& runs) {
  double sum = 0;
  for (const Run& run : runs) {
    if (!run.planned_ns) return std::nullopt;
    sum += *run.planned_ns;
  }
  return sum / static_cast<double>(runs.size());
}

Row summarise(const std::string& policy, const std::vector<Run>& runs) {
  Row row;
  row.policy = policy;
  row.min_ns = std::numeric_limits<double>::infinity();
  const auto count = static_cast<double>(runs.size());
  for (const Run& run : runs) {
    if (run.error && !row.error) row.error = run.error;
    for (const double makespan : run.makespans_ns) {
      row.mean_ns += makespan;
      row.min_ns = std::min(row.min_ns, makespan);
      ++row.runs;
    }
    row.plan_seconds += run.plan_seconds;
    row.bytes_moved += run.bytes_moved;
    row.evaluations += run.evaluations;
  }
  row.mean_ns /= std::max(1, row.runs);
  row.planned_ns = mean_planned_ns(runs);
  row.plan_seconds /= count;
  row.bytes_moved /= count;
  double squares = 0;
  for (const Run& run : runs) {
    for (const double makespan : run.makespans_ns) squares += std::pow(makespan - row.mean_ns, 2);
  }
  if (row.runs > 1) row.stddev_ns = std::sqrt(squares / (row.runs - 1));
  return row;
}

std::vector<Row> compare(const CompareArguments& arguments, const Problem& problem,
                         const std::vector<PolicyEntry>& entries) {
  const Budget budget = arguments.search.to_budget();
  // Under a wall clock, seeds must not take each other's time: searches use the threads instead.
  const int threads = budget.wall_clock ? 1 : arguments.common.thread_count();
  std::vector<Row> rows;
  for (const PolicyEntry& entry : entries) {
    if (shows_progress()) {
      fmt::print(stderr, "\r\033[K{} of {}: {} ...", rows.size() + 1, entries.size(), entry.name);
    }
    ScenarioSimulator probe(problem, arguments.model.sim_model(), arguments.model.ready_order());
    // Where nothing depends on the seed one run stands for all.
    const bool once = !entry.seeded && !probe.depends_on_seed();
    const int distinct = once ? 1 : arguments.seeds;
    std::vector<Run> runs(static_cast<size_t>(distinct));
    std::vector<std::optional<ScenarioSimulator>> judges(static_cast<size_t>(threads));
    parallel_for(distinct, threads, [&](int index, int thread) {
      auto& judge = judges[static_cast<size_t>(thread)];
      if (!judge) {
        judge.emplace(problem, arguments.model.sim_model(), arguments.model.ready_order());
      }
      const uint64_t seed = arguments.common.seed + static_cast<uint64_t>(index);
      runs[static_cast<size_t>(index)] = run_once(
          entry, problem, budget, probe.depends_on_seed() ? arguments.runs : 1, *judge, seed);
    });
    runs.resize(static_cast<size_t>(arguments.seeds), runs.front());
    rows.push_back(summarise(entry.name, runs));
  }
  if (shows_progress()) fmt::print(stderr, "\r\033[K");
  return rows;
}

std::string to_json(const CompareArguments& arguments, const Problem& problem, const Bounds& bounds,
                    const std::vector<Row>& rows) {
  JsonWriter json;
  json.open_object().field("schema_version", 1).field("graph", problem.graph.name());
  json.field("machine", problem.machine.name()).field("model", arguments.model.model);
  json.field("lower_bound_ns", bounds.strongest()).key("bounds_ns").open_object();
  json.field("load", bounds.load).field("path", bounds.path).field("interval", bounds.interval);
  json.field("communication", bounds.communication).close_object();
  json.key("results").open_list();
  for (const Row& row : rows) {
    json.open_object().field("policy", row.policy);
    if (row.error) {
      json.field("error", row.error->message).close_object();
      continue;
    }
    json.key("makespan_ns").open_object().field("mean", row.mean_ns).field("min", row.min_ns);
    json.field("stddev", row.stddev_ns).field("runs", row.runs).close_object();
    json.key("planned_makespan_ns");
    row.planned_ns ? json.value(*row.planned_ns) : json.null();
    json.field("gap", gap_to(bounds.strongest(), row.mean_ns));
    json.field("plan_seconds", row.plan_seconds).field("evaluations", row.evaluations);
    json.field("bytes_moved", row.bytes_moved);
    json.close_object();
  }
  json.close_list();
  // A seed may be larger than JSON's numbers reach.
  json.field("order", arguments.model.order).field("seed", std::to_string(arguments.common.seed));
  json.field("noise", problem.costs.has_noise()).close_object();
  return json.text();
}

void print_table(const CompareArguments& arguments, const Problem& problem, const Bounds& bounds,
                 const std::vector<Row>& rows) {
  const Row* best = nullptr;
  for (const Row& row : rows) {
    if (!row.error && (best == nullptr || row.mean_ns < best->mean_ns)) best = &row;
  }
  if (best != nullptr) {
    fmt::print("{}\n\n",
               answer_line("best is " + best->policy, nanoseconds_of(best->mean_ns), bounds,
                           single_device_makespan(problem, arguments.model.sim_model(),
                                                  arguments.model.ready_order(),
                                                  arguments.common.seed, arguments.seeds)));
  }
  fmt::print("graph {} (ops: {}), machine {} (devices: {}), {} model, seeds: {}, simulated\n",
             problem.graph.name(), problem.graph.size(), problem.machine.name(),
             problem.machine.size(), arguments.model.model, arguments.seeds);
  Table table({"policy", "makespan", "best", "stddev", "planned", "gap", "plan time"});
  for (const Row& row : rows) {
    if (row.error) continue;
    table.add({row.policy, to_text(nanoseconds_of(row.mean_ns)),
               to_text(nanoseconds_of(row.min_ns)), to_text(nanoseconds_of(row.stddev_ns)),
               row.planned_ns ? to_text(nanoseconds_of(*row.planned_ns)) : "-",
               gap_text(gap_to(bounds.strongest(), row.mean_ns)),
               to_text(nanoseconds_of(row.plan_seconds * 1e9))});
  }
  table.add({"lower bound", to_text(bounds.strongest())});
  fmt::print("{}", table.text());
  fmt::print("  bounds: load {}, path {}, interval {}, communication {}\n", to_text(bounds.load),
             to_text(bounds.path), to_text(bounds.interval), to_text(bounds.communication));
  for (const Row& row : rows) {
    if (row.error) fmt::print("  {}: {}\n", row.policy, row.error->message);
  }
}

int run_compare_for_real(const CompareArguments& arguments, const Problem& problem,
                         const std::vector<PolicyEntry>& entries) {
  if (problem.graph.size() == 0) {
    return report(invalid_input(arguments.inputs.graph + ": the graph has no ops to run"));
  }
  if (const Result<void> known = check_dtypes(problem.graph); !known) {
    return report(invalid_input(arguments.inputs.graph + ": " + known.error().message));
  }
  // Before plans are made, which may take long.
  const Result<std::unique_ptr<LocalRuntime>> runtime =
      LocalRuntime::open(problem.machine, OpTable::standard());
  if (!runtime) return report(runtime.error());
  print_note((*runtime)->note());
  const auto plans = plans_to_run(arguments, problem, entries);
  if (!plans) return report(plans.error());
  const Stop stop = arguments.search.to_budget().stop;
  const auto rows =
      compare_plans(problem, *plans, run_on(**runtime, problem, arguments.common.seed, stop),
                    {.repeats = arguments.repeats,
                     .seed = arguments.common.seed,
                     .stop = stop,
                     .on_turn = show_turn});
  if (shows_progress()) fmt::print(stderr, "\r\033[K");
  tell_of_interrupt("the figures are of the runs that had ended");
  const bool stopped = std::any_of(rows.begin(), rows.end(), [&](const MeasuredPlan& row) {
    return !row.error && std::ssize(row.times_ns) < arguments.repeats;
  });
  return report_rows(problem, rows, {.runtime = "local", .stopped = stopped},
                     arguments.common.json);
}

int run_compare(const CompareArguments& arguments) {
  if (const Result<void> good = arguments.check(); !good) return report(good.error());
  if (arguments.runtime == "starpu") return report(become_starpu());
  if (const Result<void> good = arguments.model.check(arguments.inputs); !good)
    return report(good.error());
  Result<AutoSettings> made = arguments.search.settings(arguments.model, arguments.common);
  if (!made) return report(made.error());
  AutoSettings& settings = *made;
  if (!settings.budget.wall_clock) settings.threads = 1;  // seeds run side by side instead
  const Result<std::vector<PolicyEntry>> entries = arguments.entries(settings);
  if (!entries) return report(entries.error());
  const Result<LoadedProblem> loaded = arguments.inputs.load();
  if (!loaded) return report(loaded.error());
  const Problem& problem = *loaded->problem;
  if (arguments.for_real()) return run_compare_for_real(arguments, problem, *entries);
  const Bounds bounds = lower_bounds(problem);
  const std::vector<Row> rows = compare(arguments, problem, *entries);
  tell_of_interrupt("policies that searched, or came later, had less than their budget");
  if (arguments.common.json) {
    fmt::print("{}", to_json(arguments, problem, bounds, rows));
  } else {
    print_table(arguments, problem, bounds, rows);
  }
  // One policy that refuses is a row; if all do, the problem is what is wrong.
  for (const Row& row : rows) {
    if (!row.error) return 0;
  }
  return report(*rows.back().error);
}

}  // namespace

void add_compare_command(CLI::App& app, int& exit_code) {
  CLI::App* command =
      app.add_subcommand("compare", "Compare policies on one graph and machine, simulated or run");
  command->footer(
      "Example: tutti compare graph.json --machine p100-4 --policies heft,critical_path --seeds "
      "50\n"
      "         tutti compare graph.json --machine this-host:2x1 --runtime local --policies "
      "heft,auto\n"
      "         mpirun -n 2 tutti compare graph.json --machine cluster.toml --runtime starpu "
      "--policies auto --schedulers eager,dmda");
  auto arguments = std::make_shared<CompareArguments>();
  arguments->add_to(*command);
  command->callback([arguments, &exit_code] { exit_code = run_compare(*arguments); });
}

}  // namespace tutti
