// How much longer than predicted ops took recently, by device: what hidden load, wrong costs
// and wrong capacities do to them, without any counter. A residual is the logarithm of the time
// that an op took over the time predicted for it.
//
//   running mean   exponentially weighted, for each device, and for each op kind what it differs
//                  from its device's mean; forgotten as time passes
//   Kalman filter  (Kalman 1960) for each device: the residual is a random process that returns to
//                  0 (Ornstein and Uhlenbeck's), seen with an error
//
// Time counts in ops: in multiples of what ops take on that device on average, so that settings
// hold on machines of any speed.
//
// For one thread.

#ifndef TUTTI_POLICY_ONLINE_EFT_RESIDUALS_H_
#define TUTTI_POLICY_ONLINE_EFT_RESIDUALS_H_

#include <cstdint>
#include <vector>

#include "tutti/base/time.h"
#include "tutti/plan/world/cluster.h"

namespace tutti {

struct ResidualSettings {
  enum class Filter : uint8_t { none, running_mean, kalman };
  Filter filter = Filter::none;
  double memory = 20;  // until what was seen is worth 1 / e, in ops
  double rate = 0.3;   // running mean: weight of a new residual
  double error = 0.3;  // Kalman: standard deviation of one residual about its device's
};

class RecentResiduals {
 public:
  explicit RecentResiduals(const ResidualSettings& settings) : settings_(settings) {}

  void begin(const Cluster& cluster);
  bool learns() const { return settings_.filter != ResidualSettings::Filter::none; }

  // An op ended now, which alone takes `alone` there and took `ratio` times as long as predicted.
  void learn(DeviceId device, OpKindId kind, Duration alone, double ratio, Duration now);

  // How many times longer than predicted an op of that kind would take there now; 1: nothing known.
  double factor(DeviceId device, OpKindId kind, Duration now) const;

 private:
  struct OfDevice {
    double mean = 0;
    double variance = 0;  // Kalman: of the mean
    double op_ns = 0;     // an op's mean run time
    Duration seen{0};     // when it was learned
  };
  struct OfKind {
    double mean = 0;  // difference from the device's
    double count = 0;
    Duration seen{0};
  };
  // What is left after that time of what was known.
  double kept(const OfDevice& device, Duration passed) const;
  OfKind& of_kind(DeviceId device, OpKindId kind);

  ResidualSettings settings_;
  std::vector<OfDevice> devices_;
  std::vector<OfKind> kinds_;  // [kind][device]
};

}  // namespace tutti

#endif  // TUTTI_POLICY_ONLINE_EFT_RESIDUALS_H_
