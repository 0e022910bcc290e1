// tutti simulate: run a plan, or an online policy, in the simulator and show what happens.

#include <fmt/format.h>

#include <memory>

#include "tools/answer.h"
#include "tools/commands.h"
#include "tools/device_table.h"
#include "tools/inputs.h"
#include "tools/plan_source.h"
#include "tutti/base/json_writer.h"
#include "tutti/base/output.h"
#include "tutti/runtime/sim/sim.h"
#include "tutti/trace/check.h"
#include "tutti/trace/file.h"
#include "tutti/trace/stats.h"

namespace tutti {
namespace {

struct SimulateArguments {
  ProblemInputs inputs;
  ModelOptions model;
  CommonOptions common;
  PlanSource source;
  std::string trace;
};

struct Simulated {
  Trace trace;
  std::string who;
};

Result<Simulated> simulate(const SimulateArguments& arguments, const Problem& problem,
                           std::vector<std::string>& faults) {
  SimRuntime runtime(arguments.model.sim_model(), {.order = arguments.model.ready_order(),
                                                   .seed = arguments.common.seed,
                                                   .sample = problem.costs.has_noise()});
  const auto faults_of = [&](const Trace& trace, const Plan* plan) {
    TraceRules rules = rules_for(trace, plan);
    rules.limit = 1;
    return check_trace(problem, trace, rules);
  };
  if (arguments.source.online) {
    const Result<const PolicyEntry*> entry = arguments.source.online_policy();
    if (!entry) return entry.error();
    Policy policy = (*entry)->make_policy(problem, arguments.common.seed);
    Result<Trace> trace = runtime.run_online(problem, policy);
    if (!trace) return trace.error();
    faults = faults_of(*trace, nullptr);
    return Simulated{std::move(*trace), (*entry)->name + " (online)"};
  }
  const Result<Plan> plan = arguments.source.get(problem, arguments.model, arguments.common);
  if (!plan) return plan.error();
  Result<Trace> trace = runtime.run(problem, *plan);
  if (!trace) return trace.error();
  faults = faults_of(*trace, &*plan);
  return Simulated{std::move(*trace), plan->provenance.policy};
}

void print_json(const Problem& problem, const Simulated& run, const Bounds& bounds,
                const TraceStats& stats) {
  JsonWriter json;
  json.open_object().field("schema_version", 1).field("graph", problem.graph.name());
  json.field("machine", problem.machine.name()).field("runtime", to_text(run.trace.runtime));
  json.field("policy", run.who).field("makespan_ns", stats.makespan);
  json.field("lower_bound_ns", bounds.strongest());
  json.field("gap", gap_to(bounds.strongest(), static_cast<double>(stats.makespan.count())));
  json.field("bytes_moved", stats.bytes_moved).field("transfers", stats.transfer_count);
  add_devices(json, problem, stats);
  json.close_object();
  fmt::print("{}", json.text());
}

void print_text(const Problem& problem, const Simulated& run, const Bounds& bounds,
                const TraceStats& stats, std::optional<Duration> single) {
  fmt::print("{}\n", answer_line(run.who, stats.makespan, bounds, single));
  if (is_released(run.trace)) {
    fmt::print("simulated ({}): this model does not record its transfers\n",
               to_text(run.trace.runtime));
  } else {
    fmt::print("simulated ({}), transfers: {}, moved: {}\n", to_text(run.trace.runtime),
               stats.transfer_count, bytes_to_text(stats.bytes_moved));
  }
  fmt::print("{}", device_table(problem, stats));
}

int run_simulate(const SimulateArguments& arguments) {
  if (const Result<void> good = arguments.model.check(arguments.inputs); !good)
    return report(good.error());
  if (const Result<void> good = arguments.source.check(); !good) return report(good.error());
  const Result<LoadedProblem> loaded = arguments.inputs.load();
  if (!loaded) return report(loaded.error());
  const Problem& problem = *loaded->problem;
  std::vector<std::string> faults;
  const Result<Simulated> run = simulate(arguments, problem, faults);
  if (!run) return report(run.error());
  if (!faults.empty()) {
    return report(failed("the simulated run does not pass the check: " + faults[0]));
  }
  if (!arguments.trace.empty()) {
    Result<Output> output = Output::open(arguments.trace);
    if (!output) return report(output.error());
    write_trace(problem, run->trace, *output);
    if (Result<void> written = output->commit(); !written) return report(written.error());
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
  arguments->model.add_to(*command);
  arguments->common.add_to(*command);
  arguments->source.add_to(*command);
  command->add_option("--trace", arguments->trace,
                      "Write a Chrome trace here; - is standard output");
  command->callback([arguments, &exit_code] { exit_code = run_simulate(*arguments); });
}

}  // namespace tutti
