#include "studies/symphony/mcmc.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "tutti/base/check.h"

namespace tutti {
namespace {

using Column = std::array<double, kBlock>;

// The acceptance that random walks in one dimension do best with.
constexpr double kGoodAcceptance = 0.44;
constexpr double kFirstStep = 0.05;

class Chains {
 public:
  Chains(const Network& network, const Given& given, const ChainOptions& options)
      : network_(network),
        natural_(network.natural(given.constants)),
        evidence_(evidence_by_variable(network, given)),
        roots_(roots_by_variable(network, given)),
        // All chains are one block of samples, each sample the present state of a chain.
        state_(draw_samples(network, given, {.samples = options.chains, .seed = options.seed})),
        steps_(static_cast<size_t>(network.size()), kFirstStep),
        rng_(Rng(options.seed).split(0x6d636d63)) {
    for (const VariableId id : network_.variables()) {
      const Root* root = roots_[id.index];
      if (root != nullptr && root->value.scale > 0) steps_[id.index] = 2 * root->value.scale;
      const bool known = root != nullptr && root->value.scale == 0;
      if (!known && evidence_[id.index] == nullptr) moving_.push_back(id);
    }
  }

  void sweep(bool fit_steps) {
    for (const VariableId id : moving_) move(id, fit_steps);
  }

  const Samples& state() const { return state_; }

 private:
  // log of all densities that depend on the variable: its own and its children's.
  void local_log_density(VariableId id, Column& sum) const {
    sum = {};
    add_own(id, sum);
    for (const VariableId child : network_.children(id)) add_own(child, sum);
  }

  void add_own(VariableId id, Column& sum) const {
    const double* x = state_.column(id, 0);
    if (const Root* root = roots_[id.index]; root != nullptr) {
      for (int i = 0; i < state_.count(); ++i) sum[i] += log_density(root->value, x[i]);
      return;
    }
    const Evidence* seen = evidence_[id.index];
    const FamilyView view(network_, id, state_, 0, natural_, seen != nullptr ? seen->variance : 0);
    network_.variable(id).law->add_log_density(view.family(), x, sum.data());
  }

  void move(VariableId id, bool fit_steps) {
    double* x = state_.column(id, 0);
    const int count = state_.count();
    Column before;
    Column after;
    Column old;
    std::copy_n(x, count, old.begin());
    local_log_density(id, before);
    for (int i = 0; i < count; ++i) x[i] += steps_[id.index] * rng_.normal();
    local_log_density(id, after);
    int accepted = 0;
    for (int i = 0; i < count; ++i) {
      if (std::log(1 - rng_.uniform()) < after[i] - before[i]) {
        ++accepted;
      } else {
        x[i] = old[i];
      }
    }
    if (!fit_steps) return;
    const double acceptance = static_cast<double>(accepted) / count;
    steps_[id.index] *= std::exp(0.3 * (acceptance - kGoodAcceptance));
  }

  const Network& network_;
  std::vector<double> natural_;
  std::vector<const Evidence*> evidence_;
  std::vector<const Root*> roots_;
  Samples state_;
  std::vector<VariableId> moving_;
  std::vector<double> steps_;
  Rng rng_;
};

}  // namespace

Samples run_chains(const Network& network, const Given& given, const ChainOptions& options) {
  TUTTI_CHECK(options.chains >= 1 && options.chains <= kBlock && options.sweeps >= 1);
  Chains chains(network, given, options);
  for (int i = 0; i < options.burn_in; ++i) chains.sweep(/*fit_steps=*/true);
  Samples samples(network.size(), options.chains * options.sweeps);
  for (int i = 0; i < options.sweeps; ++i) {
    chains.sweep(/*fit_steps=*/false);
    for (const VariableId id : network.variables()) {
      std::copy_n(chains.state().column(id, 0), options.chains,
                  samples.column(id, 0) + static_cast<size_t>(i) * options.chains);
    }
  }
  return samples;
}

}  // namespace tutti
