// tutti run --runtime starpu: the same command on the cores of one host or of several.

#include <fmt/format.h>

#include <memory>

#include "tools/run_report.h"
#include "tools/starpu/commands.h"
#include "tools/starpu/shared.h"
#include "tutti/kernels/inputs.h"
#include "tutti/runtime/sim/sim.h"
#include "tutti/runtime/starpu/starpu.h"
#include "tutti/trace/check.h"

namespace tutti {
namespace {

// The trace is whole at rank 0; it is judged there.
Result<void> judged(const Problem& problem, const Trace& trace, const Plan* plan,
                    StarpuRanks& ranks) {
  std::vector<std::string> faults;
  if (ranks.rank() == 0) faults = check_trace(problem, trace, rules_for(trace, plan));
  if (faults.empty()) return ranks.agree({});
  return ranks.agree(failed("the run does not pass the check: " + faults[0]));
}

Result<Runs> run_all(const RunArguments& arguments, const Problem& problem, StarpuRuntime& runtime,
                     StarpuRanks& ranks) {
  Runs runs{.policy = arguments.source.name(nullptr), .ranks = ranks.size()};
  std::optional<Plan> plan;
  if (!arguments.source.online) {
    Result<Plan> made = share_plan(problem, ranks, [&] {
      return arguments.source.get(problem, ModelOptions{}, arguments.common);
    });
    if (!made) return made.error();
    plan = std::move(*made);
    runs.policy = arguments.source.name(&*plan);
    if (arguments.scheduler.empty() && ranks.rank() == 0) {
      const Result<Trace> simulated = SimRuntime().run(problem, *plan);
      if (simulated) runs.predicted = simulated->makespan;
    }
    if (!arguments.scheduler.empty()) {
      runs.policy = fmt::format("{}, hosts by {}", arguments.scheduler, runs.policy);
    }
  }
  StarpuOptions options;
  options.scheduler = arguments.scheduler;
  options.stop = arguments.source.search.to_budget().stop.without_time();
  options.input = [&](ValueId value, const Block& block) {
    fill_input(problem.graph, value, arguments.common.seed, block);
  };
  runtime.set_options(options);
  for (int run = 0; run < arguments.warm_up + arguments.repeats; ++run) {
    Result<Trace> trace =
        arguments.source.run(problem, plan ? &*plan : nullptr, runtime, arguments.common.seed);
    if (!trace) return trace.error();
    // Under StarPU's schedulers the plan only chose hosts.
    const Plan* obeyed = plan && arguments.scheduler.empty() ? &*plan : nullptr;
    if (Result<void> good = judged(problem, *trace, obeyed, ranks); !good) return good.error();
    if (run >= arguments.warm_up) runs.add(std::move(*trace));
  }
  return runs;
}

}  // namespace

int run_on_starpu(const RunArguments& arguments, StarpuRanks& ranks) {
  if (const Result<void> good = arguments.check(); !good) return report_once(good.error(), ranks);
  const Result<LoadedProblem> loaded = load_on_ranks(arguments.inputs, ranks);
  if (!loaded) return report_once(loaded.error(), ranks);
  const Problem& problem = *loaded->problem;
  if (problem.graph.size() == 0) {
    return report_once(invalid_input(arguments.inputs.graph + ": the graph has no ops to run"),
                       ranks);
  }
  Result<std::unique_ptr<StarpuRuntime>> runtime =
      StarpuRuntime::open(problem.machine, OpTable::standard(), ranks);
  if (!runtime) return report_once(runtime.error(), ranks);
  if (const std::string note = (*runtime)->note(); !note.empty() && ranks.rank() == 0) {
    fmt::print(stderr, "tutti: {}\n", note);
  }
  const Result<Runs> runs = run_all(arguments, problem, **runtime, ranks);
  if (!runs) return report_once(runs.error(), ranks);
  if (Result<void> good = (*runtime)->collect_results(); !good) {
    return report_once(good.error(), ranks);
  }
  int exit_code = 0;
  if (ranks.rank() == 0) {
    exit_code = report_runs(arguments, problem, *runs,
                            [&](ValueId value) { return (*runtime)->result(value); });
  }
  return std::stoi(ranks.broadcast(std::to_string(exit_code)));
}

}  // namespace tutti
