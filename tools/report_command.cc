// tutti report: one self-contained HTML page from plans, traces, comparisons, validations,
// training logs, whatever else commands print as JSON, and beliefs about machines.

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>

#include "tools/answer.h"
#include "tools/belief_source.h"
#include "tools/commands.h"
#include "tools/inputs.h"
#include "tools/report_alternatives.h"
#include "tutti/base/file/output.h"
#include "tutti/base/file/tensor_file.h"
#include "tutti/plan/check/check.h"
#include "tutti/plan/file.h"
#include "tutti/report/page.h"
#include "tutti/report/picture.h"
#include "tutti/trace/file.h"

namespace tutti {
namespace {

struct ReportArguments {
  ProblemInputs inputs;
  std::vector<std::string> files;
  std::string output = "report.html";
  std::string svg;     // empty: no picture
  std::string belief;  // empty: none is shown
  bool output_given = false;
  bool machine_given = false;
};

enum class What {
  graph,
  plan,
  trace,
  comparison,
  validation,
  online_validation,
  training_log,
  output,
  model
};

// The text that the first "format" of a JSON text has, or nothing.
std::string_view format_of(std::string_view start) {
  constexpr std::string_view kKey = "\"format\"";
  const size_t key = start.find(kKey);
  if (key == std::string_view::npos) return {};
  const size_t quote = start.find_first_not_of(" \t\r\n:", key + kKey.size());
  if (quote == std::string_view::npos || start[quote] != '"') return {};
  return start.substr(quote + 1, start.find('"', quote + 1) - quote - 1);
}

// A safetensors file: eight bytes that say how long the JSON is which follows them.
bool looks_like_model(std::string_view start) {
  return start.size() > 9 && start[8] == '{' && start[6] == 0 && start[7] == 0;
}

// What no other format claims is taken for a graph, whose readers know many formats and say so.
What recognise(std::string_view start) {
  if (looks_like_model(start)) return What::model;
  const std::string_view format = format_of(start);
  if (format == "tutti-plan") return What::plan;
  if (format == "tutti-trace") return What::trace;
  if (format == "tutti-validation") return What::validation;
  if (format == "tutti-online-validation") return What::online_validation;
  if (looks_like_training_log(start)) return What::training_log;
  if (looks_like_comparison(start)) return What::comparison;
  return looks_like_command_output(start) ? What::output : What::graph;
}

struct Input {
  std::string name;  // as it was given
  Source source;
  What what;
};

// A training run may be named by its folder. A log that was cut in its first line is known by its
// name alone.
Result<Input> open_input(const std::string& path) {
  const std::string log = path + "/log.jsonl";
  std::error_code ignored;
  const bool is_run = std::filesystem::is_regular_file(log, ignored);
  Result<Source> source = Source::open(is_run ? log : path);
  if (!source) return source.error();
  if (source->peek().starts_with("graph,machine,policy,seed,")) {
    return error_at(source->name(), 1,
                    "these are samples; give the report what tutti batch --json prints");
  }
  What what = recognise(source->peek());
  const bool unknown_log = what == What::graph && path.ends_with(".jsonl");
  if (is_run || unknown_log) what = What::training_log;
  return Input{path, std::move(*source), what};
}

Result<std::vector<Input>> open_inputs(const std::vector<std::string>& files) {
  std::vector<Input> inputs;
  const Source* graph = nullptr;
  const Source* model = nullptr;
  for (const std::string& file : files) {
    Result<Input> input = open_input(file);
    if (!input) return input.error();
    inputs.push_back(std::move(*input));
  }
  for (const Input& input : inputs) {
    if (input.what == What::graph && graph != nullptr) {
      return invalid_input(fmt::format(
          "{} is neither a plan, a trace, a training log, a model nor JSON that a "
          "command of tutti printed, and {} is taken for the graph already; a report is "
          "about one graph",
          input.source.name(), graph->name()));
    }
    if (input.what == What::model && model != nullptr) {
      return invalid_input(
          fmt::format("{} and {} are both models; a belief has the constants of "
                      "one",
                      model->name(), input.source.name()));
    }
    if (input.what == What::graph) graph = &input.source;
    if (input.what == What::model) model = &input.source;
  }
  return inputs;
}

// Alternatives are found for the first plan, if it may run.
Result<ReportedRun> read_run(const Problem& problem, Input& input, Page& page) {
  const std::string name = input.source.name();
  if (input.what == What::plan) {
    const Result<Plan> plan = read_plan(input.source, problem);
    if (!plan) return plan.error();
    if (!page.alternatives && check_plan(problem, *plan, 1).empty()) {
      page.alternatives = find_alternatives(problem, name, *plan);
    }
    return run_of_plan(problem, name, *plan);
  }
  Result<Trace> trace = read_trace(input.source, problem);
  if (!trace) return trace.error();
  if (trace->machine_fingerprint != problem.machine.fingerprint()) {
    return invalid_input(fmt::format(
        "{}: the run was on another machine than '{}'; name the right one with --machine", name,
        problem.machine.name()));
  }
  return run_of_trace(problem, name, std::move(*trace));
}

// All on the best single device, in the model that the traces were made with.
std::optional<Duration> single_device(const Problem& problem,
                                      const std::vector<ReportedRun>& runs) {
  SimModel model = SimModel::physical;
  for (const ReportedRun& run : runs) {
    if (!is_released(run.trace)) continue;
    const std::optional<SimModel> known = find_sim_model("released");
    if (!known) return std::nullopt;  // tutti-study knows it
    model = *known;
  }
  return single_device_makespan(problem, model, ReadyOrder::priority, /*seed=*/1, /*runs=*/1);
}

template <class Part>
Result<void> take(Result<Part> part, std::vector<Part>& parts) {
  if (!part) return part.error();
  parts.push_back(std::move(*part));
  return {};
}

Result<void> fill(std::vector<Input>& inputs, const Problem* problem, Page& page) {
  page.problem = problem;
  for (Input& input : inputs) {
    if (input.what == What::graph || input.what == What::model) continue;
    if (input.what == What::comparison || input.what == What::validation ||
        input.what == What::online_validation || input.what == What::output) {
      const Result<void> taken =
          input.what == What::comparison   ? take(read_comparison(input.source), page.comparisons)
          : input.what == What::validation ? take(read_validation(input.source), page.validations)
          : input.what == What::online_validation
              ? take(read_online_validation(input.source), page.online_validations)
              : take(read_command_output(input.source), page.outputs);
      if (!taken) return taken;
      continue;
    }
    if (input.what == What::training_log) {
      Result<TrainingLog> log = read_training_log(input.source);
      if (!log) return log.error();
      log->name = input.name == "-" ? input.source.name() : input.name;
      page.training.push_back(std::move(*log));
      continue;
    }
    if (problem == nullptr) {
      return invalid_input(fmt::format("{} says nothing without its graph; give the graph file too",
                                       input.source.name()));
    }
    if (Result<void> taken = take(read_run(*problem, input, page), page.runs); !taken) return taken;
  }
  if (page.runs.empty() && page.comparisons.empty() && page.training.empty() &&
      page.validations.empty() && page.online_validations.empty() && page.outputs.empty() &&
      page.beliefs.empty()) {
    return invalid_input(
        "a report needs at least one plan, trace, training log or JSON that a command printed, or "
        "--belief");
  }
  if (problem == nullptr) return {};
  page.bounds = lower_bounds(*problem);
  page.single_device = single_device(*problem, page.runs);
  return {};
}

Result<void> add_belief(const ReportArguments& arguments, std::vector<Input>& inputs, Page& page) {
  const auto model = std::find_if(inputs.begin(), inputs.end(),
                                  [](const Input& input) { return input.what == What::model; });
  if (arguments.belief.empty()) {
    if (model == inputs.end()) return {};
    return invalid_input(fmt::format(
        "{} is a model, of which the belief can be shown; say which by --belief prior, host or sim",
        model->source.name()));
  }
  BeliefQuestion question{.told = arguments.belief, .machine = {}, .costs = arguments.inputs.costs};
  if (arguments.machine_given) question.machine = arguments.inputs.machine;
  std::optional<TensorFile> file;
  if (model != inputs.end()) {
    Result<TensorFile> read = read_tensors(model->source);
    if (!read) return read.error();
    file = std::move(*read);
    question.model = &*file;
    question.model_name = model->source.name();
  }
  return take(find_belief(question), page.beliefs);
}

bool reads_standard_input_twice(const ReportArguments& arguments) {
  const ProblemInputs& inputs = arguments.inputs;
  auto count = std::count(arguments.files.begin(), arguments.files.end(), "-");
  for (const std::string& file : {inputs.machine, inputs.costs, inputs.constraints}) {
    count += file == "-" ? 1 : 0;
  }
  return count > 1;
}

int write_picture(const Page& page, const std::string& path) {
  const Result<std::string> drawn = picture(page);
  if (!drawn) return report(drawn.error());
  if (const Result<void> written = write_file(path, *drawn); !written) {
    return report(written.error());
  }
  if (path != "-") fmt::print("picture written to {}\n", path);
  return 0;
}

// A training run that was named by its folder is read from its log.
Result<void> check_outputs(const ReportArguments& arguments, const std::vector<Input>& inputs) {
  std::vector<std::string> read = arguments.inputs.names();
  for (const Input& input : inputs) {
    read.push_back(input.name == "-" ? input.name : input.source.name());
  }
  if (Result<void> good = check_output("--svg", arguments.svg, read); !good) return good;
  const bool page = arguments.svg.empty() || arguments.output_given;
  return page ? check_output("--output", arguments.output, read) : Result<void>();
}

int run_report(const ReportArguments& arguments) {
  if (reads_standard_input_twice(arguments)) {
    return report(
        invalid_input("standard input (-) can be read only once; put one of the inputs in a file"));
  }
  Result<std::vector<Input>> inputs = open_inputs(arguments.files);
  if (!inputs) return report(inputs.error());
  if (const Result<void> good = check_outputs(arguments, *inputs); !good) {
    return report(good.error());
  }
  std::optional<LoadedProblem> loaded;
  for (Input& input : *inputs) {
    if (input.what != What::graph) continue;
    ProblemInputs about = arguments.inputs;
    about.graph = input.source.name();
    Result<LoadedProblem> problem = about.load(input.source);
    if (!problem) return report(problem.error());
    loaded = std::move(*problem);
  }
  Page page;
  if (auto added = add_belief(arguments, *inputs, page); !added) return report(added.error());
  if (auto filled = fill(*inputs, loaded ? loaded->problem.get() : nullptr, page); !filled) {
    return report(filled.error());
  }
  if (!arguments.svg.empty()) {
    const int drawn = write_picture(page, arguments.svg);
    if (drawn != 0 || !arguments.output_given) return drawn;
  }
  if (auto can = can_write_pages(); !can) return report(can.error());
  Result<Output> output = Output::open(arguments.output);
  if (!output) return report(output.error());
  write_page(page, *output);
  if (Result<void> written = output->commit(); !written) return report(written.error());
  if (arguments.output != "-") {
    const size_t validations = page.validations.size() + page.online_validations.size();
    fmt::print(
        "report written to {} (runs: {}, comparisons: {}, training logs: {}{}{}{}); open it in a "
        "browser\n",
        arguments.output, page.runs.size(), page.comparisons.size(), page.training.size(),
        validations == 0 ? "" : fmt::format(", validations: {}", validations),
        page.outputs.empty() ? "" : fmt::format(", other results: {}", page.outputs.size()),
        page.beliefs.empty() ? "" : fmt::format(", beliefs: {}", page.beliefs.size()));
  }
  return 0;
}

}  // namespace

void add_report_command(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand(
      "report", "Write an HTML page from plans, traces and the JSON output of commands");
  command->footer(
      "Example: tutti compare graph.json --machine p100-4 --json > compare.json\n"
      "         tutti simulate graph.json --machine p100-4 --trace trace.json\n"
      "         tutti report graph.json trace.json compare.json --machine p100-4 -o report.html\n"
      "         tutti report graph.json trace.json compare.json --machine p100-4 --svg run.svg\n"
      "         tutti report --belief sim -o belief.html");
  auto arguments = std::make_shared<ReportArguments>();
  command->add_option(
      "files", arguments->files,
      "Plans, traces, comparisons (tutti compare --json, simulated or real), validations (tutti "
      "validate), training logs or the folders they are in, what any other command prints with "
      "--json (cluster, exact, what-if, ...), logs of tutti serve --run-log, the graph that plans "
      "and traces are of, and a model of tutti train symphony for --belief; each is recognised by "
      "its content; - is standard input");
  arguments->inputs.add_rest_to(*command);
  arguments->inputs.add_noise_to(*command);
  command
      ->add_option("--belief", arguments->belief,
                   "Draw the Bayesian network of --machine with what it believes; prior: before "
                   "anything is read; host: from this host's counters; sim: while simulated jobs "
                   "run, with the true values, by default on the machine of tutti cluster")
      ->check(CLI::IsMember({"prior", "host", "sim"}));
  command->add_option("-o,--output", arguments->output, "Where to write it; - is standard output")
      ->capture_default_str();
  command->add_option("--svg", arguments->svg,
                      "Write comparisons, traces and plans as one SVG picture, light and dark, to "
                      "this file (- is standard output); the page is written too if -o is given");
  command->callback([arguments, command, &exit_code] {
    arguments->machine_given = command->get_option("--machine")->count() > 0;
    arguments->output_given = command->get_option("--output")->count() > 0;
    exit_code = run_report(*arguments);
  });
}

}  // namespace tutti
