// tutti policies: everything that can decide, and where.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>

#include "tools/commands.h"
#include "tools/inputs.h"
#include "tools/policy_list.h"
#include "tutti/base/file/json_writer.h"

namespace tutti {
namespace {

void print_json(const std::vector<ListedPolicy>& deciders) {
  JsonWriter writer;
  writer.open_object().field("schema_version", 2).key("policies").open_list();
  for (const ListedPolicy& decider : deciders) {
    writer.open_object().field("kind", decider.kind).field("name", decider.name);
    writer.field("what", decider.what).field("source", decider.source);
    writer.field("seeded", decider.seeded).field("online", decider.online);
    writer.field("learned", decider.learned).key("where").open_list();
    for (const std::string& place : decider.where) writer.value(place);
    writer.close_list().close_object();
  }
  writer.close_list().close_object();
  fmt::print("{}", writer.text());
}

void print_text(const std::vector<ListedPolicy>& deciders) {
  const std::pair<const char*, const char*> sections[] = {
      {"planner", "Policies that plan one graph (--policy, --policies)"},
      {"decider", "Deciders, which schedule jobs that arrive (--policy)"},
      {"training", "What tutti train can train; the result is a model for doppler or symphony"}};
  const char* before = "";
  for (const auto& [kind, title] : sections) {
    bool first = true;
    size_t width = 0;
    for (const ListedPolicy& decider : deciders) {
      if (decider.kind == kind) width = std::max(width, decider.name.size() + 1);
    }
    for (const ListedPolicy& decider : deciders) {
      if (decider.kind != kind) continue;
      if (first) fmt::print("{}{}:\n\n", before, title);
      first = false;
      fmt::print("{:<{}} {}\n", decider.name, width, decider.what);
      if (!decider.source.empty()) fmt::print("{:<{}}   after {}\n", "", width, decider.source);
      fmt::print("{:<{}}   in {}\n", "", width, fmt::join(decider.where, ", "));
    }
    if (!first) before = "\n";
  }
}

}  // namespace

void add_policies_command(CLI::App& app, int& /*exit_code*/) {
  CLI::App* command = app.add_subcommand(
      "policies", "List everything that can decide: policies, deciders, models; and where");
  command->footer("Example: tutti policies --json");
  auto json = std::make_shared<bool>(false);
  accept_seed(*command);
  command->add_flag("--json", *json, "Print the list as JSON");
  command->callback([json] {
    const std::vector<ListedPolicy> deciders = listed_policies();
    *json ? print_json(deciders) : print_text(deciders);
  });
}

}  // namespace tutti
