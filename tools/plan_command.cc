// tutti plan: a graph and a machine in, a checked and bounded plan out.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <memory>

#include "tools/answer.h"
#include "tools/commands.h"
#include "tools/inputs.h"
#include "tools/print/table.h"
#include "tools/print/throughput_report.h"
#include "tools/search_options.h"
#include "tutti/base/file/json_writer.h"
#include "tutti/base/file/output.h"
#include "tutti/calibrate/validate.h"
#include "tutti/plan/check/check.h"
#include "tutti/plan/file.h"
#include "tutti/search/planners.h"
#include "tutti/search/state_file.h"

namespace tutti {
namespace {

struct PlanArguments {
  ProblemInputs inputs;
  ModelOptions model;
  CommonOptions common;
  SearchOptions search;
  ObjectiveOptions objective;
  std::string from;
  std::string state;
  std::string policy = "auto";
  std::string output;
};

// Takes up the state that an earlier run left there, and leaves the new one after each round.
// Fails at once if it could not be left there.
Result<void> keep_state(const std::string& path, const Problem& problem, AutoSettings& settings) {
  if (path == "-") {
    return invalid_input(
        "--state needs the name of a file: a state is read and replaced, and - can only be "
        "written");
  }
  if (Result<void> probe = probe_output(path); !probe) return probe;
  const StateOwner owner = owner_of(problem, settings.model, settings.seed, settings.budget);
  if (std::filesystem::exists(path)) {
    Result<Source> source = Source::open(path);
    if (!source) return source.error();
    Result<IslandsState> state = read_state(*source, problem, owner);
    if (!state) return state.error();
    if (!settings.budget.wall_clock && state->rounds >= kRounds) {
      fmt::print(stderr,
                 "tutti: {}: the search is complete, and this is its result again; --budget goes "
                 "on from it\n",
                 path);
    }
    settings.resume = std::move(*state);
  }
  settings.on_round = [path, owner, show = settings.on_round](const IslandsState& state) {
    if (show) show(state);
    const Result<void> written = write_file(path, state_to_json(state, owner));
    if (!written) print_warning(written.error().message);
  };
  return {};
}

Result<AutoResult> make(const PlanArguments& arguments, const Problem& problem,
                        Duration lower_bound, const CommandClock& clock) {
  Result<AutoSettings> made = arguments.search.settings(arguments.model, arguments.common);
  if (!made) return made.error();
  AutoSettings& settings = *made;
  settings.lower_bound = lower_bound;
  settings.on_round = show_rounds(static_cast<double>(lower_bound.count()));
  const Result<PolicyEntry> entry = find_planner(arguments.policy, settings);
  if (!entry) return entry.error();
  const Result<void> good = arguments.search.require_use({&*entry, 1});
  if (!good) return good.error();
  if (arguments.policy == "auto") {
    if (!arguments.from.empty()) {
      Result<Plan> from = load_good_plan(arguments.from, problem);
      if (!from) return from.error();
      settings.from = std::move(*from);
      settings.from->passes.reset();  // the search is for one pass
    }
    if (!arguments.state.empty()) {
      const Result<void> resumed = keep_state(arguments.state, problem, settings);
      if (!resumed) return resumed.error();
    }
    settings.budget = clock.rest_of(settings.budget);
    Result<AutoResult> result = plan_auto(problem, settings);
    if (!result && result.error().kind == Error::Kind::invalid_input) {  // it is about the state
      return invalid_input(arguments.state + ": " + result.error().message);
    }
    return result;
  }
  for (const auto& [flag, file] :
       {std::pair("--from", &arguments.from), {"--state", &arguments.state}}) {
    if (file->empty()) continue;
    return invalid_input(fmt::format("{} is for auto, and {} does not look at it; leave it out",
                                     flag, arguments.policy));
  }
  settings.budget = clock.rest_of(settings.budget);
  return plan_and_evaluate(*entry, problem, settings);
}

void add_weights(JsonWriter& json, const Problem& problem, const Plan& plan) {
  const std::vector<WeightUse> use = weight_use(problem, plan.weights, plan.placement);
  json.key("weights").open_list();
  for (size_t i = 0; i < use.size(); ++i) {
    json.open_object();
    json.field("memory", problem.machine.memory(MemoryId{static_cast<int32_t>(i)}).name);
    json.field("kept", use[i].kept).field("kept_bytes", use[i].kept_bytes);
    json.field("streamed", use[i].streamed).field("streamed_bytes", use[i].streamed_bytes);
    json.field("in_place", use[i].in_place).field("in_place_bytes", use[i].in_place_bytes);
    json.field("stream_buffer_bytes", use[i].buffer_bytes).close_object();
  }
  json.close_list();
}

// Where ops find their weights, by memory.
void print_weights(const Problem& problem, const Plan& plan) {
  const std::vector<WeightUse> use = weight_use(problem, plan.weights, plan.placement);
  Table table({"weights in", "kept", "streamed", "buffer", "read at home"});
  const auto cell = [](int count, int64_t bytes) {
    return count == 0 ? std::string("-") : fmt::format("{} ({})", count, bytes_to_text(bytes));
  };
  bool any = false;
  for (size_t i = 0; i < use.size(); ++i) {
    if (use[i].kept + use[i].streamed + use[i].in_place == 0) continue;
    any = true;
    table.add({problem.machine.memory(MemoryId{static_cast<int32_t>(i)}).name,
               cell(use[i].kept, use[i].kept_bytes), cell(use[i].streamed, use[i].streamed_bytes),
               use[i].buffer_bytes == 0 ? "-" : bytes_to_text(use[i].buffer_bytes),
               cell(use[i].in_place, use[i].in_place_bytes)});
  }
  if (any) fmt::print("{}", table.text());
}

void print_json(const Problem& problem, const AutoResult& result, const Bounds& bounds,
                std::optional<Duration> single) {
  JsonWriter json;
  json.open_object().field("schema_version", 1).field("graph", problem.graph.name());
  json.field("machine", problem.machine.name()).field("policy", result.plan.provenance.policy);
  json.field("makespan_ns", result.makespan);
  json.key("planned_makespan_ns");
  result.plan.planned_makespan ? json.value(*result.plan.planned_makespan) : json.null();
  json.field("lower_bound_ns", bounds.strongest());
  json.field("gap", gap_to(bounds.strongest(), static_cast<double>(result.makespan.count())));
  json.key("single_device_ns");
  single ? json.value(*single) : json.null();
  json.field("evaluations", result.plan.provenance.evaluations);
  if (const std::string& validation = result.plan.provenance.validation; !validation.empty()) {
    json.field("validation", validation);
  }
  json.field("scenarios", result.scenarios).field("judged_on", result.judged_on);
  if (result.plan.weights.stated()) add_weights(json, problem, result.plan);
  json.key("tried").open_list();
  for (const Tried& tried : result.tried) {
    json.open_object().field("policy", tried.policy);
    if (tried.refusal.empty()) {
      json.field("makespan_ns", tried.makespan);
    } else {
      json.field("error", tried.refusal);
    }
    json.close_object();
  }
  json.close_list().close_object();
  fmt::print("{}", json.text());
}

// The policies without a makespan in the table, and in a word why.
void print_left_out(const std::vector<Tried>& tried) {
  std::vector<std::string> late;
  std::vector<std::string> without;
  for (const Tried& one : tried) {
    if (!one.refusal.empty()) (one.late ? late : without).push_back(one.policy);
  }
  std::vector<std::string> parts;
  if (!late.empty()) parts.push_back(fmt::format("{} (budget short)", fmt::join(late, ", ")));
  if (!without.empty()) {
    parts.push_back(
        fmt::format("{} (no plan that runs; --json says why)", fmt::join(without, ", ")));
  }
  if (!parts.empty()) fmt::print("  left out: {}\n", fmt::join(parts, "; "));
}

void print_text(const Problem& problem, const AutoResult& result, const Bounds& bounds,
                std::optional<Duration> single) {
  fmt::print("{}\n", answer_line(result.plan.provenance.policy, result.makespan, bounds, single));
  if (const std::string& note = result.plan.provenance.note; !note.empty()) {
    fmt::print("  {}\n", note);
  }
  if (const std::string& validation = result.plan.provenance.validation; !validation.empty()) {
    fmt::print("  {}\n", validation);
  }
  if (!result.shortfall.empty()) fmt::print("  {}\n", result.shortfall);
  std::vector<int64_t> ops(static_cast<size_t>(problem.machine.size()), 0);
  for (const DeviceId device : result.plan.placement) ++ops[static_cast<size_t>(device.index)];
  for (const DeviceId device : problem.machine.devices()) {
    fmt::print("  {}: ops {}\n", problem.machine.device(device).name,
               ops[static_cast<size_t>(device.index)]);
  }
  if (result.plan.weights.stated()) print_weights(problem, result.plan);
  if (result.tried.size() < 2) return;
  Table table({"tried", "makespan", "gap"});
  for (const Tried& tried : result.tried) {
    if (!tried.refusal.empty()) continue;
    const auto ns = static_cast<double>(tried.makespan.count());
    table.add({tried.policy, to_text(tried.makespan), gap_text(gap_to(bounds.strongest(), ns))});
  }
  fmt::print("{}", table.text());
  print_left_out(result.tried);
}

// Judged on the same runs as the plan itself: auto has tried it already.
std::optional<Duration> best_single_device(const PlanArguments& arguments, const Problem& problem,
                                           const AutoResult& result) {
  for (const Tried& tried : result.tried) {
    if (tried.policy == "single_device" && tried.refusal.empty()) return tried.makespan;
  }
  return single_device_makespan(problem, arguments.model.sim_model(), arguments.model.ready_order(),
                                arguments.common.seed, 1);
}

// The plan, checked, to the file that was asked for.
Result<void> write_plan(const PlanArguments& arguments, const LoadedProblem& loaded, Plan& plan) {
  if (loaded.validation) plan.provenance.validation = to_text(*loaded.validation);
  tell_of_interrupt("the plan is the best that was found until then");
  const std::vector<std::string> faults = check_plan(*loaded.problem, plan, 1);
  if (!faults.empty()) {
    return failed(fmt::format("policy {} made a plan that does not pass the check: {}",
                              plan.provenance.policy, faults[0]));
  }
  if (arguments.output.empty()) return {};
  return write_file(arguments.output, plan_to_json(plan, *loaded.problem));
}

Result<ThroughputResult> make_for_throughput(const PlanArguments& arguments, const Problem& problem,
                                             const CommandClock& clock) {
  Result<AutoSettings> settings = arguments.search.settings(arguments.model, arguments.common);
  if (!settings) return settings.error();
  if (!arguments.state.empty()) {
    return invalid_input("--state is for --objective makespan; leave it out");
  }
  if (arguments.policy != kPipelinePolicy) {
    const Result<PolicyEntry> entry = find_planner(arguments.policy, *settings);
    if (!entry) return entry.error();
    if (const Result<void> good = arguments.search.require_use({&*entry, 1}); !good)
      return good.error();
  }
  if (!arguments.from.empty() && arguments.policy != "auto") {
    return invalid_input(fmt::format("--from is for auto, and {} does not look at it; leave it out",
                                     arguments.policy));
  }
  if (!arguments.from.empty()) {
    Result<Plan> from = load_good_plan(arguments.from, problem);
    if (!from) return from.error();
    settings->from = std::move(*from);
  }
  settings->budget = clock.rest_of(settings->budget);
  return plan_for_throughput(problem, arguments.policy, arguments.objective.in_flight(), *settings);
}

int run_plan_for_throughput(const PlanArguments& arguments, const LoadedProblem& loaded,
                            const CommandClock& clock) {
  const Problem& problem = *loaded.problem;
  Result<ThroughputResult> result = make_for_throughput(arguments, problem, clock);
  if (!result) return report(result.error());
  if (const Result<void> written = write_plan(arguments, loaded, result->plan); !written)
    return report(written.error());
  if (arguments.output == "-") return 0;
  const int passes = arguments.objective.in_flight();
  const ThroughputReport answer{
      .problem = problem,
      .result = *result,
      .lower_bound = bound_per_pass(problem, lower_bounds(problem), passes),
      .passes = passes};
  if (arguments.common.json) {
    fmt::print("{}", answer.json());
    return 0;
  }
  fmt::print("{}", answer.text());
  if (result->plan.weights.stated()) print_weights(problem, result->plan);
  if (!arguments.output.empty()) fmt::print("plan written to {}\n", arguments.output);
  return 0;
}

// No output may take the place of what is read; a state is read and replaced.
Result<void> check_outputs(const PlanArguments& arguments) {
  std::vector<std::string> read =
      arguments.inputs.names({arguments.from, arguments.search.network});
  if (arguments.state != "-") {  // which keep_state refuses
    if (Result<void> good = check_output("--state", arguments.state, read); !good) return good;
    read.push_back(arguments.state);
  }
  return check_output("--output", arguments.output, read);
}

int run_plan(const PlanArguments& arguments) {
  if (const Result<void> good = arguments.model.check(arguments.inputs); !good)
    return report(good.error());
  if (const Result<void> good = arguments.objective.check(arguments.model); !good)
    return report(good.error());
  if (const Result<void> good = check_outputs(arguments); !good) return report(good.error());
  CommandClock clock;
  const Result<LoadedProblem> loaded = arguments.inputs.load();
  if (!loaded) return report(loaded.error());
  const Problem& problem = *loaded->problem;
  if (arguments.objective.throughput()) {
    clock.inputs_are_read();
    return run_plan_for_throughput(arguments, *loaded, clock);
  }
  const Bounds bounds = lower_bounds(problem);
  clock.inputs_are_read();
  Result<AutoResult> result = make(arguments, problem, bounds.strongest(), clock);
  if (!result) return report(result.error());
  if (const Result<void> written = write_plan(arguments, *loaded, result->plan); !written)
    return report(written.error());
  if (arguments.output == "-") return 0;
  const auto single = best_single_device(arguments, problem, *result);
  if (arguments.common.json) {
    print_json(problem, *result, bounds, single);
  } else {
    print_text(problem, *result, bounds, single);
    if (!arguments.output.empty()) fmt::print("plan written to {}\n", arguments.output);
  }
  return 0;
}

}  // namespace

void add_plan_command(CLI::App& app, int& exit_code) {
  CLI::App* command =
      app.add_subcommand("plan", "Decide which op runs on which device, and in which order");
  command->footer(
      "Example: tutti plan graph.json --machine v100-8-nvlink --budget 20s -o plan.json");
  auto arguments = std::make_shared<PlanArguments>();
  arguments->inputs.add_to(*command);
  arguments->inputs.add_noise_to(*command);
  arguments->inputs.add_cold_to(*command);
  arguments->model.add_to(*command);
  arguments->common.add_to(*command);
  arguments->search.add_to(*command);
  arguments->objective.add_to(*command);
  command
      ->add_option("--policy", arguments->policy,
                   "A policy (tutti policies), or auto: the best of all, improved by search; for "
                   "--objective throughput also pipeline: splits and local search on loads")
      ->capture_default_str();
  command->add_option(
      "--state", arguments->state,
      "Save the state of auto's search in this file, and resume from it if it exists: "
      "a search that was killed loses at most one round; --budget does not count "
      "the time of earlier calls");
  command->add_option("--from", arguments->from,
                      "A plan that auto starts from, in addition to the others");
  command->add_option("-o,--output", arguments->output,
                      "Write the plan here; - is standard output");
  command->callback([arguments, &exit_code] { exit_code = run_plan(*arguments); });
}

}  // namespace tutti
