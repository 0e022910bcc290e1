#include "tutti/serve/run/runner.h"

#include <fmt/format.h>

#include "tutti/costs/assumed.h"
#include "tutti/kernels/inputs.h"
#include "tutti/plan/world/select_place.h"
#include "tutti/policy/registry.h"
#include "tutti/runtime/command/command_run.h"
#include "tutti/runtime/local/local.h"
#include "tutti/runtime/sim/physical.h"

namespace tutti {
namespace {

// Borrows graph and machine.
Result<Problem> problem_of(const Graph& graph, const Machine& machine, CostSpec spec) {
  if (graph.size() == 0) return invalid_input("the graph has no ops to run");
  assume_equal_commands(graph, spec);
  return Problem::make(Shared<Graph>::borrowed(graph), Shared<Machine>::borrowed(machine), spec);
}

RunReport report_of(const Machine& machine, const Trace& trace) {
  RunReport report{trace.makespan, std::vector<double>(machine.devices().size(), 0)};
  if (trace.makespan <= Duration(0)) return report;
  for (const OpSpan& span : trace.ops) {
    report.busy_share[static_cast<size_t>(span.device.index)] +=
        static_cast<double>((span.finish - span.start).count());
  }
  for (const DeviceId id : machine.devices()) {
    report.busy_share[static_cast<size_t>(id.index)] /=
        static_cast<double>(trace.makespan.count()) * machine.device(id).slots;
  }
  return report;
}

class LocalRunner : public Runner {
 public:
  LocalRunner(const Machine& machine, RunnerOptions options, const PolicyEntry& entry,
              std::unique_ptr<LocalRuntime> runtime)
      : machine_(machine),
        options_(std::move(options)),
        entry_(entry),
        runtime_(std::move(runtime)) {}

  const char* name() const override { return "local"; }
  std::string policy() const override { return entry_.name; }
  int places() const override { return 1; }

  Result<void> check(const Graph& graph) const override {
    if (graph.command_count() > 0) {
      if (graph.command_count() < graph.size()) {
        return invalid_input("some ops of the graph have a command and others have none");
      }
      return check_runnable(graph, machine_of(graph), options_.costs);
    }
    if (const Result<void> good = check_code(graph, machine_, ops_); !good) return good;
    return check_runnable(graph, machine_, options_.costs);
  }

  Result<RunReport> run(const Graph& graph, const RunContext& context, DecisionLog& log) override {
    const Result<Problem> made = problem_of(graph, machine_of(graph), options_.costs);
    if (!made) return made.error();
    Policy policy =
        recorded(entry_.make_policy(*made, options_.seed), entry_.name, context.job, log);
    if (graph.command_count() > 0) return run_commands(*made, policy, context);
    LocalOptions local;
    local.stop = context.stop;
    local.input = [&](ValueId value, const Block& block) {
      fill_input(graph, value, options_.seed, block);
    };
    runtime_->set_options(std::move(local));
    const Result<Trace> trace = runtime_->run_online(*made, policy);
    runtime_->set_options({});  // the graph goes
    if (!trace) return trace.error();
    return report_of(machine_, *trace);
  }

 private:
  const Machine& machine_of(const Graph& graph) const {
    const bool own = graph.command_count() > 0 && options_.command_machine != nullptr;
    return own ? *options_.command_machine : machine_;
  }

  // On threads of their own: what they run comes from the job.
  Result<RunReport> run_commands(const Problem& problem, Policy& policy,
                                 const RunContext& context) const {
    const Machine& machine = problem.machine;
    const Result<std::string> prepared =
        prepare_job_folder(context.folder, context.identity, context.unnamed);
    if (!prepared) return prepared.error();
    if (!prepared->empty() && context.note) context.note(*prepared);
    const Result<RunFolder> folder = RunFolder::open(context.folder);
    if (!folder) return folder.error();
    const JournalHead head{.graph = problem.graph.fingerprint(),
                           .commands = problem.graph.commands_fingerprint(),
                           .machine = machine.fingerprint()};
    CommandOptions options;
    options.environment = {EnvironmentRule::From::server, options_.environment};
    options.stop = context.stop;
    const auto commands = CommandRun::open(problem.graph, *folder, head, std::move(options));
    if (!commands) return commands.error();
    std::vector<std::string> kinds;
    for (const DeviceId id : machine.devices()) kinds.push_back(machine.device(id).kind);
    const auto runtime = LocalRuntime::open(machine, (*commands)->table(kinds));
    if (!runtime) return runtime.error();
    LocalOptions local;
    local.stop = context.stop;
    local.files = true;
    (*runtime)->set_options(std::move(local));
    const Result<Trace> trace = (*runtime)->run_online(problem, policy);
    if (!trace) return trace.error();
    RunReport report = report_of(machine, *trace);
    report.busy_share.resize(machine_.devices().size(), 0);
    return report;
  }

  const Machine& machine_;
  RunnerOptions options_;
  const PolicyEntry& entry_;
  OpTable ops_ = OpTable::standard();
  std::unique_ptr<LocalRuntime> runtime_;
};

class SimRunner : public Runner {
 public:
  SimRunner(const Machine& machine, RunnerOptions options, const PolicyEntry& entry, int places)
      : machine_(machine), options_(std::move(options)), entry_(entry), places_(places) {}

  const char* name() const override { return "sim"; }
  std::string policy() const override { return entry_.name; }
  int places() const override { return places_; }

  Result<void> check(const Graph& graph) const override {
    return check_runnable(graph, machine_, options_.costs);
  }

  Result<RunReport> run(const Graph& graph, const RunContext& context, DecisionLog& log) override {
    const Result<Problem> made = problem_of(graph, machine_, options_.costs);
    if (!made) return made.error();
    Policy policy =
        recorded(entry_.make_policy(*made, options_.seed), entry_.name, context.job, log);
    PhysicalSimulator simulator(*made);
    OnePolicy decider(policy);
    const Result<Duration> makespan =
        simulator.run_online(decider, {.seed = options_.seed,
                                       .sample = made->costs.has_noise(),
                                       .record = true,
                                       .stop = context.stop});
    if (!makespan) return makespan.error();
    if (*makespan == kNever) return failed("cancelled");
    return report_of(machine_, simulator.trace());
  }

 private:
  const Machine& machine_;
  RunnerOptions options_;
  const PolicyEntry& entry_;
  int places_;
};

}  // namespace

Result<void> check_runnable(const Graph& graph, const Machine& machine, const CostSpec& costs) {
  const Result<Problem> made = problem_of(graph, machine, costs);
  if (!made) return made.error();
  return {};
}

Result<void> check_code(const Graph& graph, const Machine& machine, const OpTable& ops) {
  for (const OpId op : graph.ops()) {
    const std::string_view kind = graph.op_kind_name(op);
    bool known = false;
    for (const DeviceId id : machine.devices()) {
      known = known || ops.find(kind, machine.device(id).kind) != nullptr;
    }
    if (!known) {
      return invalid_input(fmt::format("op '{}' is of kind '{}', which no device here has code for",
                                       graph.op_name(op), kind));
    }
  }
  for (const ValueId value : graph.values()) {
    if (!graph.producer(value).valid() && !can_fill(graph.dtype(value))) {
      return invalid_input(fmt::format("input '{}' is of dtype {}, which cannot be filled here",
                                       graph.value_name(value), to_text(graph.dtype(value))));
    }
  }
  return {};
}

Result<std::unique_ptr<Runner>> make_local_runner(const Machine& machine, RunnerOptions options) {
  const Result<const PolicyEntry*> entry = find_online_policy(options.policy);
  if (!entry) return entry.error();
  Result<std::unique_ptr<LocalRuntime>> runtime = LocalRuntime::open(machine, OpTable::standard());
  if (!runtime) return runtime.error();
  return std::unique_ptr<Runner>(
      std::make_unique<LocalRunner>(machine, std::move(options), **entry, std::move(*runtime)));
}

Result<std::unique_ptr<Runner>> make_sim_runner(const Machine& machine, RunnerOptions options,
                                                int places) {
  const Result<const PolicyEntry*> entry = find_online_policy(options.policy);
  if (!entry) return entry.error();
  return std::unique_ptr<Runner>(
      std::make_unique<SimRunner>(machine, std::move(options), **entry, places));
}

}  // namespace tutti
