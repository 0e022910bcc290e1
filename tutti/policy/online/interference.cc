#include "tutti/policy/online/interference.h"

#include <algorithm>

#include "tutti/base/random.h"

namespace tutti {
namespace {

constexpr double kRegularisation = 0.01;

// Small and different, or all factors would learn the same; the same in every run.
double first_factor(int32_t row, int factor) {
  return 0.1 * (Rng(0x7061726f).split(static_cast<uint64_t>(row)).split(factor).uniform() - 0.5);
}

bool same_core(const Device& device, int a, int b) {
  const int cores = cores_of(device);
  return device.slots > cores && a % cores == b % cores;
}

}  // namespace

int32_t Interference::row(const Cluster& cluster, OpKindId kind, DeviceId device) {
  const std::pair<std::string, std::string> name(cluster.kinds()[kind.index],
                                                 cluster.machine().device(device).kind);
  const auto found = std::find(rows_.begin(), rows_.end(), name);
  const auto index = static_cast<int32_t>(found - rows_.begin());
  if (found != rows_.end()) return index;
  rows_.push_back(name);
  for (Matrix& matrix : matrices_) {
    Factors victim;
    Factors culprit;
    for (int f = 0; f < kRank; ++f) {
      victim[f] = first_factor(index, f);
      culprit[f] = first_factor(index, kRank + f);
    }
    matrix.victims.push_back(victim);
    matrix.culprits.push_back(culprit);
    matrix.victim_bias.push_back(0);
    matrix.culprit_bias.push_back(0);
  }
  return index;
}

double Interference::effect(int32_t row, const Neighbour& neighbour) const {
  const Matrix& matrix = matrices_[static_cast<size_t>(neighbour.where)];
  double sum = matrix.mean + matrix.victim_bias[row] + matrix.culprit_bias[neighbour.row];
  for (int f = 0; f < kRank; ++f) sum += matrix.victims[row][f] * matrix.culprits[neighbour.row][f];
  return std::max(0.0, sum);  // a neighbour never speeds an op up
}

double Interference::effect(int32_t row, const std::vector<Neighbour>& neighbours) const {
  double sum = 0;
  for (const Neighbour& neighbour : neighbours) sum += effect(row, neighbour);
  return sum;
}

void Interference::learn(int32_t row, const std::vector<Neighbour>& neighbours,
                         double log_slowdown) {
  if (neighbours.empty()) return;
  const double error = std::clamp(log_slowdown, -1.0, 2.0) - effect(row, neighbours);
  // All neighbours get an equal part of the slowdown.
  const double step = learning_rate_ * error / static_cast<double>(neighbours.size());
  const double keep = 1 - learning_rate_ * kRegularisation;
  for (const Neighbour& neighbour : neighbours) {
    Matrix& matrix = matrices_[static_cast<size_t>(neighbour.where)];
    matrix.mean += 0.1 * step;
    matrix.victim_bias[row] = keep * matrix.victim_bias[row] + step;
    matrix.culprit_bias[neighbour.row] = keep * matrix.culprit_bias[neighbour.row] + step;
    for (int f = 0; f < kRank; ++f) {
      double& victim = matrix.victims[row][f];
      double& culprit = matrix.culprits[neighbour.row][f];
      const double old = victim;
      victim = keep * victim + step * culprit;
      culprit = keep * culprit + step * old;
    }
  }
}

void list_neighbours(const WorldState& state, int32_t slot, Interference& interference,
                     std::vector<Neighbour>& neighbours) {
  neighbours.clear();
  const Cluster& cluster = *state.cluster;
  const DeviceId mine = cluster.device_of_slot(slot);
  const Device& device = cluster.machine().device(mine);
  for (int32_t other = 0; other < cluster.slot_count(); ++other) {
    const SlotStatus& status = state.slots[other];
    if (other == slot || status.phase != SlotStatus::Phase::busy) continue;
    const DeviceId its = cluster.device_of_slot(other);
    if (cluster.machine().device(its).host != device.host) continue;
    Neighbour neighbour;
    if (its == mine) {
      const int first = cluster.first_slot(mine);
      const bool shares_core =
          is_cpu(cluster.machine(), mine) && same_core(device, slot - first, other - first);
      neighbour.where = shares_core ? Neighbourhood::core : Neighbourhood::device;
    }
    neighbour.row = interference.row(cluster, state.job(status.job).job->kind(status.op), its);
    neighbours.push_back(neighbour);
  }
}

}  // namespace tutti
