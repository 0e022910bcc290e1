#include "tools/measure/arrival_inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "tools/inputs.h"
#include "tools/search_options.h"
#include "tutti/graph/make/job.h"
#include "tutti/policy/registry.h"
#include "tutti/runtime/local/jobs/options.h"
#include "tutti/runtime/sim/jobs/saturation.h"

namespace tutti {
namespace {

// 2,000 jobs, fewer of large ones: 100,000 ops in a run, if that is a hundred jobs at least.
int saturation_jobs(const JobList& jobs) {
  int64_t ops = 0;
  for (const auto& job : jobs) ops += job->graph().size();
  const int64_t fit = 100'000 * std::ssize(jobs) / std::max<int64_t>(1, ops);
  return static_cast<int>(std::clamp<int64_t>(fit, 100, 2000));
}

// By the best of three deciders in simulation.
Result<Saturation> simulated_saturation(const Cluster& cluster, const JobList& jobs,
                                        const JobSimOptions& options, uint64_t seed) {
  std::vector<SaturationDecider> deciders;
  for (const char* name : {"heft", "graphene", "fifo"}) {  // the first is most often the best
    const PolicyEntry* entry = find_decider(name).value();
    deciders.push_back({name, [entry] { return entry->tuned_decider(); }});
  }
  if (shows_progress()) fmt::print(stderr, "\r\033[Kfinding the saturation by simulation");
  Result<Saturation> found =
      find_saturation(cluster, jobs, options, deciders, seed,
                      {.jobs = saturation_jobs(jobs), .stop = stop_on_interrupt()});
  if (shows_progress()) fmt::print(stderr, "\r\033[K");
  return found;
}

}  // namespace

JobSimOptions sim_options_for_real() {
  return {.queue_depth = 2, .most_queue_depth = kMostQueueDepth};
}

// A graph file is checked against the costs; families have costs of their own.
Result<Graph> ArrivalInputs::load_job(const std::string& name, const Cluster& cluster) const {
  if (std::optional<Graph> made = make_named_job(name)) {
    if (!real) return std::move(*made);
    return invalid_input(
        fmt::format("{}: jobs of this family have no kernels and can only be simulated; for real, "
                    "name graph files with kernels, such as those of tutti graph make",
                    name));
  }
  Result<Imported> imported = load_graph(name);
  if (!imported) return imported.error();
  const auto good = check_costs(imported->graph, cluster.machine(), cluster.costs(), name, costs);
  if (!good) return good.error();
  return std::move(imported->graph);
}

Result<std::vector<Arrival>> ArrivalInputs::replayed(Cluster& cluster) const {
  Result<Source> source = Source::open(replay);
  if (!source) return source.error();
  const Result<std::vector<NamedArrival>> named = read_arrivals(*source);
  if (!named) return named.error();
  std::map<std::string, std::shared_ptr<const Job>> known;
  std::vector<Arrival> arrivals;
  for (const NamedArrival& arrival : *named) {
    std::shared_ptr<const Job>& job = known[arrival.job];
    if (job == nullptr) {
      Result<Graph> graph = load_job(arrival.job, cluster);
      if (!graph) return error_at(replay, arrival.line, graph.error().message);
      auto added = cluster.add_job(std::move(*graph));
      if (!added) return error_at(replay, arrival.line, added.error().message);
      job = std::move(*added);
    }
    arrivals.push_back({arrival.time, job});
  }
  return arrivals;
}

Result<JobArrivals> ArrivalInputs::find(Cluster& cluster) const {
  if (!replay.empty()) {
    Result<std::vector<Arrival>> arrivals = replayed(cluster);
    if (!arrivals) return arrivals.error();
    return JobArrivals{.replayed = std::move(*arrivals)};
  }
  std::vector<Graph> made;
  for (const std::string& name : graphs) {
    Result<Graph> graph = load_job(name, cluster);
    if (!graph) return graph.error();
    made.push_back(std::move(*graph));
  }
  if (made.empty()) {
    const JobSet from = set == "train"        ? JobSet::train
                        : set == "validation" ? JobSet::validation
                                              : JobSet::test;
    made = make_jobs(from, std::min(jobs, 40), seed);
  }
  Result<JobList> list = add_jobs(cluster, std::move(made));
  if (!list) return list.error();
  JobArrivals arrivals{.jobs = std::move(*list), .spec = {.jobs = jobs}};
  if (process == "bursts") arrivals.spec.process = ArrivalSpec::Process::bursts;
  return arrivals;
}

Result<void> ArrivalInputs::find_load(const Cluster& cluster, const JobSimOptions& options,
                                      JobArrivals& arrivals) const {
  if (arrivals.jobs.empty()) return {};
  Result<Saturation> found = saturation
                                 ? Saturation{.jobs_per_s = *saturation}
                                 : simulated_saturation(cluster, arrivals.jobs, options, seed);
  if (!found) return found.error();
  arrivals.load = {.load = load, .saturation = std::move(*found)};
  arrivals.spec.jobs_per_s = arrivals.load->jobs_per_s();
  return {};
}

std::vector<const char*> ArrivalInputs::of_drawn_jobs() {
  return {"--load", "--saturation", "--jobs", "--process"};
}

void ArrivalInputs::add_to(CLI::App& command) {
  command
      .add_option("--load", load,
                  fmt::format("Rate of arrivals, as a share of the saturation: the highest rate "
                              "that the best of heft, graphene and fifo keeps up with in "
                              "simulation ({})",
                              load))
      ->check(finite_range(0.001, 100));
  command
      .add_option("--saturation", saturation,
                  "Jobs per second at load 1, as an earlier run printed them (found by simulation, "
                  "which takes some seconds)")
      ->check(finite_range(1e-6, 1e9));
  command.add_option("--jobs", jobs, fmt::format("How many jobs arrive; default: {}", jobs))
      ->check(CLI::Range(1, 100'000));
  command.add_option("--process", process, "poisson or bursts; default: poisson")
      ->check(CLI::IsMember({"poisson", "bursts"}));
  command.add_option("--replay", replay, "Arrivals from a file, instead of all these");
}

}  // namespace tutti
