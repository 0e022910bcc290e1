#include "tools/compare/compare_options.h"

#include <fmt/format.h>

#include <chrono>

#include "tutti/search/planners.h"

namespace tutti {

void CompareArguments::add_to(CLI::App& command) {
  given = &command;
  inputs.add_to(command);
  inputs.add_noise_to(command);
  inputs.add_cold_to(command);
  model.add_to(command);
  common.add_to(command);
  search.add_to(command);
  objective.add_to(command);
  command.add_option("--policies", policies, "Policies, by name; default: all that do not search")
      ->delimiter(',');
  command
      .add_option("--runs", runs,
                  "Scenarios that each plan is judged on, where durations are drawn")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  command.add_option("--seeds", seeds, "Plans of each policy, one per seed")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  command
      .add_option(
          "--runtime", runtime,
          "sim: simulated; local: run on this host; starpu: run on this host or, under mpirun "
          "or srun, on several, compared with StarPU's own schedulers")
      ->check(CLI::IsMember({"sim", "local", "starpu"}))
      ->capture_default_str();
  command
      .add_option("--plans", plans,
                  "With --runtime local or starpu: plan files to run in addition to the policies")
      ->delimiter(',');
  command.add_option("--repeats", repeats, "Runs of each plan, where it is run")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  command
      .add_option("--schedulers", schedulers,
                  "starpu: schedulers of StarPU, or none; default: "
                  "eager,lws,dmda,dmdas,heteroprio")
      ->delimiter(',');
  command
      .add_option("--hosts-by", hosts_by,
                  "starpu: policies that choose the host of each op for StarPU's schedulers, which "
                  "choose within a host; default: expert, or heft where the graph has no shards")
      ->delimiter(',');
  command.add_flag("--bulk-synchronous", bulk_synchronous,
                   "Run each plan also with barriers between levels, with --runtime local");
}

Result<void> CompareArguments::check() const {
  if (Result<void> good = objective.check(model); !good) return good;
  if (objective.throughput() && for_real()) {
    return invalid_input(
        "--objective throughput is for simulated runs, and these are real; leave it out");
  }
  if (objective.throughput() && given->count("--runs") > 0) {
    return invalid_input(
        "--runs is for draws of durations, and the steady state is of their means; leave it out");
  }
  for (const char* flag : {"--seeds", "--runs"}) {
    if (!for_real() || given->count(flag) == 0) continue;
    return invalid_input(
        fmt::format("{} is for simulated runs, and these are real: --repeats says how often each "
                    "plan is run; leave it out",
                    flag));
  }
  for (const char* flag : {"--model", "--order", "--noise"}) {
    if (!for_real() || given->count(flag) == 0) continue;
    return invalid_input(
        fmt::format("{} is for simulated runs, and these are real; leave it out", flag));
  }
  if (!for_real() && given->count("--repeats") > 0) {
    return invalid_input(
        "--repeats is for real runs; give --runtime local, or --runs for simulated ones");
  }
  if (runtime != "local" && bulk_synchronous) {
    return invalid_input("--bulk-synchronous is for real runs; give --runtime local");
  }
  if (!for_real() && !plans.empty()) {
    return invalid_input("--plans is for real runs; give --runtime local");
  }
  if (runtime != "starpu" && !(schedulers.empty() && hosts_by.empty())) {
    return invalid_input("--schedulers and --hosts-by are for real runs; give --runtime starpu");
  }
  return {};
}

Result<std::vector<PolicyEntry>> CompareArguments::entries(const AutoSettings& settings) const {
  std::vector<PolicyEntry> found;
  for (const std::string& name : policies) {
    Result<PolicyEntry> entry = find_planner(name, settings);
    if (!entry) return entry.error();
    found.push_back(std::move(*entry));
  }
  const bool enough = for_real() && !(plans.empty() && schedulers.empty());
  if (found.empty() && !enough) found = planning_policies(settings.trained_model);
  if (found.empty()) return found;
  if (const Result<void> good = search.require_use(found); !good) return good.error();
  return found;
}

Result<std::vector<PlanToRun>> plans_to_run(const CompareArguments& arguments,
                                            const Problem& problem,
                                            const std::vector<PolicyEntry>& entries) {
  const Budget budget = arguments.search.to_budget();
  std::vector<PlanToRun> found;
  for (const PolicyEntry& entry : entries) {
    const auto begin = std::chrono::steady_clock::now();
    Result<Plan> plan = make_plan(entry, problem, budget, arguments.common.seed);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    if (!plan) {
      print_warning(
          fmt::format("{} has no plan and is left out: {}", entry.name, plan.error().message));
      continue;
    }
    found.push_back({entry.name, std::move(*plan), took.count()});
  }
  for (const std::string& path : arguments.plans) {
    Result<Plan> plan = load_good_plan(path, problem);
    if (!plan) return plan.error();
    found.push_back({path, std::move(*plan)});
  }
  if (found.empty()) return infeasible("no policy has a plan to run");
  if (!arguments.bulk_synchronous) return found;
  const size_t count = found.size();
  for (size_t i = 0; i < count; ++i) {
    found.push_back(found[i]);
    found.back().bulk_synchronous = true;
  }
  return found;
}

void show_turn(int turn, int turns) {
  if (shows_progress()) fmt::print(stderr, "\r\033[Kturn {} of {} ...", turn + 1, turns);
}

}  // namespace tutti
