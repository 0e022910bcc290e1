// tutti exact: the best there is, for small problems, with and without waiting on purpose.

#include <fmt/format.h>

#include <memory>

#include "tools/answer.h"
#include "tools/commands.h"
#include "tools/inputs.h"
#include "tools/search_options.h"
#include "tutti/base/json_writer.h"
#include "tutti/base/output.h"
#include "tutti/plan/file.h"
#include "tutti/search/exact/all_schedules.h"
#include "tutti/search/exact/work_conserving.h"

namespace tutti {
namespace {

struct ExactArguments {
  ProblemInputs inputs;
  bool json = false;
  SearchOptions search;
  std::string output;
};

std::string what_is_known(const ExactPlan& exact) {
  return exact.proven ? "proven optimal" : "the best so far, not proven optimal";
}

void print_json(const Problem& problem, const ExactPlan& work_conserving,
                const Result<ExactPlan>& any, const Bounds& bounds) {
  JsonWriter json;
  json.open_object().field("schema_version", 1).field("graph", problem.graph.name());
  json.field("machine", problem.machine.name()).field("lower_bound_ns", bounds.strongest());
  json.key("work_conserving").open_object().field("makespan_ns", work_conserving.makespan);
  json.field("proven", work_conserving.proven).close_object().key("any_schedule").open_object();
  if (any) {
    json.field("makespan_ns", any->makespan).field("proven", any->proven);
  } else {
    json.field("error", any.error().message);
  }
  json.close_object().key("price_of_work_conservation");
  any ? json.value(gap_to(any->makespan, static_cast<double>(work_conserving.makespan.count())))
      : json.null();
  json.close_object();
  fmt::print("{}", json.text());
}

void print_text(const ExactPlan& work_conserving, const Result<ExactPlan>& any,
                const Bounds& bounds) {
  fmt::print(
      "exact: makespan {} ({}), {} above the lower bound {}\n", to_text(work_conserving.makespan),
      what_is_known(work_conserving),
      gap_text(gap_to(bounds.strongest(), static_cast<double>(work_conserving.makespan.count()))),
      to_text(bounds.strongest()));
  if (!any) {
    fmt::print("the best of all schedules is not known: {}\n", any.error().message);
    return;
  }
  fmt::print(
      "with waiting on purpose: {} ({}); the price of work conservation is {}\n",
      to_text(any->makespan), what_is_known(*any),
      gap_text(gap_to(any->makespan, static_cast<double>(work_conserving.makespan.count()))));
}

int run_exact(const ExactArguments& arguments) {
  CommandClock clock;
  const Result<LoadedProblem> loaded = arguments.inputs.load();
  if (!loaded) return report(loaded.error());
  const Problem& problem = *loaded->problem;
  if (problem.costs.has_noise()) {
    fmt::print(stderr,
               "tutti: warning: the exact method takes mean durations, without the noise\n");
  }
  clock.inputs_are_read();
  const Budget budget = arguments.search.to_budget();
  const int methods = arguments.output == "-" ? 1 : 2;
  Result<ExactPlan> work_conserving = best_work_conserving(problem, clock.rest_of(budget, methods));
  if (!work_conserving) return report(work_conserving.error());
  work_conserving->plan.provenance = {.policy = "exact",
                                      .graph_fingerprint = problem.graph.fingerprint(),
                                      .machine_fingerprint = problem.machine.fingerprint(),
                                      .costs_fingerprint = problem.costs.fingerprint()};
  if (!arguments.output.empty()) {
    const Result<void> written =
        write_file(arguments.output, plan_to_json(work_conserving->plan, problem));
    if (!written) return report(written.error());
    if (arguments.output == "-") return 0;
  }
  const Result<ExactPlan> any = best_schedule(problem, clock.rest_of(budget));
  const Bounds bounds = lower_bounds(problem);
  if (arguments.json) {
    print_json(problem, *work_conserving, any, bounds);
  } else {
    print_text(*work_conserving, any, bounds);
  }
  return 0;
}

}  // namespace

void add_exact_command(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand(
      "exact",
      "The best plan of a small graph, and what letting devices wait on purpose would gain");
  command->footer("Example: tutti exact graph.json --machine uniform-2 --budget 60s");
  auto arguments = std::make_shared<ExactArguments>();
  arguments->inputs.add_to(*command);
  accept_seed(*command);
  command->add_flag("--json", arguments->json, "Print the result as JSON");
  arguments->search.add_budget_to(*command, "the enumeration and the proof, half each");
  command->add_option("-o,--output", arguments->output,
                      "Write the best work-conserving plan here; - is standard output");
  command->callback([arguments, &exit_code] { exit_code = run_exact(*arguments); });
}

}  // namespace tutti
