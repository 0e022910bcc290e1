// How much a search may spend and what it aims at, as flags.

#ifndef TUTTI_TOOLS_SEARCH_OPTIONS_H_
#define TUTTI_TOOLS_SEARCH_OPTIONS_H_

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "tools/inputs.h"
#include "tutti/search/auto.h"

namespace tutti {

struct SearchOptions {
  std::string budget;  // as "20s"; empty: none
  std::optional<int64_t> evaluations;
  int scenarios = 8;
  double tail_weight = 0;

  void add_to(CLI::App& command);
  Budget to_budget() const;
  // Also lets Ctrl-C end the search, which then returns the best so far.
  AutoSettings settings(const ModelOptions& model, const CommonOptions& common) const;
};

// Shows a line about each round on a terminal, and nothing in a pipe.
OnRound show_rounds(double lower_bound_ns);

}  // namespace tutti

#endif  // TUTTI_TOOLS_SEARCH_OPTIONS_H_
