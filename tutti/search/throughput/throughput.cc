#include "tutti/search/throughput/throughput.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "tutti/policy/schedule/keeping.h"
#include "tutti/policy/schedule/order.h"
#include "tutti/search/planners.h"
#include "tutti/search/throughput/balance.h"
#include "tutti/search/throughput/splits.h"

namespace tutti {
namespace {

constexpr double kLatencyShare = 0.4;  // of a wall clock or count, for the plan of one pass
constexpr double kPoliciesUntil = 0.6;
constexpr double kSplitsUntil = 0.75;
constexpr double kBalanceUntil = 0.97;
constexpr size_t kReordered = 4;
constexpr size_t kBalanced = 6;  // placements that local search starts from
constexpr double kHot = 0.02;    // of local search
constexpr double kCool = 0.001;
constexpr int64_t kUsualMoves = 6'000'000;   // without a budget, in all: a second or two
constexpr int64_t kMovesOfEvaluation = 100;  // that take as long as one simulation, or less

struct JudgedPlan {
  std::string policy;
  Plan plan;
  PassTimes times;
};

class ThroughputPlanning {
 public:
  ThroughputPlanning(const Problem& problem, PassJudge judge, const AutoSettings& settings)
      : problem_(problem),
        judge_(std::move(judge)),
        settings_(settings),
        progress_(settings.budget) {}

  Result<ThroughputResult> run(const std::string& policy) {
    const bool all = policy == "auto";
    if (all || policy == kPipelinePolicy) {
      if (all) add_plan_for_one_pass();
      if (all && settings_.from) add(settings_.from->provenance.policy, *settings_.from);
      if (all) add_policies();
      add_splits();
      add_balanced();
      if (all) reorder_best();
      keep_best_of_each();
    } else {
      const Result<PolicyEntry> entry = find_planner(policy, settings_);
      if (!entry) return entry.error();
      add(entry->name, make_plan(*entry, problem_, settings_.budget, settings_.seed));
    }
    if (judged_.empty()) return refusal();
    const auto winner = std::min_element(judged_.begin(), judged_.end(),
                                         [](const JudgedPlan& a, const JudgedPlan& b) {
                                           return std::pair(a.times.per_pass, a.times.one_pass) <
                                                  std::pair(b.times.per_pass, b.times.one_pass);
                                         });
    result_.plan = std::move(winner->plan);
    result_.times = winner->times;
    Plan& plan = result_.plan;
    give_timeline(problem_, settings_.model, progress_.until(1), plan);
    plan.passes = {.in_flight = winner->times.in_flight, .time_per_pass = winner->times.simulated};
    plan.provenance.policy = all ? "auto:" + winner->policy : winner->policy;
    plan.provenance.evaluations = judge_.evaluations() + spent_;
    note_origin(problem_, settings_.seed, plan.provenance);
    return std::move(result_);
  }

 private:
  // Judges a plan; the first is judged whatever the clock says.
  bool add(const std::string& policy, Result<Plan> plan, double until = 1) {
    TriedThroughput tried{.policy = policy};
    if (plan) {
      const Result<PassTimes> times =
          judge_.times(*plan, judged_.empty() ? settings_.budget.stop : progress_.until(until));
      if (times) {
        tried.times = *times;
        result_.tried.push_back(tried);
        judged_.push_back({policy, std::move(*plan), *times});
        return true;
      }
      tried.refusal = times.error().message;
      tried.late = times.error().kind == Error::Kind::out_of_time;
      if (!first_error_) first_error_ = times.error();
    } else {
      tried.refusal = plan.error().message;
      tried.late = plan.error().kind == Error::Kind::out_of_time;
      if (!first_error_) first_error_ = plan.error();
    }
    result_.tried.push_back(tried);
    return false;
  }

  void add_plan_for_one_pass() {
    AutoSettings settings = settings_;
    if (settings.from) settings.from->passes.reset();
    if (settings.budget.wall_clock) {
      settings.budget.wall_clock =
          std::max(std::chrono::milliseconds(1),
                   std::chrono::milliseconds(static_cast<int64_t>(
                       kLatencyShare * static_cast<double>(settings.budget.wall_clock->count()))));
    } else {
      const auto all = settings.budget.evaluations.value_or(default_evaluations(problem_));
      settings.budget.evaluations =
          std::max<int64_t>(1, static_cast<int64_t>(kLatencyShare * static_cast<double>(all)));
    }
    Result<AutoResult> best = plan_auto(problem_, settings);
    if (!best) {
      add("makespan", best.error());
      return;
    }
    spent_ += best->plan.provenance.evaluations;
    if (add("makespan", std::move(best->plan))) result_.for_one_pass = judged_.back().times;
  }

  void add_policies() {
    for (const PolicyEntry& entry : policies_to_ask(settings_.trained_model)) {
      if (progress_.interrupted() ||
          (progress_.timed() && !judged_.empty() && progress_.elapsed() > kPoliciesUntil)) {
        result_.tried.push_back(
            {.policy = entry.name, .refusal = out_of_time().message, .late = true});
        continue;
      }
      const Budget budget{.evaluations = 1000, .stop = progress_.until(kPoliciesUntil)};
      add(entry.name, make_plan(entry, problem_, budget, settings_.seed), kPoliciesUntil);
    }
  }

  void add_splits() {
    const std::vector<std::vector<int32_t>> orders = orders_to_split(judge_.loads());
    for (const std::vector<int32_t>& order : orders) {
      const Stop stop = judged_.empty() ? settings_.budget.stop : progress_.until(kSplitsUntil);
      const auto split = best_split(judge_.loads(), order, stop);
      if (!split) continue;
      splits_.push_back(*split);
      add(kPipelinePolicy, plan_of(*split), kSplitsUntil);
    }
  }

  // From the splits and the best plans so far. A start that does not run is none.
  void add_balanced() {
    const LoadModel& model = judge_.loads();
    std::vector<std::vector<int32_t>> starts = splits_;
    std::vector<const JudgedPlan*> ranked;
    for (const JudgedPlan& one : judged_) ranked.push_back(&one);
    std::stable_sort(ranked.begin(), ranked.end(), [](const JudgedPlan* a, const JudgedPlan* b) {
      return a->times.per_pass < b->times.per_pass;
    });
    for (const JudgedPlan* one : ranked) {
      std::vector<int32_t> device_of;
      for (int32_t unit = 0; unit < model.units(); ++unit) {
        device_of.push_back(one->plan.placement[model.members(unit)[0].index].index);
      }
      if (!DeviceLoads(model, device_of).fits()) continue;
      if (std::find(starts.begin(), starts.end(), device_of) == starts.end()) {
        starts.push_back(std::move(device_of));
      }
    }
    if (starts.size() > kBalanced) starts.resize(kBalanced);
    if (starts.empty()) return;
    // Cool searches stay near their start, and so keep pipelines in order.
    std::vector<std::vector<int32_t>> found;
    Rng seeds(settings_.seed);
    const size_t searches = 2 * starts.size();
    for (size_t i = 0; i < searches; ++i) {
      const double until = kSplitsUntil + (kBalanceUntil - kSplitsUntil) *
                                              static_cast<double>(i + 1) /
                                              static_cast<double>(searches);
      const std::vector<int32_t>& start = starts[i / 2];
      const uint64_t seed = seeds.split(i).next();
      const int64_t moves =
          progress_.timed() ? moves_until(until, start, seed) : moves_of_one(searches);
      std::vector<int32_t> better = balanced(model, start,
                                             {.moves = moves,
                                              .heat = i % 2 == 0 ? kHot : kCool,
                                              .seed = seed,
                                              .stop = progress_.until(until)});
      if (std::find(found.begin(), found.end(), better) == found.end()) {
        found.push_back(std::move(better));
      }
    }
    std::stable_sort(found.begin(), found.end(), [&](const auto& a, const auto& b) {
      return DeviceLoads(model, a).largest_ns() < DeviceLoads(model, b).largest_ns();
    });
    for (const std::vector<int32_t>& placement : found)
      add_best_order("balance", plan_of(placement));
  }

  // The best plans so far, by order rules as well.
  void reorder_best() {
    std::vector<JudgedPlan> best = judged_;
    std::stable_sort(best.begin(), best.end(), [](const JudgedPlan& a, const JudgedPlan& b) {
      return a.times.per_pass < b.times.per_pass;
    });
    if (best.size() > kReordered) best.resize(kReordered);
    for (const JudgedPlan& one : best) add_best_order("reordered", one.plan);
  }

  // Several plans have one name: splits of several orders, several searches.
  void keep_best_of_each() {
    std::vector<TriedThroughput> kept;
    for (TriedThroughput& tried : result_.tried) {
      const auto same = std::find_if(kept.begin(), kept.end(), [&](const TriedThroughput& other) {
        return other.policy == tried.policy;
      });
      if (same == kept.end()) {
        kept.push_back(std::move(tried));
      } else if (tried.refusal.empty() &&
                 (!same->refusal.empty() || tried.times.per_pass < same->times.per_pass)) {
        *same = std::move(tried);
      }
    }
    result_.tried = std::move(kept);
  }

  // The priorities of order rules, besides the plan's own; the best of them is a candidate.
  void add_best_order(const std::string& policy, Result<Plan> plan) {
    if (!plan) {
      add(policy, plan.error());
      return;
    }
    std::optional<JudgedPlan> best;
    const auto consider = [&](Plan ordered) {
      const Result<PassTimes> times = judge_.times(ordered, progress_.until(1));
      if (!times || (best && best->times.per_pass <= times->per_pass)) return;
      best = JudgedPlan{.policy = policy, .plan = std::move(ordered), .times = *times};
    };
    consider(*plan);
    for (const OrderRule& rule : order_rules()) {
      // The load is what no order changes.
      if (best && best->times.per_pass <= best->times.largest_load) break;
      consider(reordered(problem_, *plan, rule));
    }
    if (!best) {
      add(policy, std::move(plan));  // for its refusal
      return;
    }
    result_.tried.push_back({.policy = best->policy, .times = best->times});
    judged_.push_back(std::move(*best));
  }

  Result<Plan> plan_of(const std::vector<int32_t>& device_of_unit) const {
    Plan plan = plan_of_units(judge_.loads(), device_of_unit);
    if (!problem_.has_homed_weights()) return plan;
    if (const Result<void> kept = choose_keeping(problem_, plan); !kept) return kept.error();
    return plan;
  }

  int64_t moves_of_one(size_t searches) const {
    const int64_t all = settings_.budget.evaluations
                            ? *settings_.budget.evaluations * kMovesOfEvaluation
                            : kUsualMoves;
    return std::max<int64_t>(1000, all / static_cast<int64_t>(searches));
  }

  // How many there is time for: annealing has to know how long it goes on.
  int64_t moves_until(double share, const std::vector<int32_t>& start, uint64_t seed) const {
    constexpr int64_t kTried = 2000;
    const double begin = progress_.elapsed();
    balanced(judge_.loads(), start,
             {.moves = kTried, .heat = kHot, .seed = seed, .stop = progress_.until(share)});
    const double now = progress_.elapsed();
    const double each = std::max(now - begin, 1e-9) / static_cast<double>(kTried);
    return static_cast<int64_t>(std::clamp(0.95 * (share - now) / each, 1.0, 1e9));
  }

  Error refusal() const {
    if (progress_.interrupted()) return failed("interrupted before there was a plan");
    if (first_error_) return *first_error_;
    return {Error::Kind::infeasible,
            "no pipeline fits: its weights need more memory than there is, or the devices are of "
            "too many kinds; --policy auto tries more"};
  }

  const Problem& problem_;
  PassJudge judge_;
  const AutoSettings& settings_;
  const Progress progress_;
  ThroughputResult result_{};
  std::vector<JudgedPlan> judged_;
  std::vector<std::vector<int32_t>> splits_;
  std::optional<Error> first_error_;
  int64_t spent_ = 0;
};

}  // namespace

PassJudge::PassJudge(const Problem& problem)
    : problem_(&problem),
      loads_(std::make_unique<LoadModel>(problem)),
      alone_(std::make_unique<PhysicalSimulator>(problem)) {}

Result<PassJudge> PassJudge::make(const Problem& problem, int in_flight) {
  PassJudge judge(problem);
  Result<Passes> passes = Passes::make(problem, in_flight);
  if (!passes) return passes.error();
  for (; in_flight >= 1; in_flight /= 2) judge.in_flight_.push_back(in_flight);
  judge.passes_.resize(judge.in_flight_.size());
  judge.passes_[0] = std::move(*passes);
  return judge;
}

Result<Duration> PassJudge::time_per_pass(size_t way, const Plan& plan, const Stop& stop) {
  if (!passes_[way]) {
    Result<Passes> passes = Passes::make(*problem_, in_flight_[way]);
    if (!passes) return passes.error();
    passes_[way] = std::move(*passes);
  }
  ++evaluations_;
  return passes_[way]->time_per_pass(plan, stop);
}

Result<PassTimes> PassJudge::times(const Plan& plan, const Stop& stop) {
  ++evaluations_;
  const Result<Duration> alone = alone_->run(plan, {.stop = stop});
  if (!alone) return alone.error();
  if (*alone == kNever) return out_of_time();
  PassTimes times{.simulated = kNever, .one_pass = *alone};
  for (size_t way = 0; way < in_flight_.size(); ++way) {
    // One at a time, unless several are quicker.
    const bool last = way + 1 == in_flight_.size();
    if (!last && times.simulated < kNever) continue;
    if (last && times.simulated < *alone) continue;
    const Result<Duration> steady = time_per_pass(way, plan, stop);
    if (!steady && (last || steady.error().kind == Error::Kind::out_of_time)) return steady.error();
    if (!steady || *steady >= times.simulated) continue;
    times.simulated = *steady;
    times.in_flight = in_flight_[way];
  }
  for (const Duration load : device_loads(*loads_, plan)) {
    times.largest_load = std::max(times.largest_load, load);
  }
  times.per_pass = std::max(times.simulated, times.largest_load);
  return times;
}

Result<ThroughputResult> plan_for_throughput(const Problem& problem, const std::string& policy,
                                             int in_flight, const AutoSettings& settings) {
  Result<PassJudge> judge = PassJudge::make(problem, in_flight);
  if (!judge) return judge.error();
  return ThroughputPlanning(problem, std::move(*judge), settings).run(policy);
}

}  // namespace tutti
