// tutti version: which tutti this is.

#include <fmt/format.h>

#include <memory>

#include "tools/commands.h"
#include "tools/inputs.h"
#include "tools/version.h"

namespace tutti {

void add_version_command(CLI::App& app, int& /*exit_code*/) {
  CLI::App* command =
      app.add_subcommand("version", "Say which tutti this is, and what was built into it");
  command->footer("Example: tutti version --json");
  auto json = std::make_shared<bool>(false);
  accept_seed(*command);
  command->add_flag("--json", *json, "Print it as JSON");
  command->callback(
      [json] { *json ? fmt::print("{}", version_json()) : fmt::print("{}\n", version_text()); });
}

}  // namespace tutti
