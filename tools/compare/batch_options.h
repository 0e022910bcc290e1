// The flags of tutti batch, and the experiment file that may stand for them.

#ifndef TUTTI_TOOLS_COMPARE_BATCH_OPTIONS_H_
#define TUTTI_TOOLS_COMPARE_BATCH_OPTIONS_H_

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "tools/inputs.h"
#include "tools/search_options.h"
#include "tutti/base/file/document.h"

namespace tutti {

struct BatchArguments {
  std::vector<std::string> graphs;    // or one experiment file
  std::vector<std::string> machines;  // none: this host
  std::vector<std::string> policies;  // none: all that do not search
  ProblemInputs inputs;               // all but graph and machine
  ModelOptions model;
  CommonOptions common;
  SearchOptions search;
  int seeds = 10;
  int runs = 1;
  int parallel = 0;      // cells at the same time; 0: as many as threads, or one under --budget
  std::string baseline;  // empty: heft, or else the first policy
  std::string output;    // empty: samples are not kept
  bool plan_time = false;
  CLI::App* command = nullptr;

  void add_to(CLI::App& app);
  // If the only graph is a TOML file: takes what it says and the command line does not. Files that
  // it names stand relative to its folder. Fails (invalid_input) with file and line.
  Result<void> take_experiment();
  // Fails (invalid_input) on names that stand twice, and on flags that do not go together.
  Result<void> check();

  // Where a graph or a machine of that name is read from: names are printed as they were given.
  std::string path_of_graph(const std::string& name) const;
  std::string path_of_machine(const std::string& name) const;
  int cells_at_once() const;
  int threads_for_each() const;

 private:
  Result<void> take_graphs(const std::string& file, const Document& graphs);
  std::string in_folder(const std::string& name) const;

  std::string folder_;  // of the experiment file
  bool graphs_from_file_ = false;
  bool machines_from_file_ = false;
};

}  // namespace tutti

#endif  // TUTTI_TOOLS_COMPARE_BATCH_OPTIONS_H_
