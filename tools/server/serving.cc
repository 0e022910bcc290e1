#include "tools/server/serving.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <utility>

#include "tools/inputs.h"
#include "tools/policy_list.h"
#include "tutti/base/file/source.h"
#include "tutti/base/fingerprint.h"
#include "tutti/base/parallel.h"
#include "tutti/base/suggest.h"
#include "tutti/machine/preset.h"
#include "tutti/policy/registry.h"
#include "tutti/runtime/arriving/host_counters.h"
#include "tutti/search/deciders.h"
#include "tutti/serve/http/tokens.h"

namespace tutti {
namespace {

// The serve room knows no model files.
MakeDecider decider_called(const std::string& name, const ModelDeciderOptions& options) {
  return [name, options](const Cluster& cluster,
                         const std::vector<Counter>& counters) -> Result<std::unique_ptr<Decider>> {
    const auto found = find_deciders({name}, cluster, counters, options);
    if (!found) return found.error();
    return found->front().make();
  };
}

// Null for a model.
Result<const PolicyEntry*> policy_called(const std::string& name) {
  if (is_model(name) || name == "symphony") return static_cast<const PolicyEntry*>(nullptr);
  if (const auto found = find_any_decider(name)) return *found;
  const std::vector<std::string> known = names_for_real_service();
  if (!find_policy(name)) return invalid_input(unknown_word("policy", name, known));
  return invalid_input(fmt::format(
      "policy '{}' plans ahead and cannot be asked during a run; those that can are: {}", name,
      comma_list(known)));
}

Result<std::unique_ptr<CommandRunner>> command_runner(const ServingOptions& options,
                                                      const PolicyEntry* policy,
                                                      const Machine& machine, const CostSpec& costs,
                                                      ClientShares& shares) {
  // Other deciders do not know of programs.
  const bool own = policy != nullptr && policy->make_policy;
  if (!own) policy = *find_online_policy("critical_path");
  CommandRunnerOptions made{.policy = policy->make_policy,
                            .policy_name = policy->name,
                            .seed = options.seed,
                            .costs = costs,
                            .machine = {},
                            .environment = options.environment};
  if (options.allow_commands && options.machine == "this-host") {
    Result<Machine> slots = load_command_machine(options.machine);
    if (!slots) return slots.error();
    made.machine = std::make_shared<const Machine>(std::move(*slots));
  }
  return std::make_unique<CommandRunner>(std::move(made), machine, shares);
}

// A file of a model.
std::string model_file(const std::string& policy) {
  return is_model(policy) ? policy.substr(policy.find('=') + 1) : "";
}

// Reading a pipe or a terminal may block, and a device may have no end: a server that runs reads
// none.
Result<void> check_regular(const std::string& path) {
  if (path == "-") {
    return invalid_input("- names standard input, which a server that runs does not read");
  }
  struct stat info {};
  if (path.empty() || ::stat(path.c_str(), &info) != 0)
    return {};  // read, or a name of another kind
  if (S_ISREG(info.st_mode)) return {};
  return invalid_input(path + ": is no regular file, and a server that runs reads no others");
}

void add_content(Fingerprint& fingerprint, const std::string& path) {
  if (path.empty()) return;
  Result<Source> source = Source::open(path);
  const Result<std::string> text = source ? source->read_all() : Result<std::string>(std::string());
  fingerprint.add(text ? std::string_view(*text) : std::string_view());
}

}  // namespace

void CostsWatch::replace(Machine machine, CostSpec costs, std::string file) {
  auto fresh =
      std::make_shared<const Costs>(Costs{std::move(machine), std::move(costs), std::move(file)});
  const MutexLock lock(mutex_);
  costs_ = std::move(fresh);
  seen_.clear();
}

void CostsWatch::look_at(const Graph& graph) {
  std::shared_ptr<const Costs> costs;
  {
    const MutexLock lock(mutex_);
    if (graph.command_count() > 0 || seen_.size() >= kMostNames) return;
    if (!seen_.insert(graph.name()).second) return;
    costs = costs_;
  }
  const std::string name = one_line(graph.name());
  if (const auto good = check_costs(graph, costs->machine, costs->spec, name, costs->file); !good) {
    print_warning(good.error().message);
  }
}

Result<Serving::Made> Serving::make(const ServingOptions& options, const Machine& machine,
                                    CostSpec costs) {
  const Result<const PolicyEntry*> policy = policy_called(options.policy);
  if (!policy) return policy.error();
  Result<Cluster> cluster = Cluster::make(machine, costs);
  if (!cluster) return cluster.error();
  const bool real = options.runtime == "local";
  std::unique_ptr<JobWorld> world;
  std::unique_ptr<CommandRunner> commands;
  if (real) {
    RealWorldOptions about;
    if (is_model(options.policy)) {
      about.feed = read_host(machine, {.interval = std::chrono::milliseconds(10)});
      about.counters = counters_for_real(machine, *about.feed);
    }
    Result<std::unique_ptr<JobWorld>> made = make_real_world(std::move(*cluster), std::move(about));
    if (!made) return made.error();
    world = std::move(*made);
    auto runner = command_runner(options, *policy, world->cluster().machine(), costs, shares_);
    if (!runner) return runner.error();
    commands = std::move(*runner);
  } else {
    world = make_simulated_world(std::move(*cluster));
  }
  const std::string fallback = options.fallback == "none" ? "" : options.fallback;
  JobsRunnerOptions about{
      .policy = options.policy,
      .decider = decider_called(options.policy, {.fallback = real ? fallback : ""}),
      .one_job_at_a_look = *policy != nullptr && (*policy)->make_policy,
      .places = options.parallel > 0 ? options.parallel : usable_cores(),
      .seed = options.seed};
  auto runner = make_jobs_runner(std::move(world), std::move(about), shares_, std::move(commands));
  if (!runner) return runner.error();
  return Made{std::move(*runner), machine, std::move(costs)};
}

uint64_t Serving::digest_of(const ServingOptions& options, const Machine& machine) {
  Fingerprint fingerprint;
  fingerprint.add(std::string_view(options.policy));
  fingerprint.add(std::string_view(options.machine));
  fingerprint.add(machine.fingerprint());
  fingerprint.add(std::string_view(options.costs));
  add_content(fingerprint, options.costs);
  add_content(fingerprint, model_file(options.policy));
  return fingerprint.value();
}

Result<std::unique_ptr<Runner>> Serving::open() {
  const MutexLock lock(mutex_);
  const Result<Machine> machine = load_machine(options_.machine);
  if (!machine) return machine.error();
  Result<CostSpec> costs = load_costs(options_.costs);
  if (!costs) return costs.error();
  Result<Made> made = make(options_, *machine, std::move(*costs));
  if (!made) return made.error();
  digest_ = digest_of(options_, *machine);
  watch_.replace(std::move(made->machine), std::move(made->costs), options_.costs);
  return std::move(made->runner);
}

Result<ClientRules> Serving::clients() const {
  return options_.clients.empty() ? ClientRules{} : load_clients(options_.clients);
}

Result<void> Serving::reload(Daemon& daemon, const ReloadRequest& request) {
  const MutexLock lock(mutex_);
  ServingOptions options = options_;
  if (!request.policy.empty()) options.policy = request.policy;
  if (!request.machine.empty()) options.machine = request.machine;
  if (!request.costs.empty()) options.costs = request.costs;
  for (const std::string& file : {options.machine, options.costs, model_file(options.policy),
                                  options.clients, options.tokens}) {
    if (const Result<void> good = check_regular(file); !good) return good;
  }
  if (!options.tokens.empty()) {
    if (const Result<Tokens> read = load_tokens(options.tokens); !read) return read.error();
  }
  Result<ClientRules> rules = clients();
  if (!rules) return rules.error();
  const Result<Machine> machine = load_machine(options.machine);
  if (!machine) return machine.error();
  Result<CostSpec> costs = load_costs(options.costs);
  if (!costs) return costs.error();
  const uint64_t digest = digest_of(options, *machine);
  if (digest != digest_) {
    Result<Made> made = make(options, *machine, std::move(*costs));
    if (!made) return made.error();
    if (Result<void> done = daemon.reload(std::move(made->runner)); !done) return done;
    watch_.replace(std::move(made->machine), std::move(made->costs), options.costs);
    digest_ = digest;
    options_ = std::move(options);
  }
  daemon.set_clients(std::move(*rules));
  return {};
}

}  // namespace tutti
