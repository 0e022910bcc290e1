// tutti export: a plan in the form that another program reads.

#include <fmt/format.h>

#include <memory>

#include "tools/commands.h"
#include "tools/inputs.h"
#include "tutti/base/output.h"
#include "tutti/plan/export/export.h"

namespace tutti {
namespace {

struct ExportArguments {
  ProblemInputs inputs;
  std::string plan;
  std::string to;
  std::string output = "-";
};

std::string exported(const std::string& to, const Plan& plan, const Problem& problem) {
  if (to == "csv") return plan_to_csv(plan, problem);
  if (to == "torch") return plan_to_device_map(plan, problem);
  return plan_to_sched_rec(plan, problem);
}

int run_export(const ExportArguments& arguments) {
  const Result<LoadedProblem> loaded = arguments.inputs.load();
  if (!loaded) return report(loaded.error());
  const Problem& problem = *loaded->problem;
  const Result<Plan> plan = load_good_plan(arguments.plan, problem);
  if (!plan) return report(plan.error());
  const Result<void> written = write_file(arguments.output, exported(arguments.to, *plan, problem));
  if (!written) return report(written.error());
  if (arguments.output != "-") fmt::print("written to {}\n", arguments.output);
  return 0;
}

}  // namespace

void add_export_command(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("export", "Write a plan as another program reads it");
  command->footer(
      "Example: tutti export graph.json --machine p100-4 --plan plan.json --to csv -o plan.csv");
  auto arguments = std::make_shared<ExportArguments>();
  arguments->inputs.add_to(*command);
  accept_seed(*command);
  command->add_option("--plan", arguments->plan, "The plan")->required();
  command
      ->add_option("--to", arguments->to,
                   "csv: a table; torch: a device map for PyTorch; starpu: hints for StarPU")
      ->required()
      ->check(CLI::IsMember({"csv", "torch", "starpu"}));
  command->add_option("-o,--output", arguments->output, "Write it here; - is standard output")
      ->capture_default_str();
  command->callback([arguments, &exit_code] { exit_code = run_export(*arguments); });
}

}  // namespace tutti
