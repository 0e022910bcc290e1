// tutti validate --online: arriving jobs under several policies, really run on this host and
// simulated, and how well the two agree.

#ifndef TUTTI_TOOLS_MEASURE_VALIDATE_ONLINE_H_
#define TUTTI_TOOLS_MEASURE_VALIDATE_ONLINE_H_

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "tools/measure/arrival_inputs.h"
#include "tutti/base/result.h"

namespace tutti {

struct OnlineValidation {
  bool on = false;
  ArrivalInputs arriving{.load = 0.7, .jobs = 40};
  std::vector<std::string> policies;
  int warm_up = 1;
  std::string speed = "warm-up";

  // --online and its flags.
  void add_to(CLI::App& command);
  // Throws CLI::ValidationError for a flag that has no effect in the mode that was chosen.
  void check_use(const CLI::App& command) const;

  // Further options of the command.
  struct Shared {
    std::vector<std::string> graphs;
    std::string machine;
    std::string costs;
    std::string budget;
    std::string output;
    int repeats = 0;  // 0: the usual number
    bool seen_graphs = false;
    uint64_t seed = 1;
    bool json = false;
  };
  Result<void> run(const Shared& shared) const;
};

}  // namespace tutti

#endif  // TUTTI_TOOLS_MEASURE_VALIDATE_ONLINE_H_
