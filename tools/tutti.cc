// The program tutti: plan, simulate, compare and check dataflow graphs on heterogeneous machines.

#include <CLI/CLI.hpp>

#include "tools/command_line.h"
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
      "Exit codes: 0 done, 2 bad input, 3 infeasible problem, 130 interrupted, 1 anything else.");
  int exit_code = 0;
  add_graph_command(app, exit_code);
  add_machine_command(app, exit_code);
  add_telemetry_command(app, exit_code);
  add_costs_command(app, exit_code);
  add_policies_command(app, exit_code);
  add_plan_command(app, exit_code);
  add_simulate_command(app, exit_code);
  add_run_command(app, exit_code);
  add_compare_command(app, exit_code);
  add_cluster_command(app, exit_code);
  add_check_command(app, exit_code);
  add_exact_command(app, exit_code);
  add_explain_command(app, exit_code);
  add_diff_command(app, exit_code);
  add_what_if_command(app, exit_code);
  add_export_command(app, exit_code);
  add_report_command(app, exit_code);
  add_calibrate_command(app, exit_code);
  add_validate_command(app, exit_code);
  add_train_command(app, exit_code);
  add_serve_command(app, exit_code);
  add_submit_command(app, exit_code);
  add_status_command(app, exit_code);
  add_cancel_command(app, exit_code);
  add_drain_command(app, exit_code);
  add_journal_command(app, exit_code);
  add_completion_command(app, exit_code);
  return run_program(app, argc, argv, exit_code);
}

}  // namespace tutti
