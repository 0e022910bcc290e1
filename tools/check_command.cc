// tutti check: the independent judge of plans and traces. What the rules for plans do not tell,
// whether a run of it would stand still for want of memory, the simulator is asked.

#include <fmt/format.h>

#include <memory>
#include <optional>

#include "tools/answer.h"
#include "tools/commands.h"
#include "tools/inputs.h"
#include "tutti/base/json_writer.h"
#include "tutti/plan/check.h"
#include "tutti/plan/file.h"
#include "tutti/runtime/sim/sim.h"
#include "tutti/trace/check.h"
#include "tutti/trace/file.h"

namespace tutti {
namespace {

struct CheckArguments {
  ProblemInputs inputs;
  bool json = false;
  std::string plan;
  std::string trace;
};

Result<std::optional<Plan>> plan_to_check(const std::string& path, const Problem& problem) {
  if (path.empty()) return std::optional<Plan>{};
  Result<Source> source = Source::open(path);
  if (!source) return source.error();
  Result<Plan> plan = read_plan(*source, problem);
  if (!plan) return plan.error();
  warn_of_another_problem(path, *plan, problem);
  return std::optional<Plan>(std::move(*plan));
}

Result<std::optional<Trace>> trace_to_check(const std::string& path, const Problem& problem) {
  if (path.empty()) return std::optional<Trace>{};
  Result<Source> source = Source::open(path);
  if (!source) return source.error();
  Result<Trace> trace = read_trace(*source, problem);
  if (!trace) return trace.error();
  return std::optional<Trace>(std::move(*trace));
}

// A plan may break no rule and yet come to a stand under memory limits.
std::vector<std::string> faults_of_plan(const Problem& problem, const Plan& plan) {
  std::vector<std::string> faults = check_plan(problem, plan);
  if (!faults.empty()) return faults;  // the simulator takes good plans only
  SimRuntime runtime;
  if (const Result<Trace> trace = runtime.run(problem, plan); !trace) {
    faults.push_back("in a simulated run, " + trace.error().message);
  }
  return faults;
}

void print_json(const std::vector<std::string>& faults, const Bounds& bounds) {
  JsonWriter json;
  json.open_object().field("schema_version", 1).field("good", faults.empty());
  json.field("lower_bound_ns", bounds.strongest()).key("faults").open_list();
  for (const std::string& fault : faults) json.value(fault);
  json.close_list().close_object();
  fmt::print("{}", json.text());
}

int run_check(const CheckArguments& arguments) {
  if (arguments.plan.empty() && arguments.trace.empty()) {
    return report(invalid_input("tutti check needs --plan, --trace or both"));
  }
  if (arguments.plan == "-" && arguments.trace == "-") {
    return report(
        invalid_input("standard input (-) can be read only once; put the plan in a file"));
  }
  const Result<LoadedProblem> loaded = arguments.inputs.load();
  if (!loaded) return report(loaded.error());
  const Problem& problem = *loaded->problem;
  const Result<std::optional<Plan>> plan = plan_to_check(arguments.plan, problem);
  if (!plan) return report(plan.error());
  const Result<std::optional<Trace>> trace = trace_to_check(arguments.trace, problem);
  if (!trace) return report(trace.error());

  const Bounds bounds = lower_bounds(problem);
  std::vector<std::string> faults;
  if (*plan) {
    for (std::string& fault : faults_of_plan(problem, **plan)) faults.push_back("plan: " + fault);
  }
  if (*trace) {
    const TraceRules rules = rules_for(**trace, *plan ? &**plan : nullptr);
    for (std::string& fault : check_trace(problem, **trace, rules)) {
      faults.push_back("trace: " + fault);
    }
    // The bound is by the costs: a real run may well be quicker than they say.
    const bool by_costs = !(*trace)->sampled && !rules.timeless && !rules.measured;
    if (by_costs && (*trace)->makespan < bounds.strongest()) {
      faults.push_back(fmt::format("trace: makespan {} is below the lower bound {}",
                                   to_text((*trace)->makespan), to_text(bounds.strongest())));
    }
  }
  if (arguments.json) {
    print_json(faults, bounds);
  } else if (faults.empty()) {
    fmt::print("good: every rule holds{}; lower bound {}\n",
               *plan ? ", and a simulated run of the plan ends" : "", to_text(bounds.strongest()));
  } else {
    fmt::print("{} rule{} broken\n", faults.size(), faults.size() == 1 ? " is" : "s are");
    for (const std::string& fault : faults) fmt::print("  {}\n", fault);
  }
  return faults.empty() ? 0 : 2;
}

}  // namespace

void add_check_command(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("check", "Check a plan or a trace against the rules");
  accept_seed(*command);
  command->footer(
      "Example: tutti check graph.json --machine p100-4 --plan plan.json --trace trace.json");
  auto arguments = std::make_shared<CheckArguments>();
  arguments->inputs.add_to(*command);
  arguments->inputs.add_noise_to(*command);
  command->add_flag("--json", arguments->json, "Print the verdict as JSON");
  command->add_option("--plan", arguments->plan, "Plan file");
  command->add_option("--trace", arguments->trace, "Trace file, made by simulate --trace");
  command->callback([arguments, &exit_code] { exit_code = run_check(*arguments); });
}

}  // namespace tutti
