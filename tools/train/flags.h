// What both methods of `tutti train` share: flags, and the line about the end of a run.

#ifndef TUTTI_TOOLS_TRAIN_FLAGS_H_
#define TUTTI_TOOLS_TRAIN_FLAGS_H_

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "tools/search_options.h"
#include "tutti/train/training.h"

namespace tutti {

// A setting of the configuration, unless a flag was given for it.
template <class T>
void override(const std::optional<T>& given, T& setting) {
  if (given) setting = *given;
}

// --budget and --out. `about_budget` ends the description of the budget.
void add_run_flags(CLI::App& command, SearchOptions& budget, std::string& folder,
                   const std::string& about_budget);

// Ends at an interrupt, and when the budget of this call is spent.
Stop stop_of(const SearchOptions& budget);

// One line about how the run ended and how to resume it. `quality` says how good the model is, if
// that was measured.
void tell_the_end(const RunEnd& end, const std::string& quality);

}  // namespace tutti

#endif  // TUTTI_TOOLS_TRAIN_FLAGS_H_
