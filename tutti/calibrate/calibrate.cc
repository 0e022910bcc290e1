#include "tutti/calibrate/calibrate.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "tutti/base/fingerprint.h"
#include "tutti/base/random.h"

namespace tutti {
namespace {

// One experiment as a problem with its plan.
class Run {
 public:
  static Result<Run> make(const Machine& machine, const Experiment& experiment,
                          const CanRun& can_run) {
    Run run;
    const CostSpec spec = unit_costs(experiment.graph, machine, can_run);
    Result<Costs> costs = Costs::build(experiment.graph, machine, spec);
    if (!costs) return costs.error();
    run.costs_ = std::make_unique<Costs>(std::move(*costs));
    Result<Problem> problem = Problem::make(experiment.graph, machine, *run.costs_);
    if (!problem) return problem.error();
    run.problem_ = std::make_unique<Problem>(std::move(*problem));
    run.plan_.placement = experiment.placement;
    run.plan_.priority.resize(experiment.placement.size());
    const auto order = experiment.graph.topological_order();
    for (size_t i = 0; i < order.size(); ++i) {
      run.plan_.priority[order[i].index] = static_cast<int64_t>(i);
    }
    run.plan_.provenance = {.policy = "calibrate"};
    note_origin(*run.problem_, 0, run.plan_.provenance);
    return run;
  }

  const Problem& problem() const { return *problem_; }
  const Plan& plan() const { return plan_; }

 private:
  std::unique_ptr<Costs> costs_;
  std::unique_ptr<Problem> problem_;
  Plan plan_;
};

std::vector<size_t> order_of_round(size_t count, uint64_t seed, int64_t round) {
  std::vector<size_t> order(count);
  std::iota(order.begin(), order.end(), size_t{0});
  Rng rng = Rng(seed).split(static_cast<uint64_t>(round));
  for (size_t i = count; i > 1; --i) std::swap(order[i - 1], order[rng.below(i)]);
  return order;
}

}  // namespace

uint64_t experiments_fingerprint(std::span<const Experiment> experiments) {
  Fingerprint print;
  for (const Experiment& experiment : experiments) {
    print.add(experiment.graph.fingerprint());
    for (const DeviceId device : experiment.placement) print.add(device.index);
  }
  return print.value();
}

Result<Calibrated> calibrate(const Machine& machine, std::span<const Experiment> experiments,
                             const CanRun& can_run, Runtime& runtime, Knowledge& knowledge,
                             const CalibrateOptions& options) {
  Calibrated done{.runs = options.begin};
  const auto count = static_cast<int64_t>(experiments.size());
  std::vector<bool> broken(experiments.size(), false);
  std::vector<size_t> order;
  int64_t round = -1;
  int64_t warm = -1;  // the turn that has had its runs in vain
  while (count > 0 && (options.runs == 0 || done.runs < options.runs) && !options.stop.now()) {
    const int64_t turn = done.runs / options.in_a_row;
    if (turn / count != round) {
      round = turn / count;
      order = order_of_round(experiments.size(), options.seed, round);
    }
    const size_t which = order[static_cast<size_t>(turn % count)];
    const Experiment& experiment = experiments[which];
    if (broken[which]) {
      ++done.runs;
      continue;
    }
    if (options.progress) options.progress(done.runs, experiment);
    Result<Run> run = Run::make(machine, experiment, can_run);
    if (!run) return run.error();
    Result<Trace> trace = runtime.run(run->problem(), run->plan());
    for (int i = 0; i < options.warm_ups && turn != warm && trace && !options.stop.now(); ++i) {
      trace = runtime.run(run->problem(), run->plan());
    }
    warm = turn;
    if (!trace && options.stop.now()) break;
    ++done.runs;
    if (trace) {
      knowledge.learn(run->problem(), *trace, options.when);
      if (!options.keep) continue;
      if (const Result<void> kept = options.keep(done.runs); !kept) return kept.error();
      continue;
    }
    broken[which] = true;
    done.failures.push_back(experiment.what + ": " + trace.error().message);
    if (std::find(broken.begin(), broken.end(), false) == broken.end()) {
      return failed("nothing could be measured: " + done.failures.back());
    }
  }
  return done;
}

}  // namespace tutti
