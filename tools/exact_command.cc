// tutti exact: the best there is, for small problems, with and without waiting on purpose.

#include <fmt/format.h>

#include <memory>
#include <optional>

#include "tools/answer.h"
#include "tools/commands.h"
#include "tools/inputs.h"
#include "tools/search_options.h"
#include "tutti/base/file/json_writer.h"
#include "tutti/base/file/output.h"
#include "tutti/plan/file.h"
#include "tutti/search/exact.h"

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

// What work conservation costs at the optimum; none if an optimum is not known.
std::optional<double> price_of_work_conservation(const ExactAnswer& answer) {
  if (!answer.any || !answer.any->proven || !answer.work_conserving.proven) return std::nullopt;
  return gap_to(answer.any->makespan, static_cast<double>(answer.work_conserving.makespan.count()));
}

void print_json(const Problem& problem, const ExactAnswer& answer) {
  const auto& [work_conserving, any, lower_bound] = answer;
  JsonWriter json;
  json.open_object().field("schema_version", 1).field("graph", problem.graph.name());
  json.field("machine", problem.machine.name()).field("lower_bound_ns", lower_bound);
  json.key("work_conserving").open_object().field("makespan_ns", work_conserving.makespan);
  json.field("proven", work_conserving.proven).close_object().key("any_schedule").open_object();
  if (any) {
    json.field("makespan_ns", any->makespan).field("proven", any->proven);
  } else {
    json.field("error", any.error().message);
  }
  json.close_object().key("price_of_work_conservation");
  const std::optional<double> price = price_of_work_conservation(answer);
  price ? json.value(*price) : json.null();
  json.close_object();
  fmt::print("{}", json.text());
}

void print_text(const ExactAnswer& answer) {
  const auto& [work_conserving, any, lower_bound] = answer;
  fmt::print("exact: makespan {} ({}), {} above the lower bound {}\n",
             to_text(work_conserving.makespan), what_is_known(work_conserving),
             gap_text(gap_to(lower_bound, static_cast<double>(work_conserving.makespan.count()))),
             to_text(lower_bound));
  if (!any) {
    fmt::print("the best of all schedules is not known: {}\n", any.error().message);
    return;
  }
  const std::optional<double> price = price_of_work_conservation(answer);
  fmt::print("with waiting on purpose: {} ({}); the price of work conservation is {}\n",
             to_text(any->makespan), what_is_known(*any),
             price ? gap_text(*price) : "not known without both proofs");
}

Result<void> write_plan(const ExactArguments& arguments, const Problem& problem, Plan plan) {
  if (arguments.output.empty()) return {};
  plan.provenance = {.policy = "exact"};
  note_origin(problem, 0, plan.provenance);
  return write_file(arguments.output, plan_to_json(plan, problem));
}

int run_exact(const ExactArguments& arguments) {
  CommandClock clock;
  const Result<void> writable =
      check_output("--output", arguments.output, arguments.inputs.names());
  if (!writable) return report(writable.error());
  const Result<LoadedProblem> loaded = arguments.inputs.load();
  if (!loaded) return report(loaded.error());
  const Problem& problem = *loaded->problem;
  if (problem.costs.has_noise()) {
    fmt::print(stderr,
               "tutti: warning: the exact method takes mean durations, without the noise\n");
  }
  clock.inputs_are_read();
  const Budget budget = clock.rest_of(arguments.search.to_budget());
  if (arguments.output == "-") {
    const Result<ExactPlan> exact = solve_work_conserving(problem, budget);
    if (!exact) return report(exact.error());
    const Result<void> written = write_plan(arguments, problem, exact->plan);
    return written ? 0 : report(written.error());
  }
  const Result<ExactAnswer> answer = solve_exactly(problem, budget);
  if (!answer) return report(answer.error());
  tell_of_interrupt("the figures are the best that were found until then");
  const Result<void> written = write_plan(arguments, problem, answer->work_conserving.plan);
  if (!written) return report(written.error());
  arguments.json ? print_json(problem, *answer) : print_text(*answer);
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
  arguments->search.add_budget_to(
      *command, "what is known before, the best work-conserving plan and the best schedule",
      "Steps that each branch and bound may take; the same count gives the same plan");
  command->add_option("-o,--output", arguments->output,
                      "Write the best work-conserving plan here; - is standard output");
  command->callback([arguments, &exit_code] { exit_code = run_exact(*arguments); });
}

}  // namespace tutti
