#include "tutti/search/asking.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "tutti/base/parallel.h"
#include "tutti/policy/doppler/planner.h"
#include "tutti/policy/memory.h"
#include "tutti/policy/order.h"
#include "tutti/search/affordable.h"
#include "tutti/search/beam.h"

namespace tutti {
namespace {

// What brings most for its time, first. Others follow in the order of the registry, and then those
// that take long, likewise with what brings most first.
constexpr std::array<std::string_view, 9> kFirst = {
    "single_device", "contention_eft", "locality",      "expert", "heft",
    "components",    "greedy_locator", "critical_path", "cpop"};

// How many times as long as contention_eft these take at most, as measured; and on graphs whose
// clusters `doppler` places instead of their ops.
struct Slow {
  std::string_view name;
  double times;
  double times_if_large;
};
constexpr std::array<Slow, 5> kSlow = {{{"best_subset", 6, 6},
                                        {"enumerative", 10, 10},
                                        {"min_cut", 8, 8},
                                        {"doppler", 40, 6},
                                        {"m_sct", 3, 3}}};
constexpr std::string_view kMeasure = "contention_eft";

// How much of each memory policies are told of, one after the other, where no plan runs.
constexpr std::array<double, 6> kMemoryShares = {1, 0.95, 0.9, 0.85, 0.8, 0.7};

const Slow* slow_entry(std::string_view name) {
  const auto found =
      std::find_if(kSlow.begin(), kSlow.end(), [&](const Slow& slow) { return slow.name == name; });
  return found == kSlow.end() ? nullptr : &*found;
}

// The place of a policy among those that are asked.
size_t turn_of(std::string_view name) {
  if (const Slow* slow = slow_entry(name)) {
    return kFirst.size() + 1 + static_cast<size_t>(slow - kSlow.data());
  }
  return static_cast<size_t>(std::find(kFirst.begin(), kFirst.end(), name) - kFirst.begin());
}

void refuse(const Error& error, Entrant& entrant) {
  entrant.tried.refusal = error.message;
  entrant.tried.late = error.message == out_of_time().message;
}

class Asking {
 public:
  explicit Asking(AutoWork& work)
      : work_(work), entries_(policies_to_ask(work.network)), entrants_(named_entrants()) {}

  std::vector<Entrant> run() {
    const auto slow = static_cast<size_t>(
        std::find_if(entries_.begin(), entries_.end(),
                     [](const PolicyEntry& entry) { return slow_entry(entry.name) != nullptr; }) -
        entries_.begin());
    const size_t asked = ask_for_a_plan();
    ask_side_by_side(std::min(asked, slow), slow);
    ask_side_by_side(std::max(asked, slow), entries_.size());
    std::vector<Entrant> entrants;
    for (const PolicyEntry& entry : policy_registry()) {
      if (Entrant* entrant = find(entrants_, entry.name)) entrants.push_back(std::move(*entrant));
    }
    return entrants;
  }

  // Empty if none runs. Beam search joins in: it goes on from several drafts where one gets stuck.
  std::vector<Entrant> run_with_less_memory() {
    entries_.push_back(beam_entry());
    entrants_ = named_entrants();
    const Stop stop = work_.progress.until(1);
    for (const double share : kMemoryShares) {
      const Problem tighter = work_.problem.with_memory_share(share);
      std::vector<int64_t> spent(entries_.size(), 0);
      parallel_for(static_cast<int>(entries_.size()), work_.threads, [&](int index, int) {
        const auto at = static_cast<size_t>(index);
        const Result<Plan> plan = ask(at, tighter, stop);
        if (!plan) return;
        Evaluator evaluator(work_.problem, work_.model, stop);
        take_an_order_that_runs(*plan, evaluator, entrants_[at]);
        spent[at] = evaluator.evaluations();
      });
      for (const int64_t count : spent) work_.evaluations += count;
      std::erase_if(entrants_, [](const Entrant& entrant) { return !entrant.candidate; });
      if (!entrants_.empty()) return std::move(entrants_);
      entrants_ = named_entrants();
    }
    return {};
  }

 private:
  std::vector<Entrant> named_entrants() const {
    std::vector<Entrant> entrants(entries_.size());
    for (size_t i = 0; i < entries_.size(); ++i) entrants[i].tried.policy = entries_[i].name;
    return entrants;
  }

  // The plan's own order, or the first rule's that does not get stuck.
  void take_an_order_that_runs(const Plan& plan, Evaluator& evaluator, Entrant& entrant) const {
    const auto runs = [&](const Plan& candidate, const char* order) {
      const double cost = evaluator.cost(candidate);
      if (cost == kNoPlan) return false;
      entrant.candidate = Candidate{.plan = candidate, .cost = cost};
      entrant.order = order;
      return true;
    };
    if (runs(plan, "")) return;
    for (const OrderRule& rule : order_rules()) {
      if (evaluator.stop().now()) return;
      if (runs(reordered(work_.problem, plan, rule), rule.name)) return;
    }
  }

  static Entrant* find(std::vector<Entrant>& entrants, const std::string& policy) {
    const auto found = std::find_if(entrants.begin(), entrants.end(), [&](const Entrant& entrant) {
      return entrant.tried.policy == policy;
    });
    return found == entrants.end() ? nullptr : &*found;
  }

  // Until there is a plan that runs, policies are asked one after the other, and the clock stops
  // none of them; only an interrupt does, and the first not even that. Gives how many were asked.
  size_t ask_for_a_plan() {
    size_t asked = 0;
    for (bool found = false; asked < entries_.size() && !found; ++asked) {
      Entrant& entrant = entrants_[asked];
      Result<Plan> plan = ask(asked, work_.problem, asked == 0 ? begin_ : begin_.without_time());
      if (!plan) {
        refuse(plan.error(), entrant);
        continue;
      }
      const Affordable affordable =
          affordable_scenarios(work_.problem, work_.model, *plan, work_.progress, work_.threads);
      work_.model.scenarios.count = affordable.scenarios;
      work_.simulation = affordable.simulation;
      Evaluator evaluator(work_.problem, work_.model, begin_);
      weigh(work_, std::move(*plan), Stopping::not_before_a_plan, evaluator, entrant);
      work_.evaluations += evaluator.evaluations();
      found = entrant.candidate.has_value();
    }
    return asked;
  }

  // Those from `first` on, up to `last`.
  void ask_side_by_side(size_t first, size_t last) {
    std::vector<int64_t> spent(last - first, 0);
    std::vector<std::optional<Evaluator>> evaluators(static_cast<size_t>(work_.threads));
    const double measure = measured_seconds();
    parallel_for(static_cast<int>(last - first), work_.threads, [&](int index, int thread) {
      const size_t at = first + static_cast<size_t>(index);
      Entrant& entrant = entrants_[at];
      if (begin_.now() || !has_time_for(entries_[at], measure)) {
        refuse(out_of_time(), entrant);
        return;
      }
      auto& evaluator = evaluators[static_cast<size_t>(thread)];
      if (!evaluator) evaluator.emplace(work_.problem, work_.model, end_);
      const int64_t before = evaluator->evaluations();
      Result<Plan> plan = ask(at, work_.problem, end_);
      if (plan) {
        weigh(work_, std::move(*plan), Stopping::allowed, *evaluator, entrant);
      } else {
        refuse(plan.error(), entrant);
      }
      spent[static_cast<size_t>(index)] = evaluator->evaluations() - before;
    });
    for (const int64_t count : spent) work_.evaluations += count;
  }

  Result<Plan> ask(size_t which, const Problem& planned, const Stop& stop) {
    const auto before = Stop::Clock::now();
    Result<Plan> plan = make_plan(entries_[which], planned,
                                  {.wall_clock = {}, .evaluations = {}, .stop = stop}, work_.seed);
    const double seconds = std::chrono::duration<double>(Stop::Clock::now() - before).count();
    entrants_[which].plan_seconds = seconds;
    return plan;
  }

  // How long the policy took that others are measured by; 0: it has not been asked.
  double measured_seconds() const {
    for (size_t i = 0; i < entries_.size(); ++i) {
      if (entries_[i].name == kMeasure) return entrants_[i].plan_seconds;
    }
    return 0;
  }

  bool has_time_for(const PolicyEntry& entry, double measure) const {
    const Slow* slow = slow_entry(entry.name);
    if (slow == nullptr) return true;
    const bool large = work_.problem.graph.size() > kMostOpByOp;
    const std::chrono::duration<double> estimate(measure *
                                                 (large ? slow->times_if_large : slow->times));
    return !end_.comes_within(std::chrono::duration_cast<Stop::Clock::duration>(estimate));
  }

  AutoWork& work_;
  std::vector<PolicyEntry> entries_;
  std::vector<Entrant> entrants_;  // by entry
  Stop begin_ = work_.progress.until(kPoliciesBegin);
  Stop end_ = work_.progress.until(kPoliciesEnd);
};

}  // namespace

void weigh(const AutoWork& work, Plan plan, Stopping stopping, Evaluator& evaluator,
           Entrant& entrant) {
  const double cost = stopping == Stopping::allowed
                          ? evaluator.cost(plan)
                          : cost_in_any_case(work.problem, work.model, plan, evaluator);
  if (cost == kNoPlan && stopping == Stopping::allowed && evaluator.stop().now()) {
    refuse(out_of_time(), entrant);
    return;
  }
  if (cost == kNoPlan) {  // the run itself tells where it stands still, and for how many bytes
    const Result<Duration> run = Judge(work.problem, work.model.model, work.model.order)
                                     .makespan(plan, work.model.scenarios.seed);
    entrant.tried.refusal =
        run ? "its plan does not run in every scenario: memory is short" : run.error().message;
    return;
  }
  entrant.tried.refusal.clear();
  entrant.tried.late = false;
  entrant.candidate = Candidate{.plan = std::move(plan), .cost = cost};
}

std::vector<PolicyEntry> policies_to_ask(const std::shared_ptr<const DopplerModel>& network) {
  std::vector<PolicyEntry> entries = policies_with(network);
  std::erase_if(entries, [](const PolicyEntry& entry) { return entry.for_comparison; });
  std::stable_sort(entries.begin(), entries.end(), [](const PolicyEntry& a, const PolicyEntry& b) {
    return turn_of(a.name) < turn_of(b.name);
  });
  return entries;
}

std::vector<Entrant> ask_policies(AutoWork& work) {
  return Asking(work).run();
}

std::vector<Entrant> ask_with_less_memory(AutoWork& work) {
  if (!work.problem.has_memory_limits() || !require_possible_room(work.problem)) return {};
  return Asking(work).run_with_less_memory();
}

}  // namespace tutti
