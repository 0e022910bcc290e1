#include "tools/plan_source.h"

#include <fmt/format.h>

#include "tutti/search/planners.h"

namespace tutti {

void PlanSource::add_to(CLI::App& command) {
  search.add_to(command);
  command.add_option("--plan", plan, "Plan file to run");
  command.add_option("--policy", policy, "Policy to plan with; default: auto");
  command.add_flag("--online", online, "Ask the policy during the run");
}

Result<void> PlanSource::check() const {
  if (online && (policy.empty() || !plan.empty())) {
    return invalid_input("--online needs --policy and takes no --plan");
  }
  if (!plan.empty() && !policy.empty()) {
    return invalid_input("give --plan or --policy, not both");
  }
  if (online) return search.require_none("is for planning, and --online plans nothing ahead");
  if (!plan.empty()) return search.require_none("is for planning, and --plan is a plan");
  return {};
}

Result<Plan> PlanSource::get(const Problem& problem, const ModelOptions& model,
                             const CommonOptions& common) const {
  if (!plan.empty()) return load_good_plan(plan, problem);
  const Result<AutoSettings> settings = search.settings(model, common);
  if (!settings) return settings.error();
  const Result<PolicyEntry> entry = find_planner(policy.empty() ? "auto" : policy, *settings);
  if (!entry) return entry.error();
  if (const Result<void> good = search.require_use({&*entry, 1}); !good) return good.error();
  return make_plan(*entry, problem, settings->budget, common.seed);
}

Result<const PolicyEntry*> PlanSource::online_policy() const {
  Result<const PolicyEntry*> entry = find_online_policy(policy);
  if (entry || !find_policy(policy)) return entry;
  return invalid_input(entry.error().message + "; leave out --online, or name one of them");
}

Result<Trace> PlanSource::run(const Problem& problem, const Plan* made, Runtime& runtime,
                              uint64_t seed) const {
  if (made != nullptr) return runtime.run(problem, *made);
  const Result<const PolicyEntry*> entry = online_policy();
  if (!entry) return entry.error();
  Policy asked = (*entry)->make_policy(problem, seed);
  return runtime.run_online(problem, asked);
}

std::string PlanSource::name(const Plan* made) const {
  return made != nullptr ? made->provenance.policy : policy + " (online)";
}

}  // namespace tutti
