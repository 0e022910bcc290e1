#include "tutti/belief/sampling.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tutti/base/check.h"
#include "tutti/base/parallel.h"
#include "tutti/belief/draws.h"

namespace tutti {
namespace {

void draw_root(const CounterBelief& belief, int count, Rng& rng, double* x) {
  if (belief.scale == 0) {
    std::fill(x, x + count, belief.center);
    return;
  }
  if (belief.freedom > 0) {
    draw_central_t(rng, belief.freedom, count, x);
  } else {
    draw_normals(rng, count, x);
  }
  for (int i = 0; i < count; ++i) x[i] = belief.center + belief.scale * x[i];
}

// Turns logarithms of likelihoods into weights that add up to 1, and returns the logarithm of their
// mean.
double normalise(std::vector<double>& weights) {
  const double most = *std::max_element(weights.begin(), weights.end());
  // No sample explains the evidence at all: then all explain it equally badly.
  const double base = std::isfinite(most) ? most : 0;
  double sum = 0;
  for (double& weight : weights) {
    weight = std::isfinite(most) ? std::exp(weight - base) : 1;
    sum += weight;
  }
  for (double& weight : weights) weight /= sum;
  return base + std::log(sum / static_cast<double>(weights.size()));
}

}  // namespace

Samples::Samples(int32_t variables, int count)
    : weights(static_cast<size_t>(count), 1.0 / count),
      count_(count),
      values_(static_cast<size_t>(variables) * static_cast<size_t>(count)) {}

double Samples::mean(VariableId id) const {
  const auto x = column(id);
  double sum = 0;
  for (size_t i = 0; i < x.size(); ++i) sum += weights[i] * x[i];
  return sum;
}

double Samples::spread(VariableId id) const {
  const auto x = column(id);
  const double center = mean(id);
  double sum = 0;
  for (size_t i = 0; i < x.size(); ++i) sum += weights[i] * (x[i] - center) * (x[i] - center);
  return std::sqrt(sum);
}

double Samples::effective() const {
  double sum = 0;
  for (const double weight : weights) sum += weight * weight;
  return 1 / sum;
}

FamilyView::FamilyView(const Network& network, VariableId id, const Samples& samples, int block,
                       std::span<const double> natural_constants, double reading_variance) {
  const Variable& variable = network.variable(id);
  for (const VariableId parent : variable.parents)
    parents_.push_back(samples.column(parent, block));
  for (const ConstantId constant : variable.constants)
    constants_.push_back(natural_constants[constant.index]);
  family_ = {.count = samples.block_size(block),
             .parents = parents_,
             .constants = constants_,
             .reading_variance = reading_variance};
}

std::vector<const Evidence*> evidence_by_variable(const Network& network, const Given& given) {
  std::vector<const Evidence*> found(static_cast<size_t>(network.size()), nullptr);
  for (const Evidence& evidence : given.evidence) {
    TUTTI_CHECK(network.variable(evidence.variable).law != nullptr);
    found[evidence.variable.index] = &evidence;
  }
  return found;
}

std::vector<const Root*> roots_by_variable(const Network& network, const Given& given) {
  std::vector<const Root*> found(static_cast<size_t>(network.size()), nullptr);
  for (const Root& root : given.roots) found[root.variable.index] = &root;
  for (const VariableId id : network.variables()) {
    TUTTI_CHECK((network.variable(id).law == nullptr) == (found[id.index] != nullptr));
  }
  return found;
}

double log_density(const CounterBelief& belief, double x) {
  if (belief.scale == 0) return 0;
  const double t = (x - belief.center) / belief.scale;
  if (belief.freedom == 0) return -0.5 * t * t;
  if (std::fabs(t) > belief.most) return -std::numeric_limits<double>::infinity();
  const double nu = belief.freedom;
  return -0.5 * (nu + 1) * std::log1p(t * t / nu);
}

Samples draw_samples(const Network& network, const Given& given, const SampleOptions& options) {
  TUTTI_CHECK(options.samples >= 1);
  Samples samples(network.size(), options.samples);
  const std::vector<double> natural = network.natural(given.constants);
  const auto evidence = evidence_by_variable(network, given);
  const auto roots = roots_by_variable(network, given);
  std::vector<double> log_weights(static_cast<size_t>(options.samples), 0.0);
  parallel_for(samples.blocks(), options.threads, [&](int block, int /*thread*/) {
    Rng rng = Rng(options.seed).split(static_cast<uint64_t>(block));
    const int count = samples.block_size(block);
    for (const VariableId id : network.variables()) {
      double* x = samples.column(id, block);
      if (const Root* root = roots[id.index]; root != nullptr) {
        draw_root(root->value, count, rng, x);
        continue;
      }
      const Evidence* seen = evidence[id.index];
      const FamilyView view(network, id, samples, block, natural,
                            seen != nullptr ? seen->variance : 0);
      const Law& law = *network.variable(id).law;
      if (seen == nullptr) {
        law.draw(view.family(), rng, x);
      } else {
        std::fill(x, x + count, seen->value);
        law.add_log_density(view.family(), x, &log_weights[static_cast<size_t>(block) * kBlock]);
      }
    }
  });
  if (!given.evidence.empty()) {
    samples.weights = std::move(log_weights);
    samples.log_evidence = normalise(samples.weights);
  }
  return samples;
}

}  // namespace tutti
