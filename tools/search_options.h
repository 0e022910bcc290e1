// How much a search may spend, what it aims at and which trained model it asks, as flags.

#ifndef TUTTI_TOOLS_SEARCH_OPTIONS_H_
#define TUTTI_TOOLS_SEARCH_OPTIONS_H_

#include <CLI/CLI.hpp>
#include <chrono>
#include <optional>
#include <span>
#include <string>

#include "tools/inputs.h"
#include "tutti/policy/registry.h"
#include "tutti/runtime/sim/passes.h"
#include "tutti/search/auto.h"

namespace tutti {

// "50us", "500ns", "20s", "500ms", "2m", "1h", with a fraction if you like; none if it is not that,
// or longer than a file may state.
std::optional<Duration> parse_time(const std::string& text);
// Such a time, or that word.
CLI::Validator is_time_or(const std::string& word);

// The same from a millisecond on.
std::optional<std::chrono::milliseconds> parse_budget(const std::string& text);
CLI::Validator is_budget();

// Raised by Ctrl-C, and by SIGTERM; a second one ends the program.
Stop stop_on_interrupt();

inline constexpr const char* kEvaluationsAre =
    "Simulations that a search may make; the same count and seed give the same plan. The plan of "
    "each policy counts too, and is always simulated. If costs have noise, judging the best plans "
    "on fresh scenarios is not counted";

struct SearchOptions {
  std::string budget;  // as "20s"; empty: none
  std::optional<int64_t> evaluations;
  std::optional<int> scenarios;
  std::optional<double> tail_weight;
  std::string network;  // a model file; empty: the one that comes with tutti

  void add_to(CLI::App& command);
  // How much only; the texts say in the help what it is spent on and what is counted.
  void add_budget_to(CLI::App& command, const std::string& what = "policies that search",
                     const std::string& evaluations_are = kEvaluationsAre);
  // Fails (invalid_input) if a flag was given that none of the policies looks at.
  Result<void> require_use(std::span<const PolicyEntry> entries) const;
  // Fails (invalid_input) if any was given: `because` ends the sentence.
  Result<void> require_none(const std::string& because) const;
  // Also lets Ctrl-C end the search, which then returns the best so far.
  Budget to_budget() const;
  // Fails (invalid_input) if the network is none.
  Result<AutoSettings> settings(const ModelOptions& model, const CommonOptions& common) const;
};

// False for a flag of a search, or of where it starts, that the command's policies do not look at:
// as a default it would be refused below. Flags that name policies and plans must be set.
bool default_is_of_use(const CLI::App& command, const CLI::Option& option);

// What a plan is for: one pass, or pass after pass.
struct ObjectiveOptions {
  std::string objective = "makespan";
  std::optional<int> passes;

  void add_to(CLI::App& command);
  bool throughput() const { return objective == "throughput"; }
  int in_flight() const { return passes.value_or(kUsualPasses); }
  // Fails (invalid_input) on --passes for one pass, and on a model that has no steady state.
  Result<void> check(const ModelOptions& model) const;
};

// A wall clock begins to run with the command, not with the search.
class CommandClock {
 public:
  // The inputs have been read. A quarter of the time that took is kept for checking and writing.
  void inputs_are_read() { kept_ = (Stop::Clock::now() - begin_) / 4; }

  // What is left, to be divided among so many plans. At least a millisecond, whatever the clock
  // says: a plan there must be.
  Budget rest_of(Budget budget, int plans = 1) const;

 private:
  Stop::Clock::time_point begin_ = Stop::Clock::now();
  Stop::Clock::duration kept_{0};
};

// Says on standard error what Ctrl-C cut short, if there was one.
void tell_of_interrupt(const char* what);

// The exit code of the program: 130 if Ctrl-C or SIGTERM cut short what else would have ended with
// that code, so that no script takes half of it for the whole. Bad input stays what it is.
int with_interrupt(int exit_code);

// Shows a line about each round on a terminal, and nothing in a pipe.
OnRound show_rounds(double lower_bound_ns);

}  // namespace tutti

#endif  // TUTTI_TOOLS_SEARCH_OPTIONS_H_
