#include "tutti/belief/gradient.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "tutti/base/check.h"
#include "tutti/base/parallel.h"

namespace tutti {
namespace {

using Column = std::array<double, kBlock>;

// A spread below this has no slope worth dividing by.
constexpr double kLeastSpread = 1e-9;

// A sensitivity with the moments that its samples have.
struct Centered {
  Sensitivity sensitivity;
  double mean = 0;
  double spread = 0;
};

std::vector<Centered> centered(const Samples& samples, std::span<const Sensitivity> sensitivities) {
  std::vector<Centered> all;
  for (const Sensitivity& sensitivity : sensitivities) {
    if (sensitivity.by_mean == 0 && sensitivity.by_spread == 0) continue;
    all.push_back({sensitivity, samples.mean(sensitivity.variable),
                   std::max(kLeastSpread, samples.spread(sensitivity.variable))});
  }
  return all;
}

// out[i] += weight * (h - E[h]) for the part h of the loss that one variable's value stands for: to
// first order the loss moves as by_mean * E[x] + by_spread / (2 spread) * E[(x - mean)^2].
void add_loss(const Centered& item, const double* x, const double* weight, int count, double* out) {
  const double by_mean = item.sensitivity.by_mean;
  const double by_square = item.sensitivity.by_spread / (2 * item.spread);
  const double variance = item.spread * item.spread;
  for (int i = 0; i < count; ++i) {
    const double off = x[i] - item.mean;
    out[i] += weight[i] * (by_mean * off + by_square * (off * off - variance));
  }
}

// Runs `body` on every block with a gradient of its own, adds them up in order, and turns slopes by
// natural constants into slopes by raw ones.
template <class Body>
std::vector<double> sum_over_blocks(const Network& network, const std::vector<double>& natural,
                                    int blocks, int threads, const Body& body) {
  std::vector<std::vector<double>> parts(static_cast<size_t>(blocks));
  parallel_for(blocks, threads, [&](int block, int /*thread*/) {
    parts[static_cast<size_t>(block)].assign(natural.size(), 0.0);
    body(block, parts[static_cast<size_t>(block)]);
  });
  std::vector<double> sum(natural.size(), 0.0);
  for (const auto& part : parts) {
    for (size_t k = 0; k < sum.size(); ++k) sum[k] += part[k];
  }
  for (size_t k = 0; k < sum.size(); ++k)
    sum[k] *= natural_slope(network.constants()[k].range, natural[k]);
  return sum;
}

// The slopes of one law's own constants, added to those of the network.
class LocalSlopes {
 public:
  explicit LocalSlopes(const Variable& variable)
      : variable_(variable), slopes_(variable.constants.size(), 0.0) {}
  double* data() { return slopes_.data(); }
  void add_to(std::vector<double>& gradient) const {
    for (size_t k = 0; k < slopes_.size(); ++k)
      gradient[variable_.constants[k].index] += slopes_[k];
  }

 private:
  const Variable& variable_;
  std::vector<double> slopes_;
};

// For each set of the reach: the part of the loss of each sample that the set can change.
std::vector<Column> losses_by_set(const Samples& samples, const Reach& reach, int block,
                                  const std::vector<Centered>& items) {
  const int count = samples.block_size(block);
  const double* weights = &samples.weights[static_cast<size_t>(block) * kBlock];
  std::vector<Column> losses(static_cast<size_t>(reach.set_count()), Column{});
  for (int set = 0; set < reach.set_count(); ++set) {
    for (const Centered& item : items) {
      const VariableId id = item.sensitivity.variable;
      if (!reach.moves(set, id)) continue;
      add_loss(item, samples.column(id, block), weights, count, losses[set].data());
    }
  }
  return losses;
}

double variance_of(const Evidence* seen) {
  return seen != nullptr ? seen->variance : 0;
}

// One block of the backward pass: slopes of the loss by each sample of each variable, children
// first. `by_log_weight` has a column for each observed variable.
void pass_back(const Network& network, const Samples& samples, int block,
               const std::vector<double>& natural, const std::vector<const Evidence*>& evidence,
               const std::vector<const double*>& by_log_weight, std::vector<Column>& slopes,
               std::vector<double>& gradient) {
  std::vector<double*> parent_slopes;
  for (int32_t v = network.size() - 1; v >= 0; --v) {
    const VariableId id{v};
    const Variable& variable = network.variable(id);
    if (variable.law == nullptr) continue;
    parent_slopes.clear();
    for (const VariableId parent : variable.parents)
      parent_slopes.push_back(slopes[parent.index].data());
    const Evidence* seen = evidence[v];
    const FamilyView view(network, id, samples, block, natural, variance_of(seen));
    LocalSlopes local(variable);
    const double* x = samples.column(id, block);
    if (seen != nullptr) {
      variable.law->add_score(view.family(), x, by_log_weight[v], parent_slopes.data(),
                              local.data());
    } else {
      variable.law->add_path(view.family(), x, slopes[v].data(), parent_slopes.data(),
                             local.data());
    }
    local.add_to(gradient);
  }
}

}  // namespace

std::vector<double> sampling_gradient(const Network& network, const Given& given,
                                      const Samples& samples, const Reach& reach,
                                      std::span<const Sensitivity> sensitivities, int threads) {
  const std::vector<double> natural = network.natural(given.constants);
  const auto evidence = evidence_by_variable(network, given);
  const std::vector<Centered> items = centered(samples, sensitivities);
  return sum_over_blocks(
      network, natural, samples.blocks(), threads, [&](int block, std::vector<double>& gradient) {
        const auto losses = losses_by_set(samples, reach, block, items);
        for (const VariableId id : network.variables()) {
          const Variable& variable = network.variable(id);
          if (variable.constants.empty()) continue;
          const FamilyView view(network, id, samples, block, natural,
                                variance_of(evidence[id.index]));
          LocalSlopes local(variable);
          variable.law->add_score(view.family(), samples.column(id, block),
                                  losses[reach.set_of(id)].data(), nullptr, local.data());
          local.add_to(gradient);
        }
      });
}

std::vector<double> path_gradient(const Network& network, const Given& given,
                                  const Samples& samples, const Reach& reach,
                                  std::span<const Sensitivity> sensitivities, int threads) {
  const std::vector<double> natural = network.natural(given.constants);
  const auto evidence = evidence_by_variable(network, given);
  const std::vector<Centered> items = centered(samples, sensitivities);
  return sum_over_blocks(
      network, natural, samples.blocks(), threads, [&](int block, std::vector<double>& gradient) {
        const int count = samples.block_size(block);
        const double* weights = &samples.weights[static_cast<size_t>(block) * kBlock];
        std::vector<Column> slopes(static_cast<size_t>(network.size()), Column{});
        // A sample counts for more if its path makes the evidence likelier.
        const auto losses = losses_by_set(samples, reach, block, items);
        std::vector<const double*> by_log_weight(evidence.size(), nullptr);
        for (const Evidence& seen : given.evidence) {
          by_log_weight[seen.variable.index] = losses[reach.set_of(seen.variable)].data();
        }
        for (const Centered& item : items) {
          const VariableId id = item.sensitivity.variable;
          const double* x = samples.column(id, block);
          const double by_off = item.sensitivity.by_spread / item.spread;
          for (int i = 0; i < count; ++i) {
            slopes[id.index][i] +=
                weights[i] * (item.sensitivity.by_mean + by_off * (x[i] - item.mean));
          }
        }
        pass_back(network, samples, block, natural, evidence, by_log_weight, slopes, gradient);
      });
}

std::vector<double> evidence_path_gradient(const Network& network, const Given& given,
                                           const Samples& samples, int threads) {
  const std::vector<double> natural = network.natural(given.constants);
  const auto evidence = evidence_by_variable(network, given);
  return sum_over_blocks(
      network, natural, samples.blocks(), threads, [&](int block, std::vector<double>& gradient) {
        const std::vector<const double*> by_log_weight(
            evidence.size(), &samples.weights[static_cast<size_t>(block) * kBlock]);
        std::vector<Column> slopes(static_cast<size_t>(network.size()), Column{});
        pass_back(network, samples, block, natural, evidence, by_log_weight, slopes, gradient);
      });
}

}  // namespace tutti
