#include "tutti/search/auto.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>

#include "tutti/base/parallel.h"
#include "tutti/plan/bound.h"
#include "tutti/policy/doppler/general.h"
#include "tutti/policy/doppler/planner.h"
#include "tutti/policy/places/subsets.h"
#include "tutti/policy/schedule/order.h"
#include "tutti/search/candidates.h"
#include "tutti/search/exact/work_conserving.h"
#include "tutti/search/held_out.h"
#include "tutti/search/walk/annealing.h"
#include "tutti/search/walk/cut_samples.h"
#include "tutti/search/walk/neighbourhoods.h"
#include "tutti/search/walk/random_keys.h"
#include "tutti/search/walk/samples.h"

namespace tutti {
namespace {

// Shares of a wall clock, in addition to those of the policies (candidates.h). Order rules get a
// little even if the policies took all of theirs.
constexpr double kOrderRules = 0.1;
constexpr double kHeldOutAtMost = 0.05;
// If simulations are slow, held-out scenarios get this much: one scenario for the best few.
constexpr double kHeldOutOnceAtMost = 0.3;
constexpr int kHeldOutOnce = 2 * kIslands;
// For planners that search one way. The rest is for the caller: a simulation, the answer.
constexpr double kGreedyUntil = 0.8;
constexpr double kOneMethodUntil = 0.97;
constexpr double kHot = 0.1;
constexpr int32_t kFew = 64;  // ops
// Beyond so many ops, walks move sets of ops, large ones first (Moves::set_scale). The last sets
// are so small that as many simulations as this are left for each.
constexpr int32_t kMany = 2'000;
constexpr double kSimulationsOfASet = 4;
constexpr double kHottestOfSets = 0.002;  // a set changes more than an op: fewer losses pay
// Parts of the machine are searched too, if there are ops enough to spread and time for it.
constexpr size_t kMostParts = 8;
constexpr size_t kReordered = 6;  // placements that are tried under every order rule
constexpr size_t kReorderedOfPart = 2;
constexpr int32_t kMostOpsForParts = 20'000;
constexpr double kPartsUntil = 0.6;
constexpr double kPromising = 1.1;  // times the best plan on the whole machine

// False if no transfer between devices takes time: then only order and speeds matter, and a model
// that has learned what to keep together is of no use.
bool transfers_take_time(const Problem& problem) {
  const Graph& graph = problem.graph;
  if (problem.costs.has_given_transfers()) return true;
  bool read = false;
  bool bytes = false;
  for (const ValueId value : graph.values()) {
    if (graph.consumers(value).empty()) continue;
    read = true;
    bytes = bytes || graph.bytes(value) > 0;
  }
  const Machine& machine = problem.machine;
  const auto takes_time = [&](const Hop& hop) {
    return read && (hop.latency > Duration{0} || (bytes && hop.ns_per_byte > 0));
  };
  for (const DeviceId from : machine.devices()) {
    for (const DeviceId to : machine.devices()) {
      const Route* route = machine.route(machine.memory_of(from), machine.memory_of(to));
      if (route == nullptr) continue;
      if (std::any_of(route->hops.begin(), route->hops.end(), takes_time)) return true;
    }
  }
  return false;
}

class Portfolio {
 public:
  Portfolio(const Problem& problem, const AutoSettings& settings)
      : problem_(problem),
        settings_(settings),
        progress_(settings.budget),
        work_{.problem = problem,
              .progress = progress_,
              .model = settings.model,
              .seed = settings.seed,
              .threads = settings.threads,
              .trained_model = settings.trained_model},
        evaluations_(settings.budget.evaluations.value_or(default_evaluations(problem))) {
    const ScenarioSimulator simulator(problem, settings.model.model, settings.model.order);
    depends_on_seed_ = simulator.depends_on_seed();
    depends_on_priority_ = simulator.depends_on_priority();
  }

  Result<AutoResult> run() {
    candidates_ = ask_policies(work_);
    add_given_plan();
    add_exact_plan();
    if (by_cost(candidates_).empty()) retry_with_less_memory();
    if (by_cost(candidates_).empty()) return refusal();
    reorder_best(candidates_, kReordered);
    if (const Result<void> searched = search(); !searched) return searched.error();
    HeldOut held_out(work_, evaluations_);
    const Candidate* winner = held_out.choose(candidates_);
    if (winner == nullptr) return refusal();
    return result(*winner, held_out.scenarios());
  }

  Result<Plan> run(const SearchMethod& method) {
    candidates_ = ask_for_starts(work_);
    if (by_cost(candidates_).empty()) {
      for (Candidate& found : ask_with_less_memory(work_)) candidates_.push_back(std::move(found));
    }
    const bool guided = method.model != nullptr && add_greedy_plan(method);
    if (by_cost(candidates_).empty()) return refusal();
    IslandsState state = start_islands(starts(Ties::keep), walks_to_the_end());
    prepare_parts(state);
    if (const auto& improve =
            method.model == nullptr || guided ? method.improve : method.unguided) {
      walk(
          [&](int round, int island, const Walk&) {
            Guide* guide = guided ? &guide_of(island, problem_, *method.model) : nullptr;
            return improve({problem_, depends_on_priority_, round, guide});
          },
          {.end = progress_.timed() ? kOneMethodUntil : 1}, state);
    }
    const auto best =
        std::min_element(state.walks.begin(), state.walks.end(),
                         [](const Walk& a, const Walk& b) { return a.best_cost < b.best_cost; });
    Plan plan = found_by_search(std::move(best->best));
    give_timeline(problem_, work_.model, progress_.until(1), plan);
    plan.provenance.evaluations = work_.evaluations + state.evaluations;
    if (method.model != nullptr && !guided) {
      plan.provenance.note =
          "searched without the trained model: it is too slow for this graph and budget";
    }
    return plan;
  }

 private:
  enum class Ties { keep, drop };

  void add(const char* name, Plan plan, Stopping stopping, double until = kAskAll.end) {
    Evaluator evaluator(problem_, work_.model, progress_.until(until));
    Candidate candidate{.tried = {.policy = name}};
    evaluate(work_, std::move(plan), stopping, evaluator, candidate);
    work_.evaluations += evaluator.evaluations();
    candidates_.push_back(std::move(candidate));
  }

  void retry_with_less_memory() {
    for (Candidate& retried : ask_with_less_memory(work_)) {
      const auto earlier =
          std::find_if(candidates_.begin(), candidates_.end(), [&](const Candidate& candidate) {
            return candidate.tried.policy == retried.tried.policy;
          });
      if (earlier == candidates_.end()) {
        candidates_.push_back(std::move(retried));
      } else {
        *earlier = std::move(retried);
      }
    }
  }

  void add_given_plan() {
    if (settings_.from) add("given", *settings_.from, Stopping::not_before_a_plan);
  }

  // The smallest problems can be solved exactly if transfers do not share links.
  void add_exact_plan() {
    constexpr int32_t kFewOps = 10;
    constexpr int64_t kSteps = 300'000;
    if (problem_.graph.size() > kFewOps || work_.model.model != SimModel::physical) return;
    if (problem_.has_homed_weights()) return;  // they are kept or streamed, which it does not know
    const Stop stop = progress_.until(kAskAll.end);
    Result<ExactPlan> exact =
        best_work_conserving(problem_, {.wall_clock = {}, .evaluations = kSteps, .stop = stop});
    if (!exact) return;
    add("exact", std::move(exact->plan), Stopping::allowed);
  }

  // The plan of the method's model. Gives whether there is time for guides beyond that: to look at
  // plans, or, if the method does nothing else, to draw them.
  bool add_greedy_plan(const SearchMethod& method) {
    const auto before = Stop::Clock::now();
    Result<Plan> plan = plan_guarded(*method.model, problem_, progress_.until(kGreedyUntil));
    const std::chrono::duration<double> took = Stop::Clock::now() - before;
    const bool has_time = method.unguided ? has_time_to_look(problem_, progress_, took.count())
                                          : has_time_to_draw(problem_, progress_, took.count());
    if (plan) add("doppler", std::move(*plan), Stopping::allowed, kGreedyUntil);
    return has_time;
  }

  // The best placements under every order rule. Each keeps its best order and stays one candidate.
  void reorder_best(std::vector<Candidate>& candidates, size_t placements) {
    if (!depends_on_priority_) return;
    std::vector<Candidate*> ranked = by_cost(candidates);
    if (ranked.size() > placements) ranked.resize(placements);
    const auto rules = order_rules();
    std::vector<CostedPlan> tries(ranked.size() * rules.size());
    if (!progress_.timed()) {  // the count is kept
      const int64_t left = std::max<int64_t>(0, evaluations_ - work_.evaluations);
      const int each = depends_on_seed_ ? work_.model.scenarios.count : 1;
      tries.resize(std::min(tries.size(), static_cast<size_t>(left / each)));
    }
    std::vector<int64_t> spent(tries.size(), 0);
    const Stop stop =
        progress_.timed()
            ? progress_.until(std::max(kAskAll.begin, progress_.elapsed() + kOrderRules))
            : progress_.until(1);
    std::vector<std::optional<Evaluator>> evaluators(static_cast<size_t>(settings_.threads));
    parallel_for(static_cast<int>(tries.size()), settings_.threads, [&](int index, int thread) {
      if (stop.now()) return;
      auto& evaluator = evaluators[static_cast<size_t>(thread)];
      if (!evaluator) evaluator.emplace(problem_, work_.model, stop);
      const auto at = static_cast<size_t>(index);
      const CostedPlan& original = *ranked[at / rules.size()]->found;
      const int64_t before = evaluator->evaluations();
      Plan plan = reordered(problem_, original.plan, rules[at % rules.size()]);
      const double cost = evaluator->cost(plan, original.cost);
      tries[at] = {.plan = std::move(plan), .cost = cost};
      spent[at] = evaluator->evaluations() - before;
    });
    for (size_t i = 0; i < tries.size(); ++i) {
      work_.evaluations += spent[i];
      Candidate& candidate = *ranked[i / rules.size()];
      if (tries[i].cost >= candidate.found->cost) continue;
      candidate.found = std::move(tries[i]);
      candidate.order = rules[i % rules.size()].name;
    }
  }

  // The best few. Plans of equal cost, if dropped, are taken for the same plan under another name.
  std::vector<CostedPlan> starts(Ties ties) {
    std::vector<CostedPlan> chosen;
    for (const Candidate* candidate : by_cost(candidates_)) {
      if (chosen.size() == kIslands) break;
      const CostedPlan& found = *candidate->found;
      if (ties == Ties::keep || chosen.empty() || found.cost > chosen.back().cost) {
        chosen.push_back(found);
      }
    }
    return chosen;
  }

  // Some walks draw cuts first.
  std::unique_ptr<Improver> improver(int round, int island, const Walk& walk) {
    // In the first round a walk has nothing to spend if a count is small.
    if (round == 1 && draws_cuts(island, walk)) {
      return std::make_unique<CutSamples>(problem_of(walk), improver_of(round, island, walk));
    }
    return improver_of(round, island, walk);
  }

  // One walk on the whole machine, and those on parts.
  bool draws_cuts(int island, const Walk& walk) const {
    return MinCut::is_available() && has_transfers_ && problem_.graph.size() <= kMany &&
           !problem_.has_homed_weights() && (island == 1 || !walk.within.empty());
  }

  // One walk searches over keys, the others anneal, with neighbourhood search in between. With
  // guides all walks begin with plans drawn from the trained policy, and keys get every fourth
  // round of one walk.
  std::unique_ptr<Improver> improver_of(int round, int island, const Walk& walk) {
    const Problem& problem = problem_of(walk);
    if (problem_.has_homed_weights()) return weights_improver(round, island, problem);
    if (problem_.graph.size() > kMany) {
      return std::make_unique<Annealing>(problem, depends_on_priority_, cooling_of_sets(round));
    }
    Guide* guide = affordable_guide(island, problem);
    if (round == 0 && guide != nullptr) return std::make_unique<PolicySamples>(*guide);
    if (round == 0 || (island == 0 && (guide == nullptr || round % 4 == 2))) {
      const bool queues = (guide != nullptr || round % 2 == 1) &&
                          work_.model.model == SimModel::physical && has_transfers_;
      return std::make_unique<RandomKeys>(
          problem, queues ? RandomKeys::Decoder::contention : RandomKeys::Decoder::insertion);
    }
    if (round % 6 == 5) return std::make_unique<LargeNeighbourhoods>(problem, guide);
    // The last one is hotter if there is no guide or the graph is small: small problems have
    // plateaus that only large steps leave.
    const bool hot = island + 1 == kIslands && (guide == nullptr || problem_.graph.size() <= kFew);
    const Cooling cooling{.hottest = hot ? kHot : Cooling{}.hottest};
    return std::make_unique<Annealing>(problem, depends_on_priority_, cooling, guide);
  }

  // From sets as large as a quarter of a device's share to sets as small as there is time for.
  Cooling cooling_of_sets(int round) const {
    const double ops = problem_.graph.size();
    const double largest = std::max(1.0, ops / (4.0 * problem_.machine.size()));
    const double smallest =
        std::clamp(ops * kSimulationsOfASet / std::max(1.0, simulations_), 1.0, largest);
    const double share = static_cast<double>(round) / (kRounds - 1);
    return {.hottest = kHottestOfSets,
            .coldest = Cooling{}.coldest,
            .scale = largest * std::pow(smallest / largest, share)};
  }

  // What is kept must follow each move of an op, so that no round begins with new placements.
  std::unique_ptr<Improver> weights_improver(int round, int island, const Problem& problem) {
    if (round % 6 == 5) return std::make_unique<LargeNeighbourhoods>(problem, nullptr);
    const bool hot = island % 2 == 1;
    const Cooling cooling{.hottest = hot ? kHot : Cooling{}.hottest};
    return std::make_unique<Annealing>(problem, depends_on_priority_, cooling);
  }

  // Null if the policy itself was too slow or found no plan: asking the guide takes as long.
  Guide* affordable_guide(int island, const Problem& problem) {
    const auto affordable = [&](const Candidate& candidate) {
      return candidate.tried.policy == "doppler" && candidate.found &&
             has_time_to_look(problem_, progress_, candidate.plan_seconds);
    };
    if (has_guide(island, problem)) return &guide_of(island, problem, *model_);
    if (!has_transfers_ || std::none_of(candidates_.begin(), candidates_.end(), affordable)) {
      return nullptr;
    }
    return &guide_of(island, problem, *model_);
  }

  bool has_guide(int island, const Problem& problem) const {
    return guides_[static_cast<size_t>(island)].problem == &problem;
  }

  Guide& guide_of(int island, const Problem& problem, const DopplerModel& model) {
    GuideOfWalk& own = guides_[static_cast<size_t>(island)];
    if (!has_guide(island, problem)) own = {&problem, std::make_unique<Guide>(problem, model)};
    return *own.guide;
  }

  // The problem with the devices that the walk may use.
  const Problem& problem_of(const Walk& walk) const {
    for (const Part& part : parts_) {
      if (part.devices == walk.within) return part.problem;
    }
    return problem_;
  }

  // The share of the wall clock at which held-out scenarios begin.
  double search_until() const {
    if (!progress_.timed()) return 1;
    const double now = progress_.elapsed();
    // Of what is left, if it takes twice as long as it should: threads may have to share cores.
    const auto share_of = [&](double simulations) {
      return 2 * simulations * work_.simulation / work_.threads / progress_.time_left();
    };
    const double all = share_of(HeldOut::simulations(candidates_.size() + kIslands));
    const double share = std::max(std::min(all, kHeldOutAtMost),
                                  std::min(share_of(kHeldOutOnce), kHeldOutOnceAtMost));
    return now + (1 - now) * (1 - std::clamp(share, 0.0, 1.0));
  }

  // Simulates the plans of an earlier run again: a file may say anything of their costs. Under a
  // wall clock it may have used another number of scenarios; else the costs must be the same. A
  // walk that there is no time to evaluate starts from the candidates.
  Result<void> evaluate_again(IslandsState& state) {
    const bool same_scenarios = settings_.budget.evaluations || !depends_on_seed_;
    Evaluator evaluator(problem_, work_.model, progress_.until(kAskAll.end));
    const IslandsState fresh =
        start_islands(starts(Ties::drop), static_cast<int>(state.walks.size()));
    for (size_t i = 0; i < state.walks.size(); ++i) {
      Walk& walk = state.walks[i];
      const double cost = evaluator.cost(walk.plan);
      const double best_cost = evaluator.cost(walk.best);
      const bool same = cost == walk.cost && best_cost == walk.best_cost;
      if (!same && same_scenarios && !evaluator.stop().now()) {
        return invalid_input(
            "the costs in the search state are not those of its plans; delete the file to begin "
            "again");
      }
      walk.cost = cost;
      walk.best_cost = best_cost;
      if (best_cost == kNoPlan) walk = fresh.walks[i];  // on the whole machine
      if (cost == kNoPlan) walk.start_from(walk.best, walk.best_cost);
    }
    // A count is that of an uninterrupted search.
    if (progress_.timed()) work_.evaluations += evaluator.evaluations();
    return {};
  }

  // How many walks there are in the end. Under a count it does not depend on threads.
  int walks_to_the_end() const {
    if (progress_.timed() && problem_.graph.size() > kMany) return settings_.threads;
    return progress_.timed() ? std::max(kIslands, settings_.threads) : kIslands;
  }

  // A walk for each part of the machine, from the best plan there: of the policies, asked about the
  // part, and of the candidates. The best parts come first, and no more than kMostParts.
  void add_walks_in_parts(IslandsState& state) {
    const int32_t ops = problem_.graph.size();
    if (ops < problem_.machine.size() || ops > kMostOpsForParts) return;
    // A count is kept: the plans of parts may take a tenth of what is left.
    const int64_t before = work_.evaluations;
    const int64_t tenth = std::max<int64_t>(0, evaluations_ - before) / 10;
    const auto plans =
        policies_to_ask(settings_.trained_model).size() + kReorderedOfPart * order_rules().size();
    const int64_t each =
        static_cast<int64_t>(plans) * (depends_on_seed_ ? work_.model.scenarios.count : 1);
    std::vector<Walk> walks;
    for (const std::vector<DeviceId>& devices : sub_machines(problem_)) {
      if (progress_.interrupted() || (progress_.timed() && progress_.elapsed() > kPartsUntil))
        break;
      if (!progress_.timed() && work_.evaluations - before + each > tenth) break;
      const std::optional<CostedPlan> start = best_plan_within(devices);
      if (!start) continue;
      walks.emplace_back().start_from(start->plan, start->cost);
      walks.back().within = devices;
    }
    // Counted as the walks' own, so that a search that is continued has as many left.
    state.evaluations += work_.evaluations - before;
    work_.evaluations = before;
    std::stable_sort(walks.begin(), walks.end(),
                     [](const Walk& a, const Walk& b) { return a.best_cost < b.best_cost; });
    if (walks.size() > kMostParts) walks.resize(kMostParts);
    double best = kNoPlan;
    for (const Walk& walk : state.walks) best = std::min(best, walk.best_cost);
    for (Walk& walk : walks) {
      if (walk.best_cost <= kPromising * best) state.walks.push_back(std::move(walk));
    }
  }

  // None if no policy has a plan that runs there.
  std::optional<CostedPlan> best_plan_within(const std::vector<DeviceId>& devices) {
    const Problem part = problem_.within(devices);
    PortfolioWork work{.problem = part,
                       .progress = progress_,
                       .model = work_.model,
                       .seed = work_.seed,
                       .threads = work_.threads,
                       .trained_model = work_.trained_model};
    std::vector<Candidate> candidates = ask_policies(work);
    work_.evaluations += work.evaluations;
    for (const Candidate& candidate : candidates_) {
      if (candidate.found && uses_only(candidate.found->plan, devices)) {
        candidates.push_back(candidate);
      }
    }
    reorder_best(candidates, kReorderedOfPart);
    const std::vector<Candidate*> ranked = by_cost(candidates);
    if (ranked.empty()) return std::nullopt;
    return std::move(*ranked[0]->found);
  }

  static bool uses_only(const Plan& plan, const std::vector<DeviceId>& devices) {
    return std::all_of(plan.placement.begin(), plan.placement.end(), [&](DeviceId device) {
      return std::binary_search(devices.begin(), devices.end(), device);
    });
  }

  // What walks in parts of the machine need, also if they continue from a file.
  void prepare_parts(const IslandsState& state) {
    for (const Walk& walk : state.walks) {
      if (walk.within.empty() || &problem_of(walk) != &problem_) continue;
      parts_.push_back({walk.within, problem_.within(walk.within)});
    }
    guides_.resize(std::max(guides_.size(), state.walks.size()));
  }

  void walk(const MakeImprover& make, BudgetSlice whole, IslandsState& state) {
    whole.begin = progress_.timed() ? progress_.elapsed() : 0;
    whole.evaluations = std::max<int64_t>(0, evaluations_ - work_.evaluations);
    run_islands(problem_, work_.model, make, whole, progress_, settings_.seed, settings_.threads,
                settings_.on_round, state, walks_to_the_end());
  }

  // How many simulations the search has: counted, or by the time that one takes.
  void expect_simulations(const BudgetSlice& whole, const Candidate& best) {
    simulations_ = static_cast<double>(evaluations_ - work_.evaluations);
    if (!progress_.timed() || problem_.graph.size() <= kMany) return;
    Evaluator evaluator(problem_, work_.model, progress_.until(whole.end));
    const double begin = progress_.elapsed();
    evaluator.cost(best.found->plan);
    const double now = progress_.elapsed();
    simulations_ =
        std::max(0.0, settings_.threads * (whole.end - now) / std::max(now - begin, 1e-9));
  }

  Result<void> search() {
    const Duration bound =
        settings_.lower_bound ? *settings_.lower_bound : lower_bounds(problem_).strongest();
    const BudgetSlice whole{.end = search_until(),
                            .good_enough = static_cast<double>(bound.count())};
    IslandsState state = settings_.resume ? *settings_.resume
                                          : start_islands(starts(Ties::drop), walks_to_the_end());
    if (settings_.resume) {
      if (Result<void> same = evaluate_again(state); !same) return same;
    } else {
      add_walks_in_parts(state);
    }
    prepare_parts(state);
    expect_simulations(whole, *by_cost(candidates_).front());
    model_ = model_or_general(settings_.trained_model);
    has_transfers_ = transfers_take_time(problem_);
    walk([this](int round, int island, const Walk& walk) { return improver(round, island, walk); },
         whole, state);
    work_.evaluations += state.evaluations;
    for (Walk& done : state.walks) {
      candidates_.push_back({.tried = {.policy = "search"},
                             .found = CostedPlan{std::move(done.best), done.best_cost}});
    }
    return {};
  }

  Error refusal() const {
    if (settings_.budget.stop.raised()) return failed("interrupted before there was a plan");
    return why_no_plan(problem_, candidates_);
  }

  // What a search changes of a plan; the rest describes the plan it started from.
  static Plan found_by_search(Plan plan) {
    return {.placement = std::move(plan.placement),
            .priority = std::move(plan.priority),
            .strict_order = std::move(plan.strict_order),
            .weights = std::move(plan.weights)};
  }

  void count_scenarios(int held_out, AutoResult& result) const {
    const int asked = settings_.model.scenarios.count;
    result.scenarios = work_.model.scenarios.count;
    result.judged_on = held_out;
    if (result.scenarios == asked && held_out >= kHeldOutScenarios) return;
    result.shortfall = fmt::format(
        "time was short: searched on {} of {} scenarios, compared on {} of {} held-out scenarios",
        result.scenarios, asked, held_out, kHeldOutScenarios);
  }

  AutoResult result(const Candidate& winner, int held_out) {
    AutoResult result;
    result.plan = winner.found->plan;
    result.makespan = winner.tried.makespan;
    if (depends_on_seed_) count_scenarios(held_out, result);
    if (winner.tried.policy == "search") result.plan = found_by_search(std::move(result.plan));
    // That of the simulation it was chosen by; if there is none, the policy's own.
    Plan timed = result.plan;
    if (give_timeline(problem_, work_.model, progress_.until(1), timed)) {
      result.plan = std::move(timed);
    }
    Provenance& provenance = result.plan.provenance;
    provenance.policy = "auto:" + winner.tried.policy;
    if (!winner.order.empty()) provenance.policy += "+" + winner.order;
    provenance.evaluations = work_.evaluations;
    note_origin(problem_, settings_.seed, provenance);
    std::optional<Tried> search;
    for (const Candidate& candidate : candidates_) {
      Tried tried = candidate.tried;
      if (!candidate.order.empty()) tried.policy += "+" + candidate.order;
      if (tried.policy != "search") {
        result.tried.push_back(std::move(tried));
      } else if (!search || tried.makespan < search->makespan) {
        search = std::move(tried);
      }
    }
    if (search) result.tried.push_back(*search);
    return result;
  }

  const Problem& problem_;
  const AutoSettings& settings_;
  const Progress progress_;
  PortfolioWork work_;
  const int64_t evaluations_;
  std::vector<Candidate> candidates_;
  std::shared_ptr<const DopplerModel> model_;  // of the guides of `auto`
  bool has_transfers_ = false;
  double simulations_ = 0;  // that the search may make, about
  bool depends_on_seed_ = false;
  bool depends_on_priority_ = false;
  struct Part {
    std::vector<DeviceId> devices;
    Problem problem;
  };
  struct GuideOfWalk {
    const Problem* problem = nullptr;
    std::unique_ptr<Guide> guide{};
  };
  std::deque<Part> parts_;           // of the machine; guides refer to their problems
  std::vector<GuideOfWalk> guides_;  // each walk its own
};

}  // namespace

int64_t default_evaluations(const Problem& problem) {
  constexpr int64_t kOpsToSimulate = 2'000'000;
  return std::clamp<int64_t>(kOpsToSimulate / std::max(1, problem.graph.size()), 100, 20'000);
}

Result<AutoResult> plan_auto(const Problem& problem, const AutoSettings& settings) {
  return Portfolio(problem, settings).run();
}

Result<Plan> plan_by_search(const Problem& problem, const SearchMethod& method,
                            const AutoSettings& settings) {
  return Portfolio(problem, settings).run(method);
}

Result<AutoResult> plan_and_evaluate(const PolicyEntry& entry, const Problem& problem,
                                     const AutoSettings& settings) {
  const Progress progress(settings.budget);
  Result<Plan> plan = make_plan(entry, problem, settings.budget, settings.seed);
  if (!plan && settings.budget.stop.raised()) return failed("interrupted before there was a plan");
  if (!plan) return plan.error();
  AutoResult result{.plan = std::move(*plan)};
  const Result<HeldOutMean> mean =
      held_out_mean(problem, settings.model, settings.seed, entry.spends == Spends::simulations,
                    progress.until(1), result.plan);
  if (!mean) return mean.error();
  result.makespan = mean->makespan;
  result.judged_on = mean->scenarios;
  result.tried.push_back({.policy = entry.name, .makespan = result.makespan});
  return result;
}

}  // namespace tutti
