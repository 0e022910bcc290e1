// tutti serve: take jobs over HTTP and run them.

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <set>

#include "tools/commands.h"
#include "tools/graph/graph_make.h"
#include "tools/inputs.h"
#include "tools/policy_list.h"
#include "tools/server/server_options.h"
#include "tutti/base/mutex.h"
#include "tutti/base/parallel.h"
#include "tutti/base/suggest.h"
#include "tutti/machine/preset.h"
#include "tutti/policy/registry.h"
#include "tutti/runtime/arriving/host_counters.h"
#include "tutti/runtime/command/environment.h"
#include "tutti/search/deciders.h"
#include "tutti/serve/api.h"
#include "tutti/serve/run/cluster_runner.h"
#include "tutti/serve/run/shared_runner.h"

namespace tutti {
namespace {

struct ServeArguments {
  std::string machine = "this-host";
  std::string costs;
  std::string runtime = "local";
  RunnerOptions runner;
  int parallel = 0;
  std::string fallback = "graphene";
  std::string listen = kDefaultListen;
  std::vector<std::string> names;
  std::string token_file;
  std::string state;
  DaemonOptions daemon;
  HttpLimits http;
  int64_t most_body_mib = 16;
  int64_t open_mib = 1024;
  int64_t rewrite_mib = 64;
  int grace_s = 10;
};

// Where XDG wants state to be kept.
Result<std::string> default_state() {
  const char* const state = std::getenv("XDG_STATE_HOME");
  if (state != nullptr && *state != '\0') return std::string(state) + "/tutti";
  const char* const home = std::getenv("HOME");
  if (home != nullptr && *home != '\0') return std::string(home) + "/.local/state/tutti";
  return invalid_input("there is no home folder; name one for the journal by --state");
}

Result<Tokens> tokens_for(const ServeArguments& arguments, const ListenAddress& address) {
  Result<Tokens> tokens = load_tokens(arguments.token_file);
  if (!tokens) return tokens;
  struct stat info {};
  if (!arguments.token_file.empty() && ::stat(arguments.token_file.c_str(), &info) == 0 &&
      (info.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    fmt::print(stderr, "tutti: warning: {}: others can read the token; chmod 600 it\n",
               arguments.token_file);
  }
  const Result<bool> loopback = is_loopback(address);
  if (!loopback) return loopback.error();
  if (tokens->empty() && !*loopback) {
    return invalid_input(fmt::format(
        "others can reach {}: listen at 127.0.0.1, or give a token by --token-file or TUTTI_TOKEN",
        arguments.listen));
  }
  return tokens;
}

// Commands run as the same user, and could read it from /proc.
void forget_token() {
  if (char* const token = std::getenv("TUTTI_TOKEN"); token != nullptr) {
    ::explicit_bzero(token, std::strlen(token));
  }
  ::unsetenv("TUTTI_TOKEN");
}

// Reads the file of tokens again when it has changed, and on SIGHUP. If it cannot be read, the
// tokens from before stay valid.
class TokenWatch {
 public:
  TokenWatch(std::string path, std::shared_ptr<TokenStore> tokens)
      : path_(std::move(path)), tokens_(std::move(tokens)), seen_(look()) {}

  void look_again(bool asked) {
    if (path_.empty()) return;
    const Seen now = look();
    if (!asked && now == seen_) return;
    seen_ = now;
    Result<Tokens> read = load_tokens(path_);
    if (!read) {
      report(Error{read.error().kind, read.error().message + "; the tokens from before hold"});
      return;
    }
    fmt::print("tutti serve: {} was read again: {} token{}\n", path_, read->size(),
               read->size() == 1 ? "" : "s");
    std::fflush(stdout);
    tokens_->replace(std::move(*read));
  }

 private:
  using Seen = std::array<int64_t, 4>;
  Seen look() const {
    struct stat info {};
    if (path_.empty() || ::stat(path_.c_str(), &info) != 0) return {};
    return {static_cast<int64_t>(info.st_ino), static_cast<int64_t>(info.st_size),
            static_cast<int64_t>(info.st_mtim.tv_sec), static_cast<int64_t>(info.st_mtim.tv_nsec)};
  }

  std::string path_;
  std::shared_ptr<TokenStore> tokens_;
  Seen seen_;
};

// What runs jobs, and what measures how busy the machine is.
struct Running {
  std::unique_ptr<Runner> runner;
  std::unique_ptr<Meter> meter;
};

// The serve room knows no model files.
MakeDecider decider_called(const std::string& name, const ModelDeciderOptions& options) {
  return [name, options](const Cluster& cluster,
                         const std::vector<Counter>& counters) -> Result<std::unique_ptr<Decider>> {
    const auto found = find_deciders({name}, cluster, counters, options);
    if (!found) return found.error();
    return found->front().make();
  };
}

// Whether a real server by that name runs jobs together. If the policy can be asked op by op it
// runs one job at a time.
Result<bool> is_for_many_jobs(const std::string& name) {
  if (is_model(name) || name == "symphony") return true;
  const Result<const PolicyEntry*> decider = find_any_decider(name);
  if (decider) return !(*decider)->make_policy;
  const std::vector<std::string> known = names_for_real_service();
  if (!find_policy(name)) return invalid_input(unknown_word("policy", name, known));
  return invalid_input(fmt::format(
      "policy '{}' plans ahead and cannot be asked during a run; those that can are: {}", name,
      comma_list(known)));
}

// Several real jobs at once.
Result<Running> make_shared(const ServeArguments& arguments, const Machine& machine,
                            RunnerOptions options, int places) {
  SharedRunnerOptions shared{.places = places};
  if (is_model(options.policy)) {
    shared.feed = read_host(machine, {.interval = std::chrono::milliseconds(10)});
    shared.counters = counters_for_real(machine, *shared.feed);
  }
  const ModelDeciderOptions decider{.fallback =
                                        arguments.fallback == "none" ? "" : arguments.fallback};
  const MakeDecider make = decider_called(options.policy, decider);
  auto runner = make_shared_runner(machine, std::move(options), std::move(shared), make);
  if (!runner) return runner.error();
  Result<std::unique_ptr<Meter>> meter = make_host_meter();
  if (!meter) return meter.error();
  return Running{std::move(*runner), std::move(*meter)};
}

Result<Running> make_running(const ServeArguments& arguments, const Machine& machine) {
  RunnerOptions options = arguments.runner;
  if (options.policy.empty()) {
    options.policy = arguments.runtime == "cluster" ? "fifo" : "critical_path";
  }
  const int places = arguments.parallel > 0 ? arguments.parallel : usable_cores();
  if (arguments.runtime == "cluster") {
    const MakeDecider make = decider_called(options.policy, {});
    Result<ServedCluster> cluster = serve_cluster(machine, std::move(options), places, make);
    if (!cluster) return cluster.error();
    return Running{std::move(cluster->runner), std::move(cluster->meter)};
  }
  if (arguments.runtime == "sim") {
    Result<std::unique_ptr<Runner>> runner = make_sim_runner(machine, std::move(options), places);
    if (!runner) return runner.error();
    return Running{std::move(*runner), make_run_meter(machine)};
  }
  if (arguments.daemon.allow_commands && arguments.machine == "this-host") {
    Result<Machine> slots = load_command_machine(arguments.machine);
    if (!slots) return slots.error();
    options.command_machine = std::make_shared<const Machine>(std::move(*slots));
  }
  const Result<bool> many = is_for_many_jobs(options.policy);
  if (!many) return many.error();
  if (*many) return make_shared(arguments, machine, std::move(options), places);
  if (arguments.parallel > 1) {
    return invalid_input(fmt::format(
        "real runs decided by {} go one after another; several at once need a decider, such as "
        "--policy graphene",
        options.policy));
  }
  Result<std::unique_ptr<Runner>> runner = make_local_runner(machine, std::move(options));
  if (!runner) return runner.error();
  Result<std::unique_ptr<Meter>> meter = make_host_meter();
  if (!meter) return meter.error();
  return Running{std::move(*runner), std::move(*meter)};
}

// Warns the operator, once for each name, of graphs that the costs do not fit.
class CostsWatch {
 public:
  CostsWatch(const Machine& machine, CostSpec costs, std::string file)
      : machine_(machine), costs_(std::move(costs)), file_(std::move(file)) {}

  void look_at(const Graph& graph) {
    const MutexLock lock(mutex_);
    if (graph.command_count() > 0 || seen_.size() >= kMostNames) return;
    if (!seen_.insert(graph.name()).second) return;
    const std::string name = one_line(graph.name());
    if (const auto good = check_costs(graph, machine_, costs_, name, file_); !good) {
      print_warning(good.error().message);
    }
  }

 private:
  static constexpr size_t kMostNames = 1000;
  const Machine& machine_;
  CostSpec costs_;
  std::string file_;
  Mutex mutex_;
  std::set<std::string> seen_ GUARDED_BY(mutex_);
};

int asked[2] = {-1, -1};  // a pipe, for a byte by each signal

void note_signal(int signal) {
  const int before = errno;
  const char byte = signal == SIGHUP ? 'r' : 'e';
  [[maybe_unused]] const ssize_t written = ::write(asked[1], &byte, 1);
  errno = before;
}

void do_nothing(int /*signal*/) {}

// SIGTERM, SIGINT and SIGHUP become something to wait for. By handlers: a signal that is blocked
// here still ends the process where a library has started threads as it was loaded, before we could
// block it. A file that grows too long (SIGXFSZ) is an error of the write, as a full disk is.
class AskedBySignal {
 public:
  static Result<void> catch_them(bool with_hang_up) {
    if (::pipe2(asked, O_CLOEXEC | O_NONBLOCK) != 0) {
      return failed("no pipe can be had to wait for signals by");
    }
    mask(SIG_BLOCK);  // our own threads shall not be interrupted
    struct sigaction action {};
    action.sa_handler = note_signal;
    action.sa_flags = SA_RESTART;
    ::sigaction(SIGTERM, &action, nullptr);
    ::sigaction(SIGINT, &action, nullptr);
    if (with_hang_up) ::sigaction(SIGHUP, &action, nullptr);
    action.sa_handler = do_nothing;
    ::sigaction(SIGXFSZ, &action, nullptr);
    return {};
  }
  // Until a signal asks this process to end. Checks the file of tokens every second.
  static void wait(TokenWatch& tokens) {
    constexpr int kEveryMs = 1000;
    mask(SIG_UNBLOCK);
    while (true) {
      pollfd one{asked[0], POLLIN, 0};
      const int ready = ::poll(&one, 1, kEveryMs);
      char byte = 0;
      if (ready > 0 && ::read(asked[0], &byte, 1) == 1 && byte == 'e') break;
      tokens.look_again(byte == 'r');
    }
    mask(SIG_BLOCK);
  }

 private:
  static void mask(int how) {
    sigset_t signals;
    ::sigemptyset(&signals);
    for (const int signal : {SIGTERM, SIGINT, SIGHUP}) ::sigaddset(&signals, signal);
    ::pthread_sigmask(how, &signals, nullptr);
  }
};

int run_serve(ServeArguments arguments) {
  if (const auto good = AskedBySignal::catch_them(!arguments.token_file.empty()); !good) {
    return report(good.error());
  }
  if (const auto good = check_names(arguments.runner.environment); !good) {
    return report(good.error());
  }
  const Result<ListenAddress> address = parse_address(arguments.listen);
  if (!address) return report(address.error());
  const Result<Tokens> given = tokens_for(arguments, *address);
  if (!given) return report(given.error());
  const auto tokens = std::make_shared<TokenStore>(*given);
  TokenWatch watch(arguments.token_file, tokens);
  forget_token();
  const Result<std::string> folder =
      arguments.state.empty() ? default_state() : Result<std::string>(arguments.state);
  if (!folder) return report(folder.error());
  const Result<Machine> machine = load_machine(arguments.machine);
  if (!machine) return report(machine.error());
  Result<CostSpec> costs = load_costs(arguments.costs);
  if (!costs) return report(costs.error());
  arguments.runner.costs = *costs;
  CostsWatch watched_costs(*machine, std::move(*costs), arguments.costs);
  arguments.daemon.on_graph = [&](const Graph& graph) { watched_costs.look_at(graph); };
  Result<Running> running = make_running(arguments, *machine);
  if (!running) return report(running.error());
  const std::string policy = running->runner->policy();
  arguments.daemon.folder = *folder;
  arguments.daemon.limits.open_bytes = arguments.open_mib << 20;
  arguments.daemon.longest_journal = arguments.rewrite_mib << 20;
  arguments.daemon.on_broken = [](const std::string& why) {
    report(failed(fmt::format(
        "the journal has failed: {}; no job is taken or started any more: make room, and start "
        "the server again",
        why)));
  };
  arguments.daemon.on_note = print_note;
  arguments.daemon.make_graph = [](const std::string& words, int64_t most_ops) {
    constexpr double kEdgesOfAnOp = 8;
    return make_graph(words, static_cast<double>(most_ops) * (1 + kEdgesOfAnOp));
  };
  Result<std::unique_ptr<Daemon>> daemon =
      Daemon::open(arguments.daemon, std::move(running->runner), std::move(running->meter));
  if (!daemon) return report(daemon.error());
  for (const std::string& notice : (*daemon)->notices()) print_note(notice);
  Api api(**daemon, Guard(tokens, arguments.names),
          {.most_body_bytes = arguments.most_body_mib << 20,
           .version = TUTTI_VERSION,
           .machine = machine->name()});
  Result<std::unique_ptr<HttpServer>> server = HttpServer::open(*address, arguments.http, api);
  if (!server) return report(server.error());
  api.watch(server->get());
  const bool bare = address->host.find(':') == std::string::npos;
  fmt::print("tutti serve: http://{}:{} ({} runs on {}, decided by {}; journal in {}; {})\n",
             bare ? address->host : "[" + address->host + "]", (*server)->port(),
             arguments.runtime == "local" ? "real" : "simulated", machine->name(), policy, *folder,
             given->empty() ? "no token asked" : "a token is asked");
  const auto open = (*daemon)->figures().jobs.open();
  if (open > 0) fmt::print("tutti serve: going on with {} open jobs\n", open);
  std::fflush(stdout);
  AskedBySignal::wait(watch);
  (*daemon)->stop(std::chrono::seconds(arguments.grace_s));
  (*server)->stop();
  const DaemonFigures figures = (*daemon)->figures();
  const auto left = figures.jobs.open();
  fmt::print("tutti serve: stopped; {} open job{} kept for the next start\n", left,
             left == 1 ? " is" : "s are");
  return figures.broken.empty() ? 0 : 1;
}

void add_limits(CLI::App& command, ServeArguments& arguments) {
  command.add_option("--max-open-jobs", arguments.daemon.limits.open_jobs, "Open jobs at most")
      ->check(CLI::Range(1, 10'000'000))
      ->capture_default_str();
  command.add_option("--max-open-mib", arguments.open_mib, "Their graphs together, in MiB")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  command.add_option("--max-ops", arguments.daemon.most_ops, "Ops of a job at most")
      ->check(CLI::Range(1, 100'000'000))
      ->capture_default_str();
  command.add_option("--max-job-mib", arguments.most_body_mib, "Graph of a job at most, in MiB")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  command.add_option("--max-connections", arguments.http.connections, "Open connections at most")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str();
  command
      .add_option("--keep-jobs", arguments.daemon.limits.kept_jobs,
                  "Jobs that are over and remembered; older ones are forgotten, with their ids")
      ->check(CLI::Range(1, 10'000'000))
      ->capture_default_str();
  command
      .add_option(
          "--rewrite-mib", arguments.rewrite_mib,
          "Rewrite the journal when it is longer than this and mostly about jobs that are over")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  command
      .add_option("--attempts", arguments.daemon.limits.attempts,
                  "Give up a job that was running this often when the server died")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
}

}  // namespace

void add_serve_command(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("serve", "Take jobs over HTTP and run them");
  command->footer(
      "Example: tutti serve --state jobs --policy critical_path\n"
      "         tutti serve --policy graphene --parallel 4\n"
      "         tutti serve --runtime cluster --machine p100-4 --policy graphene --parallel 8\n"
      "         tutti serve --listen 0.0.0.0:7171 --token-file token");
  auto arguments = std::make_shared<ServeArguments>();
  command
      ->add_option("-m,--machine", arguments->machine,
                   "Machine: this-host, this-host:4x2, a machine file, or a preset to simulate")
      ->capture_default_str();
  command->add_option("--costs", arguments->costs, "Costs file that the policy decides by");
  command
      ->add_option("--runtime", arguments->runtime,
                   "local: for real on this host, one job at a time, or jobs that share it where a "
                   "decider decides; sim: simulated, each job with the machine to itself; "
                   "cluster: simulated, all jobs share the machine")
      ->check(CLI::IsMember({"local", "sim", "cluster"}))
      ->capture_default_str();
  command->add_option(
      "--policy", arguments->runner.policy,
      "For one job at a time: any policy that can decide during a run (tutti policies; default: "
      "critical_path). For jobs that share the machine, with --runtime local or cluster: a "
      "decider (tutti cluster --help; default of cluster: fifo) or symphony=FILE");
  command
      ->add_option("--parallel", arguments->parallel,
                   "Jobs at once, simulated or where a decider decides; 0 is one for each usable "
                   "core")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  command->add_option("--fallback", arguments->fallback,
                      "For real: decider that takes over for the rest of a round if devices wait "
                      "for decisions of symphony=FILE for a quarter of their working time, or "
                      "longer; none (graphene)");
  command->add_option("--seed", arguments->runner.seed, "Seed of all random choices")
      ->check(whole_number())
      ->capture_default_str();
  command
      ->add_option("--listen", arguments->listen,
                   "Address to listen at; port 0 is any; beyond this computer a token is needed")
      ->capture_default_str();
  command
      ->add_option("--name", arguments->names,
                   "Host name that browsers use for this server, once for each")
      ->allow_extra_args(false);
  command->add_option(
      "--token-file", arguments->token_file,
      "File with a line NAME TOKEN for each client, or one token for all; every request needs "
      "one; read again when it changes and on SIGHUP; default: the environment variable "
      "TUTTI_TOKEN");
  command->add_option("--state", arguments->state,
                      "Folder of the journal; default: ~/.local/state/tutti");
  command->add_option("--run-log", arguments->daemon.run_log,
                      "Append a line of JSON to this file whenever a run starts or ends");
  command->add_flag("--allow-commands", arguments->daemon.allow_commands,
                    "Run graphs that start programs of the client's choice");
  command
      ->add_option("--env", arguments->runner.environment,
                   "Commands: a variable of the server's environment that they get, in addition to "
                   "PATH, HOME, LANG and the like, once for each")
      ->allow_extra_args(false)
      ->needs("--allow-commands");
  command->add_flag("--adopt-runs", arguments->daemon.adopt_runs,
                    "Complete open jobs in folders that tutti 0.1 made for their commands");
  command
      ->add_option("--grace", arguments->grace_s,
                   "Seconds that a running job may go on when the server is stopped")
      ->check(CLI::Range(0, 86400))
      ->capture_default_str();
  add_limits(*command, *arguments);
  command->callback([command, arguments, &exit_code] {
    const bool model = arguments->runtime == "local" && is_model(arguments->runner.policy);
    if (command->count("--fallback") > 0 && !model) {
      throw CLI::ValidationError("--fallback",
                                 "is for models of Symphony that decide about real runs; name one "
                                 "by --policy symphony=FILE");
    }
    exit_code = run_serve(*arguments);
  });
}

}  // namespace tutti
