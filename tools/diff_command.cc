// tutti diff: what sets two plans or traces of one graph apart.

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "tools/commands.h"
#include "tools/inputs.h"
#include "tools/print/table.h"
#include "tutti/base/file/json_writer.h"
#include "tutti/plan/file.h"
#include "tutti/runtime/sim/sim.h"
#include "tutti/trace/check.h"
#include "tutti/trace/diff.h"
#include "tutti/trace/file.h"

namespace tutti {
namespace {

constexpr size_t kOpsShown = 10;

struct DiffArguments {
  ProblemInputs inputs;
  ModelOptions model;
  CommonOptions common;
  std::string files[2];
};

// What is no trace is taken for a plan, so that a bad file gets one sentence.
bool looks_like_trace(std::string_view start) {
  return start.find("\"traceEvents\"") != std::string_view::npos ||
         start.find("\"tutti-trace\"") != std::string_view::npos;
}

// A trace as it is; a plan as the simulator runs it.
Result<Trace> run_of(const DiffArguments& arguments, const std::string& path,
                     const Problem& problem) {
  Result<Source> source = Source::open(path);
  if (!source) return source.error();
  if (looks_like_trace(source->peek())) {
    Result<Trace> trace = read_trace(*source, problem);
    if (!trace) return trace.error();
    const std::vector<std::string> faults = check_trace(problem, *trace, {.limit = 1});
    if (trace->ops.size() != static_cast<size_t>(problem.graph.size())) {
      return invalid_input(path + ": " + (faults.empty() ? "lacks ops" : faults[0]));
    }
    return trace;
  }
  const Result<Plan> plan = load_good_plan(*source, problem);
  if (!plan) return plan.error();
  SimRuntime runtime(arguments.model.sim_model(), {.order = arguments.model.ready_order(),
                                                   .seed = arguments.common.seed,
                                                   .sample = problem.costs.has_noise()});
  return runtime.run(problem, *plan);
}

void list_ops(JsonWriter& json, const Problem& problem, const std::vector<OpDifference>& ops) {
  json.open_list();
  for (const OpDifference& d : ops) {
    json.open_object().field("op", problem.graph.op_name(d.op)).key("device").open_list();
    for (const DeviceId device : d.device) json.value(problem.machine.device(device).name);
    json.close_list().key("finish_ns").open_list();
    for (const Duration finish : d.finish) json.value(finish);
    json.close_list().close_object();
  }
  json.close_list();
}

void print_json(const Problem& problem, const TraceDiff& diff) {
  JsonWriter json;
  json.open_object().field("schema_version", 1).key("makespan_ns").open_list();
  json.value(diff.makespan[0]).value(diff.makespan[1]).close_list().key("bytes_moved").open_list();
  json.value(diff.bytes_moved[0]).value(diff.bytes_moved[1]).close_list();
  json.key("transfers").open_list().value(diff.transfers[0]).value(diff.transfers[1]).close_list();
  json.key("moved");
  list_ops(json, problem, diff.moved);
  json.key("retimed");
  list_ops(json, problem, diff.retimed);
  json.close_object();
  fmt::print("{}", json.text());
}

void print_text(const Problem& problem, const TraceDiff& diff) {
  const auto before = static_cast<double>(diff.makespan[0].count());
  const auto after = static_cast<double>(diff.makespan[1].count());
  fmt::print("makespan {} -> {} ({:+.1f} %), ops on another device: {} of {}\n",
             to_text(diff.makespan[0]), to_text(diff.makespan[1]),
             before == 0 ? 0 : 100 * (after / before - 1), diff.moved.size(), problem.graph.size());
  fmt::print("moved: {} -> {} in {} -> {} transfers\n", bytes_to_text(diff.bytes_moved[0]),
             bytes_to_text(diff.bytes_moved[1]), diff.transfers[0], diff.transfers[1]);
  Table busy({"device", "busy", "then"});
  for (const DeviceId device : problem.machine.devices()) {
    const auto index = static_cast<size_t>(device.index);
    busy.add({problem.machine.device(device).name,
              fmt::format("{:.1f} %", 100 * diff.busy_share[0][index]),
              fmt::format("{:.1f} %", 100 * diff.busy_share[1][index])});
  }
  fmt::print("{}", busy.text());
  const auto show = [&](const char* what, const std::vector<OpDifference>& ops) {
    if (ops.empty()) return;
    Table table({what, "from", "to", "ends", "then"});
    for (size_t i = 0; i < std::min(ops.size(), kOpsShown); ++i) {
      table.add({std::string(problem.graph.op_name(ops[i].op)),
                 problem.machine.device(ops[i].device[0]).name,
                 problem.machine.device(ops[i].device[1]).name, to_text(ops[i].finish[0]),
                 to_text(ops[i].finish[1])});
    }
    fmt::print("{}", table.text());
    if (ops.size() > kOpsShown) fmt::print("  and {} more\n", ops.size() - kOpsShown);
  };
  show("moved", diff.moved);
  show("re-timed", diff.retimed);
}

int run_diff(const DiffArguments& arguments) {
  if (const Result<void> good = arguments.model.check(arguments.inputs); !good)
    return report(good.error());
  const Result<LoadedProblem> loaded = arguments.inputs.load();
  if (!loaded) return report(loaded.error());
  const Problem& problem = *loaded->problem;
  Trace traces[2];
  for (const int side : {0, 1}) {
    Result<Trace> trace = run_of(arguments, arguments.files[side], problem);
    if (!trace) return report(trace.error());
    traces[side] = std::move(*trace);
  }
  const TraceDiff diff = diff_traces(problem, traces[0], traces[1]);
  arguments.common.json ? print_json(problem, diff) : print_text(problem, diff);
  return 0;
}

}  // namespace

void add_diff_command(CLI::App& app, int& exit_code) {
  CLI::App* command =
      app.add_subcommand("diff", "What sets two plans or traces of one graph apart");
  command->footer("Example: tutti diff heft.json auto.json --graph graph.json --machine p100-4");
  auto arguments = std::make_shared<DiffArguments>();
  command->add_option("first", arguments->files[0], "A plan or a trace")->required();
  command->add_option("second", arguments->files[1], "Another")->required();
  arguments->inputs.add_to(*command, GraphArgument::flag);
  arguments->inputs.add_noise_to(*command);
  arguments->model.add_to(*command);
  arguments->common.add_to(*command);
  command->callback([arguments, &exit_code] { exit_code = run_diff(*arguments); });
}

}  // namespace tutti
