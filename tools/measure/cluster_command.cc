// tutti cluster: jobs arrive on a cluster, simulated or this host for real, and deciders are
// compared.

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "tools/commands.h"
#include "tools/inputs.h"
#include "tools/measure/arrival_inputs.h"
#include "tools/print/cluster_report.h"
#include "tools/search_options.h"
#include "tutti/base/file/output.h"
#include "tutti/machine/preset.h"
#include "tutti/plan/world/default_cluster.h"
#include "tutti/runtime/arriving/host_counters.h"
#include "tutti/runtime/local/cpu/cores.h"
#include "tutti/runtime/sim/jobs/job_simulator.h"

namespace tutti {
namespace {

struct ClusterArguments {
  ArrivalInputs arriving;
  std::string machine;
  std::string costs;
  std::vector<std::string> policies;
  double unknown_load = 0;
  std::optional<double> noise;
  int queue_depth = 0;
  std::string decision_delay;
  std::string runtime = "sim";
  CompareJobsOptions real;
  std::string adapt;  // a Symphony model, whose belief is fitted to the readings of the runs
  std::string adapted;
  std::string unknown_work = "memory";
  std::string counters = "all";
  int interval_ms = 10;
  ModelDeciderOptions models;
  std::string fallback = "graphene";
  uint64_t seed = 1;
  bool json = false;
};

Result<Cluster> make_cluster(const ClusterArguments& arguments) {
  const bool real = arguments.runtime == "local";
  Result<Machine> machine =
      arguments.machine.empty()
          ? (real ? load_machine("this-host") : Machine::build(default_cluster_machine()))
          : load_machine(arguments.machine);
  if (!machine) return machine.error();
  CostSpec costs = real ? CostSpec{} : default_cluster_costs();
  if (!arguments.costs.empty()) {
    Result<CostSpec> read = load_costs(arguments.costs);
    if (!read) return read.error();
    costs = std::move(*read);
  }
  if (arguments.noise) {
    costs.run_time_noise = {
        .model = *arguments.noise > 0 ? NoiseSpec::Model::log_normal : NoiseSpec::Model::none,
        .spread = *arguments.noise};
  }
  return Cluster::make(std::move(*machine), std::move(costs));
}

constexpr const char* kMeasured = "measured";

JobSimOptions sim_options(const ClusterArguments& arguments) {
  JobSimOptions options{.queue_depth = arguments.queue_depth,
                        .unknown_load = {.share = arguments.unknown_load}};
  options.measured_delay = arguments.decision_delay == kMeasured;
  if (!options.measured_delay && !arguments.decision_delay.empty())
    options.decision_delay = *parse_time(arguments.decision_delay);
  return options;
}

int simulate_jobs(const ClusterArguments& arguments, Cluster& cluster, JobArrivals& arrivals) {
  std::vector<Counter> counters = usual_counters(cluster.machine());
  if (arguments.counters == "host") {
    counters = counters_for_real(cluster.machine(), *read_host(cluster.machine(), {}));
  }
  const auto deciders = find_deciders(arguments.policies, cluster, counters, arguments.models);
  if (!deciders) return report(deciders.error());
  JobSimOptions options = sim_options(arguments);
  if (const auto found = arguments.arriving.find_load(cluster, options, arrivals); !found)
    return report(found.error());
  options.counters = counters;
  JobSimulator sim(cluster, std::move(options));
  const Stop stop = stop_on_interrupt();
  std::vector<NamedRun> runs;
  for (const NamedDecider& named : *deciders) {
    const auto decider = named.make();
    Result<JobsRecord> run = run_jobs(sim, arrivals.of_seed(arguments.seed), *decider,
                                      arguments.seed, kMostDecisions, stop);
    if (!run && stop.now() && !runs.empty()) break;
    if (!run) return report(run.error());
    runs.emplace_back(named.name, std::move(*run));
  }
  const SimulatedJobs simulated{arrivals.load, sim.options(), arguments.seed, std::move(runs)};
  fmt::print("{}", arguments.json ? simulated_jobs_to_json(cluster, simulated)
                                  : simulated_jobs_to_table(simulated));
  tell_of_interrupt("the figures are of the deciders until then");
  return 0;
}

// On every core that the machine has of this host.
HiddenLoadSpec hidden_load_of(const ClusterArguments& arguments, const Machine& machine) {
  HiddenLoadSpec spec{.share = arguments.unknown_load};
  if (arguments.unknown_work == "compute") spec.work = HiddenLoadSpec::Work::compute;
  for (const auto& slots : bind_cores(machine, cores_of_this_process()).teams) {
    for (const std::vector<int>& cores : slots)
      spec.cores.insert(spec.cores.end(), cores.begin(), cores.end());
  }
  std::sort(spec.cores.begin(), spec.cores.end());
  spec.cores.erase(std::unique(spec.cores.begin(), spec.cores.end()), spec.cores.end());
  return spec;
}

CompareJobsOptions comparison_options(const ClusterArguments& arguments, const Machine& machine) {
  CompareJobsOptions options = arguments.real;
  options.turns.seed = arguments.seed;
  options.turns.stop = stop_on_interrupt();
  options.unknown_load = hidden_load_of(arguments, machine);
  options.on_note = print_note;
  if (shows_progress()) {
    const int turns = options.turns.warm_up + options.turns.repeats;
    options.progress = [turns](const std::string& decider, int turn, int64_t ended, int64_t ops) {
      fmt::print(stderr, "\r\033[Kturn {} of {}, {}: {} of {} ops{}", turn + 1, turns, decider,
                 ended, ops, ended == ops ? "\r\033[K" : "");
    };
  }
  return options;
}

// The exit code of a run that was verified.
int report_verified(const JobsComparison& result) {
  for (const JobsRow& row : result.rows) {
    if (!row.verified || row.verified->good) continue;
    return report(failed(fmt::format(
        "{}: what its jobs came to differs from the reference by "
        "{:.2g} where {:.2g} is allowed ({})",
        row.decider, row.verified->worst, row.verified->allowed, row.verified->worst_value)));
  }
  return 0;
}

int run_jobs_for_real(const ClusterArguments& arguments, const Cluster& cluster,
                      JobArrivals& arrivals) {
  if (!arguments.adapt.empty()) {
    // Before the runs, which take long.
    std::vector<std::string> read = arguments.arriving.graphs;
    read.insert(read.end(),
                {arguments.adapt, arguments.machine, arguments.costs, arguments.arriving.replay});
    if (const auto good = check_output("--adapted", arguments.adapted, read); !good) {
      return report(good.error());
    }
  }
  const auto feed =
      read_host(cluster.machine(), {.interval = std::chrono::milliseconds(arguments.interval_ms)});
  const std::vector<Counter> counters = counters_for_real(cluster.machine(), *feed);
  ModelDeciderOptions models = arguments.models;
  if (arguments.fallback != "none") models.fallback = arguments.fallback;
  const auto deciders = find_deciders(arguments.policies, cluster, counters, models);
  if (!deciders) return report(deciders.error());
  if (const auto found = arguments.arriving.find_load(cluster, sim_options_for_real(), arrivals);
      !found) {
    return report(found.error());
  }
  const CompareJobsOptions options = comparison_options(arguments, cluster.machine());
  const Result<JobsComparison> result = compare_jobs(
      cluster, *deciders, counters, *feed, [&](uint64_t seed) { return arrivals.of_seed(seed); },
      options);
  if (!result) return report(result.error());
  std::optional<int64_t> observations;
  if (!arguments.adapt.empty()) {
    const Result<int64_t> adapted = adapt_belief(arguments.adapt, arguments.adapted, cluster,
                                                 counters, result->readings, arguments.seed);
    if (!adapted) return report(adapted.error());
    observations = *adapted;
  }
  fmt::print("{}", arguments.json
                       ? real_jobs_to_json(cluster, options, arrivals.load, *result, observations)
                       : real_jobs_to_table(cluster, arrivals.load, *result));
  tell_of_interrupt("the figures are of the runs until then");
  if (observations) {
    fmt::print(stderr, "tutti: {} has the belief of {} fitted to {} readings of these runs\n",
               arguments.adapted, arguments.adapt, *observations);
  }
  return report_verified(*result);
}

int run_cluster_command(ClusterArguments& arguments) {
  Result<Cluster> cluster = make_cluster(arguments);
  if (!cluster) return report(cluster.error());
  const bool real = arguments.runtime == "local";
  if (real && arguments.arriving.graphs.empty() && arguments.arriving.replay.empty()) {
    return report(invalid_input(
        "jobs that are run for real are graph files with kernels; name some, such as those of "
        "tutti graph make"));
  }
  arguments.arriving.seed = arguments.seed;
  arguments.arriving.real = real;
  arguments.arriving.costs = arguments.costs;
  Result<JobArrivals> arrivals = arguments.arriving.find(*cluster);
  if (!arrivals) return report(arrivals.error());
  return real ? run_jobs_for_real(arguments, *cluster, *arrivals)
              : simulate_jobs(arguments, *cluster, *arrivals);
}

// A flag that the runtime ignores is a mistake.
void check_runtime(const CLI::App& command, const std::string& runtime) {
  const std::vector<const char*> of_sim = {"--noise", "--set", "--counters", "--queue-depth",
                                           "--decision-delay"};
  const std::vector<const char*> of_local = {"--repeats",      "--warm-up",     "--verify",
                                             "--unknown-work", "--interval-ms", "--adapt",
                                             "--fallback"};
  for (const char* flag : runtime == "local" ? of_sim : of_local) {
    if (command.get_option(flag)->count() == 0) continue;
    throw CLI::ValidationError(flag, fmt::format("is for --runtime {}; leave it out",
                                                 runtime == "local" ? "sim" : "local"));
  }
}

// So is one that the other flags make useless.
void check_use(const CLI::App& command, const ClusterArguments& arguments) {
  const auto refuse = [&](const std::vector<const char*>& flags, const char* why) {
    for (const char* flag : flags) {
      if (command.get_option(flag)->count() > 0) throw CLI::ValidationError(flag, why);
    }
  };
  if (!arguments.arriving.replay.empty()) {
    std::vector<const char*> drawn = ArrivalInputs::of_drawn_jobs();
    drawn.insert(drawn.end(), {"graphs", "--set"});
    refuse(drawn,
           "has no effect with --replay, whose file has all arrivals; leave one of them out");
  }
  if (!arguments.arriving.graphs.empty()) {
    refuse({"--set"}, "is for jobs that are drawn, and here they are named; leave it out");
  }
  const bool symphony =
      std::any_of(arguments.policies.begin(), arguments.policies.end(),
                  [](const std::string& name) { return name.starts_with("symphony="); });
  if (!symphony) {
    refuse({"--decisions-per-look", "--fallback"},
           "is for models of Symphony; name one by --policy symphony=FILE");
  }
  if (command.get_option("--unknown-load")->count() == 0) {
    refuse({"--unknown-work"}, "says what the hidden load does; give one by --unknown-load");
  }
}

void add_real_flags(CLI::App& command, ClusterArguments& arguments) {
  command
      .add_option("--runtime", arguments.runtime,
                  "sim: in simulation; local: for real, on this host; default: sim")
      ->check(CLI::IsMember({"sim", "local"}));
  command
      .add_option(
          "--repeats", arguments.real.turns.repeats,
          "For real: turns that count; each has arrivals of its own, with the next seed, and "
          "every decider gets them; default: 5")
      ->check(CLI::Range(1, 100'000));
  command
      .add_option("--warm-up", arguments.real.turns.warm_up,
                  "For real: warm-up turns before those; default: 1")
      ->check(CLI::Range(0, 1000));
  command.add_flag("--verify", arguments.real.verify,
                   "For real: compare the results of each decider's first run with the float64 "
                   "reference (slow)");
  command
      .add_option("--unknown-work", arguments.unknown_work,
                  "For real: what the hidden load does on half of the machine's cores, memory or "
                  "compute; default: memory")
      ->check(CLI::IsMember({"memory", "compute"}));
  command
      .add_option("--interval-ms", arguments.interval_ms,
                  "For real: milliseconds between two readings of the host's counters; default: 10")
      ->check(CLI::Range(1, 60'000));
  command
      .add_option(
          "--decisions-per-look", arguments.models.decisions_per_look,
          "Symphony: decisions that use one reading of the counters; more is quicker; default: 1")
      ->check(CLI::Range(1, 100'000));
  command.add_option(
      "--fallback", arguments.fallback,
      "For real: decider that takes over if devices wait for Symphony's "
      "decisions for a quarter of their working time, or longer; none; default: graphene");
  auto* adapt = command.add_option(
      "--adapt", arguments.adapt,
      "For real: fit the belief of this Symphony model to the counters read in these runs");
  auto* adapted =
      command.add_option("--adapted", arguments.adapted,
                         "With --adapt: write the model with the fitted belief to this file");
  adapt->needs(adapted);
  adapted->needs(adapt);
}

}  // namespace

void add_cluster_command(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand(
      "cluster", "Compare deciders of jobs that arrive, in simulation or for real");
  command->footer(
      decider_help() +
      "Slow-down: the time from a job's arrival to its end, divided by its critical path with "
      "every op on its fastest device.\n"
      "Example: tutti cluster --load 0.9 --unknown-load 0.5 --policy fifo,heft\n"
      "         tutti cluster a.json b.json --runtime local -m this-host:2x1 --costs costs.json "
      "--jobs 50 --verify");
  auto arguments = std::make_shared<ClusterArguments>();
  command->add_option("graphs", arguments->arriving.graphs,
                      "Jobs: graph files, or families and a seed, such as align-3 or align+eeg-7 "
                      "(drawn jobs of all families)");
  command->add_option("-m,--machine", arguments->machine,
                      "Machine file or preset (two sockets with a CPU, a GPU and an FPGA each; for "
                      "real: this host)");
  command->add_option(
      "--costs", arguments->costs,
      "Costs file with [[run_time]] and [[demand]] rows (of the families' kinds; for "
      "real: by the machine's rates)");
  command
      ->add_option("-p,--policy", arguments->policies, "Deciders, joined by commas; default: all")
      ->delimiter(',');
  arguments->arriving.add_to(*command);
  command
      ->add_option("--set", arguments->arriving.set,
                   "Drawn jobs: train, validation or test; default: test")
      ->check(CLI::IsMember({"train", "validation", "test"}));
  command
      ->add_option(
          "--unknown-load", arguments->unknown_load,
          "Hidden load: share of each resource used by processes that the decider cannot see "
          "(0 to 1; for real: of a core's time); default: 0")
      ->check(finite_range(0, 1));
  command->add_option("--noise", arguments->noise, "Spread of run times, instead of what costs say")
      ->check(finite_range(0, 10));
  command
      ->add_option("--queue-depth", arguments->queue_depth,
                   "In simulation: ops that may wait behind the busy slots of a device; their "
                   "operands are fetched meanwhile; default: 0")
      ->check(CLI::Range(0, 1000));
  command
      ->add_option("--decision-delay", arguments->decision_delay,
                   "In simulation: time until a decision takes effect, such as 50us, while devices "
                   "go on; or measured: the time that the decider takes on this host, which cannot "
                   "be reproduced; default: 0ns")
      ->check(is_time_or(kMeasured));
  command
      ->add_option("--counters", arguments->counters,
                   "In simulation: all usual counters, or host: those that this host, or a run on "
                   "it, provides; as the model was trained; default: all")
      ->check(CLI::IsMember({"all", "host"}));
  command
      ->add_option("--seed", arguments->seed, "Seed of arrivals, noise and hidden load; default: 1")
      ->check(whole_number());
  command->add_flag("--json", arguments->json, "Print the result as JSON");
  add_real_flags(*command, *arguments);
  command->callback([arguments, command, &exit_code] {
    check_runtime(*command, arguments->runtime);
    check_use(*command, *arguments);
    exit_code = run_cluster_command(*arguments);
  });
}

}  // namespace tutti
