#include "tutti/search/deciders.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tutti/base/file/source.h"
#include "tutti/policy/heuristic/heuristics.h"
#include "tutti/policy/online/fallback.h"
#include "tutti/policy/online/planned.h"
#include "tutti/policy/symphony/decider.h"
#include "tutti/runtime/no_streams.h"
#include "tutti/search/auto.h"

namespace tutti {
namespace {

// Jobs of more ops than that get fewer evaluations: the run blocks while the policy plans.
constexpr int64_t kWholeBudget = 1000;

// A job is planned as if alone on the machine, without constraints. HEFT finds a plan even if a
// simulated run would not fit into the machine's memories, which `auto` refuses, and never streams
// weights, which runs of arriving jobs cannot.
Plan plan_job_by_auto(const Problem& problem, int64_t evaluations) {
  AutoSettings settings;
  settings.budget.evaluations = std::max<int64_t>(
      evaluations * kWholeBudget / std::max<int64_t>(problem.graph.size(), kWholeBudget), 1);
  Result<AutoResult> found = plan_auto(problem, settings);
  const bool good = found && require_no_streams(problem, found->plan, "a run of jobs").has_value();
  return good ? std::move(found->plan) : plan_heft(problem, {}, 0).value();
}

PolicyEntry planned_auto() {
  return {
      .name = "planned_auto",
      .what = "each job as auto plans it, when it first comes, as if it had the machine to itself",
      .knobs = {{"evaluations", 500, 500, {100, 500}}},
      .make_decider = [](std::span<const double> values) {
        const auto evaluations = static_cast<int64_t>(values[0]);
        return std::make_unique<Planned>([evaluations](const Problem& problem) {
          return plan_job_by_auto(problem, evaluations);
        });
      }};
}

constexpr std::string_view kModel = "symphony=";

Result<NamedDecider> model_of(const std::string& name, const Cluster& cluster,
                              const std::vector<Counter>& counters,
                              const ModelDeciderOptions& options) {
  const std::string path = name.substr(kModel.size());
  if (path.empty()) return invalid_input("symphony= names no model; write symphony=FILE");
  Result<Source> source = Source::open(path);
  if (!source) return source.error();
  const Result<TensorFile> file = read_tensors(*source);
  if (!file) return file.error();
  auto model = SymphonyModel::load(*file, path, cluster, counters);
  if (!model) return model.error();
  if ((*model)->network().shape().knowledge == InformationLevel::truth) {
    return invalid_input(
        path +
        ": the model reads the true load, which only the simulator knows; train one "
        "that reads counters");
  }
  const PolicyEntry* fallback = nullptr;
  if (!options.fallback.empty()) {
    const Result<const PolicyEntry*> found = find_any_decider(options.fallback);
    if (!found) return found.error();
    fallback = *found;
  }
  return NamedDecider{
      name,
      [model = *model, fallback, batch = options.decisions_per_look]() -> std::unique_ptr<Decider> {
        auto symphony = std::make_unique<SymphonyDecider>(model, SymphonyOptions{.batch = batch});
        if (fallback == nullptr) return symphony;
        return std::make_unique<FallbackDecider>(std::move(symphony), fallback->tuned_decider());
      }};
}

}  // namespace

const std::vector<PolicyEntry>& all_deciders() {
  static const std::vector<PolicyEntry> kAll = [] {
    std::vector<PolicyEntry> all = policy_registry();
    std::erase_if(all, [](const PolicyEntry& entry) { return !entry.make_decider; });
    all.push_back(planned_auto());
    return all;
  }();
  return kAll;
}

Result<const PolicyEntry*> find_any_decider(std::string_view name) {
  return find_decider(name, all_deciders());
}

bool is_model(const std::string& name) {
  return name.starts_with(kModel);
}

Result<std::vector<NamedDecider>> find_deciders(const std::vector<std::string>& names,
                                                const Cluster& cluster,
                                                const std::vector<Counter>& counters,
                                                const ModelDeciderOptions& options) {
  std::vector<NamedDecider> found;
  const auto add = [&](const PolicyEntry& entry) {
    found.push_back({entry.name, [&entry] { return entry.tuned_decider(); }});
  };
  if (names.empty()) {
    for (const PolicyEntry& entry : all_deciders()) add(entry);
  }
  for (const std::string& name : names) {
    if (is_model(name)) {
      Result<NamedDecider> model = model_of(name, cluster, counters, options);
      if (!model) return model.error();
      found.push_back(std::move(*model));
      continue;
    }
    const Result<const PolicyEntry*> entry = find_any_decider(name);
    if (!entry && name == "symphony") {
      return invalid_input("symphony needs a trained model of this machine: symphony=FILE");
    }
    if (!entry) return entry.error();
    add(**entry);
  }
  return found;
}

std::string decider_help() {
  std::string text = "Deciders:\n";
  for (const PolicyEntry& entry : all_deciders())
    text += fmt::format("  {:<14} {}\n", entry.name, entry.what);
  text += fmt::format("  {:<14} {}\n", "symphony=FILE",
                      "a model of tutti train symphony, made for this machine");
  return text;
}

}  // namespace tutti
