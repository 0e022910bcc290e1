// tutti compare --runtime starpu: plans that StarPU obeys against StarPU's own schedulers, in
// turns.

#include <fmt/format.h>

#include <memory>

#include "tools/print/compare_report.h"
#include "tools/starpu/commands.h"
#include "tools/starpu/shared.h"
#include "tutti/kernels/inputs.h"
#include "tutti/runtime/starpu/starpu.h"
#include "tutti/search/planners.h"

namespace tutti {
namespace {

std::vector<std::string> schedulers_of(const CompareArguments& arguments) {
  if (arguments.schedulers.empty()) return {"eager", "lws", "dmda", "dmdas", "heteroprio"};
  if (arguments.schedulers == std::vector<std::string>{"none"}) return {};
  return arguments.schedulers;
}

// Plans that choose the hosts for StarPU's schedulers: StarPU-MPI runs an op where its data is, so
// that the data must have been dealt out before.
Result<std::vector<PlanToRun>> plans_for_hosts(const CompareArguments& arguments,
                                               const Problem& problem,
                                               const AutoSettings& settings) {
  std::vector<PlanToRun> found;
  std::vector<std::string> names = arguments.hosts_by;
  if (names.empty()) names = {"expert", "heft"};
  for (const std::string& name : names) {
    const Result<PolicyEntry> policy = find_planner(name, settings);
    if (!policy) return policy.error();
    Result<Plan> plan = make_plan(*policy, problem, settings.budget, arguments.common.seed);
    if (!plan && arguments.hosts_by.empty()) continue;  // without shards there is no expert
    if (!plan) return plan.error();
    found.push_back({name, std::move(*plan)});
    if (arguments.hosts_by.empty()) break;
  }
  if (found.empty())
    return infeasible(
        "neither expert nor heft has a plan that could say on "
        "which host StarPU's schedulers run an op; try --hosts-by");
  return found;
}

// At rank 0.
Result<std::vector<PlanToRun>> make_entries(const CompareArguments& arguments,
                                            const Problem& problem) {
  const Result<AutoSettings> settings =
      arguments.search.settings(arguments.model, arguments.common);
  if (!settings) return settings.error();
  const Result<std::vector<PolicyEntry>> policies = arguments.entries(*settings);
  if (!policies) return policies.error();
  std::vector<PlanToRun> entries;
  if (!policies->empty() || !arguments.plans.empty()) {
    Result<std::vector<PlanToRun>> plans = plans_to_run(arguments, problem, *policies);
    if (!plans) return plans.error();
    entries = std::move(*plans);
  }
  const std::vector<std::string> schedulers = schedulers_of(arguments);
  if (schedulers.empty()) return entries;
  const Result<std::vector<PlanToRun>> hosts = plans_for_hosts(arguments, problem, *settings);
  if (!hosts) return hosts.error();
  for (const PlanToRun& plan : *hosts) {
    for (const std::string& scheduler : schedulers) {
      PlanToRun entry = plan;
      entry.scheduler = scheduler;
      entry.name = fmt::format("StarPU {}", scheduler);
      if (problem.machine.hosts().size() > 1) entry.name += ", hosts by " + plan.name;
      entries.push_back(std::move(entry));
    }
  }
  return entries;
}

// Rank 0 makes the plans; all have them.
Result<std::vector<PlanToRun>> share_entries(const CompareArguments& arguments,
                                             const Problem& problem, StarpuRanks& ranks) {
  std::vector<PlanToRun> entries;
  Result<void> made;
  if (ranks.rank() == 0) {
    Result<std::vector<PlanToRun>> own = make_entries(arguments, problem);
    if (own) {
      entries = std::move(*own);
    } else {
      made = own.error();
    }
  }
  if (made = ranks.agree(made); !made) return made.error();
  entries.resize(std::stoul(ranks.broadcast(std::to_string(entries.size()))));
  for (PlanToRun& entry : entries) {
    Result<Plan> plan = share_plan(problem, ranks, [&] { return entry.plan; });
    if (!plan) return plan.error();
    entry.plan = std::move(*plan);
    entry.name = ranks.broadcast(entry.name);
    entry.scheduler = ranks.broadcast(entry.scheduler);
  }
  return entries;
}

// Every rank learns of faults, so that all go on with the same rows. The trace is whole at rank 0.
Result<PlanRun> judged_at_rank_0(const Problem& problem, const PlanToRun& plan, const Trace& trace,
                                 StarpuRanks& ranks) {
  PlanRun run{.makespan = trace.makespan};
  Result<void> good;
  if (ranks.rank() == 0) {
    const Result<PlanRun> judged =
        judged_run(problem, trace, plan.scheduler.empty() ? &plan.plan : nullptr);
    if (judged) run = *judged;
    if (!judged) good = judged.error();
  }
  if (good = ranks.agree(good); !good) return good.error();
  return run;
}

RunPlan run_on_ranks(const CompareArguments& arguments, const Problem& problem,
                     StarpuRuntime& runtime, StarpuRanks& ranks) {
  return [&](const PlanToRun& plan, const Turn& turn) -> Result<PlanRun> {
    StarpuOptions options;
    options.scheduler = plan.scheduler;
    options.stop = arguments.search.to_budget().stop.without_time();
    options.input = [&](ValueId value, const Block& block) {
      fill_input(problem.graph, value, arguments.common.seed, block);
    };
    runtime.set_options(options);
    const Result<Trace> trace = runtime.run(problem, plan.plan);
    if (!trace) return trace.error();
    Result<PlanRun> run = judged_at_rank_0(problem, plan, *trace, ranks);
    if (!run || turn.turn > 0 || !runtime.collect_results() || ranks.rank() != 0) return run;
    const Result<uint64_t> results =
        results_fingerprint(problem.graph, [&](ValueId value) { return runtime.result(value); });
    if (results) run->results = *results;
    return run;
  };
}

}  // namespace

int compare_on_starpu(const CompareArguments& arguments, StarpuRanks& ranks) {
  if (const Result<void> good = arguments.check(); !good) return report_once(good.error(), ranks);
  const Result<LoadedProblem> loaded = load_on_ranks(arguments.inputs, ranks);
  if (!loaded) return report_once(loaded.error(), ranks);
  const Problem& problem = *loaded->problem;
  const Result<std::vector<PlanToRun>> entries = share_entries(arguments, problem, ranks);
  if (!entries) return report_once(entries.error(), ranks);
  const Result<std::unique_ptr<StarpuRuntime>> runtime =
      StarpuRuntime::open(problem.machine, OpTable::standard(), ranks);
  if (!runtime) return report_once(runtime.error(), ranks);
  // StarPU's models need some runs before they know how long an op takes. No stop: ranks that
  // stopped at different times would wait for each other.
  Turns turns{.warm_up = 3, .repeats = arguments.repeats, .seed = arguments.common.seed};
  if (ranks.rank() == 0) turns.on_turn = show_turn;
  const std::vector<MeasuredPlan> rows =
      compare_plans(problem, *entries, run_on_ranks(arguments, problem, **runtime, ranks), turns);
  if (shows_progress() && ranks.rank() == 0) fmt::print(stderr, "\r\033[K");
  int exit_code = 0;
  if (ranks.rank() == 0) {
    RealSetting setting{.runtime = "starpu"};
    if (ranks.several()) setting.hosts = ranks.host_names();
    exit_code = report_rows(problem, rows, setting, arguments.common.json);
  }
  return std::stoi(ranks.broadcast(std::to_string(exit_code)));
}

}  // namespace tutti
