#include "tutti/serve/run/command_runner.h"

#include <chrono>
#include <map>
#include <string>
#include <thread>
#include <utility>

#include "tutti/costs/assumed.h"
#include "tutti/runtime/command/command_run.h"
#include "tutti/runtime/local/jobs/options.h"
#include "tutti/runtime/local/local.h"

namespace tutti {

Result<Problem> problem_of_commands(const Graph& graph, const Machine& machine, CostSpec spec) {
  assume_equal_commands(graph, spec);
  return Problem::make(Shared<Graph>::borrowed(graph), Shared<Machine>::borrowed(machine), spec);
}

namespace {

// The same code, which charges what each call took, however the run ends.
OpTable charged(const OpTable& table, const Problem& problem, const RunContext& context,
                ClientShares& shares) {
  const Machine& machine = problem.machine;
  std::map<std::string, int32_t, std::less<>> places;
  for (const DeviceId id : machine.devices()) places[machine.device(id).name] = id.index;
  OpTable all;
  for (const std::string& kind : problem.graph.op_kinds()) {
    for (const DeviceId id : machine.devices()) {
      const OpTable::Entry* const entry = table.find(kind, machine.device(id).kind);
      if (entry == nullptr) continue;
      all.add(kind, machine.device(id).kind,
              [code = entry->code, places, account = context.account, &shares](const OpCall& call) {
                const Duration began = share_clock();
                Result<void> done = code(call);
                const auto place = places.find(call.device);
                if (account != nullptr && place != places.end()) {
                  const Duration now = share_clock();
                  shares.ended(*account, place->second, Duration(0), Duration(0), now - began, now);
                }
                return done;
              });
    }
  }
  return all;
}

}  // namespace

CommandRunner::CommandRunner(CommandRunnerOptions options, const Machine& machine,
                             ClientShares& shares)
    : options_(std::move(options)), machine_(machine), shares_(shares) {}

Result<PreparedJob> CommandRunner::prepare(Graph graph) const {
  if (graph.command_count() < graph.size()) {
    return invalid_input("some ops of the graph have a command and others have none");
  }
  const Result<Problem> problem = problem_of_commands(graph, machine(), options_.costs);
  if (!problem) return problem.error();
  return PreparedJob{.graph = std::make_shared<const Graph>(std::move(graph))};
}

Result<RunReport> CommandRunner::run(const PreparedJob& prepared, const RunContext& context,
                                     DecisionLog& log) {
  constexpr auto kBetweenLooks = std::chrono::milliseconds(20);
  while (busy_.exchange(true)) {
    if (context.stop.now()) return failed("cancelled");
    std::this_thread::sleep_for(kBetweenLooks);
  }
  struct Free {
    std::atomic<bool>& busy;
    ~Free() { busy.store(false); }
  } const free{busy_};
  const Result<Problem> made = problem_of_commands(*prepared.graph, machine(), options_.costs);
  if (!made) return made.error();
  const Problem& problem = *made;
  Policy policy =
      recorded(options_.policy(problem, options_.seed), options_.policy_name, context.job, log);
  const Result<std::string> ready =
      prepare_job_folder(context.folder, context.identity, context.unnamed);
  if (!ready) return ready.error();
  if (!ready->empty() && context.note) context.note(*ready);
  const Result<RunFolder> folder = RunFolder::open(context.folder);
  if (!folder) return folder.error();
  const JournalHead head{.graph = problem.graph.fingerprint(),
                         .commands = problem.graph.commands_fingerprint(),
                         .machine = problem.machine.fingerprint()};
  CommandOptions options;
  options.environment = {EnvironmentRule::From::server, options_.environment};
  options.stop = context.stop;
  const auto commands = CommandRun::open(problem.graph, *folder, head, std::move(options));
  if (!commands) return commands.error();
  std::vector<std::string> kinds;
  for (const DeviceId id : problem.machine.devices())
    kinds.push_back(problem.machine.device(id).kind);
  const auto runtime = LocalRuntime::open(
      problem.machine, charged((*commands)->table(kinds), problem, context, shares_));
  if (!runtime) return runtime.error();
  LocalOptions local;
  local.stop = context.stop;
  local.files = true;
  (*runtime)->set_options(std::move(local));
  Result<Trace> trace = (*runtime)->run_online(problem, policy);
  if (!trace) return trace.error();
  RunReport report{.makespan = trace->makespan};
  report.record.finish = trace->makespan;
  report.record.trace = std::move(*trace);
  return report;
}

}  // namespace tutti
