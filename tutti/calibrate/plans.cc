#include "tutti/calibrate/plans.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "tutti/base/random.h"
#include "tutti/plan/check.h"
#include "tutti/policy/registry.h"

namespace tutti {
namespace {

class Collector {
 public:
  Collector(const Problem& problem, int count)
      : problem_(problem), count_(static_cast<size_t>(count)) {}

  bool full() const { return plans_.size() >= count_; }
  const std::vector<Plan>& plans() const { return plans_; }
  std::vector<Plan> take() { return std::move(plans_); }

  bool add(Plan plan) {
    if (full() || !check_plan(problem_, plan, 1).empty()) return false;
    if (!known_.emplace(plan.placement, plan.priority).second) return false;
    plans_.push_back(std::move(plan));
    return true;
  }

 private:
  const Problem& problem_;
  size_t count_;
  std::vector<Plan> plans_;
  std::set<std::pair<std::vector<DeviceId>, std::vector<int64_t>>> known_;
};

// Each op, or its whole colocation group, goes elsewhere with that probability.
Plan moved(const Problem& problem, const Plan& base, double share, Rng rng) {
  Plan plan{.placement = base.placement, .priority = base.priority};
  plan.provenance = base.provenance;
  plan.provenance.policy += fmt::format(" moved {:.0f} %", 100 * share);
  for (const OpId op : problem.graph.ops()) {
    const int group = problem.colocation_group(op);
    if (group >= 0 && problem.members(group).front() != op) continue;
    if (rng.uniform() >= share) continue;
    const auto devices = problem.devices_for(op);
    const DeviceId to = devices[rng.below(devices.size())];
    if (group < 0) {
      plan.placement[op.index] = to;
    } else {
      for (const OpId member : problem.members(group)) plan.placement[member.index] = to;
    }
  }
  return plan;
}

}  // namespace

std::vector<Plan> diverse_plans(const Problem& problem, std::vector<Plan> given, int count,
                                uint64_t seed, const Stop& stop) {
  Collector collector(problem, count);
  for (Plan& plan : given) collector.add(std::move(plan));
  for (const PolicyEntry& entry : policy_registry()) {
    if (entry.spends != Spends::nothing || stop.now()) continue;
    Result<Plan> plan = make_plan(entry, problem, {.stop = stop}, seed);
    if (plan) collector.add(std::move(*plan));
  }
  const std::vector<Plan> bases = collector.plans();
  constexpr double kShares[] = {0.02, 0.05, 0.1, 0.2, 0.4, 0.7};
  // Small graphs have few plans: after so many vain tries there are no more.
  const int most_tries = 20 * count;
  for (int i = 0; i < most_tries && !collector.full() && !bases.empty() && !stop.now(); ++i) {
    const Rng rng = Rng(seed).split(static_cast<uint64_t>(i));
    const Plan& base = bases[static_cast<size_t>(i) % bases.size()];
    const double share = kShares[static_cast<size_t>(i) / bases.size() % std::size(kShares)];
    collector.add(moved(problem, base, share, rng));
  }
  return collector.take();
}

}  // namespace tutti
