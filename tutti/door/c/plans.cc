// Plans of the C interface: made, given, read; and policies compared.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "tutti/base/file/output.h"
#include "tutti/base/parallel.h"
#include "tutti/door/c/handles.h"
#include "tutti/plan/check/check.h"
#include "tutti/plan/file.h"
#include "tutti/runtime/sim/physical.h"
#include "tutti/search/compare.h"
#include "tutti/search/planners.h"

struct tutti_comparison {
  std::vector<tutti::PolicyOutcome> rows;
  tutti::Duration bound{0};
};

namespace tutti::door {

Result<tutti_plan*> plan_handle(std::shared_ptr<const ProblemData> data, Plan plan,
                                std::optional<Duration> makespan) {
  const Problem& problem = data->problem;
  const std::vector<std::string> faults = check_plan(problem, plan, 1);
  if (!faults.empty()) return invalid_input(faults[0]);
  if (!makespan) {
    PhysicalSimulator simulator(problem);
    const Result<Duration> simulated = simulator.run(plan, {});
    if (!simulated) return simulated.error();
    makespan = *simulated;
  }
  auto handle = std::make_unique<tutti_plan>();
  handle->makespan = *makespan;
  for (const DeviceId device : plan.placement) handle->devices.push_back(device.index);
  handle->plan = std::move(plan);
  handle->data = std::move(data);
  return handle.release();
}

namespace {

Result<Budget> budget_of(double seconds, int64_t evaluations) {
  if (!std::isfinite(seconds) || seconds < 0 || seconds > 1e9) {
    return invalid_input(fmt::format("budget_seconds is {}; it must be from 0 to 1e9", seconds));
  }
  if (evaluations < 0) return invalid_input("evaluations must be 0 or more");
  if (seconds > 0 && evaluations > 0) {
    return invalid_input("budget_seconds and evaluations are both given; take one");
  }
  Budget budget;
  if (seconds > 0) budget.wall_clock = std::chrono::milliseconds(std::llround(seconds * 1000));
  if (budget.wall_clock && budget.wall_clock->count() == 0) {
    return invalid_input("budget_seconds is less than a millisecond");
  }
  if (evaluations > 0) budget.evaluations = evaluations;
  return budget;
}

Result<int> threads_of(int32_t threads) {
  if (threads < 0 || threads > 4096) return invalid_input("threads must be from 0 to 4096");
  return threads > 0 ? threads : usable_cores();
}

Result<AutoSettings> settings_of(double seconds, int64_t evaluations, uint64_t seed,
                                 int32_t threads) {
  const Result<Budget> budget = budget_of(seconds, evaluations);
  if (!budget) return budget.error();
  const Result<int> count = threads_of(threads);
  if (!count) return count.error();
  AutoSettings settings;
  settings.seed = seed == 0 ? 1 : seed;
  settings.model.scenarios = {.seed = settings.seed, .count = 8};
  settings.budget = *budget;
  settings.threads = *count;
  return settings;
}

Result<tutti_plan*> make(const std::shared_ptr<const ProblemData>& data,
                         const tutti_plan_options& options) {
  Result<AutoSettings> settings =
      settings_of(options.budget_seconds, options.evaluations, options.seed, options.threads);
  if (!settings) return settings.error();
  const std::string policy = text_or(options.policy, "auto");
  const Result<PolicyEntry> entry = find_planner(policy, *settings);
  if (!entry) return entry.error();
  const Problem& problem = data->problem;
  if (problem.graph.size() == 0) return invalid_input("the graph has no ops to plan");
  settings->lower_bound = data->lower_bound();
  Result<AutoResult> made = policy == "auto" ? plan_auto(problem, *settings)
                                             : plan_and_evaluate(*entry, problem, *settings);
  if (!made) return made.error();
  return plan_handle(data, std::move(made->plan), made->makespan);
}

Result<Plan> plan_of(const Problem& problem, const int32_t* devices, const int64_t* priorities,
                     size_t count) {
  const auto ops = static_cast<size_t>(problem.graph.size());
  if (count != ops) {
    return invalid_input(fmt::format("{} devices for {} ops; give one for each", count, ops));
  }
  Plan plan;
  for (size_t i = 0; i < ops; ++i) {
    if (devices[i] < 0 || devices[i] >= problem.machine.size()) {
      return invalid_input(fmt::format("op {} is placed on device {}; there are {} devices", i,
                                       devices[i], problem.machine.size()));
    }
    plan.placement.push_back(DeviceId{devices[i]});
    plan.priority.push_back(priorities == nullptr ? static_cast<int64_t>(i) : priorities[i]);
  }
  plan.provenance.policy = "given";
  note_origin(problem, 0, plan.provenance);
  return plan;
}

Result<tutti_plan*> read(const std::shared_ptr<const ProblemData>& data, Source source) {
  const Problem& problem = data->problem;
  Result<Plan> plan = read_plan(source, problem);
  if (!plan) return plan.error();
  if (plan->provenance.machine_fingerprint != problem.machine.fingerprint() ||
      plan->provenance.costs_fingerprint != problem.costs.fingerprint()) {
    // Its own times are of other hardware, and only they.
    plan->start.clear();
    plan->finish.clear();
    plan->planned_makespan.reset();
    plan->simulated = false;
  }
  Result<tutti_plan*> handle = plan_handle(data, std::move(*plan));
  if (!handle) return Error{handle.error().kind, source.name() + ": " + handle.error().message};
  return handle;
}

Result<tutti_comparison*> compare(const ProblemData& data, const tutti_compare_options& options) {
  if (options.seeds < 0 || options.seeds > 1'000'000) {
    return invalid_input("seeds must be from 0 to 1000000");
  }
  Result<AutoSettings> settings =
      settings_of(options.budget_seconds, options.evaluations, options.seed, options.threads);
  if (!settings) return settings.error();
  const int threads = settings->threads;
  if (!settings->budget.wall_clock) settings->threads = 1;  // seeds run side by side instead
  if (data.problem.graph.size() == 0) return invalid_input("the graph has no ops to plan");
  std::vector<PolicyEntry> entries;
  if (options.policies == nullptr) {
    for (PolicyEntry& entry : all_planners(*settings)) {
      if (!entry.for_comparison) entries.push_back(std::move(entry));
    }
  } else {
    for (int32_t i = 0; i < options.policy_count; ++i) {
      Result<PolicyEntry> entry = find_planner(text_or(options.policies[i], ""), *settings);
      if (!entry) return entry.error();
      entries.push_back(std::move(*entry));
    }
  }
  if (entries.empty()) return invalid_input("no policies to compare; name at least one");
  auto rows = compare_policies(data.problem, entries,
                               {.seed = settings->seed,
                                .seeds = options.seeds == 0 ? 10 : options.seeds,
                                .budget = settings->budget,
                                .threads = threads});
  const bool all_failed =
      std::all_of(rows.begin(), rows.end(), [](const PolicyOutcome& row) { return row.error; });
  if (all_failed) return *rows.back().error;
  return new tutti_comparison{std::move(rows), data.lower_bound()};
}

tutti_plan* out(const Result<tutti_plan*>& plan, tutti_error* error) {
  if (plan) return *plan;
  tell(error, plan.error());
  return nullptr;
}

}  // namespace
}  // namespace tutti::door

using namespace tutti;        // NOLINT: the rest of this file is in C's only namespace
using namespace tutti::door;  // NOLINT

tutti_plan* tutti_plan_make(const tutti_problem* problem, const tutti_plan_options* options,
                            tutti_error* error) {
  return guarded<tutti_plan*>(error, nullptr, [&] {
    const Result<void> good = require("tutti_plan_make", problem);
    const Result<tutti_plan_options> read = options_of(options);
    if (!good) return out(good.error(), error);
    return out(read ? make(problem->data, *read) : Result<tutti_plan*>(read.error()), error);
  });
}

tutti_plan* tutti_plan_of(const tutti_problem* problem, const int32_t* devices,
                          const int64_t* priorities, size_t count, tutti_error* error) {
  return guarded<tutti_plan*>(error, nullptr, [&] {
    if (const Result<void> good = require("tutti_plan_of", problem, devices); !good) {
      return out(good.error(), error);
    }
    Result<Plan> plan = plan_of(problem->data->problem, devices, priorities, count);
    return out(plan ? plan_handle(problem->data, std::move(*plan)) : plan.error(), error);
  });
}

tutti_plan* tutti_plan_load(const tutti_problem* problem, const char* path, tutti_error* error) {
  return guarded<tutti_plan*>(error, nullptr, [&] {
    if (const Result<void> good = require("tutti_plan_load", problem, path); !good) {
      return out(good.error(), error);
    }
    Result<Source> source = Source::open(path);
    return out(source ? read(problem->data, std::move(*source)) : source.error(), error);
  });
}

tutti_plan* tutti_plan_parse(const tutti_problem* problem, const char* text, size_t length,
                             const char* name, tutti_error* error) {
  return guarded<tutti_plan*>(error, nullptr, [&] {
    if (const Result<void> good = require("tutti_plan_parse", problem, text); !good) {
      return out(good.error(), error);
    }
    return out(read(problem->data, Source::from_text(text_or(name, "plan"), {text, length})),
               error);
  });
}

void tutti_plan_free(tutti_plan* plan) {
  delete plan;
}

int64_t tutti_plan_makespan(const tutti_plan* plan) {
  return plan == nullptr ? -1 : plan->makespan.count();
}

int64_t tutti_plan_evaluations(const tutti_plan* plan) {
  return plan == nullptr ? 0 : plan->plan.provenance.evaluations;
}

const char* tutti_plan_policy(const tutti_plan* plan) {
  return plan == nullptr ? nullptr : plan->plan.provenance.policy.c_str();
}

size_t tutti_plan_size(const tutti_plan* plan) {
  return plan == nullptr ? 0 : plan->devices.size();
}

const int32_t* tutti_plan_devices(const tutti_plan* plan) {
  return plan == nullptr ? nullptr : plan->devices.data();
}

const int64_t* tutti_plan_priorities(const tutti_plan* plan) {
  return plan == nullptr ? nullptr : plan->plan.priority.data();
}

const char* tutti_plan_text(const tutti_plan* plan) {
  return guarded<const char*>(nullptr, nullptr, [&]() -> const char* {
    if (plan == nullptr) return nullptr;
    std::call_once(plan->text_once,
                   [&] { plan->text = plan_to_json(plan->plan, plan->data->problem); });
    return plan->text.c_str();
  });
}

int tutti_plan_save(const tutti_plan* plan, const char* path, tutti_error* error) {
  return guarded<int>(error, TUTTI_FAILED, [&] {
    Result<void> done = require("tutti_plan_save", plan, path);
    if (done) done = write_file(path, tutti_plan_text(plan));
    return done ? TUTTI_OK : tell(error, done.error());
  });
}

tutti_comparison* tutti_compare(const tutti_problem* problem, const tutti_compare_options* options,
                                tutti_error* error) {
  return guarded<tutti_comparison*>(error, nullptr, [&]() -> tutti_comparison* {
    Result<void> good = require("tutti_compare", problem);
    const Result<tutti_compare_options> read = options_of(options);
    if (good && !read) good = read.error();
    const Result<tutti_comparison*> made =
        good ? compare(*problem->data, *read) : Result<tutti_comparison*>(good.error());
    if (made) return *made;
    tell(error, made.error());
    return nullptr;
  });
}

void tutti_comparison_free(tutti_comparison* comparison) {
  delete comparison;
}

size_t tutti_comparison_size(const tutti_comparison* comparison) {
  return comparison == nullptr ? 0 : comparison->rows.size();
}

int tutti_comparison_row(const tutti_comparison* comparison, size_t index, tutti_compared* row) {
  if (comparison == nullptr || row == nullptr || row->size < sizeof(size_t) ||
      row->size > sizeof(tutti_compared) || index >= comparison->rows.size()) {
    return TUTTI_INVALID_INPUT;
  }
  const PolicyOutcome& from = comparison->rows[index];
  const tutti_compared filled = {.size = row->size,
                                 .policy = from.policy.c_str(),
                                 .error = from.error ? from.error->message.c_str() : nullptr,
                                 .mean_ns = from.mean_ns,
                                 .least_ns = from.min_ns,
                                 .deviation_ns = from.stddev_ns,
                                 .gap = gap_to(comparison->bound, from.mean_ns),
                                 .plan_seconds = from.plan_seconds,
                                 .bytes_moved = from.bytes_moved,
                                 .evaluations = from.evaluations,
                                 .runs = from.runs};
  std::memcpy(row, &filled, row->size);
  return TUTTI_OK;
}
