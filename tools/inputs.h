// What most sub-commands read: a graph, a machine, costs, constraints. Also how they report errors.

#ifndef TUTTI_TOOLS_INPUTS_H_
#define TUTTI_TOOLS_INPUTS_H_

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tools/import_flags.h"
#include "tools/print/messages.h"
#include "tutti/base/result.h"
#include "tutti/graph/import/import.h"
#include "tutti/plan/plan.h"
#include "tutti/plan/problem.h"
#include "tutti/runtime/sim/sim.h"

namespace tutti {

// A Problem and what else the files say.
struct LoadedProblem {
  std::unique_ptr<Imported> imported;  // its graph is the problem's
  std::unique_ptr<Problem> problem;
  // What the costs file says about itself, where it was measured.
  std::optional<CostSpec::Calibration> calibration{};
  std::optional<CostSpec::Validation> validation{};
};

// Most commands name the graph first; those about other files name it by a flag.
enum class GraphArgument { first, flag };

struct ProblemInputs {
  std::string graph;
  std::string machine = "this-host";
  std::string costs;
  std::string constraints;
  std::optional<double> noise;  // none: as the costs file says
  ImportFlags import_flags;
  bool scale_by_machine_speed = false;
  bool values_are_files = false;  // which take no memory of devices; limits must be asked for
  bool cold = false;              // loading kept weights is part of the run
  bool as_recorded = false;       // pin every op to the host that the file says it ran on
  const CLI::Option* machine_flag = nullptr;  // to see whether it was given

  void add_to(CLI::App& command, GraphArgument where = GraphArgument::first);
  // --noise, for commands in which durations are drawn.
  void add_noise_to(CLI::App& command);
  // --cold, for commands that plan, simulate or judge.
  void add_cold_to(CLI::App& command);
  // All but the graph, for commands that recognise it among their files.
  void add_rest_to(CLI::App& command);
  // Their names, with those of `more` behind them, for check_output.
  std::vector<std::string> names(const std::vector<std::string>& more = {}) const;
  // Warnings about the files go to standard error. A file that is about certain devices
  // (dnn_partitioning) is loaded with these if no machine is asked for.
  Result<LoadedProblem> load() const;
  // The same from a graph file that is open already.
  Result<LoadedProblem> load(Source& graph_source) const;
  // The same on a machine that was not read from a file.
  Result<LoadedProblem> load_on(Machine given) const;

 private:
  Result<LoadedProblem> open_and_load(std::optional<Machine> given) const;
  Result<LoadedProblem> load_with(Source& graph_source, std::optional<Machine> given) const;
};

// A costs file; without a name, costs that say nothing. Fails as Source::open and read_costs do.
Result<CostSpec> load_costs(const std::string& path);
// As TOML, or as JSON if the name ends in .json.
Result<void> write_costs(const std::string& path, const CostSpec& costs);

// The checks that loading a problem has, for commands that add graphs as jobs: fails
// (invalid_input) on names in the costs that look like slips, and prints warnings about the costs.
Result<void> check_costs(const Graph& graph, const Machine& machine, const CostSpec& spec,
                         const std::string& graph_file, const std::string& costs_file);

// Whether a file can be written that is not one of those that are read, before long work. Fails
// with a sentence; nothing is changed. An empty name is no file.
Result<void> check_output(const std::string& flag, const std::string& output,
                          const std::vector<std::string>& inputs);

struct CommonOptions {
  uint64_t seed = 1;
  int threads = 0;  // 0: all usable cores
  bool json = false;

  void add_to(CLI::App& command);
  int thread_count() const;
};

// The simulator model and ready order, as flags.
struct ModelOptions {
  std::string model = "physical";
  std::string order = "priority";

  void add_to(CLI::App& command);
  // Fails (invalid_input) if an order was given to a model that has its own, or noise to one that
  // draws nothing.
  Result<void> check(const ProblemInputs& inputs) const;
  SimModel sim_model() const;
  ReadyOrder ready_order() const;

 private:
  const CLI::Option* order_flag_ = nullptr;
};

// A plan for that problem, checked. Fails with a sentence that names the file. Warns as below; one
// made for another machine or other costs loses its own timeline.
Result<Plan> load_good_plan(const std::string& path, const Problem& problem);
// The same from a file that is open already.
Result<Plan> load_good_plan(Source& source, const Problem& problem);

// Says on standard error, in one line, if the plan was made for another machine or other costs: it
// may still be run, but is not what its planner thought of.
void warn_of_another_problem(const std::string& path, const Plan& plan, const Problem& problem);

// --seed for commands in which nothing is random, so that scripts can pass it to all.
void accept_seed(CLI::App& command);

// For seeds: the parser itself would take -1 for a very large number.
CLI::Validator whole_number();

// For real numbers: CLI::Range lets NaN through.
CLI::Validator finite_range(double least, double most);

// True if standard error is a terminal that can clear a line: long work may show progress there.
bool shows_progress();

}  // namespace tutti

#endif  // TUTTI_TOOLS_INPUTS_H_
