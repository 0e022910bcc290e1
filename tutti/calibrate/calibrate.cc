#include "tutti/calibrate/calibrate.h"

#include <fmt/format.h>

#include <algorithm>

#include "tutti/base/fingerprint.h"
#include "tutti/calibrate/measure/turns.h"

namespace tutti {
namespace {

// One experiment as a problem with its plan.
struct Run {
  static Result<Run> make(const Machine& machine, const Experiment& experiment,
                          const CanRun& can_run) {
    Result<Problem> problem =
        Problem::make(Shared<Graph>::borrowed(experiment.graph), Shared<Machine>::borrowed(machine),
                      unit_costs(experiment.graph, machine, can_run));
    if (!problem) return problem.error();
    Plan plan;
    plan.placement = experiment.placement;
    plan.priority.resize(experiment.placement.size());
    const auto order = experiment.graph.topological_order();
    for (size_t i = 0; i < order.size(); ++i) {
      plan.priority[order[i].index] = static_cast<int64_t>(i);
    }
    plan.provenance = {.policy = "calibrate"};
    note_origin(*problem, 0, plan.provenance);
    return Run{std::move(*problem), std::move(plan)};
  }

  Problem problem;
  Plan plan;
};

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
  int64_t warm = -1;  // the turn that has had its warm-up runs
  while (count > 0 && (options.runs == 0 || done.runs < options.runs) && !options.stop.now()) {
    const int64_t turn = done.runs / options.in_a_row;
    if (turn / count != round) {
      round = turn / count;
      order = order_of_turn(experiments.size(), options.seed, round);
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
    Result<Trace> trace = runtime.run(run->problem, run->plan);
    for (int i = 0; i < options.warm_ups && turn != warm && trace && !options.stop.now(); ++i) {
      trace = runtime.run(run->problem, run->plan);
    }
    warm = turn;
    if (!trace && options.stop.now()) break;
    ++done.runs;
    if (trace) {
      knowledge.learn(run->problem, *trace, options.when);
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
