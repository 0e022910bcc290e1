#include "tools/measure/validate_online.h"

#include <fmt/format.h>

#include <algorithm>

#include "tools/inputs.h"
#include "tools/print/table.h"
#include "tools/search_options.h"
#include "tutti/base/file/output.h"
#include "tutti/calibrate/measure/validate_jobs.h"
#include "tutti/machine/preset.h"
#include "tutti/runtime/arriving/host_counters.h"

namespace tutti {
namespace {

constexpr int kUsualRepeats = 6;

// Costs that were measured: with estimates the comparison says nothing about the simulator.
Result<CostSpec> measured_costs(const std::string& path) {
  if (path.empty()) {
    return invalid_input(
        "--online needs --costs, measured on this host by tutti calibrate: with estimated costs "
        "the comparison says nothing about the simulator");
  }
  return load_costs(path);
}

Result<void> refuse_seen(const OnlineValidation::Shared& shared, const CostSpec& costs,
                         const JobArrivals& arrivals) {
  if (shared.seen_graphs || !costs.calibration) return {};
  JobList jobs = arrivals.jobs;
  for (const Arrival& arrival : arrivals.replayed) jobs.push_back(arrival.job);
  for (const auto& job : jobs) {
    const auto& seen = costs.calibration->graphs;
    if (std::find(seen.begin(), seen.end(), job->graph().fingerprint()) == seen.end()) continue;
    return invalid_input(fmt::format(
        "job '{}': the costs of {} were measured on this graph, and say nothing about others if "
        "they are right here; name another graph, or --seen-graphs to validate all the same",
        job->name(), shared.costs));
  }
  return {};
}

ValidateJobsOptions options_of(const OnlineValidation& flags,
                               const OnlineValidation::Shared& shared) {
  ValidateJobsOptions options{.simulated = sim_options_for_real()};
  options.speed = flags.speed == "costs"  ? HostSpeed::costs
                  : flags.speed == "turn" ? HostSpeed::turn
                                          : HostSpeed::warm_up;
  const int repeats = shared.repeats > 0 ? shared.repeats : kUsualRepeats;
  options.real.turns = {.warm_up = flags.warm_up,
                        .repeats = repeats,
                        .seed = shared.seed,
                        .stop = stop_on_interrupt()};
  if (!shared.budget.empty()) {
    options.real.turns.stop =
        options.real.turns.stop.by(Stop::Clock::now() + *parse_budget(shared.budget));
  }
  options.real.on_note = print_note;
  if (!shows_progress()) return options;
  const int turns = flags.warm_up + repeats;
  options.real.progress = [turns](const std::string& policy, int turn, int64_t ended, int64_t ops) {
    fmt::print(stderr, "\r\033[Kturn {} of {}, {}: {} of {} ops", turn + 1, turns, policy, ended,
               ops);
    std::fflush(stderr);
  };
  options.on_simulate = [](const std::string& policy, int turn) {
    fmt::print(stderr, "\r\033[Ksimulating turn {} under {}", turn + 1, policy);
    std::fflush(stderr);
  };
  return options;
}

std::string percents(const WithInterval& share) {
  return fmt::format("{:.1f} % ({:.1f} to {:.1f})", 100 * share.value, 100 * share.low,
                     100 * share.high);
}

std::string interval(const WithInterval& estimate) {
  return fmt::format("{:.2f} ({:.2f} to {:.2f})", estimate.value, estimate.low, estimate.high);
}

void print_online(const JobsValidation& validation, const std::optional<LoadReport>& load) {
  fmt::print("{}\n", to_text(validation));
  const JobsValidation::Pairs pairs = validation.pairs();
  fmt::print(
      "{} of {} pairs of policies differ in reality; {} of these are in the same order in "
      "simulation; one real turn predicts the others with a rank correlation of {:.2f}\n",
      pairs.differ, validation.policies.size() * (validation.policies.size() - 1) / 2,
      pairs.same_order, validation.agreement_of_turns());
  fmt::print(
      "dispatch: {} from a change to a decision, {} if a slot decides for itself; {} to start an "
      "op "
      "in an idle slot, {} behind another\n",
      to_text(validation.dispatch.reaction), to_text(validation.dispatch.help),
      to_text(validation.dispatch.start_idle), to_text(validation.dispatch.start_behind));
  if (load) fmt::print("{}", load_to_text(load));
  Table table({"policy", "real slow-down", "simulated", "error", "jobs in the system", "simulated",
               "decision"});
  for (size_t i = 0; i < validation.policies.size(); ++i) {
    const ValidatedPolicy& row = validation.policies[i];
    table.add({row.policy, interval(validation.real(i)), interval(validation.simulated(i)),
               percents(validation.error(i)), fmt::format("{:.2f}", row.real_jobs_in_system),
               fmt::format("{:.2f}", row.simulated_jobs_in_system), to_text(row.decision_time)});
  }
  fmt::print("{}", table.text());
  Table residuals({"op", "on", "runs", "real/expected", "median error", "share of time"});
  for (const Residual& row : validation.residuals) {
    residuals.add({row.kind.empty() ? "transfer" : row.kind, row.where, std::to_string(row.count),
                   fmt::format("{:.3f}", row.median_ratio),
                   fmt::format("{:.1f} %", 100 * row.median_error),
                   fmt::format("{:.1f} %", 100 * row.time_share)});
  }
  fmt::print("{}", residuals.text());
}

}  // namespace

Result<void> OnlineValidation::run(const Shared& shared) const {
  if (shared.graphs.empty() && arriving.replay.empty()) {
    return invalid_input(
        "--online needs jobs: name graph files with kernels, such as those of tutti graph make, or "
        "--replay FILE");
  }
  Result<CostSpec> costs = measured_costs(shared.costs);
  if (!costs) return costs.error();
  Result<Machine> machine = load_machine(shared.machine);
  if (!machine) return machine.error();
  Result<Cluster> cluster = Cluster::make(std::move(*machine), *costs);
  if (!cluster) return cluster.error();
  ArrivalInputs inputs = arriving;
  inputs.graphs = shared.graphs;
  inputs.seed = shared.seed;
  inputs.real = true;
  inputs.costs = shared.costs;
  Result<JobArrivals> arrivals = inputs.find(*cluster);
  if (!arrivals) return arrivals.error();
  if (Result<void> fresh = refuse_seen(shared, *costs, *arrivals); !fresh) return fresh;
  std::vector<std::string> read = shared.graphs;
  read.insert(read.end(), {shared.machine, shared.costs, arriving.replay});
  if (Result<void> good = check_output("--output", shared.output, read); !good) return good;
  const auto feed = read_host(cluster->machine(), {});
  const std::vector<Counter> counters = counters_for_real(cluster->machine(), *feed);
  const auto deciders = find_deciders(policies, *cluster, counters, {});
  if (!deciders) return deciders.error();
  const ValidateJobsOptions options = options_of(*this, shared);
  if (Result<void> found = inputs.find_load(*cluster, options.simulated, *arrivals); !found)
    return found;
  const Result<JobsValidation> validation = validate_jobs(
      *cluster, *deciders, counters, *feed, [&](uint64_t of) { return arrivals->of_seed(of); },
      options);
  if (shows_progress()) fmt::print(stderr, "\r\033[K");
  if (!validation) return validation.error();
  tell_of_interrupt("the figures are of the turns until then");
  std::optional<ValidatedLoad> load;
  if (arrivals->load) {
    load = {.load = arrivals->load->load,
            .jobs_per_s = arrivals->load->jobs_per_s(),
            .saturation_jobs_per_s = arrivals->load->saturation.jobs_per_s};
  }
  const std::string json = validation_to_json(*validation, load);
  if (!shared.output.empty()) {
    if (Result<void> written = write_file(shared.output, json); !written) return written;
  }
  if (shared.output == "-") return {};
  if (shared.json) {
    fmt::print("{}", json);
    return {};
  }
  print_online(*validation, arrivals->load);
  if (!shared.output.empty()) fmt::print("validation written to {}\n", shared.output);
  return {};
}

void OnlineValidation::add_to(CLI::App& command) {
  command.add_flag("--online", on,
                   "Validate with jobs that arrive: the graphs are jobs, run for real under "
                   "several policies and simulated with the same arrivals");
  arriving.add_to(command);
  command
      .add_option("-p,--policy", policies,
                  "With --online: policies, joined by commas; at least two; default: all")
      ->delimiter(',');
  command
      .add_option("--warm-up", warm_up,
                  "With --online: turns before those that count; each turn has arrivals of its own "
                  "; default: 1")
      ->check(CLI::Range(0, 1000));
  command
      .add_option(
          "--host-speed", speed,
          "With --online: how fast ops are in simulation. costs: as the costs say; warm-up: "
          "as fast as in the warm-up turns; turn: as fast as in the turn that is simulated, "
          "which leaves out how the host's speed changes (warm-up)")
      ->check(CLI::IsMember({"costs", "warm-up", "turn"}));
}

void OnlineValidation::check_use(const CLI::App& command) const {
  const auto refuse = [&](const std::vector<const char*>& flags, const char* why) {
    for (const char* flag : flags) {
      if (command.get_option(flag)->count() > 0) throw CLI::ValidationError(flag, why);
    }
  };
  if (on) {
    refuse({"--plans", "--update-costs", "--constraints"},
           "is for validation by plans; leave it out, or --online");
    if (!arriving.replay.empty()) {
      std::vector<const char*> drawn = ArrivalInputs::of_drawn_jobs();
      drawn.push_back("graphs");
      refuse(drawn,
             "has no effect with --replay, whose file has all arrivals; leave one of them out");
    }
    if (policies.size() == 1) {
      throw CLI::ValidationError("--policy",
                                 "needs two policies at least, whose order is compared");
    }
    return;
  }
  std::vector<const char*> online = ArrivalInputs::of_drawn_jobs();
  online.insert(online.end(), {"--replay", "--policy", "--warm-up", "--host-speed"});
  refuse(online, "is for arriving jobs; add --online, or leave it out");
  if (command.get_option("graphs")->count() == 0) {
    throw CLI::RequiredError("graphs");
  }
}

}  // namespace tutti
