#include "tutti/calibrate/validate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "tutti/base/file/json_writer.h"
#include "tutti/base/fingerprint.h"
#include "tutti/base/statistics.h"
#include "tutti/calibrate/measure/turns.h"
#include "tutti/calibrate/observe.h"
#include "tutti/calibrate/rank.h"
#include "tutti/runtime/sim/sim.h"

namespace tutti {
namespace {

double ns_of(Duration time) {
  return static_cast<double>(time.count());
}

double median_or_zero(const std::vector<double>& values) {
  return values.empty() ? 0 : summary_of(values).median;
}

// What the real runs of plans show.
struct Measured {
  Residuals residuals;
  std::map<std::string, std::vector<double>> delays;  // by kind of device

  void add(const Problem& problem, const Trace& trace) {
    const Observed observed = observe(problem, trace);
    for (const ObservedOp& op : observed.ops) {
      const std::string& kind = problem.machine.device(op.device).kind;
      residuals.add(std::string(problem.graph.op_kind_name(op.op)), kind, op.ns,
                    problem.costs.run_time(op.op, op.device));
      if (op.waited_ns > 0) delays[kind].push_back(op.waited_ns);
    }
    for (const ObservedHop& hop : observed.hops) {
      residuals.add("", hop_name(problem.machine, *hop.hop), hop.ns,
                    Costs::hop_time(*hop.hop, hop.bytes));
    }
  }

  std::vector<DispatchDelays> take_delays() {
    std::vector<DispatchDelays> taken;
    for (auto& [where, ns] : delays) {
      std::sort(ns.begin(), ns.end());
      taken.push_back({.where = where, .ns = std::move(ns)});
    }
    return taken;
  }
};

Result<Duration> simulate(const Problem& problem, const Plan& plan,
                          const ValidateOptions& options) {
  const bool sample = problem.costs.has_noise();
  const int runs = sample ? options.scenarios : 1;
  Duration sum{0};
  for (int i = 0; i < runs; ++i) {
    SimRuntime sim(SimModel::physical,
                   {.seed = options.seed + static_cast<uint64_t>(i), .sample = sample});
    const Result<Trace> trace = sim.run(problem, plan);
    if (!trace) return trace.error();
    sum += trace->makespan;
  }
  return sum / runs;
}

// One real run of one plan.
struct PlanTurn {
  size_t graph;
  size_t plan;
};

// Every plan once, in an order of its own for each repeat: whatever slows the machine down for a
// while then falls on plans of all sorts. Plans of one graph follow each other, because memory and
// operands of another graph are cold.
std::vector<PlanTurn> turns_of(std::span<const ToValidate> cases, uint64_t seed, int repeat) {
  std::vector<PlanTurn> turns;
  Rng rng = Rng(seed).split(static_cast<uint64_t>(repeat));
  for (size_t graph = 0; graph < cases.size(); ++graph) {
    const size_t begin = turns.size();
    for (size_t plan = 0; plan < cases[graph].plans.size(); ++plan) turns.push_back({graph, plan});
    shuffle(std::span(turns).subspan(begin), rng);
  }
  return turns;
}

// Where its place lies between two times, in proportion.
double quantile_of(const std::vector<double>& ascending, double share) {
  if (ascending.empty()) return 0;
  const double place = share * static_cast<double>(ascending.size() - 1);
  const auto below = static_cast<size_t>(place);
  const size_t above = std::min(below + 1, ascending.size() - 1);
  return ascending[below] +
         (place - static_cast<double>(below)) * (ascending[above] - ascending[below]);
}

}  // namespace

double ValidatedGraph::rank_correlation() const {
  std::vector<double> simulated;
  std::vector<double> real;
  for (const ValidatedPlan& plan : plans) {
    simulated.push_back(ns_of(plan.simulated));
    real.push_back(ns_of(plan.real));
  }
  return tutti::rank_correlation(simulated, real);
}

double ValidatedGraph::rank_correlation_better_half() const {
  ValidatedGraph half = *this;
  std::stable_sort(half.plans.begin(), half.plans.end(),
                   [](const ValidatedPlan& a, const ValidatedPlan& b) { return a.real < b.real; });
  half.plans.resize((plans.size() + 1) / 2);
  return half.rank_correlation();
}

double ValidatedGraph::mean_error() const {
  double sum = 0;
  for (const ValidatedPlan& plan : plans) {
    sum += std::abs(ns_of(plan.simulated) / ns_of(plan.real) - 1);
  }
  return sum / static_cast<double>(plans.size());
}

double ValidatedGraph::bias() const {
  double sum = 0;
  for (const ValidatedPlan& plan : plans) sum += ns_of(plan.simulated) / ns_of(plan.real) - 1;
  return sum / static_cast<double>(plans.size());
}

double ValidatedGraph::top1_regret() const {
  const ValidatedPlan* liked = &plans[0];
  const ValidatedPlan* best = &plans[0];
  for (const ValidatedPlan& plan : plans) {
    if (plan.simulated < liked->simulated) liked = &plan;
    if (plan.real < best->real) best = &plan;
  }
  return ns_of(liked->real) / ns_of(best->real) - 1;
}

double ValidatedGraph::agreement_of_runs() const {
  size_t repeats = std::numeric_limits<size_t>::max();
  for (const ValidatedPlan& plan : plans) repeats = std::min(repeats, plan.runs.size());
  if (repeats < 2 || plans.empty()) return 1;
  double sum = 0;
  for (size_t left_out = 0; left_out < repeats; ++left_out) {
    std::vector<double> one;
    std::vector<double> rest;
    for (const ValidatedPlan& plan : plans) {
      one.push_back(ns_of(plan.runs[left_out]));
      std::vector<double> others;
      for (size_t i = 0; i < repeats; ++i) {
        if (i != left_out) others.push_back(ns_of(plan.runs[i]));
      }
      std::sort(others.begin(), others.end());
      rest.push_back(quantile_of(others, 0.5));
    }
    sum += tutti::rank_correlation(one, rest);
  }
  return sum / static_cast<double>(repeats);
}

double DispatchDelays::quantile(double share) const {
  return quantile_of(ns, share);
}

CostSpec::Validation Validation::summary() const {
  CostSpec::Validation sum{.graphs = static_cast<int>(graphs.size())};
  for (const ValidatedGraph& graph : graphs) {
    const double share = 1 / static_cast<double>(graphs.size());
    sum.plans += static_cast<int>(graph.plans.size());
    sum.rank_correlation += share * graph.rank_correlation();
    sum.rank_correlation_better_half += share * graph.rank_correlation_better_half();
    sum.mean_error += share * graph.mean_error();
    sum.top1_regret += share * graph.top1_regret();
  }
  return sum;
}

Result<Validation> validate(std::span<const ToValidate> cases, Runtime& reality,
                            const ValidateOptions& options) {
  std::vector<std::vector<std::vector<double>>> real(cases.size());
  int64_t total = 0;
  for (size_t i = 0; i < cases.size(); ++i) {
    real[i].resize(cases[i].plans.size());
    total += static_cast<int64_t>(cases[i].plans.size()) * options.repeats;
  }
  if (total == 0 && !options.stop.now()) {
    return infeasible(
        "there is no plan to run: none keeps to the constraints and to the memory there is");
  }
  Measured measured;
  int64_t runs = 0;
  const Problem* warm = nullptr;
  for (int repeat = 0; repeat < options.repeats; ++repeat) {
    for (const PlanTurn& turn : turns_of(cases, options.seed, repeat)) {
      if (options.stop.now()) break;
      if (options.progress) options.progress(runs, total);
      const Problem& problem = *cases[turn.graph].problem;
      const Plan& plan = cases[turn.graph].plans[turn.plan];
      if (warm != &problem) (void)reality.run(problem, plan);
      warm = &problem;
      const Result<Trace> trace = reality.run(problem, plan);
      if (!trace && options.stop.now()) break;
      if (!trace) return trace.error();
      ++runs;
      real[turn.graph][turn.plan].push_back(ns_of(trace->makespan));
      measured.add(problem, *trace);
    }
  }
  Validation validation;
  for (size_t i = 0; i < cases.size(); ++i) {
    const Problem& problem = *cases[i].problem;
    validation.machine = problem.machine.name();
    ValidatedGraph graph{
        .name = problem.graph.name(), .fingerprint = problem.graph.fingerprint(), .plans = {}};
    for (size_t p = 0; p < cases[i].plans.size(); ++p) {
      if (real[i][p].empty()) continue;
      const Plan& plan = cases[i].plans[p];
      const Result<Duration> simulated = simulate(problem, plan, options);
      if (!simulated) return simulated.error();
      ValidatedPlan validated{.policy = plan.provenance.policy, .simulated = *simulated};
      for (const double ns : real[i][p]) validated.runs.push_back(nanoseconds_of(ns));
      validated.real = nanoseconds_of(std::max(median_or_zero(real[i][p]), 1.0));
      graph.plans.push_back(std::move(validated));
    }
    if (!graph.plans.empty()) validation.graphs.push_back(std::move(graph));
  }
  if (validation.graphs.empty()) return failed("no plan was run before the time was up");
  validation.residuals = measured.residuals.rows();
  validation.delays = measured.take_delays();
  return validation;
}

std::string to_text(const CostSpec::Validation& validation) {
  return fmt::format(
      "simulator against {} plans of {} graph{}, really run: rank correlation {:.2f} (better half "
      "{:.2f}), "
      "mean error {:.1f} %, top-1 regret {:.1f} %",
      validation.plans, validation.graphs, validation.graphs == 1 ? "" : "s",
      validation.rank_correlation, validation.rank_correlation_better_half,
      100 * validation.mean_error, 100 * validation.top1_regret);
}

std::string validation_to_json(const Validation& validation) {
  JsonWriter json;
  json.open_object().field("format", "tutti-validation").field("schema_version", 1);
  json.field("machine", validation.machine);
  const CostSpec::Validation summary = validation.summary();
  json.key("summary").open_object().field("graphs", summary.graphs).field("plans", summary.plans);
  json.field("rank_correlation", summary.rank_correlation);
  json.field("rank_correlation_better_half", summary.rank_correlation_better_half);
  json.field("mean_error", summary.mean_error).field("top1_regret", summary.top1_regret);
  json.close_object().key("graphs").open_list();
  for (const ValidatedGraph& graph : validation.graphs) {
    json.open_object().field("graph", graph.name);
    json.field("fingerprint", fingerprint_text(graph.fingerprint));
    json.field("rank_correlation", graph.rank_correlation());
    json.field("rank_correlation_better_half", graph.rank_correlation_better_half());
    json.field("mean_error", graph.mean_error()).field("bias", graph.bias());
    json.field("top1_regret", graph.top1_regret());
    json.field("agreement_of_runs", graph.agreement_of_runs()).key("plans").open_list();
    for (const ValidatedPlan& plan : graph.plans) {
      json.open_object().field("policy", plan.policy);
      json.field("simulated_ns", plan.simulated).field("real_ns", plan.real);
      json.key("runs_ns").open_list();
      for (const Duration run : plan.runs) json.value(run.count());
      json.close_list().close_object();
    }
    json.close_list().close_object();
  }
  json.close_list();
  write_residuals(validation.residuals, json);
  json.key("dispatch_delays").open_list();
  for (const DispatchDelays& delay : validation.delays) {
    json.open_object().field("where", delay.where);
    json.field("count", static_cast<int64_t>(delay.ns.size()));
    json.field("p50_ns", delay.quantile(0.5)).field("p90_ns", delay.quantile(0.9));
    json.field("p99_ns", delay.quantile(0.99)).field("p999_ns", delay.quantile(0.999));
    json.field("most_ns", delay.quantile(1)).close_object();
  }
  return json.close_list().close_object().text();
}

}  // namespace tutti
