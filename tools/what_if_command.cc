// tutti what-if: the same graph on a changed machine, planned again.

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "tools/answer.h"
#include "tools/commands.h"
#include "tools/inputs.h"
#include "tools/print/table.h"
#include "tools/search_options.h"
#include "tutti/base/file/json_writer.h"
#include "tutti/machine/change.h"
#include "tutti/plan/check/check.h"
#include "tutti/search/planners.h"

namespace tutti {
namespace {

struct WhatIfArguments {
  ProblemInputs inputs;
  ModelOptions model;
  CommonOptions common;
  SearchOptions search;
  std::vector<std::string> add;
  std::vector<std::string> remove;
  std::optional<double> bandwidth;
  std::optional<double> memory;
};

struct Answer {
  std::string machine;
  AutoResult result;
  Bounds bounds;
};

Result<Machine> changed_machine(const WhatIfArguments& arguments, const Machine& machine) {
  MachineSpec spec = machine.spec();
  for (const std::string& like : arguments.add) {
    Result<MachineSpec> more = with_device(spec, like);
    if (!more) return more.error();
    spec = std::move(*more);
  }
  for (const std::string& which : arguments.remove) {
    Result<MachineSpec> fewer = without_device(spec, which);
    if (!fewer) return fewer.error();
    spec = std::move(*fewer);
  }
  if (arguments.bandwidth) spec = with_bandwidth(spec, *arguments.bandwidth);
  if (arguments.memory) spec = with_memory(spec, *arguments.memory);
  return Machine::build(std::move(spec));
}

bool has_devices_of(const Machine& machine, const Machine& other) {
  for (const DeviceId device : other.devices()) {
    if (!machine.find_device(other.device(device).name)) return false;
  }
  return true;
}

// The plan on a machine that has all of its devices, by name. None if it is not allowed there.
std::optional<Plan> carried_over(const Plan& plan, const Problem& from, const Problem& to) {
  Plan carried;
  carried.priority = plan.priority;
  for (const DeviceId device : plan.placement) {
    carried.placement.push_back(*to.machine.find_device(from.machine.device(device).name));
  }
  if (!check_plan(to, carried, 1).empty()) return std::nullopt;
  return carried;
}

Result<Answer> plan_on(AutoSettings settings, const LoadedProblem& loaded,
                       const CommandClock& clock, int plans_left, std::optional<Plan> from) {
  settings.from = std::move(from);
  settings.budget = clock.rest_of(settings.budget, plans_left);
  Result<AutoResult> result = plan_auto(*loaded.problem, settings);
  if (!result) return result.error();
  return Answer{loaded.problem->machine.name(), std::move(*result), lower_bounds(*loaded.problem)};
}

// The baseline, what the change makes of it, and what the change is worth.
struct Outcome {
  Answer now;
  Answer then;
  // What the first machine takes with the plan for the changed one, if that runs there and is
  // quicker than the baseline: then the search had luck, which is no merit of the change.
  std::optional<Duration> also_now{};

  double change() const {
    const auto before =
        static_cast<double>(std::min(now.result.makespan, also_now.value_or(kNever)).count());
    return before == 0 ? 0 : static_cast<double>(then.result.makespan.count()) / before - 1;
  }
};

// The baseline depends on the graph, the machine and the effort alone, so that it is the same
// whatever is asked about. A changed machine that has all of its devices starts from its plan: more
// devices are then never worse for want of luck.
Result<Outcome> ask(const AutoSettings& settings, const LoadedProblem& loaded,
                    const LoadedProblem& changed, const CommandClock& clock) {
  Result<Answer> now = plan_on(settings, loaded, clock, 2, {});
  if (!now) return now.error();
  std::optional<Plan> start;
  if (has_devices_of(changed.problem->machine, loaded.problem->machine)) {
    start = carried_over(now->result.plan, *loaded.problem, *changed.problem);
  }
  Result<Answer> then = plan_on(settings, changed, clock, 1, std::move(start));
  if (!then) return then.error();
  Outcome outcome{std::move(*now), std::move(*then)};
  ScenarioSimulator judge(*loaded.problem, settings.model.model, settings.model.order);
  if (judge.depends_on_seed() || !has_devices_of(loaded.problem->machine, changed.problem->machine))
    return outcome;
  const std::optional<Plan> back =
      carried_over(outcome.then.result.plan, *changed.problem, *loaded.problem);
  if (!back) return outcome;
  const Result<Duration> makespan = judge.makespan(*back, settings.seed);
  if (makespan && *makespan < outcome.now.result.makespan) outcome.also_now = *makespan;
  return outcome;
}

void print_json(const Outcome& outcome) {
  JsonWriter json;
  json.open_object().field("schema_version", 1).key("machines").open_list();
  for (const Answer* answer : {&outcome.now, &outcome.then}) {
    const auto ns = static_cast<double>(answer->result.makespan.count());
    json.open_object().field("machine", answer->machine);
    json.field("makespan_ns", answer->result.makespan);
    json.field("lower_bound_ns", answer->bounds.strongest());
    json.field("gap", gap_to(answer->bounds.strongest(), ns));
    json.field("policy", answer->result.plan.provenance.policy).close_object();
  }
  json.close_list().field("change", outcome.change());
  if (outcome.also_now) json.field("first_with_plan_for_changed_ns", *outcome.also_now);
  json.close_object();
  fmt::print("{}", json.text());
}

void print_text(const Outcome& outcome) {
  const auto& [now, then, also_now] = outcome;
  fmt::print("{} instead of {}: makespan {} instead of {} ({:+.1f} %)\n", then.machine, now.machine,
             to_text(then.result.makespan), to_text(now.result.makespan), 100 * outcome.change());
  Table table({"machine", "makespan", "lower bound", "gap"});
  for (const Answer* answer : {&now, &then}) {
    const auto ns = static_cast<double>(answer->result.makespan.count());
    table.add({answer->machine, to_text(answer->result.makespan),
               to_text(answer->bounds.strongest()),
               gap_text(gap_to(answer->bounds.strongest(), ns))});
  }
  fmt::print("{}", table.text());
  if (also_now) {
    fmt::print(
        "the plan for {} is better than the one found for {}, which takes {} with it: the change "
        "is counted from there\n",
        then.machine, now.machine, to_text(*also_now));
  }
  if (then.bounds.strongest() > now.result.makespan) {
    fmt::print("no plan for the changed machine can be as quick as that for the first: proven\n");
  } else if (then.result.makespan < now.bounds.strongest()) {
    fmt::print(
        "no plan for the first machine can be as quick as that for the changed one: "
        "proven\n");
  }
}

int run_what_if(const WhatIfArguments& arguments) {
  if (const Result<void> good = arguments.model.check(arguments.inputs); !good)
    return report(good.error());
  if (arguments.add.empty() && arguments.remove.empty() && !arguments.bandwidth &&
      !arguments.memory) {
    return report(
        invalid_input("tutti what-if needs a change: --add, --remove, --bandwidth or --memory"));
  }
  CommandClock clock;
  const Result<AutoSettings> settings =
      arguments.search.settings(arguments.model, arguments.common);
  if (!settings) return report(settings.error());
  const Result<LoadedProblem> loaded = arguments.inputs.load();
  if (!loaded) return report(loaded.error());
  Result<Machine> machine = changed_machine(arguments, loaded->problem->machine);
  if (!machine) return report(machine.error());
  ProblemInputs again = arguments.inputs;
  again.import_flags.quiet = true;
  const Result<LoadedProblem> changed = again.load_on(std::move(*machine));
  if (!changed) return report(changed.error());
  clock.inputs_are_read();
  const Result<Outcome> outcome = ask(*settings, *loaded, *changed, clock);
  if (!outcome) return report(outcome.error());
  tell_of_interrupt("the plans are the best until then, and say little about the change");
  arguments.common.json ? print_json(*outcome) : print_text(*outcome);
  return 0;
}

}  // namespace

void add_what_if_command(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand(
      "what-if", "Plan for a changed machine, and say what the change would bring");
  command->footer("Example: tutti what-if graph.json --machine p100-4 --add gpu");
  auto arguments = std::make_shared<WhatIfArguments>();
  arguments->inputs.add_to(*command);
  arguments->inputs.add_noise_to(*command);
  arguments->model.add_to(*command);
  arguments->common.add_to(*command);
  arguments->search.add_to(*command);
  command->add_option("--add", arguments->add, "Add a device like this one (a name or a kind)")
      ->delimiter(',');
  command
      ->add_option("--remove", arguments->remove,
                   "Remove this device (a name), or one of this kind")
      ->delimiter(',');
  const auto positive = [](const std::string& text) {
    double number = 0;
    const bool good = CLI::detail::lexical_cast(text, number) && number >= 1e-6 && number <= 1e6;
    return good ? std::string() : "must be a number from 0.000001 to 1000000";
  };
  command
      ->add_option("--bandwidth", arguments->bandwidth,
                   "Multiply the bandwidth of every link by this")
      ->check(positive);
  command->add_option("--memory", arguments->memory, "Multiply the memory of every device by this")
      ->check(positive);
  command->callback([arguments, &exit_code] { exit_code = run_what_if(*arguments); });
}

}  // namespace tutti
