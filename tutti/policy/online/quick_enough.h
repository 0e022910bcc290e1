// A thoughtful dispatcher with a quick one behind it. While somebody decides, devices that are free
// and could have an op wait; those that work do not. Where the thoughtful one lets devices wait for
// more than a share of the time that what it launches is expected to take, the quick one goes on
// for the rest of the run and for the next ones.
//
// For real runs: in simulation deciding takes no time, and the thoughtful one always goes on.

#ifndef TUTTI_POLICY_ONLINE_QUICK_ENOUGH_H_
#define TUTTI_POLICY_ONLINE_QUICK_ENOUGH_H_

#include <functional>
#include <memory>

#include "tutti/plan/dispatch.h"

namespace tutti {

struct QuickEnoughOptions {
  // Of the time that what was launched is expected to take, in which devices may wait for
  // decisions.
  double most_share = 0.25;
  int looked_at = 64;                    // decisions between two judgements, of all runs
  int runs_without = 16;                 // after which the thoughtful one is tried again
  std::function<Duration()> clock = {};  // none: the computer's
};

class QuickEnough final : public Dispatcher {
 public:
  QuickEnough(std::unique_ptr<Dispatcher> thoughtful, std::unique_ptr<Dispatcher> quick,
              QuickEnoughOptions options = {});

  void begin(const Cluster& cluster, uint64_t seed) override;
  Action decide(const ClusterState& state) override;

  bool gave_up() const { return gave_up_; }  // the quick one goes on

 private:
  void judge();

  std::unique_ptr<Dispatcher> thoughtful_;
  std::unique_ptr<Dispatcher> quick_;
  QuickEnoughOptions options_;
  bool gave_up_ = false;
  int runs_left_ = 0;  // of those without
  // Since the last judgement: decisions, how long devices waited for them, all waits together, and
  // what they launched.
  int decisions_ = 0;
  Duration waited_{0};
  Duration launched_{0};
};

}  // namespace tutti

#endif  // TUTTI_POLICY_ONLINE_QUICK_ENOUGH_H_
