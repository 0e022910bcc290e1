// What this room's tests share: small networks of discrete variables, whose beliefs can be had
// exactly by enumeration.

#ifndef TUTTI_BELIEF_TESTING_H_
#define TUTTI_BELIEF_TESTING_H_

#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tutti/belief/gradient.h"
#include "tutti/belief/relation.h"
#include "tutti/belief/sampling.h"

namespace tutti::testing {

// A variable with values 0..states-1 and a row of probabilities for each combination of its
// parents' values. Constants: the logarithms of the probabilities, up to a constant of each row.
class TableLaw final : public Law {
 public:
  TableLaw(int states, std::vector<int> parent_states)
      : states_(states), parent_states_(std::move(parent_states)) {}

  std::string_view formula() const override { return "a table"; }

  int rows() const {
    int rows = 1;
    for (const int states : parent_states_) rows *= states;
    return rows;
  }

  double probability(const Family& family, int i, int value) const {
    const double* row = row_of(family, i);
    double sum = 0;
    for (int k = 0; k < states_; ++k) sum += std::exp(row[k]);
    return std::exp(row[value]) / sum;
  }

  void draw(const Family& family, Rng& rng, double* x) const override {
    for (int i = 0; i < family.count; ++i) {
      double left = rng.uniform();
      int value = 0;
      while (value + 1 < states_ && left >= probability(family, i, value)) {
        left -= probability(family, i, value++);
      }
      x[i] = value;
    }
  }

  void add_log_density(const Family& family, const double* x, double* sum) const override {
    for (int i = 0; i < family.count; ++i)
      sum[i] += std::log(probability(family, i, static_cast<int>(x[i])));
  }

  void add_score(const Family& family, const double* x, const double* weight,
                 double* const* /*parent_slopes*/, double* gradient) const override {
    for (int i = 0; i < family.count; ++i) {
      double* slopes = gradient + (row_of(family, i) - family.constants.data());
      for (int k = 0; k < states_; ++k) {
        const double seen = static_cast<int>(x[i]) == k ? 1 : 0;
        slopes[k] += weight[i] * (seen - probability(family, i, k));
      }
    }
  }

 private:
  const double* row_of(const Family& family, int i) const {
    int row = 0;
    for (size_t p = 0; p < parent_states_.size(); ++p)
      row = row * parent_states_[p] + static_cast<int>(family.parents[p][i]);
    return family.constants.data() + static_cast<ptrdiff_t>(row) * states_;
  }

  int states_;
  std::vector<int> parent_states_;
};

// A network of discrete variables with random tables.
struct DiscreteNetwork {
  Network network{};
  std::vector<int> states{};

  VariableId add(const std::vector<VariableId>& parents, int values, Rng& rng) {
    std::vector<int> parent_states;
    for (const VariableId parent : parents) parent_states.push_back(states[parent.index]);
    auto law = std::make_shared<TableLaw>(values, parent_states);
    Variable variable{.name = "v" + std::to_string(network.size()), .parents = parents};
    for (int k = 0; k < law->rows() * values; ++k)
      variable.constants.push_back(network.add(Constant{.name = "c", .start = 1.5 * rng.normal()}));
    variable.law = std::move(law);
    states.push_back(values);
    return network.add(std::move(variable));
  }
};

// a -> c <- b, c -> d, b -> e: every two variables are joined in at most one way.
inline DiscreteNetwork polytree(uint64_t seed) {
  Rng rng(seed);
  DiscreteNetwork made;
  const VariableId a = made.add({}, 3, rng);
  const VariableId b = made.add({}, 2, rng);
  const VariableId c = made.add({a, b}, 3, rng);
  made.add({c}, 3, rng);
  made.add({b}, 2, rng);
  return made;
}

// a -> b, a -> c, both -> d, d -> e: two ways from a to d.
inline DiscreteNetwork diamond(uint64_t seed) {
  Rng rng(seed);
  DiscreteNetwork made;
  const VariableId a = made.add({}, 3, rng);
  const VariableId b = made.add({a}, 2, rng);
  const VariableId c = made.add({a}, 3, rng);
  const VariableId d = made.add({b, c}, 3, rng);
  made.add({d}, 2, rng);
  return made;
}

// E[x of the variable | evidence], by summing over all combinations of values.
inline double exact_mean(const DiscreteNetwork& made, const Given& given, VariableId id) {
  const Network& network = made.network;
  const std::vector<double> natural = network.natural(given.constants);
  const auto evidence = evidence_by_variable(network, given);
  Samples state(network.size(), 1);
  double total = 0;
  double sum = 0;
  int combinations = 1;
  for (const int states : made.states) combinations *= states;
  for (int c = 0; c < combinations; ++c) {
    int rest = c;
    bool fits = true;
    double log_probability = 0;
    for (const VariableId v : network.variables()) {
      double* x = state.column(v, 0);
      x[0] = rest % made.states[v.index];
      rest /= made.states[v.index];
      fits = fits && (evidence[v.index] == nullptr || evidence[v.index]->value == x[0]);
      const FamilyView view(network, v, state, 0, natural, 0);
      network.variable(v).law->add_log_density(view.family(), x, &log_probability);
    }
    if (!fits) continue;
    total += std::exp(log_probability);
    sum += std::exp(log_probability) * state.column(id, 0)[0];
  }
  return sum / total;
}

inline double cosine(const std::vector<double>& a, const std::vector<double>& b) {
  double ab = 0;
  double aa = 0;
  double bb = 0;
  for (size_t k = 0; k < a.size(); ++k) {
    ab += a[k] * b[k];
    aa += a[k] * a[k];
    bb += b[k] * b[k];
  }
  return ab / std::sqrt(aa * bb);
}

// |a - b| / |b|.
inline double relative_error(const std::vector<double>& a, const std::vector<double>& b) {
  double off = 0;
  double size = 0;
  for (size_t k = 0; k < a.size(); ++k) {
    off += (a[k] - b[k]) * (a[k] - b[k]);
    size += b[k] * b[k];
  }
  return std::sqrt(off / size);
}

// A network, what is seen of it, and a loss: a weighted sum of the means of what is not seen.
struct Question {
  std::string name;
  DiscreteNetwork made;
  Given given;
  std::vector<Sensitivity> sensitivities{};

  Question(std::string called, DiscreteNetwork from, std::vector<Evidence> evidence)
      : name(std::move(called)), made(std::move(from)) {
    given.constants = made.network.start();
    given.evidence = std::move(evidence);
    const auto seen = evidence_by_variable(made.network, given);
    for (const VariableId id : made.network.variables()) {
      if (seen[id.index] == nullptr) sensitivities.push_back({id, 1.0 + 0.3 * id.index});
    }
  }

  double exact_loss() const {
    double sum = 0;
    for (const Sensitivity& s : sensitivities)
      sum += s.by_mean * exact_mean(made, given, s.variable);
    return sum;
  }

  // By differences of sums over all combinations, so that it shares nothing with the estimator.
  std::vector<double> exact_gradient() {
    constexpr double kStep = 1e-5;
    std::vector<double> gradient;
    for (double& constant : given.constants) {
      const double here = constant;
      constant = here + kStep;
      const double above = exact_loss();
      constant = here - kStep;
      const double below = exact_loss();
      constant = here;
      gradient.push_back((above - below) / (2 * kStep));
    }
    return gradient;
  }

  std::vector<double> estimate(int samples, uint64_t seed) const {
    std::vector<VariableId> observed;
    for (const Evidence& evidence : given.evidence) observed.push_back(evidence.variable);
    const Reach reach(made.network, observed);
    const Samples drawn = draw_samples(made.network, given, {.samples = samples, .seed = seed});
    return sampling_gradient(made.network, given, drawn, reach, sensitivities);
  }
};

// Nothing, a root, or a leaf is observed, with a value that the network itself has drawn.
enum class Seen { nothing, root, leaf };

inline Question question_on(bool is_diamond, Seen seen, uint64_t seed) {
  DiscreteNetwork made = is_diamond ? diamond(seed) : polytree(seed);
  const Samples drawn =
      draw_samples(made.network, {.constants = made.network.start()}, {.samples = 1, .seed = seed});
  const VariableId id{seen == Seen::root ? 0 : made.network.size() - 1};
  std::vector<Evidence> evidence;
  if (seen != Seen::nothing) evidence.push_back({id, drawn.column(id)[0]});
  return {
      std::string(is_diamond ? "diamond, " : "polytree, ") + (seen == Seen::nothing ? "nothing seen"
                                                              : seen == Seen::root  ? "a root seen"
                                                                                   : "a leaf seen"),
      std::move(made), std::move(evidence)};
}

// A normal root with mean 0.5 and deviation 0.2, seen through normal noise of 0.1 as 0.7: the
// posterior is known in closed form.
struct SeenNormal {
  Network network{};
  VariableId root, seen;
  Given given{};
  SeenNormal() {
    const ConstantId noise = network.add(Constant{"noise", Constant::Range::positive, 0.1});
    root = network.add(Variable{"root"});
    seen = network.add(Variable{"seen", {root}, {noise}, mean_of()});
    given = {.constants = network.start(),
             .roots = {{root, {.center = 0.5, .scale = 0.2}}},
             .evidence = {{seen, 0.7}}};
  }
  static constexpr double kMean = (0.5 / 0.04 + 0.7 / 0.01) / (1 / 0.04 + 1 / 0.01);
  static constexpr double kSpread = 0.08944271909999159;  // 1 / sqrt(1 / 0.04 + 1 / 0.01)
};

}  // namespace tutti::testing

#endif  // TUTTI_BELIEF_TESTING_H_
