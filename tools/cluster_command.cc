// tutti cluster: jobs arrive on a cluster, simulated or this host for real; who schedules them
// best?

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <utility>

#include "tools/cluster_real.h"
#include "tools/commands.h"
#include "tools/dispatchers.h"
#include "tools/inputs.h"
#include "tools/search_options.h"
#include "tools/table.h"
#include "tutti/base/json_writer.h"
#include "tutti/base/output.h"
#include "tutti/base/statistics.h"
#include "tutti/graph/make/job.h"
#include "tutti/machine/preset.h"
#include "tutti/plan/job_study.h"
#include "tutti/runtime/cluster/arrivals.h"
#include "tutti/runtime/cluster/cluster_sim.h"
#include "tutti/runtime/local/cpu/cores.h"

namespace tutti {
namespace {

struct ClusterArguments {
  std::vector<std::string> graphs;
  std::string machine;
  std::string costs;
  std::vector<std::string> policies;
  std::string process = "poisson";
  std::string replay;
  std::string set = "test";
  double load = 0.6;
  int jobs = 100;
  double unknown_load = 0;
  std::optional<double> noise;
  std::string runtime = "sim";
  RealJobsSettings real;
  std::string unknown_work = "memory";
  std::string counters = "all";
  int interval_ms = 10;
  DeciderOptions models;
  std::string quick = "graphene";
  uint64_t seed = 1;
  bool json = false;
};

Result<Cluster> make_cluster(const ClusterArguments& arguments) {
  const bool real = arguments.runtime == "local";
  Result<Machine> machine = arguments.machine.empty() ? (real ? load_machine("this-host")
                                                              : Machine::build(job_study_machine()))
                                                      : load_machine(arguments.machine);
  if (!machine) return machine.error();
  CostSpec costs = real ? CostSpec{} : job_study_costs();
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

Result<Graph> load_job(const std::string& name, bool real) {
  if (std::optional<Graph> made = make_named_job(name)) {
    if (!real) return std::move(*made);
    return invalid_input(
        fmt::format("{}: jobs of this family have no kernels and can only be simulated; for real, "
                    "name graph files with kernels, such as those of tutti graph make",
                    name));
  }
  Result<Imported> imported = load_graph(name);
  if (!imported) return imported.error();
  return std::move(imported->graph);
}

Result<std::vector<Arrival>> replayed(const ClusterArguments& arguments, Cluster& cluster) {
  Result<Source> source = Source::open(arguments.replay);
  if (!source) return source.error();
  const Result<std::vector<NamedArrival>> named = read_arrivals(*source);
  if (!named) return named.error();
  std::map<std::string, std::shared_ptr<const Job>> jobs;
  std::vector<Arrival> arrivals;
  for (const NamedArrival& arrival : *named) {
    std::shared_ptr<const Job>& job = jobs[arrival.job];
    if (job == nullptr) {
      Result<Graph> graph = load_job(arrival.job, arguments.runtime == "local");
      if (!graph) return error_at(arguments.replay, arrival.line, graph.error().message);
      auto added = cluster.add_job(std::move(*graph));
      if (!added) return error_at(arguments.replay, arrival.line, added.error().message);
      job = std::move(*added);
    }
    arrivals.push_back({arrival.time, job});
  }
  return arrivals;
}

// The arrivals of a seed; those of a file are the same for all.
using ArrivalsOf = std::function<std::vector<Arrival>(uint64_t seed)>;

Result<ArrivalsOf> find_arrivals(const ClusterArguments& arguments, Cluster& cluster) {
  if (!arguments.replay.empty()) {
    Result<std::vector<Arrival>> arrivals = replayed(arguments, cluster);
    if (!arrivals) return arrivals.error();
    return ArrivalsOf([all = std::move(*arrivals)](uint64_t /*seed*/) { return all; });
  }
  std::vector<Graph> graphs;
  for (const std::string& name : arguments.graphs) {
    Result<Graph> graph = load_job(name, arguments.runtime == "local");
    if (!graph) return graph.error();
    graphs.push_back(std::move(*graph));
  }
  if (graphs.empty()) {
    const JobSet set = arguments.set == "train"        ? JobSet::train
                       : arguments.set == "validation" ? JobSet::validation
                                                       : JobSet::test;
    graphs = make_jobs(set, std::min(arguments.jobs, 40), arguments.seed);
  }
  Result<JobList> jobs = add_jobs(cluster, std::move(graphs));
  if (!jobs) return jobs.error();
  ArrivalSpec spec{.load = arguments.load, .jobs = arguments.jobs};
  if (arguments.process == "bursts") spec.process = ArrivalSpec::Process::bursts;
  spec.most_jobs_per_s = most_jobs_per_s(cluster, *jobs);
  return ArrivalsOf([&cluster, spec, list = std::move(*jobs)](uint64_t seed) {
    return draw_arrivals(cluster, list, spec, seed);
  });
}

struct Figures {
  std::string policy;
  double mean_completion_ns = 0;
  double mean_slowdown = 0;
  double median_slowdown = 0;
  double slowdown_p95 = 0;
  double makespan_ns = 0;
  int64_t decisions = 0;
};

Figures figures_of(const std::string& policy, const ClusterRun& run) {
  std::vector<double> slowdowns;
  Figures figures{.policy = policy};
  for (const JobRecord& job : run.jobs) {
    slowdowns.push_back(job.slowdown());
    figures.mean_completion_ns +=
        static_cast<double>(job.completion().count()) / static_cast<double>(run.jobs.size());
  }
  const Summary summary = summary_of(slowdowns);
  std::sort(slowdowns.begin(), slowdowns.end());
  figures.mean_slowdown = summary.mean;
  figures.median_slowdown = summary.median;
  figures.slowdown_p95 = slowdowns[((slowdowns.size() - 1) * 95 + 99) / 100];  // rounded up
  figures.makespan_ns = static_cast<double>(run.makespan.count());
  figures.decisions = run.decisions;
  return figures;
}

void print_json(const ClusterArguments& arguments, const Cluster& cluster, size_t jobs,
                const std::vector<Figures>& results) {
  JsonWriter json(2);
  json.open_object().field("schema_version", 1).field("machine", cluster.machine().name());
  json.field("jobs", static_cast<int64_t>(jobs));
  json.field("seed", fmt::format("{}", arguments.seed)).key("results").open_list();
  for (const Figures& one : results) {
    json.open_object().field("policy", one.policy);
    json.field("mean_completion_ns", one.mean_completion_ns);
    json.field("mean_slowdown", one.mean_slowdown).field("median_slowdown", one.median_slowdown);
    json.field("slowdown_p95", one.slowdown_p95).field("makespan_ns", one.makespan_ns);
    json.field("decisions", one.decisions).close_object();
  }
  json.close_list().close_object();
  fmt::print("{}", json.text());
}

void print_table(const std::vector<Figures>& results) {
  Table table({"policy", "mean completion", "mean slow-down", "median", "95 %", "all done after",
               "decisions"});
  for (const Figures& one : results) {
    table.add({one.policy, to_text(nanoseconds_of(one.mean_completion_ns)),
               fmt::format("{:.2f}", one.mean_slowdown), fmt::format("{:.2f}", one.median_slowdown),
               fmt::format("{:.2f}", one.slowdown_p95), to_text(nanoseconds_of(one.makespan_ns)),
               fmt::format("{}", one.decisions)});
  }
  fmt::print("{}", table.text());
}

int simulate_jobs(const ClusterArguments& arguments, Cluster& cluster,
                  const ArrivalsOf& arrivals_of) {
  std::vector<Counter> counters = usual_counters(cluster.machine());
  if (arguments.counters == "host") {
    counters = counters_for_real(cluster.machine(), *read_host(cluster.machine(), {}));
  }
  const auto dispatchers =
      find_dispatchers(arguments.policies, cluster, counters, arguments.models);
  if (!dispatchers) return report(dispatchers.error());
  const std::vector<Arrival> arrivals = arrivals_of(arguments.seed);
  ClusterSim sim(cluster,
                 {.unknown_load = {.share = arguments.unknown_load}, .counters = counters});
  std::vector<Figures> results;
  for (const NamedDispatcher& named : *dispatchers) {
    const auto dispatcher = named.make();
    const Result<ClusterRun> run = run_cluster(sim, arrivals, *dispatcher, arguments.seed);
    if (!run) return report(run.error());
    results.push_back(figures_of(named.name, *run));
  }
  if (arguments.json) {
    print_json(arguments, cluster, arrivals.size(), results);
  } else {
    print_table(results);
  }
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

int run_jobs_for_real(const ClusterArguments& arguments, const Cluster& cluster,
                      const ArrivalsOf& arrivals_of) {
  if (!arguments.real.adapt.empty()) {
    // Whether it can be written shall not be found out after long work.
    if (const auto output = Output::open(arguments.real.adapted); !output) {
      return report(output.error());
    }
  }
  const auto feed =
      read_host(cluster.machine(), {.interval = std::chrono::milliseconds(arguments.interval_ms)});
  const std::vector<Counter> counters = counters_for_real(cluster.machine(), *feed);
  DeciderOptions models = arguments.models;
  if (arguments.quick != "none") models.quick = arguments.quick;
  const auto dispatchers = find_dispatchers(arguments.policies, cluster, counters, models);
  if (!dispatchers) return report(dispatchers.error());
  RealJobsSettings settings = arguments.real;
  settings.seed = arguments.seed;
  settings.stop = stop_on_interrupt();
  settings.unknown_load = hidden_load_of(arguments, cluster.machine());
  const Result<RealJobsResult> result =
      compare_jobs_for_real(cluster, *dispatchers, counters, *feed, arrivals_of, settings);
  if (!result) return report(result.error());
  fmt::print("{}", arguments.json ? real_jobs_to_json(cluster, settings, *result)
                                  : real_jobs_to_table(cluster, *result));
  tell_of_interrupt("the figures are of the runs until then");
  if (result->observations > 0) {
    fmt::print(stderr, "tutti: {} has the belief of {} fitted to {} readings of these runs\n",
               settings.adapted, settings.adapt, result->observations);
  }
  for (const RealJobsRow& row : result->rows) {
    if (!row.verified || row.verified->good) continue;
    return report(failed(fmt::format(
        "{}: what its jobs came to differs from the reference by "
        "{:.2g} where {:.2g} is allowed ({})",
        row.policy, row.verified->worst, row.verified->allowed, row.verified->worst_value)));
  }
  return 0;
}

int run_cluster_command(const ClusterArguments& arguments) {
  Result<Cluster> cluster = make_cluster(arguments);
  if (!cluster) return report(cluster.error());
  const bool real = arguments.runtime == "local";
  if (real && arguments.graphs.empty() && arguments.replay.empty()) {
    return report(invalid_input(
        "jobs that are run for real are graph files with kernels; name some, such as those of "
        "tutti graph make"));
  }
  const Result<ArrivalsOf> arrivals_of = find_arrivals(arguments, *cluster);
  if (!arrivals_of) return report(arrivals_of.error());
  return real ? run_jobs_for_real(arguments, *cluster, *arrivals_of)
              : simulate_jobs(arguments, *cluster, *arrivals_of);
}

// A flag that says nothing about that runtime is a mistake.
void check_runtime(const CLI::App& command, const std::string& runtime) {
  const std::vector<const char*> of_sim = {"--noise", "--set", "--counters"};
  const std::vector<const char*> of_local = {"--repeats",      "--warm-up",     "--verify",
                                             "--unknown-work", "--interval-ms", "--adapt",
                                             "--quick"};
  for (const char* flag : runtime == "local" ? of_sim : of_local) {
    if (command.get_option(flag)->count() == 0) continue;
    throw CLI::ValidationError(flag, fmt::format("is for --runtime {}; leave it out",
                                                 runtime == "local" ? "sim" : "local"));
  }
}

// So is one to which the others leave nothing to say.
void check_use(const CLI::App& command, const ClusterArguments& arguments) {
  const auto refuse = [&](std::initializer_list<const char*> flags, const char* why) {
    for (const char* flag : flags) {
      if (command.get_option(flag)->count() > 0) throw CLI::ValidationError(flag, why);
    }
  };
  if (!arguments.replay.empty()) {
    refuse({"graphs", "--load", "--jobs", "--process", "--set"},
           "says nothing beside --replay, whose file has all arrivals; leave one of them out");
  }
  if (!arguments.graphs.empty()) {
    refuse({"--set"}, "is about jobs that are drawn, and here they are named; leave it out");
  }
  const bool symphony =
      std::any_of(arguments.policies.begin(), arguments.policies.end(),
                  [](const std::string& name) { return name.starts_with("symphony="); });
  if (!symphony) {
    refuse({"--decisions-per-look", "--quick"},
           "is for models of Symphony; name one by --policy symphony=FILE");
  }
  if (command.get_option("--unknown-load")->count() == 0) {
    refuse({"--unknown-work"}, "says what an unknown load does; give one by --unknown-load");
  }
}

void add_real_flags(CLI::App& command, ClusterArguments& arguments) {
  command
      .add_option("--runtime", arguments.runtime,
                  "sim: in simulation; local: for real, on this host (sim)")
      ->check(CLI::IsMember({"sim", "local"}));
  command
      .add_option(
          "--repeats", arguments.real.repeats,
          "For real: turns that count; each has arrivals of its own, with the next seed, and "
          "every dispatcher gets them (5)")
      ->check(CLI::Range(1, 100'000));
  command.add_option("--warm-up", arguments.real.warm_up, "For real: turns before that (1)")
      ->check(CLI::Range(0, 1000));
  command.add_flag(
      "--verify", arguments.real.verify,
      "For real: compare what the jobs of each dispatcher's first run came to with the "
      "float64 reference (slow)");
  command
      .add_option("--unknown-work", arguments.unknown_work,
                  "For real: what the unknown load does on half of the machine's cores, memory or "
                  "compute (memory)")
      ->check(CLI::IsMember({"memory", "compute"}));
  command
      .add_option("--interval-ms", arguments.interval_ms,
                  "For real: milliseconds between two readings of the host's counters (10)")
      ->check(CLI::Range(1, 60'000));
  command
      .add_option("--decisions-per-look", arguments.models.decisions_per_look,
                  "Of Symphony: decisions that go by one look at the counters; more is quicker (1)")
      ->check(CLI::Range(1, 100'000));
  command.add_option(
      "--quick", arguments.quick,
      "For real: who goes on where Symphony's decisions let devices wait for a quarter "
      "of the time that they work, or more; none: nobody (graphene)");
  auto* adapt = command.add_option(
      "--adapt", arguments.real.adapt,
      "For real: fit the belief of this Symphony model to what counters say in these runs");
  auto* adapted =
      command.add_option("--adapted", arguments.real.adapted, "The model with that belief, a file");
  adapt->needs(adapted);
  adapted->needs(adapt);
}

}  // namespace

void add_cluster_command(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand(
      "cluster", "Let jobs arrive, in simulation or for real, and compare who schedules them");
  command->footer(
      known_dispatchers() +
      "Slow-down: the time from a job's arrival to its end, over its longest way with every "
      "op on its quickest device.\n"
      "Example: tutti cluster --load 0.9 --unknown-load 0.5 --policy fifo,heft\n"
      "         tutti cluster a.json b.json --runtime local -m this-host:2x1 --costs costs.json "
      "--jobs 50 --verify");
  auto arguments = std::make_shared<ClusterArguments>();
  command->add_option("graphs", arguments->graphs,
                      "Jobs: graph files, or families and a seed, such as align-3 or align+eeg-7 "
                      "(drawn jobs of all families)");
  command->add_option("-m,--machine", arguments->machine,
                      "Machine file or preset (two sockets with a CPU, a GPU and an FPGA each; for "
                      "real: this host)");
  command->add_option(
      "--costs", arguments->costs,
      "Costs file with [[run_time]] and [[demand]] rows (of the families' kinds; for "
      "real: by the machine's rates)");
  command->add_option("-p,--policy", arguments->policies, "Dispatchers, joined by commas (all)")
      ->delimiter(',');
  command
      ->add_option("--load", arguments->load,
                   "How much work arrives; 1 is about what the best dispatchers keep up with (0.6)")
      ->check(finite_range(0.001, 100));
  command->add_option("--jobs", arguments->jobs, "How many jobs arrive (100)")
      ->check(CLI::Range(1, 100'000));
  command->add_option("--process", arguments->process, "poisson or bursts (poisson)")
      ->check(CLI::IsMember({"poisson", "bursts"}));
  command->add_option("--set", arguments->set, "Drawn jobs: train, validation or test (test)")
      ->check(CLI::IsMember({"train", "validation", "test"}));
  command->add_option("--replay", arguments->replay, "Arrivals from a file, instead of all these");
  command
      ->add_option(
          "--unknown-load", arguments->unknown_load,
          "Share of what an op draws that tenants take of whom no dispatcher knows; for real: "
          "of a core's time (0)")
      ->check(finite_range(0, 1));
  command->add_option("--noise", arguments->noise, "Spread of run times, instead of what costs say")
      ->check(finite_range(0, 10));
  command
      ->add_option("--counters", arguments->counters,
                   "In simulation: all that are usual, or host: those that this host, or a run on "
                   "it, can tell; as the model was trained (all)")
      ->check(CLI::IsMember({"all", "host"}));
  command->add_option("--seed", arguments->seed, "Seed of arrivals, noise and tenants (1)")
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
