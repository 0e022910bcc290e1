#include "tutti/calibrate/tune.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "tutti/base/statistics.h"
#include "tutti/calibrate/measure/turns.h"
#include "tutti/calibrate/observe.h"
#include "tutti/calibrate/plans.h"
#include "tutti/calibrate/real_search.h"
#include "tutti/runtime/sim/sim.h"

namespace tutti {
namespace {

constexpr size_t kLeastPlans = 4;
// Errors above this count by their size alone, so that a few odd plans do not decide.
constexpr double kLarge = 0.1;
// As if a factor of e had an error of that square: where plans do not tell, 1 is right. What ops
// take in plans has been seen op by op already, and makespans of a few plans can be had with one
// kind of device too slow and another too quick. What transfers take among others has not.
constexpr double kDevicePrior = 5e-2;
constexpr double kTransferPrior = 5e-4;
constexpr double kFirstStep = 0.8;       // of a logarithm
constexpr int kHalvings = 7;             // the last step is about 1 %
constexpr double kMostLog = 2.1;         // a factor of 8
constexpr double kMostLatencyLog = 6.9;  // 1000: threads may wait for their turn
constexpr int kTuneScenarios = 8;
constexpr size_t kLeastOps = 3;
constexpr double kMostRatio = 4;
// Of ratios of several sizes; of a factor around 1; of what is added, in ns.
constexpr double kScatter = 0.07;
constexpr double kFactorSpread = 0.3;
constexpr double kMostFactor = 2;
constexpr double kExtraSpread = 1e5;
// Plans predicted to take this many times as long as the best are not run.
constexpr double kWorst = 4;
constexpr int kChosenOf = 3;  // one plan in so many, so that there are all sorts

// One graph with its plans and what they took.
struct Case {
  const Graph* graph;
  std::vector<Plan> plans;
  std::vector<std::vector<double>> real_ns;  // by plan
};

std::optional<double> makespan(const Problem& problem, const Plan& plan, bool sample,
                               uint64_t seed) {
  SimRuntime sim(SimModel::physical, {.seed = seed, .sample = sample});
  const Result<Trace> trace = sim.run(problem, plan);
  if (!trace) return {};
  return static_cast<double>(trace->makespan.count());
}

// Plans of all sorts, without the worst.
std::vector<Plan> plans_of(const Problem& problem, const TuneOptions& options) {
  std::vector<Plan> all =
      diverse_plans(problem, {}, kChosenOf * options.plans, options.seed, options.stop);
  std::vector<double> ns;
  double least = std::numeric_limits<double>::infinity();
  for (const Plan& plan : all) {
    ns.push_back(
        makespan(problem, plan, /*sample=*/false, 0).value_or(std::numeric_limits<double>::max()));
    least = std::min(least, ns.back());
  }
  std::vector<Plan> good;
  for (size_t i = 0; i < all.size(); ++i) {
    if (ns[i] <= kWorst * least) good.push_back(std::move(all[i]));
  }
  std::vector<Plan> chosen;
  const auto count = std::min(good.size(), static_cast<size_t>(options.plans));
  for (size_t i = 0; i < count; ++i) chosen.push_back(std::move(good[i * good.size() / count]));
  return chosen;
}

// What ops take in plans against what probes said, by kind of op and device: a line through the
// medians of all sizes. What an op meets in a plan (a cold cache, a copy at the same time, its
// turn) partly grows with the op and partly does not, and the graphs that are calibrated on are
// small: a factor alone would make large ops much too slow.
class Stretches {
 public:
  void add(const Problem& problem, const Trace& trace) {
    for (const ObservedOp& op : observe(problem, trace).ops) {
      const int64_t expected = problem.costs.run_time(op.op, op.device).count();
      if (expected <= 0) continue;
      found_[{std::string(problem.graph.op_kind_name(op.op)),
              problem.machine.device(op.device).kind}][expected]
          .push_back(op.ns);
    }
  }

  std::map<std::pair<std::string, std::string>, Stretch> lines() const {
    std::map<std::pair<std::string, std::string>, Stretch> lines;
    for (const auto& [key, sizes] : found_) {
      if (const std::optional<Stretch> line = line_of(sizes)) lines[key] = *line;
    }
    return lines;
  }

 private:
  using Sizes = std::map<int64_t, std::vector<double>>;  // what ops took, by what was expected

  // With r = factor + extra / expected for each size, the most probable pair, where ratios scatter
  // by kScatter, and factor and extra are likely 1 and 0.
  static std::optional<Stretch> line_of(const Sizes& sizes) {
    constexpr double kWeight = 1 / (kScatter * kScatter);
    size_t ops = 0;
    // Normal equations of factor - 1 and extra, the latter in units of its spread.
    double a = 1 / (kFactorSpread * kFactorSpread);
    double b = 0;
    double c = 1;
    double x = 0;
    double y = 0;
    for (const auto& [expected, taken] : sizes) {
      const double share = kExtraSpread / static_cast<double>(expected);
      const double ratio = summary_of(taken).median / static_cast<double>(expected);
      const double above = std::clamp(ratio, 1 / kMostRatio, kMostRatio) - 1;
      ops += taken.size();
      a += kWeight;
      b += kWeight * share;
      c += kWeight * share * share;
      x += kWeight * above;
      y += kWeight * share * above;
    }
    if (ops < kLeastOps) return {};
    const double determinant = a * c - b * b;
    // Sizes near each other say little of the slope, and larger ops must not pay for that.
    const double above =
        std::clamp((c * x - b * y) / determinant, 1 / kMostFactor - 1, kMostFactor - 1);
    return Stretch{.factor = 1 + above, .extra_ns = kExtraSpread * (y - b * above) / c};
  }

  std::map<std::pair<std::string, std::string>, Sizes> found_;
};

// Problems with other factors, quickly: every op's time is known from the first.
class Scaled {
 public:
  static Result<Scaled> make(const Case& about, const Machine& machine,
                             const Knowledge& knowledge) {
    Result<Problem> known = known_problem(*about.graph, machine, {}, knowledge);
    if (!known) return known.error();
    Scaled scaled(about, std::move(*known));
    scaled.take_plans();
    return scaled;
  }

  // The logarithm of real over simulated for each plan that was run.
  std::vector<double> errors(const Scales& scales) const {
    MachineSpec machine_spec = known_.machine.spec();
    scale_transfers(machine_spec, scales);
    Result<Machine> machine = Machine::build(std::move(machine_spec));
    if (!machine) return {};
    const Result<Problem> problem =
        Problem::make(known_.shared_graph(), std::move(*machine), costs_with(scales));
    if (!problem) return {};
    std::vector<double> found;
    for (const Run& run : runs_) {
      const std::optional<double> ns = makespan(*problem, *run.plan, /*sample=*/false, 0);
      if (ns) found.push_back(std::log(run.real_ns / (*ns * run.noise)));
    }
    return found;
  }

 private:
  struct Run {
    const Plan* plan;
    double real_ns;
    double noise;  // what noise adds to the simulated makespan
  };

  Scaled(const Case& about, Problem known) : about_(&about), known_(std::move(known)) {}

  void take_plans() {
    const Problem& problem = known_;
    for (size_t i = 0; i < about_->plans.size(); ++i) {
      if (about_->real_ns[i].empty()) continue;
      const Plan& plan = about_->plans[i];
      const std::optional<double> clean = makespan(problem, plan, /*sample=*/false, 0);
      if (!clean || *clean <= 0) continue;
      double sum = 0;
      for (int k = 0; k < kTuneScenarios; ++k) {
        sum += makespan(problem, plan, problem.costs.has_noise(), static_cast<uint64_t>(k + 1))
                   .value_or(*clean);
      }
      runs_.push_back(
          {&plan, summary_of(about_->real_ns[i]).median, sum / kTuneScenarios / *clean});
    }
  }

  CostSpec costs_with(const Scales& scales) const {
    CostSpec spec;
    std::map<std::string, DeviceId> kinds;
    for (const DeviceId id : known_.machine.devices()) {
      kinds.try_emplace(known_.machine.device(id).kind, id);
    }
    for (const OpId op : about_->graph->ops()) {
      for (const auto& [kind, device] : kinds) {
        const Duration time = known_.costs.run_time(op, device);
        if (time >= kNever) continue;
        spec.op_times.push_back(
            {.op = std::string(about_->graph->op_name(op)),
             .device_kind = kind,
             .time_ns = static_cast<double>(time.count()) * scales.of_device(kind)});
      }
    }
    return spec;
  }

  const Case* about_;
  Problem known_;
  std::vector<Run> runs_;
};

struct Fitted {
  Scales scales;
  int plans = 0;
  double error_before = 0;  // mean of |simulated / real - 1|
  double error_after = 0;
};

// Goes along one factor at a time, in ever smaller steps (Hooke, Jeeves; J. ACM 1961, without its
// pattern moves).
class FactorFit {
 public:
  FactorFit(const std::vector<Scaled>& cases, const Machine& machine) : cases_(cases) {
    std::set<std::string> kinds;
    for (const DeviceId id : machine.devices()) kinds.insert(machine.device(id).kind);
    kinds_.assign(kinds.begin(), kinds.end());
    logs_.assign(kinds_.size() + 2, 0);
  }

  Fitted run() {
    Fitted fitted;
    double least = loss(fitted.error_before, fitted.plans);
    fitted.error_after = fitted.error_before;
    if (fitted.plans < static_cast<int>(kLeastPlans)) return fitted;
    for (int halvings = 0; halvings < kHalvings; ++halvings) {
      const double step = std::ldexp(kFirstStep, -halvings);
      for (bool moved = true; moved;) {
        moved = false;
        for (double& log : logs_) {
          for (const double by : {step, -step}) {
            const double before = log;
            const bool latency = &log == &logs_.back();
            log = std::clamp(log + by, -kMostLog, latency ? kMostLatencyLog : kMostLog);
            double error = 0;
            const double now = loss(error, fitted.plans);
            if (now < least - 1e-9) {
              least = now;
              fitted.error_after = error;
              moved = true;
            } else {
              log = before;
            }
          }
        }
      }
    }
    fitted.scales = scales();
    return fitted;
  }

 private:
  Scales scales() const {
    Scales scales;
    for (size_t i = 0; i < kinds_.size(); ++i) scales.devices[kinds_[i]] = std::exp(logs_[i]);
    scales.transfers = std::exp(logs_[kinds_.size()]);
    scales.latency = std::exp(logs_.back());
    return scales;
  }

  // Every graph counts the same.
  double loss(double& mean_error, int& plans) const {
    const Scales at = scales();
    double sum = 0;
    double errors = 0;
    plans = 0;
    int graphs = 0;
    for (const Scaled& one : cases_) {
      double of_graph = 0;
      const std::vector<double> found = one.errors(at);
      for (const double error : found) {
        const double size = std::abs(error);
        of_graph += size < kLarge ? size * size / 2 : kLarge * (size - kLarge / 2);
        errors += std::abs(std::expm1(-error));
      }
      plans += static_cast<int>(found.size());
      if (found.empty()) continue;
      sum += of_graph / static_cast<double>(found.size());
      ++graphs;
    }
    mean_error = plans > 0 ? errors / plans : 0;
    sum /= std::max(graphs, 1);
    for (size_t i = 0; i < logs_.size(); ++i) {
      sum += (i < kinds_.size() ? kDevicePrior : kTransferPrior) * logs_[i] * logs_[i];
    }
    return sum;
  }

  const std::vector<Scaled>& cases_;
  std::vector<std::string> kinds_;
  std::vector<double> logs_;  // by kind, then of transfers and their latency
};

// Runs the plans of one graph once each, in a random order, after one warm-up run.
Result<int64_t> run_case(Case& about, const Machine& machine, Runtime& runtime,
                         const Knowledge& knowledge, Rng rng, const TuneOptions& options,
                         const std::function<void()>& before_run, Stretches& stretches) {
  const Result<Problem> problem =
      Problem::make(Shared<Graph>::borrowed(*about.graph), Shared<Machine>::borrowed(machine),
                    knowledge.costs(machine));
  if (!problem) return problem.error();
  std::vector<size_t> order;
  for (size_t i = 0; i < about.plans.size(); ++i) order.push_back(i);
  shuffle(std::span(order), rng);
  if (!order.empty() && !options.stop.now()) (void)runtime.run(*problem, about.plans[order[0]]);
  int64_t runs = 0;
  for (const size_t i : order) {
    if (options.stop.now()) break;
    before_run();
    const Result<Trace> trace = runtime.run(*problem, about.plans[i]);
    if (!trace) continue;
    ++runs;
    about.real_ns[i].push_back(static_cast<double>(std::max(trace->makespan.count(), 1L)));
    stretches.add(*problem, *trace);
  }
  return runs;
}

// Requires knowledge without scales; on failure it has some or none.
Result<Tuned> fit_scales(const Machine& machine, std::span<const Graph* const> graphs,
                         Runtime& runtime, Knowledge& knowledge, const TuneOptions& options,
                         const Scales& before) {
  Tuned tuned;
  std::vector<Case> cases;
  int64_t total = 0;
  for (const Graph* graph : graphs) {
    Result<Problem> known = known_problem(*graph, machine, {}, knowledge);
    if (!known) return known.error();
    Case one{.graph = graph, .plans = plans_of(*known, options), .real_ns = {}};
    one.real_ns.resize(one.plans.size());
    total += static_cast<int64_t>(one.plans.size()) * options.repeats;
    cases.push_back(std::move(one));
  }
  Stretches stretches;
  int64_t begun = 0;
  const auto before_run = [&] {
    if (options.progress) options.progress(begun, total);
    ++begun;
  };
  for (int repeat = 0; repeat < options.repeats; ++repeat) {
    for (size_t i = 0; i < cases.size(); ++i) {
      const Rng rng = Rng(options.seed).split(static_cast<uint64_t>(repeat)).split(i);
      const Result<int64_t> runs =
          run_case(cases[i], machine, runtime, knowledge, rng, options, before_run, stretches);
      if (!runs) return runs.error();
      tuned.runs += *runs;
    }
  }
  const auto fit = [&]() -> Result<Fitted> {
    std::vector<Scaled> scaled;
    for (const Case& one : cases) {
      Result<Scaled> made = Scaled::make(one, machine, knowledge);
      if (!made) return made.error();
      scaled.push_back(std::move(*made));
    }
    return FactorFit(scaled, machine).run();
  };
  // Mean error of the predictions with the factors that the knowledge has.
  const auto error_now = [&]() -> Result<double> {
    double sum = 0;
    int plans = 0;
    for (const Case& one : cases) {
      const Result<Scaled> made = Scaled::make(one, machine, knowledge);
      if (!made) return made.error();
      for (const double error : made->errors({})) {
        sum += std::abs(std::expm1(-error));
        ++plans;
      }
    }
    return plans > 0 ? sum / plans : 0;
  };
  const Result<double> probes_alone = error_now();
  if (!probes_alone) return probes_alone.error();
  tuned.error_before = tuned.error_after = *probes_alone;
  // The factors that predict these plans best are kept: none, those of earlier calls, or new ones.
  knowledge.set_scales(before);
  const Result<double> with_before = error_now();
  if (!with_before) return with_before.error();
  for (const Case& one : cases) {
    for (const auto& runs : one.real_ns) tuned.plans += runs.empty() ? 0 : 1;
  }
  if (tuned.plans < static_cast<int>(kLeastPlans)) {
    tuned.error_after = *with_before;
    return tuned;
  }
  knowledge.set_scales({.kinds = stretches.lines()});
  const Result<Fitted> fitted = fit();
  if (!fitted) return fitted.error();
  Scales scales = fitted->scales;
  scales.kinds = knowledge.scales().kinds;
  knowledge.set_scales({});
  if (*with_before < tuned.error_after) {
    tuned.error_after = *with_before;
    knowledge.set_scales(before);
  }
  if (fitted->error_after < tuned.error_after) {
    tuned.error_after = fitted->error_after;
    knowledge.set_scales(scales);
  }
  return tuned;
}

}  // namespace

Result<Tuned> tune(const Machine& machine, std::span<const Graph* const> graphs, Runtime& runtime,
                   Knowledge& knowledge, const TuneOptions& options) {
  const Scales before = knowledge.scales();
  knowledge.set_scales({});
  Result<Tuned> tuned = fit_scales(machine, graphs, runtime, knowledge, options, before);
  if (!tuned) knowledge.set_scales(before);
  return tuned;
}

}  // namespace tutti
