// Which jobs arrive, and how fast, as flags: for commands that run arriving jobs, simulated or for
// real.

#ifndef TUTTI_TOOLS_MEASURE_ARRIVAL_INPUTS_H_
#define TUTTI_TOOLS_MEASURE_ARRIVAL_INPUTS_H_

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tools/print/cluster_report.h"
#include "tutti/runtime/sim/jobs/arrivals.h"
#include "tutti/runtime/sim/jobs/options.h"

namespace tutti {

struct JobArrivals {
  std::vector<Arrival> replayed{};  // of a file, or
  JobList jobs{};                   // drawn from these, as `spec` says
  ArrivalSpec spec{};
  std::optional<LoadReport> load{};  // of what is drawn

  // Those of a file are the same for all seeds.
  std::vector<Arrival> of_seed(uint64_t seed) const {
    return jobs.empty() ? replayed : draw_arrivals(jobs, spec, seed);
  }
};

struct ArrivalInputs {
  std::vector<std::string> graphs{};
  std::string process = "poisson";
  std::string replay{};
  std::string set = "test";
  double load = 0.6;
  std::optional<double> saturation{};
  int jobs = 100;
  // Of the command.
  uint64_t seed = 1;
  bool real = false;    // jobs are run for real and need kernels
  std::string costs{};  // the file, for messages

  // --load, --saturation, --jobs, --process, --replay.
  void add_to(CLI::App& command);
  // The names of these flags that have no effect with --replay.
  static std::vector<const char*> of_drawn_jobs();

  // Adds the jobs to the cluster. Fails with a sentence that names the file.
  Result<JobArrivals> find(Cluster& cluster) const;
  // The rate of what is drawn: a share of the saturation in simulation as the options say, unless
  // that is given. It takes a while: mistakes in other flags are to be found before.
  Result<void> find_load(const Cluster& cluster, const JobSimOptions& options,
                         JobArrivals& arrivals) const;

 private:
  Result<Graph> load_job(const std::string& name, const Cluster& cluster) const;
  Result<std::vector<Arrival>> replayed(Cluster& cluster) const;
};

// What a real run is compared with: no hidden load, and queues as deep as the engine's.
JobSimOptions sim_options_for_real();

}  // namespace tutti

#endif  // TUTTI_TOOLS_MEASURE_ARRIVAL_INPUTS_H_
