#include "tutti/plan/bound/load.h"

#include <algorithm>
#include <cmath>

#include "tutti/plan/bound/game.h"

namespace tutti::bound {
namespace {

constexpr int64_t kFinePrice = int64_t{1} << 36;
// Limits to the time: how many run times may be looked at, and how large a game may get.
constexpr int64_t kMostSteps = 50'000'000;
constexpr int64_t kMostGame = 1'600;

struct Valuation {
  Ticks bound = 0;           // what the prices prove
  Duration per_pass{0};      // in ns, not rounded up to ticks
  double exact = 0;          // before it was rounded up
  std::vector<double> load;  // per slot of each class, if every op goes where it is cheapest
};

Valuation valuate(const Instance& instance, const Prices& prices) {
  const std::vector<DeviceClass>& classes = instance.classes;
  Valuation result{.load = std::vector<double>(classes.size(), 0.0)};
  Wide work = 0;
  for (int32_t op = 0; op < instance.size; ++op) {
    const auto [kind, price] = cheapest(instance, OpId{op}, prices);
    work += price;
    result.load[kind] += static_cast<double>(instance.run_time(OpId{op}, kind));
  }
  Wide capacity = 0;
  for (size_t c = 0; c < classes.size(); ++c) {
    capacity += static_cast<Wide>(classes[c].slots()) * prices[c];
    result.load[c] /= static_cast<double>(classes[c].slots());
  }
  result.bound = static_cast<Ticks>((work + capacity - 1) / capacity);
  result.per_pass = Duration(static_cast<int64_t>(work * instance.tick.count() / capacity));
  result.exact = static_cast<double>(work) / static_cast<double>(capacity);
  return result;
}

// The shares that are best as far as the cuts know, and the most that any shares can prove, as a
// multiple of `scale`.
GameSolution best_shares(std::vector<std::vector<double>> cuts, double scale) {
  for (std::vector<double>& cut : cuts) {
    for (double& load : cut) load /= scale;
  }
  return solve_game(cuts);
}

}  // namespace

Cheapest cheapest(const Instance& instance, OpId op, const Prices& prices) {
  Cheapest best{.kind = 0, .price = -1};
  for (size_t c = 0; c < prices.size(); ++c) {
    const Ticks run = instance.run_time(op, c);
    if (run == kImpossible) continue;
    const Wide price = static_cast<Wide>(run) * prices[c];
    if (best.price < 0 || price < best.price) best = {.kind = c, .price = price};
  }
  return best;
}

Prices prices_of(const Instance& instance, const std::vector<double>& shares, int64_t highest) {
  std::vector<double> exact(shares.size());
  for (size_t c = 0; c < shares.size(); ++c) {
    exact[c] = shares[c] / static_cast<double>(instance.classes[c].slots());
  }
  const double scale = static_cast<double>(highest) / *std::max_element(exact.begin(), exact.end());
  Prices prices;
  for (const double price : exact) prices.push_back(std::llround(price * scale));
  return prices;
}

// Kelley's cutting planes. Whatever the prices, the loads of the cheapest choice bound what other
// prices can prove (a cut); the game finds the best prices under all cuts so far, and its value
// tells how far there is to go. The next cut is made half way between those and the best known
// ones, which needs far fewer cuts (Ben-Ameur, Neto, "Acceleration of cutting-plane and column
// generation algorithms", 2007).
Load load_bound(const Instance& instance) {
  const size_t classes = instance.classes.size();
  const auto size = static_cast<int64_t>(classes) * instance.size;
  const int64_t most_cuts =
      classes == 1 ? 1 : std::min(kMostSteps / size, kMostGame / static_cast<int64_t>(classes)) + 4;
  const double gap = instance.size > 100'000 ? 1e-4 : 1e-6;

  std::vector<double> shares;  // at first, every slot costs the same
  for (const DeviceClass& kind : instance.classes) {
    shares.push_back(static_cast<double>(kind.slots()) / static_cast<double>(instance.slots));
  }
  Load best{.bound = 0, .shares = shares};
  double best_exact = 0;
  std::vector<std::vector<double>> cuts;
  for (int64_t i = 0; i < most_cuts; ++i) {
    const Valuation found = valuate(instance, prices_of(instance, shares, kFinePrice));
    best.bound = std::max(best.bound, found.bound);
    best.per_pass = std::max(best.per_pass, found.per_pass);
    if (found.exact > best_exact) {
      best_exact = found.exact;
      best.shares = shares;
    }
    if (best_exact <= 0) break;  // there is no work
    cuts.push_back(found.load);
    const GameSolution hope = best_shares(cuts, best_exact);
    if (hope.value <= 1 + gap) break;
    for (size_t c = 0; c < classes; ++c) shares[c] = (hope.shares[c] + best.shares[c]) / 2;
  }
  return best;
}

}  // namespace tutti::bound
