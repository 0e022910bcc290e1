#include "tutti/policy/online/eft/residuals.h"

#include <algorithm>
#include <cmath>

namespace tutti {
namespace {

// One op is not believed beyond this: it may have been stopped by the operating system.
constexpr double kMostLog = 3;
// Of a kind's own residual half is believed after so many ops.
constexpr double kHalfBelieved = 4;
// Weight of an op in its device's mean run time.
constexpr double kOpRate = 0.1;
// Kalman: variance of a device's residual of which nothing is known.
constexpr double kFreeVariance = 0.25;

}  // namespace

void RecentResiduals::begin(const Cluster& cluster) {
  devices_.assign(static_cast<size_t>(cluster.machine().size()), {.variance = kFreeVariance});
  kinds_.assign(devices_.size() * cluster.kinds().size(), {});
}

double RecentResiduals::kept(const OfDevice& device, Duration passed) const {
  const double ops = static_cast<double>(passed.count()) / std::max(device.op_ns, 1.0);
  return std::exp(-ops / settings_.memory);
}

RecentResiduals::OfKind& RecentResiduals::of_kind(DeviceId device, OpKindId kind) {
  const size_t at =
      static_cast<size_t>(kind.index) * devices_.size() + static_cast<size_t>(device.index);
  if (at >= kinds_.size()) kinds_.resize((static_cast<size_t>(kind.index) + 1) * devices_.size());
  return kinds_[at];
}

void RecentResiduals::learn(DeviceId device, OpKindId kind, Duration alone, double ratio,
                            Duration now) {
  if (!learns()) return;
  const double residual = std::clamp(std::log(std::max(ratio, 1e-9)), -kMostLog, kMostLog);
  OfDevice& its = devices_[device.index];
  const auto run = static_cast<double>(std::max<int64_t>(1, alone.count()));
  its.op_ns = its.op_ns == 0 ? run : its.op_ns + kOpRate * (run - its.op_ns);
  const double left = kept(its, now - its.seen);
  its.seen = now;
  its.mean *= left;
  if (settings_.filter == ResidualSettings::Filter::kalman) {
    const double predicted = left * left * its.variance + (1 - left * left) * kFreeVariance;
    const double gain = predicted / (predicted + settings_.error * settings_.error);
    its.mean += gain * (residual - its.mean);
    its.variance = (1 - gain) * predicted;
    return;
  }
  its.mean += settings_.rate * (residual - its.mean);
  OfKind& of = of_kind(device, kind);
  of.mean *= kept(its, now - of.seen);
  of.seen = now;
  of.mean += settings_.rate * (residual - its.mean - of.mean);
  of.count += 1;
}

double RecentResiduals::factor(DeviceId device, OpKindId kind, Duration now) const {
  if (!learns()) return 1;
  const OfDevice& its = devices_[device.index];
  double log = its.mean * kept(its, now - its.seen);
  const size_t at =
      static_cast<size_t>(kind.index) * devices_.size() + static_cast<size_t>(device.index);
  if (at < kinds_.size() && kinds_[at].count > 0) {
    const OfKind& of = kinds_[at];
    log += of.mean * kept(its, now - of.seen) * of.count / (of.count + kHalfBelieved);
  }
  return std::exp(log);
}

}  // namespace tutti
