// tutti graph: look at a graph or convert it to our format; graph_make.cc makes one.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>

#include "tools/commands.h"
#include "tools/graph/graph_make.h"
#include "tools/import_flags.h"
#include "tools/inputs.h"
#include "tutti/base/file/json_writer.h"
#include "tutti/base/fingerprint.h"
#include "tutti/graph/analysis.h"
#include "tutti/graph/import/import.h"
#include "tutti/graph/make/perturb.h"

namespace tutti {
namespace {

struct GraphArguments {
  std::string path;
  std::string output = "-";
  bool json = false;
  bool scale_by_machine_speed = false;
  ImportFlags import_flags;
  PerturbSpec perturbation;
};

struct Summary {
  Levels levels;
  Components components;
  double flops = 0;
  int64_t bytes = 0;
  int32_t inputs = 0;
  int32_t homed_weights = 0;
  int64_t homed_bytes = 0;
};

Summary summarise(const Graph& graph) {
  Summary summary{.levels = levels(graph), .components = components(graph)};
  for (const OpId op : graph.ops()) summary.flops += graph.flops(op);
  for (const ValueId value : graph.values()) {
    summary.bytes += graph.bytes(value);
    if (graph.producer(value).valid()) continue;
    ++summary.inputs;
    const bool somewhere = graph.residence(value).where != Residence::Where::everywhere;
    if (!graph.is_weight(value) || !somewhere) continue;
    ++summary.homed_weights;
    summary.homed_bytes += graph.bytes(value);
  }
  return summary;
}

void print_info_json(const Imported& imported, const Summary& summary) {
  const Graph& graph = imported.graph;
  JsonWriter json;
  json.open_object().field("schema_version", 1).field("name", graph.name());
  json.field("format", imported.format);
  json.field("fingerprint", fingerprint_text(graph.fingerprint()));
  json.field("ops", graph.size()).field("edges", graph.edge_count());
  json.field("values", graph.value_count()).field("inputs", summary.inputs);
  json.field("depth", summary.levels.depth).field("width", summary.levels.width);
  json.field("components", summary.components.count).field("flops", summary.flops);
  json.field("bytes", summary.bytes).field("given_run_times", graph.has_given_run_times());
  json.field("given_transfers", graph.has_given_transfers());
  json.field("weights_with_homes", summary.homed_weights);
  json.field("bytes_with_homes", summary.homed_bytes);
  json.key("measured_makespan_ns");
  imported.measured_makespan ? json.value(*imported.measured_makespan) : json.null();
  json.key("launches");
  if (imported.launches) {
    json.open_object().field("instructions", imported.launches->instructions);
    json.field("bytes", imported.launches->bytes).close_object();
  } else {
    json.null();
  }
  json.key("kinds").open_list();
  for (const std::string& kind : graph.op_kinds()) json.value(kind);
  json.close_list().close_object();
  fmt::print("{}", json.text());
}

void print_info(const Imported& imported, const Summary& summary) {
  const Graph& graph = imported.graph;
  fmt::print("{}: {} ops, {} edges, {} levels deep, {} wide, {} component{}\n", graph.name(),
             graph.size(), graph.edge_count(), summary.levels.depth, summary.levels.width,
             summary.components.count, summary.components.count == 1 ? "" : "s");
  fmt::print("  format       {}\n", imported.format);
  fmt::print("  fingerprint  {}\n", fingerprint_text(graph.fingerprint()));
  fmt::print("  values       {} ({} of them graph inputs), {}\n", graph.value_count(),
             summary.inputs, bytes_to_text(summary.bytes));
  if (summary.homed_weights > 0) {
    fmt::print("  weights      with homes: {}, {}\n", summary.homed_weights,
               bytes_to_text(summary.homed_bytes));
  }
  fmt::print("  flops        {:.4g}\n", summary.flops);
  fmt::print("  given        run times: {}, transfers: {}\n",
             graph.has_given_run_times() ? "yes" : "no",
             graph.has_given_transfers() ? "yes" : "no");
  if (imported.measured_makespan) {
    fmt::print("  measured     makespan {}\n", to_text(*imported.measured_makespan));
  }
  if (imported.launches) {
    fmt::print("  launches     {:.0f}, which move {} (bodies of loops once)\n",
               imported.launches->instructions,
               bytes_to_text(static_cast<int64_t>(imported.launches->bytes)));
  }
  constexpr size_t kMostKinds = 12;
  std::vector<std::string> kinds = graph.op_kinds();
  if (kinds.size() > kMostKinds) {
    kinds.resize(kMostKinds);
    kinds.push_back(fmt::format("and {} more", graph.op_kinds().size() - kMostKinds));
  }
  fmt::print("  kinds        {}\n", fmt::join(kinds, ", "));
}

Result<Imported> load(const GraphArguments& arguments) {
  return arguments.import_flags.load(arguments.path, arguments.scale_by_machine_speed);
}

int run_info(const GraphArguments& arguments) {
  const Result<Imported> imported = load(arguments);
  if (!imported) return report(imported.error());
  const Summary summary = summarise(imported->graph);
  arguments.json ? print_info_json(*imported, summary) : print_info(*imported, summary);
  return 0;
}

int run_convert(const GraphArguments& arguments) {
  const Result<Imported> imported = load(arguments);
  if (!imported) return report(imported.error());
  return write_graph_to(imported->graph, arguments.output, arguments.json);
}

void add_info(CLI::App& command, const std::shared_ptr<GraphArguments>& arguments, int& exit_code) {
  CLI::App* info = command.add_subcommand("info", "Say what a graph file holds");
  info->footer("Example: tutti graph info model.json");
  info->add_option("graph", arguments->path, "Graph file, in any format tutti reads")->required();
  arguments->import_flags.add_to(*info);
  info->add_flag("--json", arguments->json, "Print the facts as JSON");
  accept_seed(*info);
  info->callback([arguments, &exit_code] { exit_code = run_info(*arguments); });
}

void add_convert(CLI::App& command, const std::shared_ptr<GraphArguments>& arguments,
                 int& exit_code) {
  CLI::App* convert =
      command.add_subcommand("convert", "Convert a graph of any format to tutti's own");
  convert->footer("Example: tutti graph convert workflow.json -o graph.json");
  convert->add_option("graph", arguments->path, "Graph file, in any format tutti reads")
      ->required();
  convert->add_option("-o,--output", arguments->output, "Write it here; default: standard output");
  arguments->import_flags.add_to(*convert);
  convert->add_flag("--scale-by-machine-speed", arguments->scale_by_machine_speed,
                    "WfFormat: scale run times by the clock speed of the machine they ran on");
  convert->add_flag("--json", arguments->json, "With -o FILE: print what was written as JSON");
  accept_seed(*convert);
  convert->callback([arguments, &exit_code] { exit_code = run_convert(*arguments); });
}

int run_perturb(const GraphArguments& arguments) {
  const Result<Imported> imported = load(arguments);
  if (!imported) return report(imported.error());
  const Result<Graph> graph = perturbed(imported->graph, arguments.perturbation);
  if (!graph) return report(graph.error());
  return write_graph_to(*graph, arguments.output, arguments.json);
}

void add_perturb(CLI::App& command, const std::shared_ptr<GraphArguments>& arguments,
                 int& exit_code) {
  CLI::App* perturb = command.add_subcommand(
      "perturb", "The same graph with its ops in another order and its costs a little different");
  perturb->footer("Example: tutti graph perturb graph.json --seed 7 --spread 0.05 -o other.json");
  perturb->add_option("graph", arguments->path, "Graph file, in any format tutti reads")
      ->required();
  arguments->import_flags.add_to(*perturb);
  perturb->add_option("-o,--output", arguments->output, "Write it here; default: standard output");
  perturb
      ->add_option("--spread", arguments->perturbation.spread,
                   "Largest relative change of a number")
      ->capture_default_str();
  perturb
      ->add_option("--bytes-times", arguments->perturbation.bytes_times,
                   "Multiply the bytes of all values by this, for more or less communication")
      ->capture_default_str();
  perturb->add_option("--seed", arguments->perturbation.seed, "Seed")
      ->check(whole_number())
      ->capture_default_str();
  perturb->add_flag("--json", arguments->json, "With -o FILE: print what was written as JSON");
  perturb->callback([arguments, &exit_code] { exit_code = run_perturb(*arguments); });
}

}  // namespace

void add_graph_command(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("graph", "Look at, convert or make graphs");
  command->require_subcommand(1);
  auto arguments = std::make_shared<GraphArguments>();
  add_info(*command, arguments, exit_code);
  add_convert(*command, arguments, exit_code);
  add_perturb(*command, arguments, exit_code);
  add_graph_make(*command, exit_code);
}

}  // namespace tutti
