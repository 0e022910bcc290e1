// tutti help: the help of tutti or of one of its commands.

#include <memory>
#include <string>
#include <vector>

#include "tools/commands.h"
#include "tools/inputs.h"

namespace tutti {

// run_program turns "help plan" into "plan --help" before words are parsed; what is here is for the
// list of commands, its own help and completion.
void add_help_command(CLI::App& app, int& /*exit_code*/) {
  CLI::App* command = app.add_subcommand("help", "Print the help of tutti, or of a command");
  command->footer("Example: tutti help graph make");
  auto words = std::make_shared<std::vector<std::string>>();
  command->add_option("command", *words, "A command, such as plan or graph make");
  accept_seed(*command);
  command->callback([words] {});
}

}  // namespace tutti
