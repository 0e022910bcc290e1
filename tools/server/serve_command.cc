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

#include "tools/commands.h"
#include "tools/graph/graph_make.h"
#include "tools/inputs.h"
#include "tools/search_options.h"
#include "tools/server/server_options.h"
#include "tools/server/serving.h"
#include "tools/version.h"
#include "tutti/runtime/command/environment.h"
#include "tutti/search/deciders.h"
#include "tutti/serve/api.h"

namespace tutti {
namespace {

struct ServeArguments {
  ServingOptions serving;
  std::string listen = kDefaultListen;
  std::vector<std::string> names;
  std::string token_file;
  std::string state;
  DaemonOptions daemon;
  HttpLimits http;
  int64_t most_body_mib = 16;
  int64_t open_mib = 1024;
  int64_t rewrite_mib = 64;
  int64_t keep_mib = 1024;
  std::string keep_for = "168h";
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
  static Result<void> catch_them() {
    if (::pipe2(asked, O_CLOEXEC | O_NONBLOCK) != 0) {
      return failed("no pipe can be had to wait for signals by");
    }
    mask(SIG_BLOCK);  // our own threads shall not be interrupted
    struct sigaction action {};
    action.sa_handler = note_signal;
    action.sa_flags = SA_RESTART;
    ::sigaction(SIGTERM, &action, nullptr);
    ::sigaction(SIGINT, &action, nullptr);
    ::sigaction(SIGHUP, &action, nullptr);
    action.sa_handler = do_nothing;
    ::sigaction(SIGXFSZ, &action, nullptr);
    return {};
  }
  // Until a signal asks this process to end. Checks the file of tokens every second; SIGHUP has all
  // files read again.
  static void wait(TokenWatch& tokens, const std::function<void()>& reload) {
    constexpr int kEveryMs = 1000;
    mask(SIG_UNBLOCK);
    while (true) {
      pollfd one{asked[0], POLLIN, 0};
      const int ready = ::poll(&one, 1, kEveryMs);
      char byte = 0;
      if (ready > 0 && ::read(asked[0], &byte, 1) == 1 && byte == 'e') break;
      tokens.look_again(byte == 'r');
      if (byte == 'r') reload();
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

void reload_by_signal(Serving& serving, Daemon& daemon) {
  if (const Result<void> done = serving.reload(daemon, {}); !done) {
    report(Error{done.error().kind, done.error().message + "; all stays as it was"});
    return;
  }
  const ServedBy by = daemon.served_by();
  fmt::print("tutti serve: reloaded{}\n",
             by.reloading ? "; machine and policy change when the running jobs have ended" : "");
  std::fflush(stdout);
}

int run_serve(ServeArguments arguments) {
  if (const auto good = AskedBySignal::catch_them(); !good) return report(good.error());
  if (const auto good = check_names(arguments.serving.environment); !good) {
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
  if (arguments.serving.runtime == "cluster") arguments.serving.runtime = "sim";  // as in 0.1
  arguments.serving.tokens = arguments.token_file;
  arguments.serving.allow_commands = arguments.daemon.allow_commands;
  Serving serving(arguments.serving);
  Result<ClientRules> clients = serving.clients();
  if (!clients) return report(clients.error());
  arguments.daemon.clients = std::move(*clients);
  Result<std::unique_ptr<Runner>> runner = serving.open();
  if (!runner) return report(runner.error());
  arguments.daemon.on_graph = [&](const Graph& graph) { serving.watch().look_at(graph); };
  std::unique_ptr<Meter> meter;
  if (arguments.serving.runtime == "local") {
    Result<std::unique_ptr<Meter>> made = make_host_meter();
    if (!made) return report(made.error());
    meter = std::move(*made);
  }
  arguments.daemon.folder = *folder;
  arguments.daemon.limits.open_bytes = arguments.open_mib << 20;
  arguments.daemon.longest_journal = arguments.rewrite_mib << 20;
  arguments.daemon.history.jobs = arguments.daemon.limits.kept_jobs;
  arguments.daemon.history.bytes = arguments.keep_mib << 20;
  arguments.daemon.history.age =
      std::chrono::duration_cast<std::chrono::seconds>(*parse_time(arguments.keep_for));
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
      Daemon::open(arguments.daemon, serving.shares(), std::move(*runner), std::move(meter));
  if (!daemon) return report(daemon.error());
  for (const std::string& notice : (*daemon)->notices()) print_note(notice);
  Api api(
      **daemon, Guard(tokens, arguments.names),
      {.most_body_bytes = arguments.most_body_mib << 20,
       .version = std::string(build_facts().version),
       .reload = [&](const ReloadRequest& request) { return serving.reload(**daemon, request); }});
  Result<std::unique_ptr<HttpServer>> server = HttpServer::open(*address, arguments.http, api);
  if (!server) return report(server.error());
  api.watch(server->get());
  const ServedBy by = (*daemon)->served_by();
  const bool bare = address->host.find(':') == std::string::npos;
  fmt::print("tutti serve: http://{}:{} ({} runs on {}, decided by {}; journal in {}; {})\n",
             bare ? address->host : "[" + address->host + "]", (*server)->port(),
             by.runtime == "local" ? "real" : "simulated", by.machine, by.policy, *folder,
             given->empty() ? "no token asked" : "a token is asked");
  const auto open = (*daemon)->figures().jobs.open();
  if (open > 0) fmt::print("tutti serve: going on with {} open jobs\n", open);
  std::fflush(stdout);
  AskedBySignal::wait(watch, [&] { reload_by_signal(serving, **daemon); });
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
      .add_option("--keep-mib", arguments.keep_mib,
                  "History of jobs that are over (traces, waits, logs), in MiB; the oldest is "
                  "deleted first")
      ->check(CLI::Range(1, 1 << 30))
      ->capture_default_str();
  command
      .add_option("--keep-for", arguments.keep_for,
                  "How long the history of a job is kept, such as 12h")
      ->check(is_budget())
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
      "         tutti serve --token-file tokens --clients clients.toml\n"
      "         tutti serve --runtime sim --machine p100-4 --policy graphene --parallel 8\n"
      "         tutti serve --listen 0.0.0.0:7171 --token-file token");
  auto arguments = std::make_shared<ServeArguments>();
  command
      ->add_option("-m,--machine", arguments->serving.machine,
                   "Machine: this-host, this-host:4x2, a machine file, or a preset to simulate")
      ->capture_default_str();
  command->add_option("--costs", arguments->serving.costs, "Costs file that the policy decides by");
  command
      ->add_option("--runtime", arguments->serving.runtime,
                   "local: for real on this host; sim: simulated (cluster, its old name, is "
                   "accepted). Jobs share the machine in both")
      ->check(CLI::IsMember({"local", "sim", "cluster"}))
      ->capture_default_str();
  command
      ->add_option("--policy", arguments->serving.policy,
                   "A policy that can be asked about arriving jobs (tutti cluster --help), or "
                   "symphony=FILE")
      ->capture_default_str();
  command
      ->add_option("--parallel", arguments->serving.parallel,
                   "Jobs at once; 0 is one for each usable core")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  command->add_option("--fallback", arguments->serving.fallback,
                      "For real: decider that takes over for some time if devices wait for "
                      "decisions of symphony=FILE for a quarter of their working time, or longer; "
                      "none; default: graphene");
  command->add_option("--seed", arguments->serving.seed, "Seed of all random choices")
      ->check(whole_number())
      ->capture_default_str();
  command->add_option("--clients", arguments->serving.clients,
                      "File with the weight and the quotas of each client; read again on SIGHUP "
                      "and by tutti reload");
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
      ->add_option("--env", arguments->serving.environment,
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
    const bool model = arguments->serving.runtime == "local" && is_model(arguments->serving.policy);
    if (command->count("--fallback") > 0 && !model) {
      throw CLI::ValidationError("--fallback",
                                 "is for models of Symphony that decide about real runs; name one "
                                 "by --policy symphony=FILE");
    }
    exit_code = run_serve(*arguments);
  });
}

}  // namespace tutti
