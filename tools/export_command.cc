// tutti export: a plan, or a trace, in the form that another program reads.

#include <fmt/format.h>

#include <memory>

#include "tools/commands.h"
#include "tools/inputs.h"
#include "tutti/base/file/output.h"
#include "tutti/plan/export/export.h"
#include "tutti/plan/export/onnx.h"
#include "tutti/report/page.h"
#include "tutti/trace/file.h"

namespace tutti {
namespace {

struct ExportArguments {
  ProblemInputs inputs;
  std::string plan;
  std::string trace;
  std::string to;
  std::string output = "-";
};

// Writes the model with annotations, and prints the settings that the session needs.
int run_ort(const ExportArguments& arguments, const Imported& imported, const Plan& plan,
            const Problem& problem) {
  const std::string& file = arguments.inputs.graph;
  if (imported.format != "onnx") {
    return report(invalid_input(fmt::format(
        "{}: --to ort annotates the ONNX model that was planned, and this is {}; plan the .onnx "
        "file itself",
        file, imported.format)));
  }
  if (file == "-") {
    return report(invalid_input("--to ort reads the model twice; put it in a file"));
  }
  Result<Source> source = Source::open(file);
  if (!source) return report(source.error());
  const Result<std::string> bytes = source->read_all();
  if (!bytes) return report(bytes.error());
  const Result<AnnotatedModel> model = annotate_onnx(*bytes, plan, problem);
  if (!model) return report(invalid_input(file + ": " + model.error().message));
  if (!model->warning.empty()) print_warning(model->warning);
  const Result<void> written = write_file(arguments.output, model->bytes);
  if (!written) return report(written.error());
  // Standard output may be the model.
  fmt::print(arguments.output == "-" ? stderr : stdout,
             "nodes annotated: {}; the session needs\n"
             "  session.layer_assignment_settings = {}\n",
             model->annotated, model->settings);
  return 0;
}

std::string exported(const std::string& to, const Plan& plan, const Problem& problem) {
  if (to == "csv") return plan_to_csv(plan, problem);
  if (to == "torch") return plan_to_device_map(plan, problem);
  return plan_to_sched_rec(plan, problem);
}

// A trace for ui.perfetto.dev, with arrows and counters.
int run_perfetto(const ExportArguments& arguments, const Problem& problem) {
  Result<Source> source = Source::open(arguments.trace);
  if (!source) return report(source.error());
  const Result<Trace> trace = read_trace(*source, problem);
  if (!trace) return report(trace.error());
  // What the page refuses to draw, such as a span that ends before it starts, has no arrows either.
  const Result<ReportedRun> run = run_of_trace(problem, source->name(), *trace);
  if (!run) return report(run.error());
  Result<Output> output = Output::open(arguments.output);
  if (!output) return report(output.error());
  write_viewer_trace(problem, run->trace, *output);
  if (Result<void> written = output->commit(); !written) return report(written.error());
  if (arguments.output != "-") {
    fmt::print("written to {}; open it at ui.perfetto.dev\n", arguments.output);
  }
  return 0;
}

int run_export(const ExportArguments& arguments) {
  const bool of_trace = arguments.to == "perfetto";
  if (of_trace != arguments.plan.empty() || of_trace == arguments.trace.empty()) {
    return report(invalid_input(of_trace ? "--to perfetto shows a run: give --trace, and no --plan"
                                         : fmt::format("--to {} writes a plan: give --plan, and no "
                                                       "--trace",
                                                       arguments.to)));
  }
  const Result<void> writable = check_output(
      "--output", arguments.output, arguments.inputs.names({arguments.plan, arguments.trace}));
  if (!writable) return report(writable.error());
  const Result<LoadedProblem> loaded = arguments.inputs.load();
  if (!loaded) return report(loaded.error());
  if (of_trace) return run_perfetto(arguments, *loaded->problem);
  const Problem& problem = *loaded->problem;
  const Result<Plan> plan = load_good_plan(arguments.plan, problem);
  if (!plan) return report(plan.error());
  if (arguments.to == "ort") return run_ort(arguments, *loaded->imported, *plan, problem);
  const Result<void> written = write_file(arguments.output, exported(arguments.to, *plan, problem));
  if (!written) return report(written.error());
  if (arguments.output != "-") fmt::print("written to {}\n", arguments.output);
  return 0;
}

}  // namespace

void add_export_command(CLI::App& app, int& exit_code) {
  CLI::App* command =
      app.add_subcommand("export", "Write a plan or a trace as another program reads it");
  command->footer(
      "Example: tutti export graph.json --machine p100-4 --plan plan.json --to csv -o plan.csv\n"
      "         tutti export graph.json --machine p100-4 --trace trace.json --to perfetto -o "
      "see.json");
  auto arguments = std::make_shared<ExportArguments>();
  arguments->inputs.add_to(*command);
  accept_seed(*command);
  command->add_option("--plan", arguments->plan, "The plan, for all but perfetto");
  command->add_option("--trace", arguments->trace, "The trace of a run, for perfetto");
  command
      ->add_option(
          "--to", arguments->to,
          "csv: a table; ort: the ONNX model, annotated for ONNX Runtime; torch: a device map "
          "for PyTorch; starpu: hints for StarPU; perfetto: a trace with arrows along the data, "
          "memory and bandwidth")
      ->required()
      ->check(CLI::IsMember({"csv", "ort", "torch", "starpu", "perfetto"}));
  command->add_option("-o,--output", arguments->output, "Write it here; - is standard output")
      ->capture_default_str();
  command->callback([arguments, &exit_code] { exit_code = run_export(*arguments); });
}

}  // namespace tutti
