// tutti compare --runtime starpu: plans that StarPU obeys beside StarPU's own schedulers, in turns.

#include <fmt/format.h>

#include <memory>

#include "tools/starpu/commands.h"
#include "tools/starpu/shared.h"
#include "tutti/base/check.h"
#include "tutti/kernels/inputs.h"
#include "tutti/runtime/sim/sim.h"
#include "tutti/runtime/starpu/starpu.h"
#include "tutti/search/planners.h"
#include "tutti/trace/check.h"

namespace tutti {
namespace {

struct Entry {
  RealEntry real;
  std::string scheduler{};  // of StarPU's; empty: the plan is obeyed
};

std::vector<std::string> schedulers_of(const CompareArguments& arguments) {
  if (arguments.schedulers.empty()) return {"eager", "lws", "dmda", "dmdas", "heteroprio"};
  if (arguments.schedulers == std::vector<std::string>{"none"}) return {};
  return arguments.schedulers;
}

// Who chooses hosts for StarPU's schedulers: StarPU-MPI runs an op where its data is, which
// somebody has to have dealt out.
Result<std::vector<RealEntry>> plans_for_hosts(const CompareArguments& arguments,
                                               const Problem& problem,
                                               const AutoSettings& settings) {
  std::vector<RealEntry> found;
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
Result<std::vector<Entry>> make_entries(const CompareArguments& arguments, const Problem& problem) {
  const Result<AutoSettings> settings =
      arguments.search.settings(arguments.model, arguments.common);
  if (!settings) return settings.error();
  const Result<std::vector<PolicyEntry>> policies = arguments.entries(*settings);
  if (!policies) return policies.error();
  std::vector<Entry> entries;
  if (!policies->empty() || !arguments.plans.empty()) {
    Result<std::vector<RealEntry>> plans = plans_to_run(arguments, problem, *policies);
    if (!plans) return plans.error();
    for (RealEntry& plan : *plans) entries.push_back({std::move(plan)});
  }
  const std::vector<std::string> schedulers = schedulers_of(arguments);
  if (schedulers.empty()) return entries;
  const Result<std::vector<RealEntry>> hosts = plans_for_hosts(arguments, problem, *settings);
  if (!hosts) return hosts.error();
  for (const RealEntry& plan : *hosts) {
    for (const std::string& scheduler : schedulers) {
      Entry entry{plan, scheduler};
      entry.real.name = fmt::format("StarPU {}", scheduler);
      if (problem.machine.hosts().size() > 1) entry.real.name += ", hosts by " + plan.name;
      entries.push_back(std::move(entry));
    }
  }
  return entries;
}

// Rank 0 makes the plans; all have them.
Result<std::vector<Entry>> share_entries(const CompareArguments& arguments, const Problem& problem,
                                         StarpuRanks& ranks) {
  std::vector<Entry> entries;
  Result<void> made;
  if (ranks.rank() == 0) {
    Result<std::vector<Entry>> own = make_entries(arguments, problem);
    if (own) {
      entries = std::move(*own);
    } else {
      made = own.error();
    }
  }
  if (made = ranks.agree(made); !made) return made.error();
  entries.resize(std::stoul(ranks.broadcast(std::to_string(entries.size()))));
  for (Entry& entry : entries) {
    Result<Plan> plan = share_plan(problem, ranks, [&] { return entry.real.plan; });
    if (!plan) return plan.error();
    entry.real.plan = std::move(*plan);
    entry.real.name = ranks.broadcast(entry.real.name);
    entry.scheduler = ranks.broadcast(entry.scheduler);
  }
  return entries;
}

class Comparison {
 public:
  Comparison(const CompareArguments& arguments, const Problem& problem, StarpuRuntime& runtime,
             StarpuRanks& ranks, std::vector<Entry> entries)
      : arguments_(arguments),
        problem_(problem),
        runtime_(runtime),
        ranks_(ranks),
        entries_(std::move(entries)),
        rows_(entries_.size()) {}

  std::vector<RealRow> run() {
    for (size_t i = 0; i < rows_.size(); ++i) begin_row(i);
    const int turns = kWarmUp + arguments_.repeats;
    for (int turn = 0; turn < turns; ++turn) {
      if (shows_progress() && ranks_.rank() == 0) {
        fmt::print(stderr, "\r\033[Kturn {} of {} ...", turn + 1, turns);
      }
      for (const size_t at : order_of_turn(rows_.size(), arguments_.common.seed, turn)) {
        if (rows_[at].error.empty()) run_row(at, turn);
      }
    }
    if (shows_progress() && ranks_.rank() == 0) fmt::print(stderr, "\r\033[K");
    return std::move(rows_);
  }

 private:
  // StarPU's models need some runs before they know how long an op takes.
  static constexpr int kWarmUp = 3;

  void begin_row(size_t at) {
    const Entry& entry = entries_[at];
    rows_[at] = {.name = entry.real.name,
                 .scheduler = entry.scheduler,
                 .plan_seconds = entry.real.plan_seconds};
    if (!entry.scheduler.empty() || ranks_.rank() != 0) return;
    const Result<Trace> simulated = SimRuntime().run(problem_, entry.real.plan);
    if (simulated) rows_[at].predicted_ns = static_cast<double>(simulated->makespan.count());
  }

  void run_row(size_t at, int turn) {
    const Entry& entry = entries_[at];
    RealRow& row = rows_[at];
    StarpuOptions options;
    options.scheduler = entry.scheduler;
    options.stop = arguments_.search.to_budget().stop.without_time();
    options.input = [this](ValueId value, const Block& block) {
      fill_input(problem_.graph, value, arguments_.common.seed, block);
    };
    runtime_.set_options(options);
    const Result<Trace> trace = runtime_.run(problem_, entry.real.plan);
    if (!trace) {
      row.error = trace.error().message;
      return;
    }
    judge(entry, *trace, row);
    if (turn == 0) look_at_results(row);
    if (turn >= kWarmUp) row.times_ns.push_back(static_cast<double>(trace->makespan.count()));
  }

  // Every rank learns of faults, so that all go on with the same rows.
  void judge(const Entry& entry, const Trace& trace, RealRow& row) {
    std::string fault;
    if (ranks_.rank() == 0) {
      const Plan* obeyed = entry.scheduler.empty() ? &entry.real.plan : nullptr;
      const auto faults = check_trace(problem_, trace, rules_for(trace, obeyed));
      if (!faults.empty()) fault = "the run does not pass the check: " + faults[0];
      for (const OpSpan& span : trace.ops) {
        row.misplaced += obeyed != nullptr &&
                         span.device != obeyed->placement[static_cast<size_t>(span.op.index)];
      }
    }
    row.error = ranks_.broadcast(std::move(fault));
  }

  void look_at_results(RealRow& row) {
    if (!runtime_.collect_results() || ranks_.rank() != 0) return;
    const Result<uint64_t> results = results_fingerprint(
        problem_.graph, [this](ValueId value) { return runtime_.result(value); });
    if (results) row.results = *results;
  }

  const CompareArguments& arguments_;
  const Problem& problem_;
  StarpuRuntime& runtime_;
  StarpuRanks& ranks_;
  std::vector<Entry> entries_;
  std::vector<RealRow> rows_;
};

}  // namespace

int compare_on_starpu(const CompareArguments& arguments, StarpuRanks& ranks) {
  if (const Result<void> good = arguments.check(); !good) return report_once(good.error(), ranks);
  const Result<LoadedProblem> loaded = load_on_ranks(arguments.inputs, ranks);
  if (!loaded) return report_once(loaded.error(), ranks);
  const Problem& problem = *loaded->problem;
  Result<std::vector<Entry>> entries = share_entries(arguments, problem, ranks);
  if (!entries) return report_once(entries.error(), ranks);
  const Result<std::unique_ptr<StarpuRuntime>> runtime =
      StarpuRuntime::open(problem.machine, OpTable::standard(), ranks);
  if (!runtime) return report_once(runtime.error(), ranks);
  Comparison comparison(arguments, problem, **runtime, ranks, std::move(*entries));
  const std::vector<RealRow> rows = comparison.run();
  int exit_code = 0;
  if (ranks.rank() == 0) {
    RealSetting setting{.runtime = "starpu"};
    if (ranks.several()) setting.hosts = ranks.host_names();
    exit_code = report_rows(problem, rows, setting, arguments.common.json);
  }
  return std::stoi(ranks.broadcast(std::to_string(exit_code)));
}

}  // namespace tutti
