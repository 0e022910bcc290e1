// tutti simulate: run a plan, or an online policy, in the simulator and show what happens.

#include <fmt/format.h>

#include <memory>
#include <optional>

#include "tools/answer.h"
#include "tools/commands.h"
#include "tools/inputs.h"
#include "tools/plan_source.h"
#include "tools/print/run_output.h"
#include "tools/print/throughput_report.h"
#include "tutti/base/file/json_writer.h"
#include "tutti/runtime/sim/sim.h"
#include "tutti/trace/check.h"
#include "tutti/trace/stats.h"

namespace tutti {
namespace {

struct SimulateArguments {
  ProblemInputs inputs;
  ModelOptions model;
  CommonOptions common;
  PlanSource source;
  ObjectiveOptions objective;
  std::string trace;
};

struct Simulated {
  Trace trace;
  std::string policy;
};

Result<Simulated> simulate(const SimulateArguments& arguments, const Problem& problem) {
  std::optional<Plan> plan;
  if (!arguments.source.online) {
    Result<Plan> made = arguments.source.get(problem, arguments.model, arguments.common);
    if (!made) return made.error();
    plan = std::move(*made);
  }
  const Plan* const obeyed = plan ? &*plan : nullptr;
  SimRuntime runtime(arguments.model.sim_model(), {.order = arguments.model.ready_order(),
                                                   .seed = arguments.common.seed,
                                                   .sample = problem.costs.has_noise()});
  Result<Trace> trace = arguments.source.run(problem, obeyed, runtime, arguments.common.seed);
  if (!trace) return trace.error();
  TraceRules rules = rules_for(*trace, obeyed);
  rules.limit = 1;
  const std::vector<std::string> faults = check_trace(problem, *trace, rules);
  if (!faults.empty()) {
    return failed("the simulated run does not pass the check: " + faults[0]);
  }
  return Simulated{std::move(*trace), arguments.source.name(obeyed)};
}

void print_json(const Problem& problem, const Simulated& run, const Bounds& bounds,
                const TraceStats& stats) {
  JsonWriter json;
  json.open_object().field("schema_version", 1).field("graph", problem.graph.name());
  json.field("machine", problem.machine.name()).field("runtime", to_text(run.trace.runtime));
  json.field("policy", run.policy).field("makespan_ns", stats.makespan);
  json.field("lower_bound_ns", bounds.strongest());
  json.field("gap", gap_to(bounds.strongest(), static_cast<double>(stats.makespan.count())));
  json.field("bytes_moved", stats.bytes_moved).field("transfers", stats.transfer_count);
  add_devices(json, problem, stats);
  json.close_object();
  fmt::print("{}", json.text());
}

void print_text(const Problem& problem, const Simulated& run, const Bounds& bounds,
                const TraceStats& stats, std::optional<Duration> single) {
  fmt::print("{}\n", answer_line(run.policy, stats.makespan, bounds, single));
  if (is_released(run.trace)) {
    fmt::print("simulated ({}): this model does not record its transfers\n",
               to_text(run.trace.runtime));
  } else {
    fmt::print("simulated ({}), transfers: {}, moved: {}\n", to_text(run.trace.runtime),
               stats.transfer_count, bytes_to_text(stats.bytes_moved));
  }
  fmt::print("{}", device_table(problem, stats));
}

Result<void> check_objective(const SimulateArguments& arguments) {
  if (Result<void> good = arguments.objective.check(arguments.model); !good) return good;
  if (!arguments.objective.throughput()) return {};
  for (const auto& [flag, given] :
       {std::pair("--online", arguments.source.online), {"--trace", !arguments.trace.empty()}}) {
    if (!given) continue;
    return invalid_input(
        fmt::format("{} is for one pass; leave it out, or leave out --objective throughput", flag));
  }
  return {};
}

// The plan of the file, or one that is made for repeated passes.
Result<ThroughputResult> repeat_passes(const SimulateArguments& arguments, const Problem& problem) {
  const int in_flight = arguments.objective.in_flight();
  const PlanSource& source = arguments.source;
  if (source.plan.empty()) {
    Result<AutoSettings> settings = source.search.settings(arguments.model, arguments.common);
    if (!settings) return settings.error();
    return plan_for_throughput(problem, source.policy.empty() ? "auto" : source.policy, in_flight,
                               *settings);
  }
  Result<Plan> plan = load_good_plan(source.plan, problem);
  if (!plan) return plan.error();
  Result<PassJudge> judge = PassJudge::make(problem, in_flight);
  if (!judge) return judge.error();
  const Result<PassTimes> times = judge->times(*plan);
  if (!times) return times.error();
  return ThroughputResult{.plan = std::move(*plan), .times = *times};
}

int run_simulate_passes(const SimulateArguments& arguments, const Problem& problem) {
  const Result<ThroughputResult> result = repeat_passes(arguments, problem);
  if (!result) return report(result.error());
  tell_of_interrupt("the plan is the best that was found until then");
  const int passes = arguments.objective.in_flight();
  const ThroughputReport answer{
      .problem = problem,
      .result = *result,
      .lower_bound = bound_per_pass(problem, lower_bounds(problem), passes),
      .passes = passes};
  fmt::print("{}", arguments.common.json ? answer.json() : answer.text());
  return 0;
}

int run_simulate(const SimulateArguments& arguments) {
  if (const Result<void> good = arguments.model.check(arguments.inputs); !good)
    return report(good.error());
  if (const Result<void> good = arguments.source.check(); !good) return report(good.error());
  if (const Result<void> good = check_objective(arguments); !good) return report(good.error());
  const Result<void> writable =
      check_output("--trace", arguments.trace, arguments.inputs.names(arguments.source.names()));
  if (!writable) return report(writable.error());
  const Result<LoadedProblem> loaded = arguments.inputs.load();
  if (!loaded) return report(loaded.error());
  const Problem& problem = *loaded->problem;
  if (arguments.objective.throughput()) return run_simulate_passes(arguments, problem);
  const Result<Simulated> run = simulate(arguments, problem);
  if (!run) return report(run.error());
  tell_of_interrupt("the plan is the best that was found until then");
  if (!arguments.trace.empty()) {
    const Result<void> written = write_trace_to(arguments.trace, problem, run->trace);
    if (!written) return report(written.error());
    if (arguments.trace == "-") return 0;
  }
  const Bounds bounds = lower_bounds(problem);
  const TraceStats stats = trace_stats(problem, run->trace);
  if (arguments.common.json) {
    print_json(problem, *run, bounds, stats);
    return 0;
  }
  print_text(problem, *run, bounds, stats,
             single_device_makespan(problem, arguments.model.sim_model(),
                                    arguments.model.ready_order(), arguments.common.seed, 1));
  if (!arguments.trace.empty()) {
    fmt::print("trace written to {}; open it at ui.perfetto.dev or chrome://tracing\n",
               arguments.trace);
  }
  return 0;
}

}  // namespace

void add_simulate_command(CLI::App& app, int& exit_code) {
  CLI::App* command =
      app.add_subcommand("simulate", "Run a plan or an online policy in the simulator");
  command->footer(
      "Example: tutti simulate graph.json --machine p100-4 --plan plan.json --trace trace.json\n"
      "         tutti simulate graph.json --machine p100-4 --policy critical_path --online");
  auto arguments = std::make_shared<SimulateArguments>();
  arguments->inputs.add_to(*command);
  arguments->inputs.add_noise_to(*command);
  arguments->inputs.add_cold_to(*command);
  arguments->model.add_to(*command);
  arguments->common.add_to(*command);
  arguments->source.add_to(*command);
  arguments->objective.add_to(*command);
  command->add_option("--trace", arguments->trace,
                      "Write a Chrome trace here; - is standard output");
  command->callback([arguments, &exit_code] { exit_code = run_simulate(*arguments); });
}

}  // namespace tutti
