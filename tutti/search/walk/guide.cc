#include "tutti/search/walk/guide.h"

#include <algorithm>
#include <cmath>

#include "tutti/policy/doppler/planner.h"

namespace tutti {
namespace {

// Even where the policy is sure it may be wrong.
constexpr float kLeastOdds = 0.01F;

// Of the time that is left, for one look or draw.
constexpr double kMostForALook = 0.01;
constexpr double kMostForADraw = 0.05;
// How many times as long as a look the search goes on before the next.
constexpr int kRest = 4;

bool has_time(const Problem& problem, const Progress& progress, double plan_seconds, double most) {
  if (problem.graph.size() > kMostOpByOp) return false;
  return !progress.timed() || plan_seconds < most * progress.time_left().count();
}

}  // namespace

bool has_time_to_look(const Problem& problem, const Progress& progress, double plan_seconds) {
  return has_time(problem, progress, plan_seconds, kMostForALook);
}

bool has_time_to_draw(const Problem& problem, const Progress& progress, double plan_seconds) {
  return has_time(problem, progress, plan_seconds, kMostForADraw);
}

Guide::Guide(const Problem& problem, const DopplerModel& model)
    : problem_(problem),
      features_(model.features(problem)),
      actor_(model.actor(problem, *features_)) {}

std::optional<Plan> Guide::draw_plan(Rng rng, const Stop& stop) {
  return actor_->act({.mode = Acting::Mode::sample, .stop = stop}, rng);
}

bool Guide::look_at(const Plan& plan, const Stop& stop) {
  const auto devices = static_cast<size_t>(problem_.machine.size());
  const Acting acting{
      .mode = Acting::Mode::follow, .plan = &plan, .stop = stop, .place_logits = &odds_};
  const auto before = Stop::Clock::now();
  if (!actor_->act(acting, Rng(0))) return false;
  const auto after = Stop::Clock::now();
  rested_at_ = after + kRest * (after - before);
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

bool Guide::is_rested(const Progress& progress) const {
  return doubt_.empty() || !progress.timed() || Stop::Clock::now() >= rested_at_;
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
