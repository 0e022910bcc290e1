// tutti policies: who can decide.

#include <fmt/format.h>

#include <memory>

#include "tools/commands.h"
#include "tools/inputs.h"
#include "tutti/base/json_writer.h"
#include "tutti/search/planners.h"

namespace tutti {

void add_policies_command(CLI::App& app, int& /*exit_code*/) {
  CLI::App* command = app.add_subcommand("policies", "List the policies tutti knows");
  command->footer("Example: tutti policies --json");
  auto json = std::make_shared<bool>(false);
  accept_seed(*command);
  command->add_flag("--json", *json, "Print the list as JSON");
  command->callback([json] {
    if (*json) {
      JsonWriter writer;
      writer.open_object().field("schema_version", 1).key("policies").open_list();
      for (const PolicyEntry& entry : all_planners({})) {
        writer.open_object().field("name", entry.name).field("what", entry.what);
        writer.field("source", entry.source).field("seeded", entry.seeded);
        writer.field("online", static_cast<bool>(entry.make_policy)).close_object();
      }
      writer.close_list().close_object();
      fmt::print("{}", writer.text());
      return;
    }
    for (const PolicyEntry& entry : all_planners({})) {
      fmt::print("{:<23} {}\n", entry.name, entry.what);
      if (!entry.source.empty()) fmt::print("{:<23}   after {}\n", "", entry.source);
    }
    fmt::print("\nPolicies that can also be asked during a run (tutti simulate --online):");
    for (const PolicyEntry& entry : all_planners({})) {
      if (entry.make_policy) fmt::print(" {}", entry.name);
    }
    fmt::print("\n");
  });
}

}  // namespace tutti
