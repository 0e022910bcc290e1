// tutti compare --objective throughput: policies by the time per pass of their plans.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "tools/answer.h"
#include "tools/compare/compare_options.h"
#include "tools/print/table.h"
#include "tools/print/throughput_report.h"
#include "tutti/base/parallel.h"
#include "tutti/search/planners.h"

namespace tutti {
namespace {

struct PassRun {
  PassTimes times{};
  double plan_seconds = 0;
  std::optional<Error> error{};
};

// A policy over its seeds.
struct PassRow {
  std::string policy;
  PassTimes best{};
  double mean_ns = 0;
  double stddev_ns = 0;
  double plan_seconds = 0;  // mean
  int seeds = 0;
  std::optional<Error> error{};
};

struct PassPolicy {
  std::string name;
  bool seeded = false;
};

// Without names: all that do not search, and "pipeline".
Result<std::vector<PassPolicy>> policies_for_throughput(const CompareArguments& arguments,
                                                        const AutoSettings& settings) {
  std::vector<PassPolicy> found;
  std::vector<PolicyEntry> entries;
  for (const std::string& name : arguments.policies) {
    if (name == kPipelinePolicy) {
      found.push_back({.name = name, .seeded = true});
      continue;
    }
    Result<PolicyEntry> entry = find_planner(name, settings);
    if (!entry) return entry.error();
    found.push_back({.name = entry->name, .seeded = entry->seeded});
    entries.push_back(std::move(*entry));
  }
  if (found.empty()) {
    for (const PolicyEntry& entry : planning_policies(settings.trained_model)) {
      found.push_back({.name = entry.name, .seeded = entry.seeded});
    }
    found.push_back({.name = kPipelinePolicy, .seeded = true});
  }
  if (entries.size() == found.size()) {
    if (const Result<void> good = arguments.search.require_use(entries); !good) return good.error();
  }
  return found;
}

PassRow summary(const std::string& policy, const std::vector<PassRun>& runs) {
  PassRow row{.policy = policy, .seeds = static_cast<int>(runs.size())};
  row.best.per_pass = kNever;
  const auto count = static_cast<double>(runs.size());
  for (const PassRun& run : runs) {
    if (run.error) {
      row.error = run.error;
      return row;
    }
    row.mean_ns += static_cast<double>(run.times.per_pass.count()) / count;
    row.plan_seconds += run.plan_seconds / count;
    if (run.times.per_pass < row.best.per_pass) row.best = run.times;
  }
  double squares = 0;
  for (const PassRun& run : runs) {
    squares += std::pow(static_cast<double>(run.times.per_pass.count()) - row.mean_ns, 2);
  }
  if (runs.size() > 1) row.stddev_ns = std::sqrt(squares / (count - 1));
  return row;
}

std::vector<PassRow> compare_passes(const CompareArguments& arguments, const AutoSettings& settings,
                                    const Problem& problem,
                                    const std::vector<PassPolicy>& policies) {
  const int threads = settings.budget.wall_clock ? 1 : arguments.common.thread_count();
  std::vector<PassRow> rows;
  for (const PassPolicy& policy : policies) {
    if (shows_progress()) {
      fmt::print(stderr, "\r\033[K{} of {}: {} ...", rows.size() + 1, policies.size(), policy.name);
    }
    // Of a policy without a seed one plan stands for all.
    std::vector<PassRun> runs(static_cast<size_t>(policy.seeded ? arguments.seeds : 1));
    parallel_for(static_cast<int>(runs.size()), threads, [&](int index, int /*thread*/) {
      AutoSettings own = settings;
      own.seed = arguments.common.seed + static_cast<uint64_t>(index);
      PassRun& run = runs[static_cast<size_t>(index)];
      const auto begin = std::chrono::steady_clock::now();
      const Result<ThroughputResult> result =
          plan_for_throughput(problem, policy.name, arguments.objective.in_flight(), own);
      run.plan_seconds =
          std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      if (result) {
        run.times = result->times;
      } else {
        run.error = result.error();
      }
    });
    rows.push_back(summary(policy.name, runs));
  }
  if (shows_progress()) fmt::print(stderr, "\r\033[K");
  return rows;
}

std::string passes_json(const CompareArguments& arguments, const Problem& problem, Duration bound,
                        const std::vector<PassRow>& rows) {
  JsonWriter json;
  json.open_object().field("schema_version", 1).field("graph", problem.graph.name());
  json.field("machine", problem.machine.name()).field("objective", "throughput");
  json.field("passes", arguments.objective.in_flight()).field("lower_bound_ns", bound);
  json.key("results").open_list();
  for (const PassRow& row : rows) {
    json.open_object().field("policy", row.policy);
    if (row.error) {
      json.field("error", row.error->message).close_object();
      continue;
    }
    json.key("time_per_pass_ns").open_object().field("mean", row.mean_ns);
    json.field("stddev", row.stddev_ns).field("seeds", row.seeds).close_object();
    json.field("gap", gap_to(bound, row.mean_ns)).field("plan_seconds", row.plan_seconds);
    json.key("best").open_object();
    add_pass_times(json, row.best);
    json.close_object().close_object();
  }
  json.close_list().field("seed", std::to_string(arguments.common.seed)).close_object();
  return json.text();
}

void print_passes(const CompareArguments& arguments, const Problem& problem, Duration bound,
                  const std::vector<PassRow>& rows) {
  const PassRow* best = nullptr;
  for (const PassRow& row : rows) {
    if (!row.error && (best == nullptr || row.mean_ns < best->mean_ns)) best = &row;
  }
  if (best != nullptr) {
    fmt::print("best is {}: {} per pass, {} above the lower bound {}\n\n", best->policy,
               to_text(nanoseconds_of(best->mean_ns)), gap_text(gap_to(bound, best->mean_ns)),
               to_text(bound));
  }
  const int passes = arguments.objective.in_flight();
  fmt::print("graph {} (ops: {}), machine {} (devices: {}), passes in flight: {}, simulated\n",
             problem.graph.name(), problem.graph.size(), problem.machine.name(),
             problem.machine.size(), passes);
  Table table({"policy", "per pass", "stddev", "gap", "best", "simulated", "load", "one pass",
               "in flight", "plan time"});
  for (const PassRow& row : rows) {
    if (row.error) continue;
    table.add({row.policy, to_text(nanoseconds_of(row.mean_ns)),
               to_text(nanoseconds_of(row.stddev_ns)), gap_text(gap_to(bound, row.mean_ns)),
               to_text(row.best.per_pass), to_text(row.best.simulated),
               to_text(row.best.largest_load), to_text(row.best.one_pass),
               in_flight_text(row.best, passes), to_text(nanoseconds_of(row.plan_seconds * 1e9))});
  }
  table.add({"lower bound", to_text(bound)});
  fmt::print("{}", table.text());
  for (const PassRow& row : rows) {
    if (row.error) fmt::print("  {}: {}\n", row.policy, row.error->message);
  }
}

}  // namespace

int run_compare_for_throughput(const CompareArguments& arguments, const AutoSettings& settings) {
  const Result<std::vector<PassPolicy>> policies = policies_for_throughput(arguments, settings);
  if (!policies) return report(policies.error());
  const Result<LoadedProblem> loaded = arguments.inputs.load();
  if (!loaded) return report(loaded.error());
  const Problem& problem = *loaded->problem;
  const Duration bound =
      bound_per_pass(problem, lower_bounds(problem), arguments.objective.in_flight());
  const std::vector<PassRow> rows = compare_passes(arguments, settings, problem, *policies);
  tell_of_interrupt("policies that searched, or came later, had less than their budget");
  if (arguments.common.json) {
    fmt::print("{}", passes_json(arguments, problem, bound, rows));
  } else {
    print_passes(arguments, problem, bound, rows);
  }
  const bool any =
      std::any_of(rows.begin(), rows.end(), [](const PassRow& row) { return !row.error; });
  return any ? 0 : report(*rows.back().error);
}

}  // namespace tutti
