// What both methods of `tutti train` share: flags, and the line about the end of a run.

#ifndef TUTTI_TOOLS_TRAIN_FLAGS_H_
#define TUTTI_TOOLS_TRAIN_FLAGS_H_

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "tools/search_options.h"
#include "tutti/train/training.h"

namespace tutti {

// Flags that replace settings of a configuration if they are given.
template <class Settings>
class Overrides {
 public:
  // `setting` is a member of the settings, or a function that gives a reference into them.
  template <class Setting>
  CLI::Option* add(CLI::App& command, const char* flag, Setting setting, const char* about) {
    using Value = std::remove_reference_t<std::invoke_result_t<Setting, Settings&>>;
    const auto given = std::make_shared<std::optional<Value>>();
    apply_.push_back([given, setting](Settings& settings) {
      if (*given) std::invoke(setting, settings) = **given;
    });
    return command.add_option(flag, *given, about);
  }
  void apply(Settings& settings) const {
    for (const auto& one : apply_) one(settings);
  }

 private:
  std::vector<std::function<void(Settings& settings)>> apply_;
};

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
