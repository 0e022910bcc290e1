#include "tutti/search/walk/cut_samples.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "tutti/policy/schedule/order.h"

namespace tutti {
namespace {

constexpr int kCuts = 48;
// Cuts that are even in a few bands of time but may be uneven in all are best most often.
constexpr std::array kBands = {1, 2, 2, 2, 3, 4, 4, 6, 8};
constexpr std::array kImbalances = {0.01, 0.03, 0.1, 0.2, 0.4, 0.6};
// A local search soon improves a cut by more than this, but hardly a plan that it has worked on.
constexpr double kWorthIt = 1.3;

// Keeps few values alive, which cuts need: they do not look at memory.
const OrderRule& depth_first() {
  const auto rules = order_rules();
  return *std::find_if(rules.begin(), rules.end(), [](const OrderRule& rule) {
    return std::string_view(rule.name) == "depth_first";
  });
}

}  // namespace

CutSettings CutSamples::draw(Rng& rng) const {
  return {.bands = kBands[rng.below(kBands.size())],
          .imbalance = kImbalances[rng.below(kImbalances.size())],
          .seed = rng.next()};
}

void CutSamples::improve(Walk& walk, Evaluator& evaluator, const BudgetSlice& slice,
                         const Progress& progress, Rng& rng) {
  const int64_t before = evaluator.evaluations();
  const auto over = [&] {
    return walk.best_cost <= slice.good_enough ||
           progress.over(slice, evaluator.evaluations() - before);
  };
  CostedPlan best;
  const auto look_at = [&](const Plan& plan) {
    const double cost = evaluator.cost(plan, best.cost);
    if (cost < best.cost) best = {plan, cost};
  };
  const auto rules = order_rules();
  for (int i = 0; i < kCuts && !over(); ++i) {
    const Result<Plan> plan = cuts_.plan(draw(rng));
    if (!plan) continue;
    look_at(reordered(problem_, *plan, depth_first()));
    const size_t rule = rng.below(rules.size() + 1);
    if (!over()) look_at(rule < rules.size() ? reordered(problem_, *plan, rules[rule]) : *plan);
  }
  if (best.cost < kWorthIt * walk.cost) {
    walk.plan = std::move(best.plan);
    walk.cost = best.cost;
    walk.note_best();
  }
  BudgetSlice left = slice;
  left.evaluations = std::max<int64_t>(0, slice.evaluations - (evaluator.evaluations() - before));
  rest_->improve(walk, evaluator, left, progress, rng);
}

}  // namespace tutti
