#include "tools/run_commands.h"

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <set>

#include "tools/device_table.h"
#include "tools/trace_output.h"
#include "tutti/base/json_writer.h"
#include "tutti/base/output.h"
#include "tutti/plan/file.h"
#include "tutti/runtime/command/command_run.h"
#include "tutti/runtime/local/local.h"
#include "tutti/trace/check.h"
#include "tutti/trace/stats.h"

namespace tutti {
namespace {

Duration duration_of(const std::string& text) {
  return text.empty() ? Duration{0} : Duration(*parse_budget(text));
}

// What a run needs that goes on while there is anything to run.
struct Session {
  const Problem& problem;
  RunFolder folder;
  JournalHead head{};
  std::optional<Plan> plan{};  // none: a policy is asked as the run goes
  std::unique_ptr<CommandRun> commands{};
  std::unique_ptr<LocalRuntime> runtime{};  // last: it calls the commands
};

// The plan that the run there was begun with, so that the same command with --resume completes it
// even where planning it again would end otherwise; else the one asked for.
Result<std::optional<Plan>> plan_for(const Problem& problem, const RunFolder& folder,
                                     const PlanSource& source, const CommonOptions& common) {
  if (source.online) {
    if (const auto entry = source.online_policy(); !entry) return entry.error();
    return std::optional<Plan>();
  }
  const bool kept = folder.journal() && folder.journal()->head.plan != 0 && source.plan.empty();
  Result<Plan> plan = kept ? load_good_plan(folder.plan_file(), problem)
                           : source.get(problem, ModelOptions{}, common);
  if (!plan) return plan.error();
  return std::optional<Plan>(std::move(*plan));
}

Result<void> require_resume(const RunFolder& folder, const CommandFlags& flags) {
  if (!folder.journal() || flags.resume) return {};
  return invalid_input(
      fmt::format("{} holds a run that was begun before; add --resume to complete it, or name "
                  "another --run-folder",
                  folder.path()));
}

// Before anything is written.
Result<void> require_commands(const Graph& graph) {
  for (const OpId op : graph.ops()) {
    if (graph.command(op) != nullptr) continue;
    return invalid_input(
        fmt::format("op '{}' has no command that can be run (one without a program, or with a NUL "
                    "in it, is none); give it one, or leave it out",
                    graph.op_name(op)));
  }
  return {};
}

Result<Session> open_session(const CommandFlags& flags, const std::string& folder_path,
                             const Problem& problem, const PlanSource& source,
                             const CommonOptions& common) {
  if (const auto may = require_commands(problem.graph); !may) return may.error();
  Result<RunFolder> folder = RunFolder::open(folder_path);
  if (!folder) return folder.error();
  if (const auto may = require_resume(*folder, flags); !may) return may.error();
  const bool again = folder->journal().has_value();
  JournalHead head{.graph = problem.graph.fingerprint(),
                   .commands = problem.graph.commands_fingerprint(),
                   .machine = problem.machine.fingerprint(),
                   .plan = again ? folder->journal()->head.plan : 0};
  if (const auto same = folder->require(head); !same) return same.error();
  Result<std::optional<Plan>> plan = plan_for(problem, *folder, source, common);
  if (!plan) return plan.error();
  head.plan = *plan ? fingerprint_of(**plan) : 0;
  if (*plan && !again) {
    const Result<void> written = write_file(folder->plan_file(), plan_to_json(**plan, problem));
    if (!written) return written.error();
  }
  return Session{
      .problem = problem, .folder = std::move(*folder), .head = head, .plan = std::move(*plan)};
}

Result<void> open_runtime(Session& session, const CommandFlags& flags, const Stop& stop) {
  const Problem& problem = session.problem;
  Result<std::unique_ptr<CommandRun>> commands =
      CommandRun::open(problem.graph, session.folder, session.head,
                       {.retries = flags.retries,
                        .most_output_bytes = static_cast<int64_t>(flags.output_bytes),
                        .timeout = duration_of(flags.timeout),
                        .cpu_time = duration_of(flags.cpu_time),
                        .memory_bytes = static_cast<int64_t>(flags.memory_bytes),
                        .environment = {EnvironmentRule::From::user, flags.environment},
                        .stop = stop});
  if (!commands) return commands.error();
  session.commands = std::move(*commands);
  std::set<std::string> kinds;
  for (const DeviceId device : problem.machine.devices()) {
    kinds.insert(problem.machine.device(device).kind);
  }
  Result<std::unique_ptr<LocalRuntime>> runtime =
      LocalRuntime::open(problem.machine, session.commands->table({kinds.begin(), kinds.end()}));
  if (!runtime) return runtime.error();
  session.runtime = std::move(*runtime);
  return {};
}

Result<Trace> run(Session& session, const PlanSource& source, const CommonOptions& common,
                  const Stop& stop) {
  LocalOptions options;
  options.files = true;
  options.stop = stop;
  if (shows_progress()) {
    options.progress = [](int64_t ended, int64_t ops) {
      fmt::print(stderr, "\r\033[K{} of {} ops", ended, ops);
    };
  }
  session.runtime->set_options(options);
  const auto run_it = [&]() -> Result<Trace> {
    if (session.plan) return session.runtime->run(session.problem, *session.plan);
    const Result<const PolicyEntry*> entry = source.online_policy();
    if (!entry) return entry.error();
    Policy policy = (*entry)->make_policy(session.problem, common.seed);
    return session.runtime->run_online(session.problem, policy);
  };
  Result<Trace> trace = run_it();
  if (shows_progress()) fmt::print(stderr, "\r\033[K");
  if (!trace) return trace;
  const auto faults = check_trace(session.problem, *trace,
                                  rules_for(*trace, session.plan ? &*session.plan : nullptr));
  if (!faults.empty()) return failed("the run does not pass the check: " + faults[0]);
  return trace;
}

// What is done stays done.
Error with_what_is_done(Error error, const CommandRun::Counts& counts, const RunFolder& folder) {
  error.message += fmt::format(
      "; {} of {} ops are done, and --resume --run-folder {} completes "
      "the rest",
      counts.done_before + counts.done, counts.ops, folder.path());
  return error;
}

void print_json(const Session& session, const std::string& who, const Trace& trace) {
  const CommandRun::Counts counts = session.commands->counts();
  JsonWriter json;
  json.open_object().field("schema_version", 1).field("graph", session.problem.graph.name());
  json.field("machine", session.problem.machine.name()).field("runtime", to_text(trace.runtime));
  json.field("policy", who).field("run_folder", session.folder.path()).field("ops", counts.ops);
  json.field("done_before", counts.done_before).field("in_flight_before", counts.in_flight);
  json.field("done_now", counts.done).field("retries", counts.retries);
  json.field("makespan_ns", trace.makespan);
  add_devices(json, session.problem, trace_stats(session.problem, trace));
  json.close_object();
  fmt::print("{}", json.text());
}

void print_text(const Session& session, const std::string& who, const Trace& trace) {
  const CommandRun::Counts counts = session.commands->counts();
  fmt::print("{}: ran {} of {} commands in {}", who, counts.done, counts.ops,
             to_text(trace.makespan));
  if (counts.done_before > 0) fmt::print("; {} were done before", counts.done_before);
  if (counts.in_flight > 0) fmt::print("; {} had been begun, and ran again", counts.in_flight);
  if (counts.retries > 0) fmt::print("; {} attempts failed and were repeated", counts.retries);
  fmt::print("\nwhat they printed is in {}/logs\n", session.folder.path());
  fmt::print("{}", device_table(session.problem, trace_stats(session.problem, trace)));
}

}  // namespace

void CommandFlags::add_to(CLI::App& command) {
  CLI::Option* allow = command.add_flag(
      "--allow-commands", allowed,
      "Run the commands that the graph carries: programs of the file's choice, with your rights");
  const auto add = [&](const char* name, auto& into, const std::string& help) {
    return command.add_option(name, into, help)->needs(allow);
  };
  add("--run-folder", folder,
      "Commands: where the run's journal and output go; default: the graph's name with .run");
  command.add_flag("--resume", resume, "Commands: complete the run that was begun in that folder")
      ->needs(allow);
  add("--retries", retries, "Commands: how often one that fails is tried again")
      ->check(CLI::Range(0, 1000))
      ->capture_default_str();
  add("--op-timeout", timeout, "Commands: longest time of each that has no limit of its own")
      ->check(is_budget());
  add("--op-cpu-time", cpu_time, "Commands: most CPU time of each process, likewise")
      ->check(is_budget());
  add("--op-memory", memory_bytes, "Commands: most memory of each process, likewise, as 512MB")
      ->transform(CLI::AsSizeValue(/*kb_is_1000=*/true));
  add("--op-output", output_bytes, "Commands: most of what each prints that is kept, as 1MiB")
      ->transform(CLI::AsSizeValue(/*kb_is_1000=*/true));
  add("--env", environment,
      "Commands: a TUTTI_ variable that they get, once for each; they get all others anyway")
      ->allow_extra_args(false);
}

Result<void> CommandFlags::check(const Graph& graph, const std::string& path) const {
  if (graph.command_count() > 0 && !allowed) {
    return invalid_input(fmt::format(
        "{}: {} of its {} ops are commands, programs that the file names; if you trust it, add "
        "--allow-commands",
        path, graph.command_count(), graph.size()));
  }
  if (graph.command_count() == 0 && allowed) {
    return invalid_input(path + ": no op of it has a command; leave out --allow-commands");
  }
  if (const Result<void> named = check_names(environment); !named) return named;
  constexpr uint64_t kMost = uint64_t{1} << 60;
  if (memory_bytes > kMost || output_bytes > kMost) {
    return invalid_input("--op-memory and --op-output are at most 2^60 bytes");
  }
  return {};
}

int run_commands(const CommandFlags& flags, const ProblemInputs& inputs, const Problem& problem,
                 const PlanSource& source, const CommonOptions& common, const std::string& trace) {
  std::string folder = flags.folder;
  if (folder.empty()) {
    const std::string name = std::filesystem::path(inputs.graph).stem().string();
    folder = (inputs.graph == "-" || name.empty() ? "tutti" : name) + ".run";
  }
  const Stop stop = stop_on_interrupt();
  Result<Session> session = open_session(flags, folder, problem, source, common);
  if (!session) return report(session.error());
  if (const auto opened = open_runtime(*session, flags, stop); !opened) {
    return report(opened.error());
  }
  if (const std::string note = session->runtime->note(); !note.empty()) {
    fmt::print(stderr, "tutti: {}\n", note);
  }
  const Result<Trace> ran = run(*session, source, common, stop);
  if (!ran) {
    const Error error =
        with_partial_trace(ran.error(), trace, problem, session->runtime->partial_trace());
    return report(with_what_is_done(error, session->commands->counts(), session->folder));
  }
  if (!trace.empty()) {
    if (const auto written = write_trace_to(trace, problem, *ran); !written) {
      return report(written.error());
    }
    if (trace == "-") return 0;
  }
  const std::string who =
      session->plan ? session->plan->provenance.policy : source.policy + " (online)";
  if (common.json) {
    print_json(*session, who, *ran);
  } else {
    print_text(*session, who, *ran);
  }
  return 0;
}

}  // namespace tutti
