#include "tutti/search/candidates.h"

#include <algorithm>
#include <array>

#include "tutti/base/parallel.h"
#include "tutti/policy/doppler/planner.h"
#include "tutti/policy/schedule/memory.h"
#include "tutti/policy/schedule/order.h"
#include "tutti/search/beam.h"

namespace tutti {
namespace {

// The share of each memory that policies may use, one after the other, if no plan runs.
constexpr std::array<double, 6> kMemoryShares = {1, 0.95, 0.9, 0.85, 0.8, 0.7};

bool is_slow(const PolicyEntry& entry) {
  return entry.slowness > 1;
}

void refuse(const Error& error, Candidate& candidate) {
  candidate.tried.refusal = error.message;
  candidate.tried.late = error.kind == Error::Kind::out_of_time;
}

class Asking {
 public:
  Asking(PortfolioWork& work, AskingTime time, std::vector<PolicyEntry> entries)
      : work_(work),
        entries_(std::move(entries)),
        candidates_(named_candidates()),
        begin_(work.progress.until(time.begin)),
        end_(work.progress.until(time.end)) {}

  // Asks one policy after another until there is a plan that runs, then the others in batches that
  // end before each of these. Gives the candidates by entry.
  std::vector<Candidate> run(const std::vector<size_t>& batch_ends) {
    size_t asked = ask_for_a_plan();
    for (const size_t end : batch_ends) {
      if (asked < end) ask_in_parallel(asked, end);
      asked = std::max(asked, end);
    }
    return std::move(candidates_);
  }

  // Empty if none runs.
  std::vector<Candidate> run_with_less_memory() {
    const Stop stop = work_.progress.until(1);
    for (const double share : kMemoryShares) {
      const Problem tighter = work_.problem.with_memory_share(share);
      std::vector<int64_t> spent(entries_.size(), 0);
      parallel_for(static_cast<int>(entries_.size()), work_.threads, [&](int index, int) {
        const auto at = static_cast<size_t>(index);
        const Result<Plan> plan = ask(at, tighter, stop);
        if (!plan) return;
        Evaluator evaluator(work_.problem, work_.model, stop);
        take_an_order_that_runs(*plan, evaluator, candidates_[at]);
        spent[at] = evaluator.evaluations();
      });
      for (const int64_t count : spent) work_.evaluations += count;
      std::erase_if(candidates_, [](const Candidate& candidate) { return !candidate.found; });
      if (!candidates_.empty()) return std::move(candidates_);
      candidates_ = named_candidates();
    }
    return {};
  }

 private:
  std::vector<Candidate> named_candidates() const {
    std::vector<Candidate> candidates(entries_.size());
    for (size_t i = 0; i < entries_.size(); ++i) candidates[i].tried.policy = entries_[i].name;
    return candidates;
  }

  // The plan's own order, or the first rule's that does not get stuck.
  void take_an_order_that_runs(const Plan& plan, Evaluator& evaluator, Candidate& candidate) const {
    const auto runs = [&](const Plan& ordered, const char* order) {
      const double cost = evaluator.cost(ordered);
      if (cost == kNoPlan) return false;
      candidate.found = CostedPlan{.plan = ordered, .cost = cost};
      candidate.order = order;
      return true;
    };
    if (runs(plan, "")) return;
    for (const OrderRule& rule : order_rules()) {
      if (evaluator.stop().now()) return;
      if (runs(reordered(work_.problem, plan, rule), rule.name)) return;
    }
  }

  // The clock stops none of these policies, only an interrupt does; but single_device, which is the
  // first, returns the best so far at either. Gives how many were asked.
  size_t ask_for_a_plan() {
    size_t asked = 0;
    for (bool found = false; asked < entries_.size() && !found; ++asked) {
      Candidate& candidate = candidates_[asked];
      Result<Plan> plan = ask(asked, work_.problem, asked == 0 ? begin_ : begin_.without_time());
      if (!plan) {
        refuse(plan.error(), candidate);
        continue;
      }
      measure_simulation(*plan);
      Evaluator evaluator(work_.problem, work_.model, begin_);
      evaluate(work_, std::move(*plan), Stopping::not_before_a_plan, evaluator, candidate);
      work_.evaluations += evaluator.evaluations();
      found = candidate.found.has_value();
    }
    return asked;
  }

  // Simulates the plan once, whatever the clock says, and one that uses all devices. Reduces the
  // number of scenarios if the rest of a wall clock would not do for a thousand evaluations: many
  // scenarios and a short wall clock would otherwise leave the search no plan to compare.
  void measure_simulation(const Plan& plan) {
    constexpr double kFewestEvaluations = 1000;
    const Progress& progress = work_.progress;
    Scenarios& scenarios = work_.model.scenarios;
    ScenarioSimulator simulator(work_.problem, work_.model.model, work_.model.order);
    work_.simulation = std::chrono::duration<double>(0);
    if (!progress.timed() || !simulator.depends_on_seed()) return;
    const auto time = [&](const Plan& timed) {
      const auto before = progress.time_left();
      if (!simulator.makespan(timed, scenarios.seed)) return;
      work_.simulation = std::max(work_.simulation, before - progress.time_left());
    };
    time(plan);
    // All on one device needs no transfers, and is quicker to simulate than most plans of a search.
    const Result<Plan> spread =
        make_plan(**find_policy("round_robin"), work_.problem,
                  {.wall_clock = {}, .evaluations = {}, .stop = progress.until(1)}, 0);
    if (spread && !progress.until(1).now()) time(*spread);
    if (work_.simulation.count() == 0) return;  // neither runs
    const double count =
        work_.threads * (progress.time_left() / work_.simulation) / kFewestEvaluations;
    scenarios.count = static_cast<int>(std::clamp<double>(count, 1, scenarios.count));
  }

  // Those from `first` on, up to `last`.
  void ask_in_parallel(size_t first, size_t last) {
    std::vector<int64_t> spent(last - first, 0);
    std::vector<std::optional<Evaluator>> evaluators(static_cast<size_t>(work_.threads));
    const double unit = unit_of_slowness();
    parallel_for(static_cast<int>(last - first), work_.threads, [&](int index, int thread) {
      const size_t at = first + static_cast<size_t>(index);
      Candidate& candidate = candidates_[at];
      if (begin_.now() || !has_time_for(entries_[at], unit)) {
        refuse(out_of_time(), candidate);
        return;
      }
      auto& evaluator = evaluators[static_cast<size_t>(thread)];
      if (!evaluator) evaluator.emplace(work_.problem, work_.model, end_);
      const int64_t before = evaluator->evaluations();
      Result<Plan> plan = ask(at, work_.problem, end_);
      if (plan) {
        evaluate(work_, std::move(*plan), Stopping::allowed, *evaluator, candidate);
      } else {
        refuse(plan.error(), candidate);
      }
      spent[static_cast<size_t>(index)] = evaluator->evaluations() - before;
    });
    for (const int64_t count : spent) work_.evaluations += count;
  }

  Result<Plan> ask(size_t which, const Problem& planned, const Stop& stop) {
    const auto before = Stop::Clock::now();
    Result<Plan> plan = make_plan(entries_[which], planned,
                                  {.wall_clock = {}, .evaluations = {}, .stop = stop}, work_.seed);
    candidates_[which].plan_seconds =
        std::chrono::duration<double>(Stop::Clock::now() - before).count();
    return plan;
  }

  // How long the policy of slowness 1 took; 0: it has not been asked.
  double unit_of_slowness() const {
    for (size_t i = 0; i < entries_.size(); ++i) {
      if (entries_[i].slowness == 1) return candidates_[i].plan_seconds;
    }
    return 0;
  }

  bool has_time_for(const PolicyEntry& entry, double unit) const {
    if (!is_slow(entry)) return true;
    const bool large = work_.problem.graph.size() > kMostOpByOp && entry.slowness_if_large > 0;
    const std::chrono::duration<double> estimate(
        unit * (large ? entry.slowness_if_large : entry.slowness));
    return !end_.comes_within(std::chrono::duration_cast<Stop::Clock::duration>(estimate));
  }

  PortfolioWork& work_;
  std::vector<PolicyEntry> entries_;
  std::vector<Candidate> candidates_;  // by entry
  Stop begin_;
  Stop end_;
};

// The cost of a plan; if the evaluator is stopped, the cost in one scenario instead, which nothing
// stops.
double cost_in_any_case(const PortfolioWork& work, const Plan& plan, Evaluator& evaluator) {
  const double cost = evaluator.cost(plan);
  if (cost != kNoPlan || !evaluator.stop().now()) return cost;
  SearchModel one = work.model;
  one.scenarios.count = 1;
  return Evaluator(work.problem, one).cost(plan);
}

}  // namespace

std::vector<Candidate*> by_cost(std::vector<Candidate>& candidates) {
  std::vector<Candidate*> ranked;
  for (Candidate& candidate : candidates) {
    if (candidate.found) ranked.push_back(&candidate);
  }
  std::stable_sort(ranked.begin(), ranked.end(), [](const Candidate* a, const Candidate* b) {
    return a->found->cost < b->found->cost;
  });
  return ranked;
}

void evaluate(const PortfolioWork& work, Plan plan, Stopping stopping, Evaluator& evaluator,
              Candidate& candidate) {
  const double cost = stopping == Stopping::allowed ? evaluator.cost(plan)
                                                    : cost_in_any_case(work, plan, evaluator);
  if (cost == kNoPlan && stopping == Stopping::allowed && evaluator.stop().now()) {
    refuse(out_of_time(), candidate);
    return;
  }
  if (cost == kNoPlan) {  // the run itself tells where it gets stuck, and for how many bytes
    const Result<Duration> run = ScenarioSimulator(work.problem, work.model.model, work.model.order)
                                     .makespan(plan, work.model.scenarios.seed);
    candidate.tried.refusal =
        run ? "its plan does not run in every scenario: memory is short" : run.error().message;
    return;
  }
  candidate.tried.refusal.clear();
  candidate.tried.late = false;
  candidate.found = CostedPlan{.plan = std::move(plan), .cost = cost};
}

std::vector<PolicyEntry> policies_to_ask(const std::shared_ptr<const DopplerModel>& trained_model) {
  std::vector<PolicyEntry> entries = planning_policies(trained_model);
  std::erase_if(entries, [](const PolicyEntry& entry) { return entry.for_comparison; });
  std::stable_sort(entries.begin(), entries.end(),
                   [](const PolicyEntry& a, const PolicyEntry& b) { return a.turn < b.turn; });
  return entries;
}

// The same policies, as if weights with homes took room only while they are read.
std::vector<PolicyEntry> with_streamed_weights(std::vector<PolicyEntry> entries) {
  for (PolicyEntry& entry : entries) {
    entry.name += "+streams";
    entry.plan = [entry](const Problem& problem, const Budget& budget, uint64_t seed) {
      return make_plan(entry, problem.with_streamed_weights(), budget, seed);
    };
    entry.spends = Spends::simulations;  // it chooses what is kept itself
  }
  return entries;
}

std::vector<Candidate> ask_policies(PortfolioWork& work) {
  const std::vector<PolicyEntry> entries = policies_to_ask(work.trained_model);
  const auto slow =
      static_cast<size_t>(std::find_if(entries.begin(), entries.end(), is_slow) - entries.begin());
  std::vector<Candidate> asked = Asking(work, kAskAll, entries).run({slow, entries.size()});
  std::vector<Candidate> candidates;
  for (const PolicyEntry& entry : policy_registry()) {
    for (Candidate& candidate : asked) {
      if (candidate.tried.policy == entry.name) candidates.push_back(std::move(candidate));
    }
  }
  if (work.problem.has_homed_weights() && work.problem.has_memory_limits()) {
    // A policy that finds room for weights that stay does not stream of its own accord.
    const std::vector<PolicyEntry> streaming = with_streamed_weights(entries);
    for (Candidate& candidate : Asking(work, kAskAll, streaming).run({slow, entries.size()})) {
      candidates.push_back(std::move(candidate));
    }
  }
  return candidates;
}

std::vector<Candidate> ask_for_starts(PortfolioWork& work) {
  std::vector<PolicyEntry> entries = policies_to_ask(work.trained_model);
  const auto others = std::stable_partition(
      entries.begin(), entries.end(), [](const PolicyEntry& entry) { return entry.starts_search; });
  const auto starts = static_cast<size_t>(others - entries.begin());
  return Asking(work, kAskStarts, std::move(entries)).run({starts});
}

std::vector<Candidate> ask_with_less_memory(PortfolioWork& work) {
  if (!work.problem.has_memory_limits() || !require_possible_room(work.problem)) return {};
  // Beam search continues from several drafts if one gets stuck.
  std::vector<PolicyEntry> entries = policies_to_ask(work.trained_model);
  entries.push_back(beam_entry());
  return Asking(work, kAskAll, std::move(entries)).run_with_less_memory();
}

Error why_no_plan(const Problem& problem, const std::vector<Candidate>& candidates) {
  if (const Result<void> room = require_possible_room(problem); !room) return room.error();
  const Tried* told = nullptr;
  for (const Candidate& candidate : candidates) {
    if (candidate.tried.refusal.empty()) continue;
    told = &candidate.tried;
    if (told->policy == "m_etf") break;  // it looks at memory closest
  }
  if (told == nullptr) return infeasible("no plan found: no policy made one");
  const std::string prefix = "no plan found: ";
  if (told->refusal.starts_with(prefix)) return infeasible(told->refusal);
  return infeasible(prefix + "the closest attempt is that of " + told->policy + ", and " +
                    told->refusal);
}

}  // namespace tutti
