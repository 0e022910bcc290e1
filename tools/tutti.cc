// The program tutti: plan, simulate, compare and check dataflow graphs on heterogeneous machines.

#include <CLI/CLI.hpp>

#include "tools/command_line.h"
#include "tools/commands.h"
#include "tools/version.h"

namespace tutti {
namespace {

struct GroupedCommand {
  void (*add)(CLI::App&, int&);
  const char* group;
};

constexpr const char* kPlan = "Plan and compare";
constexpr const char* kRun = "Run";
constexpr const char* kServe = "Serve";
constexpr const char* kMeasure = "Measure";
constexpr const char* kLearn = "Learn";
constexpr const char* kGraphs = "Graphs and machines";
constexpr const char* kOther = "Other";

// In the order of the help.
constexpr GroupedCommand kCommands[] = {
    {add_plan_command, kPlan},         {add_compare_command, kPlan},
    {add_batch_command, kPlan},        {add_simulate_command, kPlan},
    {add_report_command, kPlan},       {add_explain_command, kPlan},
    {add_what_if_command, kPlan},      {add_diff_command, kPlan},
    {add_check_command, kPlan},        {add_exact_command, kPlan},
    {add_export_command, kPlan},       {add_run_command, kRun},
    {add_cluster_command, kRun},       {add_serve_command, kServe},
    {add_submit_command, kServe},      {add_status_command, kServe},
    {add_cancel_command, kServe},      {add_drain_command, kServe},
    {add_reload_command, kServe},      {add_journal_command, kServe},
    {add_calibrate_command, kMeasure}, {add_validate_command, kMeasure},
    {add_costs_command, kMeasure},     {add_telemetry_command, kMeasure},
    {add_train_command, kLearn},       {add_policies_command, kLearn},
    {add_graph_command, kGraphs},      {add_machine_command, kGraphs},
    {add_completion_command, kOther},  {add_version_command, kOther},
    {add_help_command, kOther},
};

void add_help_flags(CLI::App& app) {
  // run_program takes them off the words before they are parsed: they may stand anywhere.
  app.add_option("--color", "always, never, or auto: on a terminal, unless $NO_COLOR is set")
      ->type_name("WHEN");
  app.add_flag("--no-config")->description("Read no config file");
}

}  // namespace

int run_tutti(int argc, char** argv) {
  CLI::App app{
      "tutti decides which op of a dataflow graph runs when and on which device, simulates "
      "the result, and says how far it is from the best possible.\n\n"
      "Begin with:\n"
      "  tutti graph make layered -o graph.json\n"
      "  tutti compare graph.json --machine p100-4\n"
      "  tutti plan graph.json --machine p100-4 -o plan.json\n"
      "  tutti report graph.json plan.json --machine p100-4 -o page.html",
      "tutti"};
  app.set_version_flag("--version", version_text);
  app.require_subcommand(1);
  app.footer(
      "tutti help COMMAND lists the flags of a command, with an example.\n"
      "Exit codes: 0 done, 2 bad input, 3 infeasible problem, 130 interrupted, 1 anything else.");
  add_help_flags(app);
  int exit_code = 0;
  for (const GroupedCommand& command : kCommands) {
    const size_t before = app.get_subcommands([](const CLI::App*) { return true; }).size();
    command.add(app, exit_code);
    app.get_subcommands([](const CLI::App*) { return true; })[before]->group(command.group);
  }
  return run_program(app, argc, argv, exit_code, {}, ProgramPart::whole);
}

}  // namespace tutti
