#include "tutti/train/doppler/labels.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "tutti/search/walk/annealing.h"

namespace tutti {
namespace {

// What every label obeys. Whether memory suffices, the simulator tells, and not in every model.
bool keeps_to_devices(const Problem& problem, const Plan& plan) {
  for (const OpId op : problem.graph.ops()) {
    const DeviceId device = plan.placement[static_cast<size_t>(op.index)];
    if (!problem.allows(op, device)) return false;
    const int group = problem.colocation_group(op);
    if (group < 0) continue;
    const OpId first = problem.members(group).front();
    if (plan.placement[static_cast<size_t>(first.index)] != device) return false;
  }
  return true;
}

}  // namespace

CostedPlan improved(const Problem& problem, const SearchModel& judging, CostedPlan start,
                    int64_t evaluations, const Stop& stop, Rng rng) {
  if (evaluations <= 0 || start.cost == kNoPlan) return start;
  Evaluator evaluator(problem, judging, stop);
  Annealing annealing(problem, evaluator.simulator().depends_on_priority());
  Walk walk;
  walk.start_from(start.plan, start.cost);
  annealing.improve(walk, evaluator, {.evaluations = evaluations}, Progress({.stop = stop}), rng);
  return {std::move(walk.best), walk.best_cost};
}

Plan with_ranks(Plan plan) {
  std::vector<size_t> order(plan.placement.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return plan.priority[a] < plan.priority[b]; });
  for (size_t i = 0; i < order.size(); ++i) plan.priority[order[i]] = static_cast<int64_t>(i);
  return {.placement = std::move(plan.placement), .priority = std::move(plan.priority)};
}

void keep_plan(const std::string& name, const Plan& plan, TensorFile& file) {
  const auto ops = static_cast<int64_t>(plan.placement.size());
  StoredTensor devices{.shape = {ops}, .data = {}};
  StoredTensor ranks{.shape = {ops}, .data = {}};
  for (const DeviceId device : plan.placement) {
    devices.data.push_back(static_cast<float>(device.index));
  }
  for (const int64_t rank : with_ranks(plan).priority) {
    ranks.data.push_back(static_cast<float>(rank));
  }
  file.tensors[name + ".device"] = std::move(devices);
  file.tensors[name + ".rank"] = std::move(ranks);
}

bool has_plan(const std::string& name, const TensorFile& file) {
  return file.tensors.contains(name + ".device");
}

Result<Plan> kept_plan(const std::string& name, const Problem& problem, const TensorFile& file,
                       const std::string& path) {
  const int64_t ops = problem.graph.size();
  const auto devices = file.find(name + ".device", {ops}, path);
  if (!devices) return devices.error();
  const auto ranks = file.find(name + ".rank", {ops}, path);
  if (!ranks) return ranks.error();
  Plan plan;
  for (const OpId op : problem.graph.ops()) {
    const float device = (*devices)->data[static_cast<size_t>(op.index)];
    const float rank = (*ranks)->data[static_cast<size_t>(op.index)];
    const bool sane = device >= 0 && device < static_cast<float>(problem.machine.size()) &&
                      rank >= 0 && rank < static_cast<float>(ops);
    if (!sane) return invalid_input(fmt::format("{}: '{}' is no plan of that problem", path, name));
    plan.placement.push_back(DeviceId{static_cast<int32_t>(device)});
    plan.priority.push_back(static_cast<int64_t>(rank));
  }
  if (!keeps_to_devices(problem, plan)) {
    return invalid_input(
        fmt::format("{}: '{}' puts an op where it may not go; the checkpoint is spoilt, begin in "
                    "another folder",
                    path, name));
  }
  return plan;
}

}  // namespace tutti
