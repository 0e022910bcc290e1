// tutti cluster: jobs arrive on a simulated cluster; who schedules them best?

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "tools/commands.h"
#include "tools/inputs.h"
#include "tools/table.h"
#include "tutti/base/json_writer.h"
#include "tutti/base/statistics.h"
#include "tutti/costs/file.h"
#include "tutti/graph/make/job.h"
#include "tutti/machine/preset.h"
#include "tutti/plan/job_study.h"
#include "tutti/policy/online/registry.h"
#include "tutti/runtime/cluster/arrivals.h"
#include "tutti/runtime/cluster/cluster_sim.h"

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
  uint64_t seed = 1;
  bool json = false;
};

Result<Cluster> make_cluster(const ClusterArguments& arguments) {
  Result<Machine> machine = arguments.machine.empty() ? Machine::build(job_study_machine())
                                                      : load_machine(arguments.machine);
  if (!machine) return machine.error();
  CostSpec costs = job_study_costs();
  if (!arguments.costs.empty()) {
    Result<Source> source = Source::open(arguments.costs);
    if (!source) return source.error();
    Result<CostSpec> read = read_costs(*source);
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

Result<Graph> load_job(const std::string& name) {
  if (std::optional<Graph> made = make_named_job(name)) return std::move(*made);
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
      Result<Graph> graph = load_job(arrival.job);
      if (!graph) return error_at(arguments.replay, arrival.line, graph.error().message);
      auto added = cluster.add_job(std::move(*graph));
      if (!added) return error_at(arguments.replay, arrival.line, added.error().message);
      job = std::move(*added);
    }
    arrivals.push_back({arrival.time, job});
  }
  return arrivals;
}

Result<std::vector<Arrival>> make_arrivals(const ClusterArguments& arguments, Cluster& cluster) {
  if (!arguments.replay.empty()) return replayed(arguments, cluster);
  std::vector<Graph> graphs;
  for (const std::string& name : arguments.graphs) {
    Result<Graph> graph = load_job(name);
    if (!graph) return graph.error();
    graphs.push_back(std::move(*graph));
  }
  if (graphs.empty()) {
    const JobSet set = arguments.set == "train"        ? JobSet::train
                       : arguments.set == "validation" ? JobSet::validation
                                                       : JobSet::test;
    graphs = make_jobs(set, std::min(arguments.jobs, 40), arguments.seed);
  }
  const Result<JobList> jobs = add_jobs(cluster, std::move(graphs));
  if (!jobs) return jobs.error();
  ArrivalSpec spec{.load = arguments.load, .jobs = arguments.jobs};
  if (arguments.process == "bursts") spec.process = ArrivalSpec::Process::bursts;
  return draw_arrivals(cluster, *jobs, spec, arguments.seed);
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
  figures.slowdown_p95 = slowdowns[(slowdowns.size() - 1) * 95 / 100];
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

int run_cluster_command(const ClusterArguments& arguments) {
  std::vector<const DispatcherEntry*> entries;
  for (const std::string& name : arguments.policies) {
    const Result<const DispatcherEntry*> entry = find_dispatcher(name);
    if (!entry) return report(entry.error());
    entries.push_back(*entry);
  }
  if (entries.empty()) {
    for (const DispatcherEntry& entry : dispatcher_registry()) entries.push_back(&entry);
  }
  Result<Cluster> cluster = make_cluster(arguments);
  if (!cluster) return report(cluster.error());
  const Result<std::vector<Arrival>> arrivals = make_arrivals(arguments, *cluster);
  if (!arrivals) return report(arrivals.error());
  ClusterSim sim(*cluster, {.unknown_load = {.share = arguments.unknown_load}});
  std::vector<Figures> results;
  for (const DispatcherEntry* entry : entries) {
    const auto dispatcher = entry->make(entry->usual());
    const Result<ClusterRun> run = run_cluster(sim, *arrivals, *dispatcher, arguments.seed);
    if (!run) return report(run.error());
    results.push_back(figures_of(entry->name, *run));
  }
  if (arguments.json) {
    print_json(arguments, *cluster, arrivals->size(), results);
  } else {
    print_table(results);
  }
  return 0;
}

std::string known_dispatchers() {
  std::string text = "Dispatchers:\n";
  for (const DispatcherEntry& entry : dispatcher_registry())
    text += fmt::format("  {:<14} {}\n", entry.name, entry.what);
  return text;
}

}  // namespace

void add_cluster_command(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand(
      "cluster", "Let jobs arrive on a simulated cluster and compare who schedules them");
  command->footer(
      known_dispatchers() +
      "Slow-down: the time from a job's arrival to its end, over its longest way with every "
      "op on its quickest device.\n"
      "Example: tutti cluster --load 0.9 --unknown-load 0.5 --policy fifo,heft");
  auto arguments = std::make_shared<ClusterArguments>();
  command->add_option("graphs", arguments->graphs,
                      "Jobs: graph files, or families and a seed, such as align-3 or align+eeg-7 "
                      "(drawn jobs of all families)");
  command->add_option("-m,--machine", arguments->machine,
                      "Machine file or preset (two sockets with a CPU, a GPU and an FPGA each)");
  command->add_option("--costs", arguments->costs,
                      "Costs file with [[run_time]] and [[demand]] rows (of the families' kinds)");
  command->add_option("-p,--policy", arguments->policies, "Dispatchers, joined by commas (all)")
      ->delimiter(',');
  command
      ->add_option("--load", arguments->load,
                   "How much work arrives; 1 is about what the best dispatchers keep up with (0.6)")
      ->check(CLI::Range(0.001, 100.0));
  command->add_option("--jobs", arguments->jobs, "How many jobs arrive (100)")
      ->check(CLI::Range(1, 100'000));
  command->add_option("--process", arguments->process, "poisson or bursts (poisson)")
      ->check(CLI::IsMember({"poisson", "bursts"}));
  command->add_option("--set", arguments->set, "Drawn jobs: train, validation or test (test)")
      ->check(CLI::IsMember({"train", "validation", "test"}));
  command->add_option("--replay", arguments->replay, "Arrivals from a file, instead of all these");
  command
      ->add_option("--unknown-load", arguments->unknown_load,
                   "Share of a resource that tenants take of whom no dispatcher knows (0)")
      ->check(CLI::Range(0.0, 1.0));
  command->add_option("--noise", arguments->noise, "Spread of run times, instead of what costs say")
      ->check(CLI::Range(0.0, 10.0));
  command->add_option("--seed", arguments->seed, "Seed of arrivals, noise and tenants (1)")
      ->check(whole_number());
  command->add_flag("--json", arguments->json, "Print the result as JSON");
  command->callback([arguments, &exit_code] { exit_code = run_cluster_command(*arguments); });
}

}  // namespace tutti
