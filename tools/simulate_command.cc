// tutti simulate: run a plan, or an online policy, in the simulator and show what happens.

#include <fmt/format.h>

#include <memory>

#include "tools/answer.h"
#include "tools/commands.h"
#include "tools/inputs.h"
#include "tools/search_options.h"
#include "tools/table.h"
#include "tutti/base/json_writer.h"
#include "tutti/base/output.h"
#include "tutti/runtime/sim/sim.h"
#include "tutti/search/planners.h"
#include "tutti/trace/check.h"
#include "tutti/trace/file.h"
#include "tutti/trace/stats.h"

namespace tutti {
namespace {

struct SimulateArguments {
  ProblemInputs inputs;
  ModelOptions model;
  CommonOptions common;
  SearchOptions search;
  std::string plan;
  std::string policy;
  std::string trace;
  bool online = false;
};

Result<Plan> plan_to_run(const SimulateArguments& arguments, const Problem& problem) {
  if (!arguments.plan.empty()) {
    const Result<void> good =
        arguments.search.require_none("is for planning, and --plan is a plan");
    if (!good) return good.error();
    return load_good_plan(arguments.plan, problem);
  }
  const Result<AutoSettings> settings =
      arguments.search.settings(arguments.model, arguments.common);
  if (!settings) return settings.error();
  const Result<PolicyEntry> entry =
      find_planner(arguments.policy.empty() ? "auto" : arguments.policy, *settings);
  if (!entry) return entry.error();
  const Result<void> good = arguments.search.require_use({&*entry, 1});
  if (!good) return good.error();
  return make_plan(*entry, problem, settings->budget, arguments.common.seed);
}

struct Simulated {
  Trace trace;
  std::string who;
};

Result<Simulated> simulate(const SimulateArguments& arguments, const Problem& problem,
                           std::vector<std::string>& faults) {
  SimRuntime runtime(arguments.model.sim_model(), {.order = arguments.model.ready_order(),
                                                   .seed = arguments.common.seed,
                                                   .sample = problem.costs.has_noise()});
  TraceRules rules{.released = arguments.model.sim_model() == SimModel::released, .limit = 1};
  if (arguments.online) {
    const Result<void> good =
        arguments.search.require_none("is for planning, and --online plans nothing ahead");
    if (!good) return good.error();
    const Result<const PolicyEntry*> entry = find_policy(arguments.policy);
    if (!entry) return entry.error();
    if (!(*entry)->make_policy) {
      return invalid_input(
          fmt::format("policy '{}' plans ahead and cannot be asked during a run; "
                      "leave out --online",
                      arguments.policy));
    }
    Policy policy = (*entry)->make_policy(problem, arguments.common.seed);
    Result<Trace> trace = runtime.run_online(problem, policy);
    if (!trace) return trace.error();
    faults = check_trace(problem, *trace, rules);
    return Simulated{std::move(*trace), (*entry)->name + " (online)"};
  }
  const Result<Plan> plan = plan_to_run(arguments, problem);
  if (!plan) return plan.error();
  Result<Trace> trace = runtime.run(problem, *plan);
  if (!trace) return trace.error();
  rules.plan = &*plan;
  faults = check_trace(problem, *trace, rules);
  return Simulated{std::move(*trace), plan->provenance.policy};
}

void print_json(const Problem& problem, const Simulated& run, const Bounds& bounds,
                const TraceStats& stats) {
  JsonWriter json;
  json.open_object().field("schema_version", 1).field("graph", problem.graph.name());
  json.field("machine", problem.machine.name()).field("runtime", run.trace.runtime);
  json.field("policy", run.who).field("makespan_ns", stats.makespan);
  json.field("lower_bound_ns", bounds.strongest());
  json.field("gap", gap_to(bounds.strongest(), static_cast<double>(stats.makespan.count())));
  json.field("bytes_moved", stats.bytes_moved).field("transfers", stats.transfer_count);
  json.key("devices").open_list();
  for (const DeviceId id : problem.machine.devices()) {
    const DeviceStats& device = stats.devices[static_cast<size_t>(id.index)];
    json.open_object().field("device", problem.machine.device(id).name).field("ops", device.ops);
    json.field("busy", device.busy_share).field("waiting_for_data", device.waiting_for_data);
    json.field("waiting_for_ops", device.waiting_for_ops);
    json.field("waiting_for_memory", device.waiting_for_memory);
    json.field("waiting_for_order", device.waiting_for_order);
    json.field("finished", device.finished);
    if (!stats.peak_memory_bytes.empty()) {
      json.field("peak_memory_bytes",
                 stats.peak_memory_bytes[static_cast<size_t>(problem.machine.memory_of(id).index)]);
    }
    json.close_object();
  }
  json.close_list().key("channels").open_list();
  for (int32_t i = 0; i < problem.machine.channel_count(); ++i) {
    json.open_object().field("channel", problem.machine.channel(ChannelId{i}).name);
    json.field("busy", stats.channel_busy_share[static_cast<size_t>(i)]).close_object();
  }
  json.close_list().close_object();
  fmt::print("{}", json.text());
}

std::string percent(double share) {
  return fmt::format("{:.1f} %", 100 * share);
}

void print_text(const Problem& problem, const Simulated& run, const Bounds& bounds,
                const TraceStats& stats, std::optional<Duration> single) {
  fmt::print("{}\n", answer_line(run.who, stats.makespan, bounds, single));
  if (run.trace.runtime == "sim/released") {
    fmt::print("simulated ({}): this model does not record its transfers\n", run.trace.runtime);
  } else {
    fmt::print("simulated ({}), transfers: {}, moved: {}\n", run.trace.runtime,
               stats.transfer_count, bytes_to_text(stats.bytes_moved));
  }
  const bool has_memory = !stats.peak_memory_bytes.empty();
  std::vector<std::string> head = {"device",        "ops",        "busy",      "waits for data",
                                   "for producers", "for memory", "for order", "is done"};
  if (has_memory) head.push_back("peak memory");
  Table table(head);
  for (const DeviceId id : problem.machine.devices()) {
    const DeviceStats& device = stats.devices[static_cast<size_t>(id.index)];
    std::vector<std::string> row = {
        problem.machine.device(id).name,   std::to_string(device.ops),
        percent(device.busy_share),        percent(device.waiting_for_data),
        percent(device.waiting_for_ops),   percent(device.waiting_for_memory),
        percent(device.waiting_for_order), percent(device.finished)};
    if (has_memory) {
      const MemoryId memory = problem.machine.memory_of(id);
      row.push_back(bytes_to_text(stats.peak_memory_bytes[static_cast<size_t>(memory.index)]));
    }
    table.add(row);
  }
  fmt::print("{}", table.text());
}

int run_simulate(const SimulateArguments& arguments) {
  if (const Result<void> good = arguments.model.check(arguments.inputs); !good)
    return report(good.error());
  if (arguments.online && (arguments.policy.empty() || !arguments.plan.empty())) {
    return report(invalid_input("--online needs --policy and takes no --plan"));
  }
  if (!arguments.plan.empty() && !arguments.policy.empty()) {
    return report(invalid_input("give --plan or --policy, not both"));
  }
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
  arguments->search.add_to(*command);
  command->add_option("--plan", arguments->plan, "Plan file to run");
  command->add_option("--policy", arguments->policy, "Policy to plan with; default: auto");
  command->add_flag("--online", arguments->online, "Ask the policy as the run goes");
  command->add_option("--trace", arguments->trace,
                      "Write a Chrome trace here; - is standard output");
  command->callback([arguments, &exit_code] { exit_code = run_simulate(*arguments); });
}

}  // namespace tutti
