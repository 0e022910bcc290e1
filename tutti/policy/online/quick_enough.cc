#include "tutti/policy/online/quick_enough.h"

#include <chrono>
#include <utility>

namespace tutti {

QuickEnough::QuickEnough(std::unique_ptr<Dispatcher> thoughtful, std::unique_ptr<Dispatcher> quick,
                         QuickEnoughOptions options)
    : thoughtful_(std::move(thoughtful)), quick_(std::move(quick)), options_(std::move(options)) {
  if (!options_.clock) {
    options_.clock = [] {
      return std::chrono::duration_cast<Duration>(
          std::chrono::steady_clock::now().time_since_epoch());
    };
  }
}

void QuickEnough::begin(const Cluster& cluster, uint64_t seed) {
  thoughtful_->begin(cluster, seed);
  quick_->begin(cluster, seed);
  gave_up_ = false;
  decisions_ = 0;
  deciding_ = launched_ = Duration(0);
}

Action QuickEnough::decide(const ClusterState& state) {
  if (gave_up_) return quick_->decide(state);
  const Duration before = options_.clock();
  const Action action = thoughtful_->decide(state);
  deciding_ += options_.clock() - before;
  if (action.kind == Action::Kind::execute) {
    launched_ += state.job(action.job).job->costs().run_time(action.op, action.device);
  }
  if (++decisions_ >= options_.looked_at) judge(state);
  return action;
}

void QuickEnough::judge(const ClusterState& state) {
  const double in_parallel =
      static_cast<double>(launched_.count()) / static_cast<double>(state.cluster->machine().size());
  gave_up_ = static_cast<double>(deciding_.count()) > options_.most_share * in_parallel;
  decisions_ = 0;
  deciding_ = launched_ = Duration(0);
}

}  // namespace tutti
