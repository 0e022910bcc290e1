#include "tutti/search/guide.h"

#include <algorithm>
#include <cmath>

namespace tutti {
namespace {

// Even where the policy is sure it may be wrong.
constexpr float kLeastOdds = 0.01F;

constexpr int32_t kMostOps = 20'000;
constexpr double kMostOfTheTime = 0.02;  // for a plan

}  // namespace

bool can_be_guided(const Problem& problem, const Progress& progress, double plan_seconds) {
  if (problem.graph.size() > kMostOps) return false;
  return !progress.timed() || plan_seconds < kMostOfTheTime * progress.time_left().count();
}

Guide::Guide(const Problem& problem, const DopplerModel& model)
    : problem_(problem),
      features_(problem_features(problem)),
      facts_(problem),
      actor_(model.actor(problem, features_, facts_)) {}

std::optional<Plan> Guide::draw_plan(Rng rng, const Stop& stop) {
  return actor_->act({.mode = Acting::Mode::sample, .stop = stop}, rng);
}

bool Guide::look_at(const Plan& plan, const Stop& stop) {
  const auto devices = static_cast<size_t>(problem_.machine.size());
  const Acting acting{
      .mode = Acting::Mode::follow, .plan = &plan, .stop = stop, .place_logits = &odds_};
  if (!actor_->act(acting, Rng(0))) return false;
  double sum = 0;
  doubt_.clear();
  for (const OpId op : problem_.graph.ops()) {
    const auto at = static_cast<size_t>(op.index);
    float* row = odds_.data() + at * devices;
    const float most = *std::max_element(row, row + devices);
    float total = 0;
    for (size_t d = 0; d < devices; ++d) {
      row[d] = std::exp(row[d] - most) + kLeastOdds;
      total += row[d];
    }
    for (size_t d = 0; d < devices; ++d) row[d] /= total;
    sum += 1 - row[plan.placement[at].index];
    doubt_.push_back(sum);
  }
  return true;
}

OpId Guide::draw_op(Rng& rng) const {
  const double at = rng.uniform() * doubt_.back();
  const auto found = std::upper_bound(doubt_.begin(), doubt_.end(), at);
  const auto last = static_cast<ptrdiff_t>(doubt_.size()) - 1;
  return OpId{static_cast<int32_t>(std::min(found - doubt_.begin(), last))};
}

DeviceId Guide::draw_device(OpId op, DeviceId own, Rng& rng) const {
  const auto devices = static_cast<size_t>(problem_.machine.size());
  const float* row = odds_.data() + static_cast<size_t>(op.index) * devices;
  double total = 0;
  for (const DeviceId device : problem_.devices_for(op)) {
    if (device != own) total += row[device.index];
  }
  double rest = rng.uniform() * total;
  DeviceId drawn{};
  for (const DeviceId device : problem_.devices_for(op)) {
    if (device == own) continue;
    drawn = device;
    rest -= row[device.index];
    if (rest < 0) break;
  }
  return drawn;
}

}  // namespace tutti
