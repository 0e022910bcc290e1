// tutti run: run a plan, or an online policy, for real on this host, and show how it went. With
// --runtime starpu it is tutti-starpu that does so (tools/starpu/run.cc).

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <string>
#include <vector>

#include "tools/commands.h"
#include "tools/companion.h"
#include "tools/print/run_output.h"
#include "tools/run_commands.h"
#include "tools/run_report.h"
#include "tutti/base/file/output.h"
#include "tutti/graph/import/text.h"
#include "tutti/kernels/inputs.h"
#include "tutti/runtime/local/local.h"
#include "tutti/runtime/sim/sim.h"
#include "tutti/trace/check.h"

namespace tutti {
namespace {

Result<Runs> run_all(const RunArguments& arguments, const Problem& problem, LocalRuntime& runtime) {
  Runs runs;
  std::optional<Plan> plan;
  if (!arguments.source.online) {
    Result<Plan> made = arguments.source.get(problem, ModelOptions{}, arguments.common);
    if (!made) return made.error();
    plan = std::move(*made);
    const Result<Trace> simulated = SimRuntime().run(problem, *plan);
    if (simulated) runs.predicted = simulated->makespan;
  } else if (const auto entry = arguments.source.online_policy(); !entry) {
    return entry.error();
  }
  const Plan* const obeyed = plan ? &*plan : nullptr;
  runs.policy = arguments.source.name(obeyed);
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
    Result<Trace> trace = arguments.source.run(problem, obeyed, runtime, arguments.common.seed);
    if (shows_progress()) fmt::print(stderr, "\r\033[K");
    // What was measured before an interrupt is reported.
    if (!trace && options.stop.now() && !runs.traces.empty()) {
      runs.stopped = true;
      break;
    }
    if (!trace) {
      return with_partial_trace(trace.error(), arguments.trace, problem, runtime.partial_trace());
    }
    const auto faults = check_trace(problem, *trace, rules_for(*trace, obeyed));
    if (!faults.empty()) return failed("the run does not pass the check: " + faults[0]);
    if (run >= arguments.warm_up) runs.add(std::move(*trace));
  }
  return runs;
}

// Kinds of imported formats have no kernels. On which devices the others have some is the runtime's
// to say.
Result<void> check_kinds(const Graph& graph, const OpTable& table, const std::string& path) {
  constexpr size_t kMostNames = 4;
  std::vector<std::string> without;
  size_t more = 0;
  for (const std::string& kind : graph.op_kinds()) {
    if (table.find(kind, "cpu") != nullptr || table.find(kind, "gpu") != nullptr) continue;
    without.size() < kMostNames ? without.push_back(fmt::format("'{}'", shown(kind)))
                                : static_cast<void>(++more);
  }
  if (without.empty()) return {};
  return invalid_input(fmt::format(
      "{}: there is no code here for ops of kind {}{}; tutti run executes tutti's own kinds (tutti "
      "graph make) and commands; plan, simulate, compare and export work with this graph, and "
      "docs/python.md says how a PyTorch model is run",
      path, fmt::join(without, ", "), more > 0 ? fmt::format(" and {} more", more) : ""));
}

int run_run(const RunArguments& arguments, const CommandFlags& commands) {
  if (const Result<void> good = arguments.check(); !good) return report(good.error());
  if (arguments.runtime == "starpu") return report(become_starpu());
  const ProblemInputs& read = arguments.inputs;
  const Result<void> writable =
      check_output("--trace", arguments.trace, read.names(arguments.source.names()));
  if (!writable) return report(writable.error());
  const Result<LoadedProblem> loaded = arguments.inputs.load();
  if (!loaded) return report(loaded.error());
  const Problem& problem = *loaded->problem;
  if (problem.graph.size() == 0) {
    return report(invalid_input(arguments.inputs.graph + ": the graph has no ops to run"));
  }
  const Result<void> may_run = commands.check(problem.graph, arguments.inputs.graph);
  if (!may_run) return report(may_run.error());
  if (commands.allowed) {
    return run_commands(commands, arguments.inputs, problem, arguments.source, arguments.common,
                        arguments.trace);
  }
  const OpTable table = OpTable::standard();
  if (const auto known = check_kinds(problem.graph, table, read.graph); !known) {
    return report(known.error());
  }
  if (const Result<void> known = check_dtypes(problem.graph); !known) {
    return report(invalid_input(arguments.inputs.graph + ": " + known.error().message));
  }
  Result<std::unique_ptr<LocalRuntime>> runtime = LocalRuntime::open(problem.machine, table);
  if (!runtime) return report(runtime.error());
  print_note((*runtime)->note());
  const Result<Runs> runs = run_all(arguments, problem, **runtime);
  if (!runs) return report(runs.error());
  return report_runs(arguments, problem, *runs,
                     [&](ValueId value) { return (*runtime)->result(value); });
}

}  // namespace

void add_run_command(CLI::App& app, int& exit_code) {
  CLI::App* command =
      app.add_subcommand("run", "Run a plan or an online policy on this host, or on several");
  command->footer(
      "Example: tutti run graph.json --machine this-host:2x1 --verify\n"
      "         tutti run graph.json --machine machine.toml --plan plan.json --repeats 30 --trace "
      "trace.json\n"
      "         tutti run workflow.json --machine this-host:4x1 --allow-commands --retries 2\n"
      "         mpirun -n 4 tutti run graph.json --machine cluster.toml --runtime starpu");
  auto arguments = std::make_shared<RunArguments>();
  auto commands = std::make_shared<CommandFlags>();
  arguments->add_to(*command);
  commands->add_to(*command);
  for (const char* name : {"--repeats", "--warm-up", "--verify", "--bulk-synchronous", "--direct",
                           "--runtime", "--scheduler"}) {
    command->get_option(name)->excludes("--allow-commands");  // each runs once, on the local engine
  }
  command->callback([arguments, commands, &exit_code] {
    arguments->inputs.values_are_files = commands->allowed;
    exit_code = run_run(*arguments, *commands);
  });
}

}  // namespace tutti
