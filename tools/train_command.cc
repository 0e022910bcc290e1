// tutti train: starts tutti-train, which stands beside this program and needs libtorch.

#include "tools/beside.h"
#include "tools/commands.h"
#include "tools/inputs.h"

namespace tutti {

void add_train_command(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand(
      "train", "Learn to place and order ops, or to schedule jobs that arrive (tutti-train)");
  command->prefix_command();
  command->set_help_flag();  // tutti-train has its own
  command->callback([command, &exit_code] {
    exit_code = report(go_on_as("tutti-train", "tutti train", command->remaining(),
                                "libtorch is (Debian: libtorch-dev libopenblas-dev)"));
  });
}

}  // namespace tutti
