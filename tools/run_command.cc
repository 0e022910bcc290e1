// tutti run: run a plan, or an online policy, for real on this host, and show how it went.

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "tools/answer.h"
#include "tools/commands.h"
#include "tools/device_table.h"
#include "tools/inputs.h"
#include "tools/plan_source.h"
#include "tutti/base/json_writer.h"
#include "tutti/base/output.h"
#include "tutti/base/statistics.h"
#include "tutti/kernels/inputs.h"
#include "tutti/runtime/local/local.h"
#include "tutti/runtime/local/verify.h"
#include "tutti/runtime/sim/sim.h"
#include "tutti/trace/check.h"
#include "tutti/trace/file.h"
#include "tutti/trace/stats.h"

namespace tutti {
namespace {

struct RunArguments {
  ProblemInputs inputs;
  CommonOptions common;
  PlanSource source;
  std::string trace;
  int warm_up = 1;
  int repeats = 5;
  bool verify = false;
  bool bulk_synchronous = false;
  bool direct = false;
};

// All runs of one command.
struct Runs {
  std::string who;
  std::optional<Duration> predicted{};  // by the simulator; none for an online policy
  std::vector<Trace> traces{};          // warm-up left out
  std::string note{};                   // what the runtime has to say about this host
};

Summary makespans_of(const std::vector<Trace>& traces) {
  std::vector<double> times;
  for (const Trace& trace : traces) times.push_back(static_cast<double>(trace.makespan.count()));
  return summary_of(times);
}

Duration of_ns(double ns) {
  return Duration(static_cast<int64_t>(ns));
}

// The run whose makespan is the median.
const Trace& typical(const std::vector<Trace>& traces, double median) {
  return *std::find_if(traces.begin(), traces.end(),
                       [&](const Trace& trace) { return trace.makespan == of_ns(median); });
}

Result<void> write_trace_to(const std::string& path, const Problem& problem, const Trace& trace) {
  Result<Output> output = Output::open(path);
  if (!output) return output.error();
  write_trace(problem, trace, *output);
  return output->commit();
}

// What happened until a run failed is worth a look.
Error with_partial_trace(Error error, const RunArguments& arguments, const Problem& problem,
                         const LocalRuntime& runtime) {
  if (arguments.trace.empty() || arguments.trace == "-") return error;
  if (runtime.partial_trace().ops.empty()) return error;
  if (!write_trace_to(arguments.trace, problem, runtime.partial_trace())) return error;
  error.message += fmt::format("; what had run until then is in {}", arguments.trace);
  return error;
}

Result<Trace> run_once(const RunArguments& arguments, const Problem& problem, const Plan* plan,
                       LocalRuntime& runtime) {
  if (plan != nullptr) return runtime.run(problem, *plan);
  const Result<const PolicyEntry*> entry = arguments.source.online_policy();
  if (!entry) return entry.error();
  Policy policy = (*entry)->make_policy(problem, arguments.common.seed);
  return runtime.run_online(problem, policy);
}

Result<Runs> run_all(const RunArguments& arguments, const Problem& problem, LocalRuntime& runtime) {
  Runs runs;
  std::optional<Plan> plan;
  if (!arguments.source.online) {
    Result<Plan> made = arguments.source.get(problem, ModelOptions{}, arguments.common);
    if (!made) return made.error();
    plan = std::move(*made);
    runs.who = plan->provenance.policy;
    const Result<Trace> simulated = SimRuntime().run(problem, *plan);
    if (simulated) runs.predicted = simulated->makespan;
  } else {
    if (const auto entry = arguments.source.online_policy(); !entry) return entry.error();
    runs.who = arguments.source.policy + " (online)";
  }
  const int64_t total = arguments.warm_up + arguments.repeats;
  int64_t run = 0;
  LocalOptions options;
  options.bulk_synchronous = arguments.bulk_synchronous;
  options.staged = !arguments.direct;
  options.keep_inputs = true;
  options.stop = arguments.source.search.to_budget().stop;
  options.input = [&](ValueId value, const Block& block) {
    fill_input(problem.graph, value, arguments.common.seed, block);
  };
  if (shows_progress()) {
    options.progress = [&](int64_t ended, int64_t ops) {
      fmt::print(stderr, "\r\033[Krun {} of {}: {} of {} ops", run + 1, total, ended, ops);
    };
  }
  runtime.set_options(options);
  for (; run < total; ++run) {
    Result<Trace> trace = run_once(arguments, problem, plan ? &*plan : nullptr, runtime);
    if (shows_progress()) fmt::print(stderr, "\r\033[K");
    if (!trace) return with_partial_trace(trace.error(), arguments, problem, runtime);
    const auto faults = check_trace(problem, *trace, rules_for(*trace, plan ? &*plan : nullptr));
    if (!faults.empty()) return failed("the run does not pass the check: " + faults[0]);
    if (run >= arguments.warm_up) runs.traces.push_back(std::move(*trace));
  }
  return runs;
}

void print_json(const Problem& problem, const RunArguments& arguments, const Runs& runs,
                const Summary& figures, const std::optional<Verified>& verified) {
  JsonWriter json;
  json.open_object().field("schema_version", 1).field("graph", problem.graph.name());
  json.field("machine", problem.machine.name()).field("runtime", runs.traces[0].runtime);
  json.field("policy", runs.who).field("bulk_synchronous", arguments.bulk_synchronous);
  if (runs.predicted) json.field("predicted_ns", *runs.predicted);
  json.field("median_ns", of_ns(figures.median)).field("least_ns", of_ns(figures.least));
  json.field("mean_ns", figures.mean).field("half_interval_ns", figures.half_interval);
  json.key("makespans_ns").open_list();
  for (const Trace& trace : runs.traces) json.value(trace.makespan.count());
  json.close_list();
  if (verified) {
    json.key("verified").open_object().field("good", verified->good);
    json.field("values", verified->values).field("worst", verified->worst);
    json.field("worst_value", verified->worst_value).close_object();
  }
  add_devices(json, problem, trace_stats(problem, typical(runs.traces, figures.median)));
  json.close_object();
  fmt::print("{}", json.text());
}

void print_text(const Problem& problem, const RunArguments& arguments, const Runs& runs,
                const Summary& figures, const std::optional<Verified>& verified) {
  const TraceStats stats = trace_stats(problem, typical(runs.traces, figures.median));
  fmt::print("{}: measured makespan {} (median of {}; least {}, mean {} ± {})\n", runs.who,
             to_text(of_ns(figures.median)), runs.traces.size(), to_text(of_ns(figures.least)),
             to_text(of_ns(figures.mean)), to_text(of_ns(figures.half_interval)));
  if (runs.predicted) {
    fmt::print(
        "predicted by the simulator: {}, {:+.1f} % of what was measured{}\n",
        to_text(*runs.predicted),
        100 * (static_cast<double>(runs.predicted->count()) / std::max(1.0, figures.median) - 1),
        arguments.inputs.costs.empty() ? "; the costs are nominal, tutti calibrate measures them"
                                       : "");
  }
  fmt::print("ran for real ({}{}), transfers: {}, moved: {}\n", runs.traces[0].runtime,
             arguments.bulk_synchronous ? ", bulk-synchronous" : "", stats.transfer_count,
             bytes_to_text(stats.bytes_moved));
  if (verified) {
    fmt::print(
        "verified: {} values equal the float64 reference's, to {:.1e} of their largest "
        "number ({:.0e} is allowed)\n",
        verified->values, verified->worst, verified->allowed);
  }
  fmt::print("{}", device_table(problem, stats));
}

int run_run(const RunArguments& arguments) {
  if (const Result<void> good = arguments.source.check(); !good) return report(good.error());
  const Result<LoadedProblem> loaded = arguments.inputs.load();
  if (!loaded) return report(loaded.error());
  const Problem& problem = *loaded->problem;
  if (problem.graph.size() == 0) {
    return report(invalid_input(arguments.inputs.graph + ": the graph has no ops to run"));
  }
  Result<std::unique_ptr<LocalRuntime>> runtime =
      LocalRuntime::open(problem.machine, OpTable::standard());
  if (!runtime) return report(runtime.error());
  if (const std::string note = (*runtime)->note(); !note.empty()) {
    fmt::print(stderr, "tutti: {}\n", note);
  }
  const Result<Runs> runs = run_all(arguments, problem, **runtime);
  if (!runs) return report(runs.error());
  const Summary figures = makespans_of(runs->traces);
  std::optional<Verified> verified;
  if (arguments.verify) {
    const auto compared = verify(problem.graph, arguments.common.seed,
                                 [&](ValueId value) { return (*runtime)->result(value); });
    if (!compared) return report(compared.error());
    verified = *compared;
    if (!verified->good) {
      return report(failed(fmt::format(
          "the run came to wrong numbers: value '{}' is {:.1e} of its largest number away from "
          "the float64 reference, and {:.0e} is allowed",
          verified->worst_value, verified->worst, verified->allowed)));
    }
  }
  if (!arguments.trace.empty()) {
    const auto written =
        write_trace_to(arguments.trace, problem, typical(runs->traces, figures.median));
    if (!written) return report(written.error());
    if (arguments.trace == "-") return 0;
  }
  if (arguments.common.json) {
    print_json(problem, arguments, *runs, figures, verified);
    return 0;
  }
  print_text(problem, arguments, *runs, figures, verified);
  if (!arguments.trace.empty()) {
    fmt::print("trace of the median run written to {}; open it at ui.perfetto.dev\n",
               arguments.trace);
  }
  return 0;
}

}  // namespace

void add_run_command(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("run", "Run a plan or an online policy on this host");
  command->footer(
      "Example: tutti run graph.json --machine this-host:2x1 --verify\n"
      "         tutti run graph.json --machine machine.toml --plan plan.json --repeats 30 --trace "
      "trace.json");
  auto arguments = std::make_shared<RunArguments>();
  arguments->inputs.add_to(*command);
  arguments->common.add_to(*command);
  arguments->source.add_to(*command);
  command->add_option("--trace", arguments->trace,
                      "Write a Chrome trace of the median run here; - is standard output");
  command->add_option("--repeats", arguments->repeats, "Runs that are measured")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  command->add_option("--warm-up", arguments->warm_up, "Runs before those")
      ->check(CLI::Range(0, 100000))
      ->capture_default_str();
  command->add_flag("--verify", arguments->verify,
                    "Compare the results with the float64 reference, which is slow");
  command->add_flag("--bulk-synchronous", arguments->bulk_synchronous,
                    "Wait for all devices after each level of the graph, for comparison");
  command->add_flag("--direct", arguments->direct,
                    "Copy between GPU partitions directly, not through the host's memory");
  command->callback([arguments, &exit_code] { exit_code = run_run(*arguments); });
}

}  // namespace tutti
