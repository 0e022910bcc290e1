// tutti compare: several policies on one problem, each over several seeds, with the lower bound.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "tools/answer.h"
#include "tools/commands.h"
#include "tools/companion.h"
#include "tools/compare/compare_options.h"
#include "tools/print/compare_report.h"
#include "tools/print/table.h"
#include "tutti/base/file/json_writer.h"
#include "tutti/kernels/inputs.h"
#include "tutti/search/compare.h"
#include "tutti/search/planners.h"

namespace tutti {
namespace {

std::vector<PolicyOutcome> compare(const CompareArguments& arguments, const Problem& problem,
                                   const std::vector<PolicyEntry>& entries) {
  const auto show = [&](size_t done, const PolicyEntry& next) {
    if (!shows_progress()) return;
    fmt::print(stderr, "\r\033[K{} of {}: {} ...", done + 1, entries.size(), next.name);
  };
  std::vector<PolicyOutcome> rows = compare_policies(problem, entries,
                                                     {.model = arguments.model.sim_model(),
                                                      .order = arguments.model.ready_order(),
                                                      .seed = arguments.common.seed,
                                                      .seeds = arguments.seeds,
                                                      .runs = arguments.runs,
                                                      .budget = arguments.search.to_budget(),
                                                      .threads = arguments.common.thread_count(),
                                                      .on_policy = show});
  if (shows_progress()) fmt::print(stderr, "\r\033[K");
  return rows;
}

std::string to_json(const CompareArguments& arguments, const Problem& problem, const Bounds& bounds,
                    const std::vector<PolicyOutcome>& rows) {
  JsonWriter json;
  json.open_object().field("schema_version", 1).field("graph", problem.graph.name());
  json.field("machine", problem.machine.name()).field("model", arguments.model.model);
  json.field("lower_bound_ns", bounds.strongest()).key("bounds_ns").open_object();
  json.field("load", bounds.load).field("path", bounds.path).field("interval", bounds.interval);
  json.field("communication", bounds.communication);
  if (problem.has_homed_weights()) json.field("streams", bounds.streams);
  json.close_object();
  json.key("results").open_list();
  for (const PolicyOutcome& row : rows) {
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
                 const std::vector<PolicyOutcome>& rows) {
  const PolicyOutcome* best = nullptr;
  for (const PolicyOutcome& row : rows) {
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
  for (const PolicyOutcome& row : rows) {
    if (row.error) continue;
    table.add({row.policy, to_text(nanoseconds_of(row.mean_ns)),
               to_text(nanoseconds_of(row.min_ns)), to_text(nanoseconds_of(row.stddev_ns)),
               row.planned_ns ? to_text(nanoseconds_of(*row.planned_ns)) : "-",
               gap_text(gap_to(bounds.strongest(), row.mean_ns)),
               to_text(nanoseconds_of(row.plan_seconds * 1e9))});
    if (&row == best) table.mark_best();
  }
  table.add({"lower bound", to_text(bounds.strongest())});
  fmt::print("{}", table.text());
  fmt::print("  bounds: load {}, path {}, interval {}, communication {}", to_text(bounds.load),
             to_text(bounds.path), to_text(bounds.interval), to_text(bounds.communication));
  if (problem.has_homed_weights()) fmt::print(", streams {}", to_text(bounds.streams));
  fmt::print("\n");
  for (const PolicyOutcome& row : rows) {
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
  if (arguments.objective.throughput()) return run_compare_for_throughput(arguments, settings);
  const Result<std::vector<PolicyEntry>> entries = arguments.entries(settings);
  if (!entries) return report(entries.error());
  const Result<LoadedProblem> loaded = arguments.inputs.load();
  if (!loaded) return report(loaded.error());
  const Problem& problem = *loaded->problem;
  if (arguments.for_real()) return run_compare_for_real(arguments, problem, *entries);
  const Bounds bounds = lower_bounds(problem);
  const std::vector<PolicyOutcome> rows = compare(arguments, problem, *entries);
  tell_of_interrupt("policies that searched, or came later, had less than their budget");
  if (arguments.common.json) {
    fmt::print("{}", to_json(arguments, problem, bounds, rows));
  } else {
    print_table(arguments, problem, bounds, rows);
  }
  // One policy that refuses is a row; if all do, the problem is what is wrong.
  for (const PolicyOutcome& row : rows) {
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
