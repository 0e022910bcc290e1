#include "tools/train/real.h"

#include <fmt/format.h>

#include <filesystem>

#include "tutti/calibrate/measuring_runtime.h"
#include "tutti/calibrate/state_file.h"
#include "tutti/policy/doppler/planner.h"
#include "tutti/search/auto.h"
#include "tutti/train/doppler/real_stage.h"

namespace tutti {
namespace {

// What the best of the planners makes of what is known, the policy's own plan, and what was given.
Result<std::vector<Plan>> first_plans(const RealTraining& training, const Problem& problem,
                                      const TensorFile& start, const std::string& path) {
  AutoSettings settings{.seed = training.seed, .threads = training.threads};
  settings.budget.stop = training.stop;
  Result<AutoResult> best = plan_auto(problem, settings);
  if (!best) return best.error();
  std::vector<Plan> plans = {std::move(best->plan)};
  const Result<DopplerModel> model = DopplerModel::load(start, path);
  if (!model) return model.error();
  if (auto greedy = plan_greedily(*model, problem, training.stop)) {
    plans.push_back(std::move(*greedy));
  }
  for (const std::string& file : training.plans) {
    Result<Plan> plan = load_good_plan(file, problem);
    if (!plan) return plan.error();
    plans.push_back(std::move(*plan));
  }
  return plans;
}

void show(const RealRound& round) {
  if (round.raced == 0) {
    fmt::print(stderr, "round {}: no plan is worth a run; {} predicted to be too slow\n",
               round.round + 1, round.refused);
    return;
  }
  fmt::print(stderr,
             "round {}: {} runs, best plan {}, {:+.1f} % of the one it began with; {} plans raced, "
             "{} predicted to be too slow, predictions off by {:.1f} %\n",
             round.round + 1, round.runs, to_text(Duration(static_cast<int64_t>(round.best_ns))),
             100 * (round.best_ns / round.start_ns - 1), round.raced, round.refused,
             100 * round.error);
}

void tell(const RealTraining& training, const RealSearchResult& found) {
  // A folder of an older program does not say what its best plan took.
  const std::string takes =
      found.mean_ns > 0
          ? fmt::format(" takes {} and", to_text(Duration(static_cast<int64_t>(found.mean_ns))))
          : "";
  fmt::print(stderr, "tutti: {}{} of {} runs in {} rounds; the best plan{} is {}/plan.json\n",
             found.new_runs == 0 ? "nothing was run: " : "", found.runs, training.runs,
             found.rounds, takes, training.folder);
  if (!found.own) return;
  if (!found.own->mean_ns) {
    fmt::print(stderr,
               "tutti: the model's own plan was not run: it is predicted to take {:+.1f} % of the "
               "best plan's time\n",
               100 * (found.own->predicted - 1));
    return;
  }
  fmt::print(stderr, "tutti: the model's own plan takes {}, {:+.1f} % of the best plan's time\n",
             to_text(Duration(static_cast<int64_t>(*found.own->mean_ns))),
             100 * (*found.own->mean_ns / found.mean_ns - 1));
}

}  // namespace

Result<void> train_for_real(const RealTraining& training, const TensorFile& start,
                            const std::string& path) {
  if (training.graphs.size() != 1) {
    return invalid_input("--stage real learns one graph on this host; name exactly one");
  }
  if (!training.inputs.constraints.empty()) {
    return invalid_input("--constraints cannot be obeyed in --stage real; leave it out");
  }
  ProblemInputs inputs = training.inputs;
  inputs.graph = training.graphs[0];
  const Result<LoadedProblem> loaded = inputs.load();
  if (!loaded) return loaded.error();
  const Problem& problem = *loaded->problem;
  if (problem.graph.size() == 0) {
    return invalid_input(inputs.graph + ": the graph has no ops to run");
  }
  Knowledge knowledge;
  if (!training.calibration.empty()) {
    Result<CalibrationState> state = load_calibration(training.calibration, problem.machine);
    if (!state) return state.error();
    knowledge = std::move(state->knowledge);
  }
  const Result<Problem> known = known_problem(problem.graph, problem.machine, {}, knowledge);
  if (!known) return known.error();
  auto runtime = MeasuringRuntime::open(problem.machine, training.stop);
  if (!runtime) return runtime.error();
  print_note((*runtime)->note());
  if (!training.plans.empty() &&
      std::filesystem::exists(training.folder + "/checkpoint.safetensors")) {
    fmt::print(stderr, "tutti: the run in {} goes on; --plans is for its beginning and not read\n",
               training.folder);
  }
  const FirstPlans plans = [&] { return first_plans(training, *known, start, path); };
  RealStageSettings settings{.folder = training.folder, .on_round = show};
  settings.search.runs = training.runs;
  settings.search.margin = training.margin;
  settings.search.seed = training.seed;
  settings.search.stop = training.stop;
  settings.policy.threads = training.threads;
  const auto found =
      training.search_alone
          ? search_alone_for_real(problem, {}, std::move(knowledge), **runtime, plans, settings)
          : learn_for_real(start, path, problem, {}, std::move(knowledge), **runtime, plans,
                           settings);
  if (!found) return found.error();
  tell(training, *found);
  return {};
}

}  // namespace tutti
