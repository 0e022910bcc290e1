// The program tutti, and its sub-commands, one file each. Each adds itself to the parser and, when
// it was chosen, runs and leaves its exit code.

#ifndef TUTTI_TOOLS_COMMANDS_H_
#define TUTTI_TOOLS_COMMANDS_H_

#include <CLI/CLI.hpp>

namespace tutti {

// Words as of main, the program's name first. The exit code. (tutti.cc)
int run_tutti(int argc, char** argv);

void add_graph_command(CLI::App& app, int& exit_code);
void add_machine_command(CLI::App& app, int& exit_code);
void add_telemetry_command(CLI::App& app, int& exit_code);
void add_costs_command(CLI::App& app, int& exit_code);
void add_costs_demands(CLI::App& costs, int& exit_code);  // below costs
void add_policies_command(CLI::App& app, int& exit_code);
void add_plan_command(CLI::App& app, int& exit_code);
void add_simulate_command(CLI::App& app, int& exit_code);
void add_run_command(CLI::App& app, int& exit_code);
void add_compare_command(CLI::App& app, int& exit_code);
void add_batch_command(CLI::App& app, int& exit_code);
void add_cluster_command(CLI::App& app, int& exit_code);
void add_check_command(CLI::App& app, int& exit_code);
void add_export_command(CLI::App& app, int& exit_code);
void add_exact_command(CLI::App& app, int& exit_code);
void add_explain_command(CLI::App& app, int& exit_code);
void add_diff_command(CLI::App& app, int& exit_code);
void add_what_if_command(CLI::App& app, int& exit_code);
void add_report_command(CLI::App& app, int& exit_code);
void add_calibrate_command(CLI::App& app, int& exit_code);
void add_validate_command(CLI::App& app, int& exit_code);
void add_train_command(CLI::App& app, int& exit_code);
void add_serve_command(CLI::App& app, int& exit_code);
void add_submit_command(CLI::App& app, int& exit_code);
void add_status_command(CLI::App& app, int& exit_code);
void add_cancel_command(CLI::App& app, int& exit_code);
void add_drain_command(CLI::App& app, int& exit_code);
void add_reload_command(CLI::App& app, int& exit_code);
void add_journal_command(CLI::App& app, int& exit_code);
void add_completion_command(CLI::App& app, int& exit_code);
void add_version_command(CLI::App& app, int& exit_code);
void add_help_command(CLI::App& app, int& exit_code);

}  // namespace tutti

#endif  // TUTTI_TOOLS_COMMANDS_H_
