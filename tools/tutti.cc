// The program tutti: plan, simulate, compare and check dataflow graphs on heterogeneous machines.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>

#include "tools/commands.h"

namespace tutti {

int run_tutti(int argc, char** argv) {
  CLI::App app{
      "tutti decides which op of a dataflow graph runs when and on which device, simulates "
      "the result, and says how far it is from the best possible.",
      "tutti"};
  app.set_version_flag("--version", "tutti " TUTTI_VERSION);
  app.require_subcommand(1);
  app.footer(
      "First steps:\n"
      "  tutti graph make layered -o graph.json\n"
      "  tutti compare graph.json --machine p100-4\n"
      "Exit codes: 0 done, 2 bad input, 3 infeasible problem, 1 anything else.");
  int exit_code = 0;
  tutti::add_graph_command(app, exit_code);
  tutti::add_machine_command(app, exit_code);
  tutti::add_telemetry_command(app, exit_code);
  tutti::add_costs_command(app, exit_code);
  tutti::add_policies_command(app, exit_code);
  tutti::add_plan_command(app, exit_code);
  tutti::add_simulate_command(app, exit_code);
  tutti::add_run_command(app, exit_code);
  tutti::add_compare_command(app, exit_code);
  tutti::add_cluster_command(app, exit_code);
  tutti::add_check_command(app, exit_code);
  tutti::add_exact_command(app, exit_code);
  tutti::add_explain_command(app, exit_code);
  tutti::add_diff_command(app, exit_code);
  tutti::add_what_if_command(app, exit_code);
  tutti::add_export_command(app, exit_code);
  tutti::add_report_command(app, exit_code);
  tutti::add_calibrate_command(app, exit_code);
  tutti::add_validate_command(app, exit_code);
  tutti::add_train_command(app, exit_code);
  tutti::add_serve_command(app, exit_code);
  tutti::add_submit_command(app, exit_code);
  tutti::add_status_command(app, exit_code);
  tutti::add_cancel_command(app, exit_code);
  tutti::add_drain_command(app, exit_code);
  tutti::add_completion_command(app, exit_code);
  // The parser would only say that a command is missing.
  const auto commands = app.get_subcommands([](const CLI::App*) { return true; });
  const bool known = argc < 2 || argv[1][0] == '-' ||
                     std::any_of(commands.begin(), commands.end(), [&](const CLI::App* command) {
                       return command->get_name() == argv[1];
                     });
  if (!known) {
    std::fprintf(stderr, "tutti: there is no command '%s'; tutti --help lists those there are\n",
                 argv[1]);
    return 2;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // help or version
    std::fprintf(stderr, "tutti: %s; see --help\n", error.what());
    return 2;
  } catch (const std::exception& error) {  // memory, or a standard output that takes no more
    std::fprintf(stderr, "tutti: %s\n", error.what());
    return 1;
  }
  const bool written = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  if (!written && exit_code == 0) {  // a command that failed has said why
    std::fprintf(stderr, "tutti: standard output could not be written\n");
    return 1;
  }
  return exit_code;
}

}  // namespace tutti
