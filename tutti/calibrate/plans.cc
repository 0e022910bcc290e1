#include "tutti/calibrate/plans.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "tutti/base/random.h"
#include "tutti/plan/check/check.h"
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

// Where ops of a plan are moved: each anywhere, so that values travel, or all to one device, so
// that it has too much to do. A simulator must tell both apart from the plan itself.
enum class To : uint8_t { anywhere, one_device };

// Each op, or its whole colocation group, is moved with that probability.
Plan moved(const Problem& problem, const Plan& base, double share, To whither, Rng rng) {
  Plan plan{.placement = base.placement, .priority = base.priority};
  plan.provenance = base.provenance;
  plan.provenance.policy += fmt::format(" moved {:.0f} %", 100 * share);
  if (whither == To::one_device) plan.provenance.policy += " to one device";
  const DeviceId one{static_cast<int32_t>(rng.below(problem.machine.size()))};
  for (const OpId op : problem.graph.ops()) {
    const int group = problem.colocation_group(op);
    if (group >= 0 && problem.members(group).front() != op) continue;
    if (rng.uniform() >= share) continue;
    const auto devices = problem.devices_for(op);
    DeviceId to = devices[rng.below(devices.size())];
    if (whither == To::one_device) {
      if (std::find(devices.begin(), devices.end(), one) == devices.end()) continue;
      to = one;
    }
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
  for (const PolicyEntry& entry : planning_policies()) {
    if (entry.for_comparison || entry.spends != Spends::nothing || stop.now()) continue;
    // Twice where the policy is mostly ties: the second plan is as good and quite another one.
    const uint64_t draws = entry.name == "critical_path" ? 2 : 1;
    for (uint64_t draw = 0; draw < draws; ++draw) {
      Result<Plan> plan = make_plan(entry, problem, {.stop = stop}, seed + draw);
      if (plan) collector.add(std::move(*plan));
    }
  }
  const std::vector<Plan> bases = collector.plans();
  constexpr double kShares[] = {0.02, 0.05, 0.1, 0.2, 0.4, 0.7};
  // Small graphs have few plans: after so many vain tries there are no more.
  const int most_tries = 20 * count;
  for (int i = 0; i < most_tries && !collector.full() && !bases.empty() && !stop.now(); ++i) {
    Rng rng = Rng(seed).split(static_cast<uint64_t>(i));
    const Plan& base = bases[static_cast<size_t>(i) % bases.size()];
    const double share = kShares[rng.below(std::size(kShares))];
    const To whither = rng.below(2) == 0 ? To::anywhere : To::one_device;
    collector.add(moved(problem, base, share, whither, rng));
  }
  return collector.take();
}

}  // namespace tutti
