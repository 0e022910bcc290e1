#include "tools/compare/batch_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "tools/parse/config.h"

namespace tutti {
namespace {

Result<void> check_names(const char* what, const std::vector<std::string>& names) {
  std::set<std::string> seen;
  for (const std::string& name : names) {
    if (name == "-") {
      return invalid_input(
          "tutti batch reads its files several times, and - can be read only once; name files");
    }
    if (name.empty() || one_line(name) != name) {
      return invalid_input(fmt::format("'{}' is no name of a {}: a line of UTF-8", name, what));
    }
    if (!seen.insert(name).second) {
      return invalid_input(fmt::format("the {} '{}' is named twice", what, name));
    }
  }
  return {};
}

}  // namespace

void BatchArguments::add_to(CLI::App& app) {
  command = &app;
  app.add_option("graphs", graphs,
                 "Graph files, in any format tutti reads; or one experiment file (.toml), which "
                 "names graphs and flags")
      ->required();
  app.add_option("-m,--machine", machines,
                 "Machines: presets (tutti machine list) or machine files; once for each, or with "
                 "commas; default: this-host")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("-p,--policies", policies, "Policies, by name; default: all that do not search")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("--baseline", baseline,
                 "The policy that others are compared with; default: heft, or the first");
  app.add_option("--seeds", seeds, "Plans of each policy, one per seed")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  app.add_option("--runs", runs, "Scenarios that each plan is judged on, where durations are drawn")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  app.add_option("--parallel", parallel,
                 "Plans that are made at the same time; default: one per thread, or one after the "
                 "other under --budget, where a plan has all threads")
      ->check(CLI::Range(1, 4096));
  app.add_option("--costs", inputs.costs, "Costs file, for all machines");
  app.add_option("--constraints", inputs.constraints,
                 "Constraints file: memory, colocation, pins, forbidden pairs");
  inputs.import_flags.add_to(app);
  inputs.add_noise_to(app);
  inputs.add_cold_to(app);
  model.add_to(app);
  common.add_to(app);
  search.add_to(app);
  app.add_option(
      "-o,--output", output,
      "Write every sample here, as .csv or as lines of JSON (.jsonl), while it runs; the "
      "same command goes on with what is there");
  app.add_flag("--plan-time", plan_time,
               "Add the planning time of each plan to the samples, which no two runs agree on");
}

std::string BatchArguments::in_folder(const std::string& name) const {
  const std::filesystem::path path = std::filesystem::path(folder_) / name;
  std::error_code none;
  return std::filesystem::exists(path, none) ? path.string() : name;
}

std::string BatchArguments::path_of_graph(const std::string& name) const {
  return graphs_from_file_ ? in_folder(name) : name;
}

std::string BatchArguments::path_of_machine(const std::string& name) const {
  return machines_from_file_ ? in_folder(name) : name;
}

Result<void> BatchArguments::take_graphs(const std::string& file, const Document& list) {
  const bool texts = list.kind == Document::Kind::array && !list.items.empty() &&
                     std::all_of(list.items.begin(), list.items.end(), [](const Document& item) {
                       return item.kind == Document::Kind::text;
                     });
  if (!texts) return error_at(file, list.line, "\"graphs\" must be a list of graph files");
  graphs.clear();
  for (const Document& item : list.items) graphs.push_back(item.text);
  graphs_from_file_ = true;
  return {};
}

Result<void> BatchArguments::take_experiment() {
  if (graphs.size() != 1 || !graphs[0].ends_with(".toml")) return {};
  const std::string file = graphs[0];
  folder_ = std::filesystem::path(file).parent_path().string();
  Result<Source> source = Source::open(file);
  if (!source) return source.error();
  Result<Document> content = read_document(*source);
  if (!content) return content.error();
  if (const Document* version = content->find("schema_version");
      version != nullptr && version->integer != 1) {
    return error_at(file, version->line, "this tutti reads experiments of schema_version 1");
  }
  const auto key = std::find(content->keys.begin(), content->keys.end(), "graphs");
  if (key == content->keys.end()) {
    return error_at(file, content->line,
                    "an experiment names its graphs: graphs = [\"a.json\", \"b.json\"]");
  }
  const auto at = key - content->keys.begin();
  if (const auto good = take_graphs(file, content->items[static_cast<size_t>(at)]); !good) {
    return good;
  }
  content->items.erase(content->items.begin() + at);
  content->keys.erase(key);
  const bool machines_given = command->count("--machine") > 0;
  std::vector<std::string> taken;
  try {
    take_table(*command, *content, {.file = file, .exact = true}, taken);
  } catch (const CLI::ConfigError& error) {
    return invalid_input(error.what());
  }
  machines_from_file_ = !machines_given;
  const auto from_file = [&](const std::string& flag) {
    return std::any_of(taken.begin(), taken.end(),
                       [&](const std::string& one) { return one.starts_with(flag + " "); });
  };
  for (const auto& [flag, path] : {std::pair("--costs", &inputs.costs),
                                   {"--constraints", &inputs.constraints},
                                   {"--network", &search.network}}) {
    if (from_file(flag)) *path = in_folder(*path);
  }
  if (from_file("--output") && output != "-") {  // need not exist yet
    output = (std::filesystem::path(folder_) / output).string();
  }
  return {};
}

Result<void> BatchArguments::check() {
  if (machines.empty()) machines = {"this-host"};
  if (const auto good = check_names("graph", graphs); !good) return good;
  if (const auto good = check_names("machine", machines); !good) return good;
  if (const auto good = check_names("policy", policies); !good) return good;
  if (output == "-") {
    return invalid_input(
        "--output needs the name of a file: samples are read again when the experiment goes on");
  }
  if (plan_time && output.empty()) {
    return invalid_input("--plan-time adds to the samples, which need --output; name a file");
  }
  return model.check(inputs);
}

int BatchArguments::cells_at_once() const {
  if (parallel > 0) return parallel;
  return search.budget.empty() ? common.thread_count() : 1;
}

int BatchArguments::threads_for_each() const {
  if (search.budget.empty()) return 1;  // plans are made at the same time instead
  return std::max(1, common.thread_count() / cells_at_once());
}

}  // namespace tutti
