#include "tutti/policy/online/fallback.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <numeric>
#include <utility>

namespace tutti {
namespace {

// Devices that have a free slot, as many as there are ops for.
int64_t waiting_devices(const WorldState& state) {
  const int64_t ready = std::accumulate(state.ready.begin(), state.ready.end(), int64_t{0});
  const int64_t idle =
      std::count_if(state.devices.begin(), state.devices.end(),
                    [](const DeviceStatus& device) { return device.idle_slots > 0; });
  return std::min(ready, idle);
}

}  // namespace

FallbackDecider::FallbackDecider(std::unique_ptr<Decider> slow, std::unique_ptr<Decider> quick,
                                 FallbackOptions options)
    : slow_(std::move(slow)), quick_(std::move(quick)), options_(std::move(options)) {
  if (!options_.clock) {
    options_.clock = [] {
      return std::chrono::duration_cast<Duration>(
          std::chrono::steady_clock::now().time_since_epoch());
    };
  }
}

void FallbackDecider::begin(const Cluster& cluster, uint64_t seed) {
  slow_->begin(cluster, seed);
  quick_->begin(cluster, seed);
  if (gave_up_ && --runs_left_ <= 0) gave_up_ = false;
}

Action FallbackDecider::decide(const WorldState& state) {
  if (gave_up_ && --decisions_left_ <= 0) gave_up_ = false;
  if (gave_up_) return quick_->decide(state);
  const Duration before = options_.clock();
  const Action action = slow_->decide(state);
  waited_ += waiting_devices(state) * (options_.clock() - before);
  if (action.kind == Action::Kind::execute) {
    launched_ += state.job(action.job).job->costs().run_time(action.op, action.device);
  }
  if (++decisions_ >= options_.checked_after) check();
  return action;
}

void FallbackDecider::check() {
  gave_up_ = static_cast<double>(waited_.count()) >
             options_.most_share * static_cast<double>(launched_.count());
  runs_left_ = options_.runs_without_slow;
  decisions_left_ = options_.decisions_without_slow;
  decisions_ = 0;
  waited_ = launched_ = Duration(0);
}

}  // namespace tutti
