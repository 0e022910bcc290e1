#include "tutti/policy/registry.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "tutti/base/check.h"
#include "tutti/base/suggest.h"
#include "tutti/plan/draft.h"
#include "tutti/plan/world/select_place.h"
#include "tutti/policy/doppler/general.h"
#include "tutti/policy/doppler/planner.h"
#include "tutti/policy/heuristic/heuristics.h"
#include "tutti/policy/online/eft/backlog_eft.h"
#include "tutti/policy/online/eft/dmdas.h"
#include "tutti/policy/online/eft/whole_job.h"
#include "tutti/policy/online/fifo.h"
#include "tutti/policy/online/graphene.h"
#include "tutti/policy/online/online_heft.h"
#include "tutti/policy/online/paragon.h"
#include "tutti/policy/online/plan_by_decider.h"
#include "tutti/policy/online/planned.h"
#include "tutti/policy/online/sparrow.h"
#include "tutti/policy/schedule/keeping.h"
#include "tutti/policy/schedule/memory.h"

namespace tutti {
namespace {

// List scheduling: until all ops are placed, asks which op is next and where it goes, and notes
// both in a draft. Fails (infeasible) when memory leaves a ready op no device, naming op, device
// and bytes.
Result<Plan> plan_step_by_step(const MakePolicy& make_policy, const Problem& problem,
                               const Budget& budget, uint64_t seed) {
  Policy policy = make_policy(problem, seed);
  Draft draft(problem);
  while (!draft.complete()) {
    if (budget.stop.now()) return out_of_time();
    const std::optional<OpId> op = policy.select->select(draft);
    TUTTI_CHECK(op.has_value());
    if (draft.devices_for(*op).empty()) return no_room_for(draft, *op);
    draft.apply(*op, policy.place->place(draft, *op));
  }
  return draft.to_plan();
}

// A pair of Select and Place can also plan, and decide about jobs that arrive; a decider can plan.
PolicyEntry completed(PolicyEntry entry) {
  if (entry.make_policy && !entry.plan) {
    entry.plan = [make_policy = entry.make_policy](const Problem& problem, const Budget& budget,
                                                   uint64_t seed) {
      return plan_step_by_step(make_policy, problem, budget, seed);
    };
  }
  if (entry.make_policy && !entry.make_decider) {
    entry.make_decider = [make_policy = entry.make_policy](std::span<const double> /*values*/) {
      return std::make_unique<SelectPlace>(make_policy);
    };
  }
  if (entry.make_decider && !entry.plan) {
    entry.plan = [make_decider = entry.make_decider, values = entry.tuned()](
                     const Problem& problem, const Budget& budget, uint64_t seed) {
      return plan_by_decider(*make_decider(values), problem, budget, seed);
    };
  }
  return entry;
}

Planner doppler_planner(std::shared_ptr<const DopplerModel> model) {
  return
      [model = std::move(model)](const Problem& problem, const Budget& budget, uint64_t /*seed*/) {
        return plan_guarded(*model_or_general(model), problem, budget.stop);
      };
}

// Tuned values: the least mean slow-down of 20 runs of 20 validation jobs at load 0.6 with hidden
// load 0.8 on the cluster of tutti/plan/world/default_cluster.h, among thirty settings each. Found
// on 17 November 2026, those of backlog_eft and what follows it on 19 November, by
//
//   build/release/studies/symphony_quality tune      (studies/symphony/figures/knobs.txt)
//
// But order, age, crowding and reluctance, of which runs of 200 jobs on design seeds were better
// judges: studies/symphony/protocol.md.
//
// `symphony_quality settings` compares them with the untuned ones on jobs of the test set;
// figures: docs/results/decider_settings.md.
Knob patience() {
  return {"patience", 5, 3, {0, 1.5, 2, 3, 5, 8}};
}

using Values = std::span<const double>;

std::vector<Knob> backlog_knobs(std::array<double, 4> tuned, std::vector<Knob> more = {}) {
  std::vector<Knob> knobs = {{"order", tuned[0], 3, {0, 1, 2, 3}},
                             {"age", tuned[1], 0, {0, 0.3, 1, 3}},
                             {"crowding", tuned[2], 1, {0, 0.5, 1, 1.5, 2}},
                             {"reluctance", tuned[3], 1, {1, 1.1, 1.25, 1.5}}};
  for (Knob& knob : more) knobs.push_back(std::move(knob));
  return knobs;
}

std::unique_ptr<Decider> make_backlog(Values v, const ResidualSettings& residuals) {
  return std::make_unique<BacklogEft>(
      BacklogEftSettings{.order = static_cast<BacklogEftSettings::Order>(static_cast<int>(v[0])),
                         .age = v[1],
                         .crowding = v[2],
                         .reluctance = v[3],
                         .residuals = residuals});
}

// Without limits on memory HEFT always finds a plan, and jobs here have none.
Plan plan_job_by_heft(const Problem& problem) {
  return plan_heft(problem, {}, 0).value();
}

std::vector<PolicyEntry> policies_for_one_graph() {
  return {
      {.name = "single_device",
       .what = "everything on the best single device: the do-nothing baseline",
       .turn = 1,
       .starts_search = true,
       .plan = plan_single_device},
      {.name = "random",
       .what = "any ready op on any device: the smallest policy, to copy from",
       .seeded = true,
       .make_policy = random_policy},
      {.name = "critical_path",
       .what = "longest path to the end first, on the device that starts it first",
       .source = "Yao et al. 2025 (Doppler), both defects fixed",
       .seeded = true,
       .turn = 8,
       .starts_search = true,
       .make_policy = critical_path_policy},
      {.name = "heft",
       .what = "highest upward rank first, on the device that finishes it first; ahead with "
               "insertion",
       .source = "Topcuoglu, Hariri, Wu 2002",
       .turn = 5,
       .starts_search = true,
       .plan = plan_heft,
       .knobs = {{"age", 10, 0, {0, 0.1, 0.3, 1, 3, 10}}},
       .make_decider = [](Values v) { return std::make_unique<OnlineHeft>(v[0]); }},
      {.name = "cpop",
       .what = "the critical path on one device, the rest where it finishes first",
       .source = "Topcuoglu, Hariri, Wu 2002",
       .turn = 9,
       .plan = plan_cpop},
      {.name = "peft",
       .what = "looks ahead by a table of the least time from each op and device to the end",
       .source = "Arabnejad, Barbosa 2014",
       .plan = plan_peft},
      {.name = "etf",
       .what = "of all ready ops and devices the pair that can start earliest",
       .source = "Hwang, Chow, Anger, Lee 1989",
       .plan = plan_etf},
      {.name = "m_etf",
       .what = "etf among the pairs that fit into memory",
       .source = "Jeon et al. 2020 (Baechi)",
       .plan = plan_m_etf},
      {.name = "m_sct",
       .what = "m_etf that keeps a device free for an op's favourite child",
       .source =
           "Jeon et al. 2020 (Baechi); favourites by a linear program, greedily on large graphs",
       .turn = 95,
       .slowness = 3,
       .plan = plan_m_sct},
      {.name = "contention_eft",
       .what = "as heft, with transfers queueing for their links in the estimate",
       .source = "Sinnen, Sousa 2005",
       .seeded = true,
       .turn = 2,
       .slowness = 1,
       .plan = plan_contention_eft},
      {.name = "best_subset",
       .what = "contention_eft on the number of devices that it does best with",
       .turn = 91,
       .slowness = 6,
       .plan = plan_best_subset},
      {.name = "components",
       .what = "independent parts of the graph packed onto devices, the longest first",
       .source = "Graham 1969",
       .turn = 6,
       .plan = plan_components},
      {.name = "locality",
       .what = "where the operands are soonest, weighed against the work placed there",
       .turn = 3,
       .plan = plan_locality},
      {.name = "round_robin",
       .what = "one device after the other, in topological order",
       .plan = plan_round_robin},
      {.name = "expert",
       .what = "where the graph's `shard` attributes say that a person would put each op",
       .turn = 4,
       .plan = plan_expert},
      {.name = "greedy_locator",
       .what = "where the most expensive site, in flops and bytes brought to it, stays cheapest",
       .source = "Einsummable's alocate01, op by op",
       .turn = 7,
       .plan = plan_greedy_locator},
      {.name = "enumerative",
       .what = "group by group the even division that moves least, then the reductions",
       .source = "Yao et al. 2025 (Doppler), ENUMERATIVEOPTIMIZER",
       .turn = 92,
       .slowness = 10,
       .plan = plan_enumerative},
#ifdef TUTTI_HAVE_METIS
      {.name = "min_cut",
       .what = "parts of even work with the least transfer between them",
       .source = "Karypis, Kumar 1998 (METIS)",
       .seeded = true,
       .turn = 93,
       .slowness = 8,
       .plan = plan_min_cut},
#endif
      {.name = "doppler",
       .what = "the trained model that comes with tutti, greedily",
       .source = "Yao et al. 2025 (Doppler)",
       .learned = true,
       .turn = 94,
       .slowness = 40,
       .slowness_if_large = 6,
       .plan = doppler_planner(nullptr)},
  };
}

std::vector<PolicyEntry> policies_for_arriving_jobs() {
  return {
      {.name = "fifo",
       .what = "first come, first served, on the quickest free device",
       .for_comparison = true,
       .knobs = {patience()},
       .make_decider =
           [](Values v) { return std::make_unique<Fifo>(Fifo::Prefer::quickest, v[0]); }},
      {.name = "least_loaded",
       .what = "first come, first served, on the least busy device",
       .for_comparison = true,
       .knobs = {patience()},
       .make_decider =
           [](Values v) { return std::make_unique<Fifo>(Fifo::Prefer::least_loaded, v[0]); }},
      {.name = "sparrow",
       .what = "reservations in the queues of slots drawn at random; the first that is free takes "
               "the op",
       .source = "Ousterhout et al. 2013",
       .seeded = true,
       .for_comparison = true,
       .knobs = {{"probes", 8, 2, {1, 1.5, 2, 3, 4, 8}}},
       .make_decider = [](Values v) { return std::make_unique<Sparrow>(v[0]); }},
      {.name = "graphene",
       .what = "long and hard-to-pack ops first, packed by what they draw, small jobs before large "
               "ones",
       .source = "Grandl et al. 2016",
       .for_comparison = true,
       .knobs = {{"packing", 0, 0.5, {0, 0.25, 0.5, 1, 2}},
                 {"remaining", 0.5, 0.5, {0, 0.25, 0.5, 1, 2}},
                 patience()},
       .make_decider =
           [](Values v) {
             return std::make_unique<Graphene>(
                 GrapheneOptions{.packing = v[0], .remaining = v[1], .patience = v[2]});
           }},
      {.name = "paragon",
       .what = "where ops are quick and do each other least harm, which is learned as they run",
       .source = "Delimitrou, Kozyrakis 2013",
       .for_comparison = true,
       .knobs = {{"learning_rate", 0.05, 0.05, {0.01, 0.02, 0.05, 0.1}},
                 {"care", 0, 1, {0, 0.25, 0.5, 1, 2}},
                 patience()},
       .make_decider =
           [](Values v) {
             return std::make_unique<Paragon>(
                 ParagonOptions{.learning_rate = v[0], .care = v[1], .patience = v[2]});
           }},
      {.name = "backlog_eft",
       .what = "where ops end first behind the backlog of all jobs, next to what shares links and "
               "memories; jobs with little work left first",
       .source = "Topcuoglu, Hariri, Wu 2002",
       .for_comparison = true,
       .knobs = backlog_knobs({3, 0, 1, 1}),
       .make_decider = [](Values v) { return make_backlog(v, {}); }},
      {.name = "residual_eft",
       .what = "backlog_eft that learns how much longer than predicted ops take, by a running mean "
               "for each device and op kind",
       .for_comparison = true,
       .knobs = backlog_knobs({3, 0, 1, 1}, {{"memory", 100, 20, {5, 10, 20, 50, 100, 200}},
                                             {"rate", 0.2, 0.3, {0.05, 0.1, 0.2, 0.3, 0.5}}}),
       .make_decider =
           [](Values v) {
             return make_backlog(
                 v,
                 {.filter = ResidualSettings::Filter::running_mean, .memory = v[4], .rate = v[5]});
           }},
      {.name = "kalman_eft",
       .what = "the same by a Kalman filter for each device",
       .source = "Kalman 1960",
       .for_comparison = true,
       .knobs = backlog_knobs({3, 0, 1, 1}, {{"memory", 100, 20, {5, 10, 20, 50, 100, 200}},
                                             {"error", 0.3, 0.3, {0.1, 0.2, 0.3, 0.5, 1}}}),
       .make_decider =
           [](Values v) {
             return make_backlog(
                 v, {.filter = ResidualSettings::Filter::kalman, .memory = v[4], .error = v[5]});
           }},
      {.name = "dmdas",
       .what =
           "each op bound, as it becomes ready, to the device where it ends first, its transfers "
           "counted extra",
       .source = "Augonnet et al. 2011 (StarPU)",
       .for_comparison = true,
       .knobs = {{"beta", 4, 1, {0, 0.5, 1, 2, 4}}, {"age", 10, 0, {0, 0.1, 0.3, 1, 3, 10}}},
       .make_decider =
           [](Values v) {
             return std::make_unique<Dmdas>(DmdasSettings{.beta = v[0], .age = v[1]});
           }},
      {.name = "whole_job",
       .what =
           "each job on one device as far as it can run there; the job with the least work left "
           "first",
       .for_comparison = true,
       .make_decider = [](Values) { return std::make_unique<WholeJob>(); }},
      {.name = "planned",
       .what = "each job as HEFT plans it when it has the machine to itself",
       .source = "Topcuoglu, Hariri, Wu 2002",
       .for_comparison = true,
       .plan = plan_heft,
       .make_decider = [](Values) { return std::make_unique<Planned>(plan_job_by_heft); }},
  };
}

std::vector<PolicyEntry>& entries_of_registry() {
  static std::vector<PolicyEntry> entries = [] {
    std::vector<PolicyEntry> all = policies_for_one_graph();
    std::vector<PolicyEntry> for_jobs = policies_for_arriving_jobs();
    for (PolicyEntry& entry : for_jobs) all.push_back(std::move(entry));
    for (PolicyEntry& entry : all) entry = completed(std::move(entry));
    return all;
  }();
  return entries;
}

// Fails if no entry has that name, or one that is not `able` has; lists those that are.
Result<const PolicyEntry*> find_able(std::string_view name, const std::vector<PolicyEntry>& among,
                                     std::string_view what, bool (*able)(const PolicyEntry&),
                                     std::string_view inability) {
  const PolicyEntry* found = nullptr;
  std::vector<std::string> names;
  for (const PolicyEntry& entry : among) {
    if (entry.name == name) found = &entry;
    if (able(entry)) names.push_back(entry.name);
  }
  if (found == nullptr) return invalid_input(unknown_word(what, name, names));
  if (able(*found)) return found;
  return invalid_input(
      fmt::format("policy '{}' {}; those that can are: {}", name, inability, comma_list(names)));
}

}  // namespace

std::vector<double> PolicyEntry::tuned() const {
  std::vector<double> values;
  for (const Knob& knob : knobs) values.push_back(knob.tuned);
  return values;
}

std::vector<double> PolicyEntry::untuned() const {
  std::vector<double> values;
  for (const Knob& knob : knobs) values.push_back(knob.untuned);
  return values;
}

const std::vector<PolicyEntry>& policy_registry() {
  return entries_of_registry();
}

void add_policy(PolicyEntry entry) {
  for (const PolicyEntry& known : policy_registry()) TUTTI_CHECK(known.name != entry.name);
  entries_of_registry().push_back(completed(std::move(entry)));
}

std::vector<PolicyEntry> planning_policies(const std::shared_ptr<const DopplerModel>& model) {
  std::vector<PolicyEntry> entries = policy_registry();
  std::erase_if(entries, [](const PolicyEntry& entry) { return !entry.plan; });
  for (PolicyEntry& entry : entries) {
    if (model != nullptr && entry.name == "doppler") entry.plan = doppler_planner(model);
  }
  return entries;
}

Result<const PolicyEntry*> find_policy(std::string_view name) {
  return find_able(
      name, policy_registry(), "policy", [](const PolicyEntry&) { return true; }, "");
}

Result<const PolicyEntry*> find_online_policy(std::string_view name) {
  return find_able(
      name, policy_registry(), "policy that can be asked during a run",
      [](const PolicyEntry& entry) { return static_cast<bool>(entry.make_policy); },
      "plans ahead, or decides about jobs that arrive, and cannot be asked op by op during a run");
}

Result<const PolicyEntry*> find_decider(std::string_view name,
                                        const std::vector<PolicyEntry>& among) {
  return find_able(
      name, among, "decider",
      [](const PolicyEntry& entry) { return static_cast<bool>(entry.make_decider); },
      "plans ahead and cannot be asked about jobs that arrive");
}

namespace {

// Chooses for ops that are placed. The timeline of a policy that thought that all weights are kept
// is wrong if some are streamed.
Result<Plan> with_keeping(const Problem& problem, bool thought_kept, Result<Plan> plan) {
  if (!plan || plan->weights.stated()) return plan;
  if (const Result<void> kept = choose_keeping(problem, *plan); !kept) return kept.error();
  const std::vector<WeightUse> use = weight_use(problem, plan->weights, plan->placement);
  const bool streams =
      std::any_of(use.begin(), use.end(), [](const WeightUse& one) { return one.streamed > 0; });
  if (!thought_kept || !streams) return plan;
  plan->start.clear();
  plan->finish.clear();
  plan->planned_makespan.reset();
  plan->simulated = false;
  return plan;
}

// A policy places ops; which weights with homes are kept is chosen afterwards. It plans as if they
// were kept wherever they are read. If it finds no room for that, it is asked again as if they took
// room only while they are read. Planners that search choose both together.
Result<Plan> plan_with_weights(const PolicyEntry& entry, const Problem& problem,
                               const Budget& budget, uint64_t seed) {
  if (!problem.has_homed_weights()) return entry.plan(problem, budget, seed);
  if (entry.spends == Spends::simulations) {
    return with_keeping(problem, /*thought_kept=*/false, entry.plan(problem, budget, seed));
  }
  if (const Result<void> possible = require_possible_room(problem); !possible) {
    return possible.error();
  }
  if (!problem.weights_are_streamed()) {
    const bool kept = !problem.cold();  // else loading them takes time
    Result<Plan> plan = with_keeping(
        problem, kept, entry.plan(kept ? problem.with_kept_weights() : problem, budget, seed));
    const bool short_of_room = !plan && plan.error().kind == Error::Kind::infeasible;
    if (!short_of_room || !problem.has_memory_limits()) return plan;
  }
  return with_keeping(problem, /*thought_kept=*/false,
                      entry.plan(problem.with_streamed_weights(), budget, seed));
}

}  // namespace

Result<Plan> make_plan(const PolicyEntry& entry, const Problem& problem, const Budget& budget,
                       uint64_t seed) {
  TUTTI_CHECK(entry.plan != nullptr);
  Result<Plan> plan = plan_with_weights(entry, problem, budget, seed);
  if (!plan) return plan.error();
  if (plan->provenance.policy.empty()) plan->provenance.policy = entry.name;
  note_origin(problem, seed, plan->provenance);
  return plan;
}

}  // namespace tutti
