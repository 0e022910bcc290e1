// A slow decider with a quick one as its fallback. While the slow one decides, free devices that
// could run an op wait; busy devices do not. If devices wait for more than a share of the expected
// run time of what it launches, the quick one decides for the next runs, or for as many decisions
// as that many runs are checked after.
//
// For real runs: in simulation deciding takes no time, and the slow one always decides.

#ifndef TUTTI_POLICY_ONLINE_FALLBACK_H_
#define TUTTI_POLICY_ONLINE_FALLBACK_H_

#include <functional>
#include <memory>

#include "tutti/plan/world/decider.h"

namespace tutti {

struct FallbackOptions {
  // The most time that devices may wait for decisions, as a share of the expected run time of the
  // ops that were launched.
  double most_share = 0.25;
  int checked_after = 64;                // decisions between two checks, over all runs
  int runs_without_slow = 16;            // after which the slow one is tried again
  int decisions_without_slow = 20'000;   // or after these
  std::function<Duration()> clock = {};  // none: the steady clock
};

class FallbackDecider final : public Decider {
 public:
  FallbackDecider(std::unique_ptr<Decider> slow, std::unique_ptr<Decider> quick,
                  FallbackOptions options = {});

  void begin(const Cluster& cluster, uint64_t seed) override;
  Action decide(const WorldState& state) override;

  bool gave_up() const { return gave_up_; }  // the quick one decides

 private:
  void check();

  std::unique_ptr<Decider> slow_;
  std::unique_ptr<Decider> quick_;
  FallbackOptions options_;
  bool gave_up_ = false;
  int runs_left_ = 0;       // until the slow one is tried again
  int decisions_left_ = 0;  // or these, in a run without an end, such as a server's
  // Since the last check: decisions, the waits of all devices together, and the expected run time
  // of what was launched.
  int decisions_ = 0;
  Duration waited_{0};
  Duration launched_{0};
};

}  // namespace tutti

#endif  // TUTTI_POLICY_ONLINE_FALLBACK_H_
