// tutti costs: run times that other profilers measured, as a costs file.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>

#include "tools/commands.h"
#include "tools/import_flags.h"
#include "tools/inputs.h"
#include "tutti/base/file/json_writer.h"
#include "tutti/costs/profile.h"
#include "tutti/graph/import/text.h"

namespace tutti {
namespace {

struct CostsArguments {
  std::string profile;
  std::string graph;
  ImportFlags import_flags;
  std::string base;
  std::string output = "-";
  std::string device_kind = "cpu";
  bool json = false;
};

// The first few, and how many more there are.
std::string some_of(const std::vector<std::string>& names) {
  constexpr size_t kMost = 5;
  std::vector<std::string> few;
  for (const std::string& name : names) {
    if (few.size() == kMost) break;
    few.push_back(shown(name));
  }
  std::string text = fmt::format("{}", fmt::join(few, ", "));
  if (names.size() > kMost) text += fmt::format(" and {} more", names.size() - kMost);
  return text;
}

std::vector<std::string> names_of(const std::vector<OpId>& ops, const Graph& graph) {
  std::vector<std::string> names;
  for (const OpId op : ops) names.emplace_back(graph.op_name(op));
  return names;
}

void say(const CostsArguments& arguments, const Profile& profile, const ProfileMatch& match,
         const Graph& graph) {
  if (arguments.json) {
    JsonWriter json;
    json.open_object().field("schema_version", 1).field("format", profile.format);
    json.field("output", arguments.output).field("ops", graph.size());
    json.field("matched_ops", match.ops);
    json.key("names_of_no_op").open_list();
    for (const std::string& name : match.unmatched) json.value(name);
    json.close_list().key("ops_without_time").open_list();
    for (const std::string& name : names_of(match.without, graph)) json.value(name);
    json.close_list().close_object();
    fmt::print("{}", json.text());
    return;
  }
  fmt::print(stderr, "{} ({}): times for {} of {} ops of {} ({:.1f} %)\n", arguments.profile,
             profile.format, match.ops, graph.size(), graph.name(),
             graph.size() == 0 ? 0.0 : 100.0 * match.ops / graph.size());
  if (!match.unmatched.empty()) {
    fmt::print(stderr, "  names that no op has: {}: {}\n", match.unmatched.size(),
               some_of(match.unmatched));
  }
  if (!match.without.empty()) {
    fmt::print(stderr, "  ops without a time, costed as before: {}: {}\n", match.without.size(),
               some_of(names_of(match.without, graph)));
  }
}

int run_import(const CostsArguments& arguments) {
  if (arguments.json && arguments.output == "-") {
    return report(invalid_input("--json prints what was matched; name a file for the costs by -o"));
  }
  // Costs may be added to in place.
  const Result<void> writable =
      check_output("--output", arguments.output, {arguments.profile, arguments.graph});
  if (!writable) return report(writable.error());
  const Result<Imported> imported = arguments.import_flags.load(arguments.graph);
  if (!imported) return report(imported.error());
  Result<CostSpec> spec = load_costs(arguments.base);
  if (!spec) return report(spec.error());
  Result<Source> source = Source::open(arguments.profile);
  if (!source) return report(source.error());
  const Result<Profile> profile = read_profile(*source, arguments.device_kind);
  if (!profile) return report(profile.error());
  const ProfileMatch match = match_profile(*profile, imported->graph);
  if (match.ops == 0) {
    return report(invalid_input(
        fmt::format("{}: none of its {} names is that of an op of {}; the first is '{}'",
                    arguments.profile, match.unmatched.size(), arguments.graph,
                    shown(match.unmatched.empty() ? "" : match.unmatched[0]))));
  }
  spec->op_times.insert(spec->op_times.end(), match.op_times.begin(), match.op_times.end());
  const Result<void> written = write_costs(arguments.output, *spec);
  if (!written) return report(written.error());
  say(arguments, *profile, match, imported->graph);
  return 0;
}

}  // namespace

void add_costs_command(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("costs", "Make costs files from measurements");
  command->require_subcommand(1);
  add_costs_demands(*command, exit_code);
  CLI::App* import = command->add_subcommand("import", "Take the run times of ops from a profile");
  import->footer("Example: tutti costs import ort_profile.json --graph model.onnx -o costs.toml");
  auto arguments = std::make_shared<CostsArguments>();
  import
      ->add_option("profile", arguments->profile,
                   "Profile: a trace of ONNX Runtime or PyTorch (Kineto), or CSV with the columns "
                   "name and time_us; - is standard input")
      ->required();
  import->add_option("-g,--graph", arguments->graph, "Graph whose ops were measured")->required();
  arguments->import_flags.add_to(*import);
  import->add_option("--costs", arguments->base, "Costs file to add the times to");
  import
      ->add_option("--device-kind", arguments->device_kind,
                   "Kind of device of ops for which the profile states none")
      ->capture_default_str();
  import->add_option("-o,--output", arguments->output,
                     "Costs file to write, as TOML or, by its ending, JSON; default: standard "
                     "output");
  import->add_flag("--json", arguments->json, "With -o FILE: print what was matched as JSON");
  accept_seed(*import);
  import->callback([arguments, &exit_code] { exit_code = run_import(*arguments);
});
}  // namespace tutti

}  // namespace tutti
