// tutti explain: why an op of a plan is where it is, and what the alternatives would cost.

#include <fmt/format.h>

#include <memory>

#include "tools/commands.h"
#include "tools/inputs.h"
#include "tools/print/table.h"
#include "tools/search_options.h"
#include "tutti/base/file/json_writer.h"
#include "tutti/search/explain.h"
#include "tutti/search/planners.h"

namespace tutti {
namespace {

struct ExplainArguments {
  ProblemInputs inputs;
  ModelOptions model;
  CommonOptions common;
  SearchOptions search;
  std::string op;
  std::string plan;
  std::string policy = "auto";
};

Result<OpId> find_op(const Graph& graph, const std::string& name) {
  for (const OpId op : graph.ops()) {
    if (graph.op_name(op) == name) return op;
  }
  return invalid_input(fmt::format("graph '{}' has no op '{}'; tutti graph convert shows its ops",
                                   graph.name(), name));
}

void print_json(const Problem& problem, const Explanation& why) {
  JsonWriter json;
  json.open_object().field("schema_version", 1).field("op", problem.graph.op_name(why.op));
  json.field("start_ns", why.start).field("finish_ns", why.finish).field("critical", why.critical);
  if (why.scenario) json.field("seed", std::to_string(*why.scenario));
  json.field("because", why.because).key("alternatives").open_list();
  for (const Alternative& alternative : why.alternatives) {
    json.open_object().field("device", problem.machine.device(alternative.device).name);
    json.field("chosen", alternative.chosen);
    if (alternative.makespan) {
      json.field("run_time_ns", alternative.run_time).field("makespan_ns", *alternative.makespan);
    } else {
      json.field("obstacle", alternative.obstacle);
    }
    json.close_object();
  }
  json.close_list().close_object();
  fmt::print("{}", json.text());
}

void print_text(const Problem& problem, const Explanation& why) {
  Duration planned{0};
  for (const Alternative& alternative : why.alternatives) {
    if (alternative.chosen) planned = *alternative.makespan;
  }
  fmt::print("{} runs from {} to {} and is {} the critical path\n", problem.graph.op_name(why.op),
             to_text(why.start), to_text(why.finish), why.critical ? "on" : "not on");
  fmt::print("it starts at {} because {}\n", to_text(why.start), why.because);
  if (why.scenario) {
    fmt::print(
        "this is one scenario, drawn with seed {}, and so are the makespans; run times are "
        "means\n",
        *why.scenario);
  }
  Table table({"device", "run time", "makespan", "change", ""});
  for (const Alternative& alternative : why.alternatives) {
    const std::string name = problem.machine.device(alternative.device).name;
    if (!alternative.makespan) {
      table.add({name, "-", "-", "-", alternative.obstacle});
      continue;
    }
    const auto ns = static_cast<double>((*alternative.makespan - planned).count());
    const double share = planned.count() == 0 ? 0 : ns / static_cast<double>(planned.count());
    table.add({name, to_text(alternative.run_time), to_text(*alternative.makespan),
               fmt::format("{:+.1f} %", 100 * share), alternative.chosen ? "chosen" : ""});
  }
  fmt::print("{}", table.text());
}

int run_explain(const ExplainArguments& arguments) {
  if (const Result<void> good = arguments.model.check(arguments.inputs); !good)
    return report(good.error());
  CommandClock clock;
  const Result<LoadedProblem> loaded = arguments.inputs.load();
  if (!loaded) return report(loaded.error());
  const Problem& problem = *loaded->problem;
  clock.inputs_are_read();
  const Result<OpId> op = find_op(problem.graph, arguments.op);
  if (!op) return report(op.error());
  const Result<AutoSettings> settings =
      arguments.search.settings(arguments.model, arguments.common);
  if (!settings) return report(settings.error());
  Result<Plan> plan = invalid_input("");
  if (!arguments.plan.empty()) {
    const Result<void> good =
        arguments.search.require_none("is for planning, and --plan is a plan");
    if (!good) return report(good.error());
    plan = load_good_plan(arguments.plan, problem);
  } else {
    const Result<PolicyEntry> entry = find_planner(arguments.policy, *settings);
    if (!entry) return report(entry.error());
    const Result<void> good = arguments.search.require_use({&*entry, 1});
    if (!good) return report(good.error());
    plan = make_plan(*entry, problem, clock.rest_of(settings->budget), settings->seed);
  }
  if (!plan) return report(plan.error());
  const Result<Explanation> why = explain(problem, *plan, *op, settings->model);
  if (!why) return report(why.error());
  arguments.common.json ? print_json(problem, *why) : print_text(problem, *why);
  return 0;
}

}  // namespace

void add_explain_command(CLI::App& app, int& exit_code) {
  CLI::App* command =
      app.add_subcommand("explain", "Why an op is where it is, and what it would cost elsewhere");
  command->footer("Example: tutti explain graph.json join --machine p100-4 --plan plan.json");
  auto arguments = std::make_shared<ExplainArguments>();
  arguments->inputs.add_to(*command);
  arguments->inputs.add_noise_to(*command);
  command->add_option("op", arguments->op, "The op, by name")->required();
  arguments->model.add_to(*command);
  arguments->common.add_to(*command);
  arguments->search.add_to(*command);
  command->add_option("--plan", arguments->plan, "Explain this plan");
  command
      ->add_option("--policy", arguments->policy,
                   "Without --plan: explain the plan that this policy makes")
      ->excludes("--plan")
      ->capture_default_str();
  command->callback([arguments, &exit_code] { exit_code = run_explain(*arguments); });
}

}  // namespace tutti
